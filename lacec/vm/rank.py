"""Counting by rank: how many rows of one relation compare with each row of another (RANK)."""

from collections.abc import Sequence
from typing import Literal

import numpy as np
import numpy.typing as npt

from lacec.bytecode.opcodes import Compare, Test
from lacec.vm.arrays import members, unique, unique_inverse
from lacec.vm.builtins import decimals
from lacec.vm.kernels import pack
from lacec.vm.relation import Ids, Relation
from lacec.vm.symbols import Symbols
from lacec.vm.text import lex_ranks

Way = tuple[Sequence[tuple[int, int]], int, int, int, int]
Numbers = npt.NDArray[np.int64]
_LOW_32 = np.int64(0xFFFFFFFF)


def is_unique(relation: Relation) -> bool:
    """Whether no value of the first column has two rows."""
    return len(unique(relation.columns[0])) == relation.size


def rank_counts(
    symbols: Symbols, low: Relation, high: Relation, ways: Sequence[Way], enough: int
) -> Numbers:
    """For each row of `low`, how many rows of `high` compare with it, in all ways together.

    A row that has `enough` is not counted further. The ways that join no column
    come first: they are cheap, and often settle most rows.
    """
    total = np.zeros(low.size, np.int64)
    rows = np.arange(low.size)
    for way in sorted(ways, key=lambda way: len(way[0])):
        rows = rows[total[rows] < enough]
        part = low if len(rows) == low.size else low.take(rows)
        total[rows] += _count(symbols, part, high, way)
    return total


def _count(symbols: Symbols, low: Relation, high: Relation, way: Way) -> Numbers:
    equal, test, low_column, high_column, compare = way
    keys, other_keys = np.zeros(low.size, np.int64), np.zeros(high.size, np.int64)
    if equal:
        both = pack([np.concatenate((low.columns[a], high.columns[b])) for a, b in equal])
        joined = members(both[low.size :], both[: low.size])
        high = high.where(joined)
        both = np.concatenate((both[: low.size], both[low.size :][joined]))
        groups = unique_inverse(both)[1].astype(np.int64) << 32
        keys, other_keys = groups[: low.size], groups[low.size :]
    one, other, valid, other_valid = _ranks(
        symbols, Test(test), low.columns[low_column], high.columns[high_column]
    )
    if equal:
        counts = _count_within(keys, one, np.sort((other_keys | other)[other_valid]), compare)
    else:
        counts = _count_all(one, other[other_valid], compare)
    return np.where(valid, counts, 0)


def _count_all(ranks: Numbers, others: Numbers, compare: int) -> Numbers:
    """How many of the other ranks compare with each rank. `rank < other` means those above it."""
    most = max(int(ranks.max(initial=0)), int(others.max(initial=0)))
    upto = np.cumsum(np.bincount(others, minlength=most + 1))
    match Compare(compare):
        case Compare.LESS:
            return len(others) - upto[ranks]
        case Compare.GREATER_EQUAL:
            return upto[ranks]
        case Compare.LESS_EQUAL:
            return len(others) - np.where(ranks > 0, upto[ranks - 1], 0)
        case Compare.GREATER:
            return np.where(ranks > 0, upto[ranks - 1], 0)


def _count_within(keys: Numbers, ranks: Numbers, ordered: Numbers, compare: int) -> Numbers:
    """The same among the others that have the same key; both are packed and sorted."""
    at = keys | ranks
    if compare in (Compare.LESS, Compare.LESS_EQUAL):
        end = np.searchsorted(ordered, keys | _LOW_32, "right")
        return end - np.searchsorted(ordered, at, "right" if compare == Compare.LESS else "left")
    side: Literal["left", "right"] = "left" if compare == Compare.GREATER else "right"
    return np.searchsorted(ordered, at, side) - np.searchsorted(ordered, keys, "left")


def _ranks(
    symbols: Symbols, test: Test, low: Ids, high: Ids
) -> tuple[Numbers, Numbers, npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
    """The place of every value in the order of the test, of both columns; which have a place."""
    same = low is high
    ids, inverse = unique_inverse(low if same else np.concatenate((low, high)))
    ranks, valid = value_ranks(symbols, test, ids)
    ranks, valid = ranks[inverse], valid[inverse]
    if same:
        return ranks, ranks, valid, valid
    return ranks[: len(low)], ranks[len(low) :], valid[: len(low)], valid[len(low) :]


def value_ranks(symbols: Symbols, test: Test, ids: Ids) -> tuple[Numbers, npt.NDArray[np.bool_]]:
    """The place of each of different values in the order of the test; which have one.

    What is no decimal stands where 0 does.
    """
    if test == Test.LEX_COMPARE:
        return lex_ranks(*symbols.slices(ids)), np.ones(len(ids), bool)
    values, big, valid = decimals(symbols, ids)
    values[~valid] = 0
    return _number_ranks(values, big), valid


def _number_ranks(values: Numbers, big: dict[int, int]) -> Numbers:
    if not big:
        return unique_inverse(values)[1].astype(np.int64)
    exact = [big.get(row, value) for row, value in enumerate(values.tolist())]
    place = {value: rank for rank, value in enumerate(sorted(set(exact)))}
    return np.array([place[value] for value in exact], np.int64)
