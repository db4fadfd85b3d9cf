"""Operations on whole relations: join, semi-join, count, distinct.

The size of a join is known before it is built; `Room` says how much there is.
Keys of several columns are packed into one 64-bit number.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from lacec.vm.arrays import members, unique, unique_inverse, unique_rows
from lacec.vm.relation import DENSE, Ids, Mask, Relation, Rows

Keys = Sequence[tuple[int, int]]
Packed = npt.NDArray[np.int64]
_LOW_32 = np.int64(0xFFFFFFFF)


def join_rows(
    left: Relation, right: Relation, keys: Keys, universe: int, most: int
) -> tuple[Rows | None, Rows] | int:
    """The pairs of rows that agree on the keys; None for all rows of the left in order.

    Answers with the number of pairs alone when there are more than `most`.
    """
    if not keys:
        total = left.size * right.size
        if total > most:
            return total
        return np.repeat(np.arange(left.size), right.size), np.tile(
            np.arange(right.size), left.size
        )
    if len(keys) == 1:
        (one, other) = keys[0]
        lookup = right.lookup(other, universe)
        probe = left.columns[one]
        single = lookup.single(probe)
        if single is not None:
            hit = single >= 0
            total = int(np.count_nonzero(hit))
            if total > most:
                return total
            if total == left.size:
                return None, single
            rows = np.flatnonzero(hit)
            return rows, single[rows]
        low, counts = lookup.spans(probe)
        total = int(counts.sum())
        if total > most:
            return total
        rows, positions = _expand(low, counts, total)
        return rows, lookup.ordered(positions)
    a, b = pack_pair(left, right, keys)
    order = np.argsort(b)
    ordered = b[order]
    low = np.searchsorted(ordered, a, "left")
    counts = np.searchsorted(ordered, a, "right") - low
    total = int(counts.sum())
    if total > most:
        return total
    rows, positions = _expand(low, counts, total)
    return rows, order[positions]


def _expand(low: Rows, counts: Rows, total: int) -> tuple[Rows, Rows]:
    """Row i of the left, counts[i] times, with positions low[i], low[i]+1, … of the right."""
    rows = np.repeat(np.arange(len(counts)), counts)
    shift = low - (np.cumsum(counts) - counts)
    return rows, np.arange(total) + shift[rows]


def matches(left: Relation, right: Relation, keys: Keys, universe: int) -> Mask:
    """Which rows of the left agree with some row of the right on the keys."""
    if not keys:
        return np.full(left.size, right.size > 0)
    if not right.size:
        return np.zeros(left.size, bool)
    if len(keys) == 1:
        (one, other) = keys[0]
        probe = left.columns[one]
        if right.has_lookup(other, universe):
            return right.lookup(other, universe).contains(probe)
        if universe <= DENSE * max(left.size, right.size) + 1024:
            return right.members(other, universe)[probe]
        return members(probe, right.columns[other])
    a, b = pack_pair(left, right, keys)
    return members(a, b)


def match_counts(left: Relation, right: Relation, keys: Keys, universe: int) -> Rows:
    """How many rows of the right agree with each row of the left on the keys."""
    if not keys:
        return np.full(left.size, right.size, np.intp)
    if len(keys) == 1:
        (one, other) = keys[0]
        return right.lookup(other, universe).counts(left.columns[one])
    a, b = pack_pair(left, right, keys)
    ordered = np.sort(b)
    return np.searchsorted(ordered, a, "right") - np.searchsorted(ordered, a, "left")


def look_up(relation: Relation, column: int, keys: Ids, values: Packed, universe: int) -> Packed:
    """The value of the one row that has each key in a column without repetition, or 0."""
    lookup = relation.lookup(column, universe)
    rows = lookup.single(keys)
    if rows is None:
        at, found = lookup.spans(keys)
        hit = found > 0
        rows = lookup.ordered(np.where(hit, at, 0)) if relation.size else at
    else:
        hit = rows >= 0
    return np.where(hit, values[rows], 0) if relation.size else np.zeros(len(keys), np.int64)


def pack_pair(left: Relation, right: Relation, keys: Keys) -> tuple[Packed, Packed]:
    """The key columns of both sides as one number a row, equal where all columns are."""
    a = [left.columns[one] for one, _ in keys]
    b = [right.columns[other] for _, other in keys]
    both = pack([np.concatenate(pair) for pair in zip(a, b, strict=True)])
    return both[: left.size], both[left.size :]


def pack(columns: Sequence[Ids]) -> Packed:
    """Columns as one number a row. Two columns fit as they are; more are numbered pair by pair."""
    packed = columns[0].astype(np.int64)
    for column in columns[1:-1]:
        packed = unique_inverse(packed << 32 | column)[1].astype(np.int64)
    return packed << 32 | columns[-1] if len(columns) > 1 else packed


def distinct(relation: Relation, universe: int) -> Relation:
    """Each row once, in no particular order."""
    columns = relation.columns
    if not columns:
        return Relation((), min(relation.size, 1))
    if relation.size < 2:
        return relation
    if len(columns) == 1:
        if (columns[0][1:] > columns[0][:-1]).all():
            return relation  # facts often come in the order of their records
        if universe <= DENSE * relation.size:
            seen = np.zeros(universe, bool)
            seen[columns[0]] = True
            return Relation([np.flatnonzero(seen).astype(np.int32)])
        return Relation([unique(columns[0])])
    if len(columns) == 2:
        return unpack(unique(pack(columns)))
    return relation.take(unique_rows(pack(columns)))


def unpack(packed: Packed) -> Relation:
    """Two columns from their packed form."""
    return Relation([(packed >> 32).astype(np.int32), (packed & _LOW_32).astype(np.int32)])


def concatenate(relations: Sequence[Relation], arity: int) -> Relation:
    """The rows of several relations, perhaps with equal rows."""
    if len(relations) == 1:
        return relations[0]
    if not relations:
        return Relation([np.empty(0, np.int32)] * arity, 0)
    columns = [np.concatenate([r.columns[c] for r in relations]) for c in range(arity)]
    return Relation(columns, sum(relation.size for relation in relations))


def distinct_from(left: Relation, right: Relation) -> Mask:
    """Which rows of the left are no rows of the right; both have the same columns."""
    if not left.columns:
        return np.full(left.size, right.size == 0)
    every = [(column, column) for column in range(len(left.columns))]
    a, b = pack_pair(left, right, every)
    return ~members(a, b)
