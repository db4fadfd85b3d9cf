"""Relations: sets of tuples as columns of ids, with indexes that are built when first needed.

A relation never changes. What is asked of it is kept: the part of it that has
some constants, the rows by the value of a column, the members of a column. A
base relation lives as long as its database, so that the next evaluation finds
its indexes ready.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from lacec.vm.arrays import in_order

Ids = npt.NDArray[np.int32]
Rows = npt.NDArray[np.signedinteger[Any]]
"""Row numbers."""
Mask = npt.NDArray[np.bool_]

# A table over all ids is worth its size when there are this many times fewer rows than ids.
DENSE = 16
# So few keys are found in sorted values as fast as in a table, however often they are asked.
FEW = 16


class Relation:
    __slots__ = ("_lookups", "_members", "_orders", "_parts", "columns", "size")

    @property
    def split(self) -> int | None:
        """The column by whose values it is kept in parts, if it is."""
        return None

    def __init__(self, columns: Sequence[Ids], size: int | None = None) -> None:
        self.columns = tuple(columns)
        self.size = len(self.columns[0]) if size is None else size
        self._parts: dict[object, Relation] = {}
        self._lookups: dict[int, Lookup] = {}
        self._members: dict[int, Mask] = {}
        self._orders: dict[int, tuple[Rows, Ids] | int] = {}

    def take(self, rows: Rows) -> "Relation":
        return Relation([column[rows] for column in self.columns], len(rows))

    def where(self, mask: Mask) -> "Relation":
        """The rows that a mask marks; the relation itself when it marks all."""
        count = int(np.count_nonzero(mask))
        if count == self.size:
            return self
        if not self.columns:
            return Relation((), count)
        rows = np.flatnonzero(mask)
        return Relation([column[rows] for column in self.columns])

    def keep(self, columns: Sequence[int]) -> "Relation":
        """Some of the columns, perhaps with equal rows."""
        return Relation([self.columns[column] for column in columns], self.size)

    def part(
        self, constants: Sequence[tuple[int, int]], equals: Sequence[tuple[int, int]]
    ) -> "Relation":
        """The rows with these values in these columns, and equal values in those."""
        found = self
        for column, value in constants:
            found = found._with_value(column, value)
        if equals:
            key = ("equals", tuple(equals))
            part = found._parts.get(key)
            if part is None:
                keep = np.ones(found.size, bool)
                for one, other in equals:
                    keep &= found.columns[one] == found.columns[other]
                part = found._parts[key] = found.where(keep)
            found = part
        return found

    def _with_value(self, column: int, value: int) -> "Relation":
        part = self._parts.get((column, value))
        if part is None:
            part = self._parts[column, value] = self.take(self._rows_with(column, value))
        return part

    def _rows_with(self, column: int, value: int) -> Rows:
        """A scan the first time; the second value asked for makes the column sorted."""
        order = self._orders.get(column, 0)
        values = self.columns[column]
        if isinstance(order, int):
            if order < 1 or self.size < 64:
                self._orders[column] = order + 1
                return np.flatnonzero(values == value)
            order = self._orders[column] = in_order(values)
        rows, ordered = order
        low = np.searchsorted(ordered, value, "left")
        high = np.searchsorted(ordered, value, "right")
        return rows[low:high]

    def lookup(self, column: int, universe: int) -> "Lookup":
        """The rows by the value of a column; `universe` is the number of ids there are."""
        found = self._lookups.get(column)
        if found is None or found.universe < universe:
            found = self._lookups[column] = Lookup(self.columns[column], universe)
        return found

    def known_lookup(self, column: int) -> "Lookup | None":
        """The rows by the value of a column, if that was asked for before."""
        return self._lookups.get(column)

    def has_lookup(self, column: int, universe: int) -> bool:
        found = self._lookups.get(column)
        return found is not None and found.universe >= universe

    def members(self, column: int, universe: int) -> Mask:
        """For every id, whether it occurs in a column."""
        found = self._members.get(column)
        if found is None or len(found) < universe:
            found = np.zeros(universe, bool)
            found[self.columns[column]] = True
            self._members[column] = found
        return found


class Lookup:
    """Rows by value: a table over all ids, or sorted values while few are asked for."""

    __slots__ = ("_asked", "_order", "_rows", "_sorted", "_starts", "universe")

    def __init__(self, values: Ids, universe: int) -> None:
        self.universe = universe
        self._asked = 0
        self._rows: npt.NDArray[np.int32] | None = None  # the one row of each value
        self._starts: npt.NDArray[np.int32] | None = None  # where the rows of each value begin
        self._sorted: Ids | None = None
        self._order: Rows | None = None  # the rows in order of value; None: they are so already
        if universe > DENSE * len(values) + 1024:
            self._order, self._sorted = in_order(values)
            return
        rows = np.full(universe, -1, np.int32)
        numbers = np.arange(len(values), dtype=np.int32)
        rows[values] = numbers
        if np.array_equal(rows[values], numbers):
            self._rows = rows
            return
        if not (values[1:] >= values[:-1]).all():
            self._order = in_order(values)[0]
        self._count(values)

    def _count(self, values: Ids) -> None:
        starts = np.zeros(self.universe + 1, np.int32)
        np.cumsum(np.bincount(values, minlength=self.universe), out=starts[1:], dtype=np.int32)
        self._starts = starts

    def spans(self, keys: Ids) -> tuple[Rows, Rows]:
        """Where the rows of each key begin among the ordered rows, and how many they are."""
        if self._sorted is not None and len(keys) > FEW:
            self._asked += len(keys)
            if self.universe <= DENSE * self._asked:  # the table pays by now
                self._count(self._sorted)
                self._sorted = None
        if self._starts is not None:
            begin = self._starts.take(keys)
            return begin, self._starts.take(keys + 1) - begin
        assert self._sorted is not None
        low = np.searchsorted(self._sorted, keys, "left")
        return low, np.searchsorted(self._sorted, keys, "right") - low

    def span(self, key: int) -> tuple[int, int]:
        """Where the rows of one value begin and end among the ordered rows."""
        if key >= self.universe:  # a value that is newer than the relation
            return 0, 0
        if self._rows is not None:
            row = self._rows.item(key)
            return (row, row + 1) if row >= 0 else (0, 0)
        if self._starts is not None:
            return self._starts.item(key), self._starts.item(key + 1)
        assert self._sorted is not None
        value = np.int32(key)  # of the type of the values, or they would all be converted
        low = int(self._sorted.searchsorted(value, "left"))
        return low, int(self._sorted.searchsorted(value, "right"))

    def row(self, position: int) -> int:
        """The row at one place among the ordered rows."""
        return position if self._order is None else int(self._order[position])

    def rows(self, begin: int, end: int) -> Rows:
        """The rows from one place to another among the ordered rows."""
        return np.arange(begin, end) if self._order is None else self._order[begin:end]

    def single(self, keys: Ids) -> npt.NDArray[np.int32] | None:
        """The one row of each key or -1, if no value has two rows."""
        return None if self._rows is None else self._rows.take(keys)

    def counts(self, keys: Ids) -> Rows:
        one = self.single(keys)
        # Wide enough for any bound that a count is compared with.
        return (self.spans(keys)[1] if one is None else one >= 0).astype(np.intp)

    def contains(self, keys: Ids) -> Mask:
        one = self.single(keys)
        return self.spans(keys)[1] > 0 if one is None else one >= 0

    def ordered(self, positions: Rows) -> Rows:
        return positions if self._order is None else self._order[positions]
