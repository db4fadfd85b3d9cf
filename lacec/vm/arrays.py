"""Sets of numbers as sorted arrays.

NumPy's own functions for this hash their input, which costs several times what
its vectorised sort does on the machines that have one.
"""

from typing import TypeVar

import numpy as np
import numpy.typing as npt

Number = TypeVar("Number", np.int32, np.int64, np.uint64)
Rows = npt.NDArray[np.intp]


def unique(values: npt.NDArray[Number]) -> npt.NDArray[Number]:
    """Each value once, in order."""
    ordered = np.sort(values)
    return ordered[_firsts(ordered)]


def unique_inverse(values: npt.NDArray[Number]) -> tuple[npt.NDArray[Number], Rows]:
    """Each value once, in order, and where each row's value is among them."""
    order = np.argsort(values)
    ordered = values[order]
    first = _firsts(ordered)
    inverse = np.empty(len(values), np.intp)
    inverse[order] = np.cumsum(first) - 1
    return ordered[first], inverse


def in_order(values: npt.NDArray[np.int32]) -> tuple[Rows, npt.NDArray[np.int32]]:
    """The rows in order of value, equal ones in their own order, and the values so.

    Value and row are sorted as one number: a stable sort takes eight times as long.
    """
    packed = values.astype(np.int64) << 32
    packed |= np.arange(len(values))
    packed.sort()
    return packed & 0xFFFFFFFF, (packed >> 32).astype(np.int32)


def unique_rows(values: npt.NDArray[Number]) -> Rows:
    """One row for each value."""
    order = np.argsort(values)
    return order[_firsts(values[order])]


def members(values: npt.NDArray[Number], of: npt.NDArray[Number]) -> npt.NDArray[np.bool_]:
    """Which values are among the others."""
    return among(values, np.sort(of))


def among(values: npt.NDArray[Number], ordered: npt.NDArray[Number]) -> npt.NDArray[np.bool_]:
    """Which values are among the others, which are sorted."""
    if not len(ordered):
        return np.zeros(len(values), bool)
    at = np.searchsorted(ordered, values)
    at[at == len(ordered)] = 0
    found: npt.NDArray[np.bool_] = ordered[at] == values
    return found


def _firsts(ordered: npt.NDArray[Number]) -> npt.NDArray[np.bool_]:
    """Where a new value begins."""
    first = np.ones(len(ordered), bool)
    np.not_equal(ordered[1:], ordered[:-1], out=first[1:])
    return first
