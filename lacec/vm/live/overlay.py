"""Relations that change: an immutable one below, and on top the few tuples that differ from it.

A relation of a million rows takes a tuple, or loses one, at the cost of that tuple: nothing
below is copied, and its indexes stay. When what is on top has become a sixteenth of what
is below, both are made into one again, so that a change costs little on the average too.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence

import numpy as np

from lacec.vm.kernels import concatenate
from lacec.vm.lazy import LazyRelation
from lacec.vm.relation import Lookup, Relation
from lacec.vm.relation import Rows as RowNumbers

Tuple = tuple[int, ...]
Fixed = Sequence[tuple[int, int]]
"""Columns and the value that each must have."""
Part = tuple[tuple[tuple[int, int], ...], tuple[tuple[int, int], ...]]
"""What an atom says of its tuples: values in some columns, and pairs of columns that are equal."""
EVERYTHING: Part = ((), ())

# Above this much on top, or this share of what is below, it goes below.
MANY, SHARE = 4096, 16
# A column in which a value has no more rows than this is good enough to look up by.
SHORT = 64
_FIRST_CHUNK, _MOST_CHUNK = 16, 4096


class Few:
    """A set of tuples that is small, with indexes by column that are made when first needed."""

    __slots__ = ("_by", "_rows")

    def __init__(self, rows: Iterable[Tuple] = ()) -> None:
        self._rows: dict[Tuple, None] = dict.fromkeys(rows)
        self._by: dict[int, dict[int, dict[Tuple, None]]] = {}

    def __len__(self) -> int:
        return len(self._rows)

    def __iter__(self) -> Iterator[Tuple]:
        return iter(self._rows)

    def __contains__(self, row: Tuple) -> bool:
        return row in self._rows

    def add(self, row: Tuple) -> None:
        self._rows[row] = None
        for column, values in self._by.items():
            values.setdefault(row[column], {})[row] = None

    def discard(self, row: Tuple) -> bool:
        """Whether the tuple was there."""
        if row not in self._rows:
            return False
        del self._rows[row]
        for column, values in self._by.items():
            same = values[row[column]]
            del same[row]
            if not same:
                del values[row[column]]
        return True

    def _with(self, column: int, value: int) -> dict[Tuple, None]:
        by = self._by.get(column)
        if by is None:
            by = self._by[column] = {}
            for row in self._rows:
                by.setdefault(row[column], {})[row] = None
        return by.get(value, {})

    def match(self, part: Part, fixed: Fixed) -> Iterator[Tuple]:
        """The tuples of a part that have these values."""
        constants, equals = part
        wanted = (*constants, *fixed)
        rows = self._rows
        if wanted:
            rows = min((self._with(column, value) for column, value in wanted), key=len)
        for row in rows:
            if all(row[c] == v for c, v in wanted) and all(row[a] == row[b] for a, b in equals):
                yield row


class Kept:
    """A relation that changes."""

    __slots__ = ("_parts", "_universe", "added", "arity", "below", "removed")

    def __init__(self, relation: Relation, arity: int, universe: Callable[[], int]) -> None:
        self.below = relation
        self.arity = arity
        self.added = Few()
        self.removed = Few()
        self._universe = universe
        self._parts: dict[Part, Relation] = {}

    @property
    def size(self) -> int:
        return self.below.size - len(self.removed) + len(self.added)

    def __contains__(self, row: Tuple) -> bool:
        return row in self.added or (row not in self.removed and self._is_below(row))

    def _is_below(self, row: Tuple) -> bool:
        column = self.below.split
        part: Part = EVERYTHING if column is None else (((column, row[column]),), ())
        fixed = [each for each in enumerate(row) if each[0] != column]
        return next(self._below_rows(part, fixed), None) is not None

    def add(self, row: Tuple, is_fresh: bool = False) -> bool:
        """Whether the tuple is new. What is below is not asked about one with a fresh value."""
        if row in self.added if is_fresh else row in self:
            return False
        if not self.removed.discard(row):
            self.added.add(row)
        return True

    def discard(self, row: Tuple) -> bool:
        """Whether the tuple was there."""
        if self.added.discard(row):
            return True
        if row in self.removed or not self._is_below(row):
            return False
        self.removed.add(row)
        return True

    def settle(self) -> None:
        """Put what is on top below, once it is much."""
        if len(self.added) + len(self.removed) > max(MANY, self.below.size // SHARE):
            self.relation()

    def replace(self, relation: Relation) -> None:
        """Hold the tuples of another relation."""
        self.below = relation
        self.added, self.removed = Few(), Few()
        self._parts.clear()

    def relation(self) -> Relation:
        """All tuples as a relation, which is then what is below."""
        if len(self.added) or len(self.removed):
            self.replace(self.patched(EVERYTHING))
        return self.below

    def snapshot(self) -> Relation:
        """All tuples as a relation that will not change; what is below stays there."""
        if len(self.added) or len(self.removed):
            return Patched(self)
        return self.below

    def patched(self, part: Part) -> Relation:
        """The tuples of a part as a relation."""
        left = self._part(part)
        gone = list(self.removed.match(part, ()))
        if gone:
            mask = np.ones(left.size, bool)
            for row in gone:
                for numbers, rows in self._chunks(left, list(enumerate(row))):
                    if rows:
                        mask[numbers[0]] = False
            left = left.where(mask)
        new = list(self.added.match(part, ()))
        pieces = [left] if left.size or not new else []
        return concatenate([*pieces, *([relation_of(new, self.arity)] if new else [])], self.arity)

    def find(self, part: Part, fixed: Fixed) -> Iterator[Tuple]:
        """The tuples of a part that have these values too. Nothing may change meanwhile."""
        removed = self.removed
        if len(removed):
            for row in self._below_rows(part, fixed):
                if row not in removed:
                    yield row
        else:
            yield from self._below_rows(part, fixed)
        if len(self.added):
            yield from self.added.match(part, fixed)

    def count(self, part: Part, fixed: Fixed, most: int) -> int:
        """How many tuples that are; no more than `most` of them are gone through one by one."""
        if len(fixed) > 1:
            return sum(1 for _, _ in zip(self.find(part, fixed), range(most), strict=False))
        below = self._part(part)
        if fixed:
            (column, value) = fixed[0]
            begin, end = self._lookup(below, column).span(value)
            count = end - begin
        else:
            count = below.size
        if len(self.removed):
            count -= sum(1 for _ in self.removed.match(part, fixed))
        if len(self.added):
            count += sum(1 for _ in self.added.match(part, fixed))
        return count

    def _part(self, part: Part) -> Relation:
        found = self._parts.get(part)
        if found is None:
            constants, equals = part
            found = self._parts[part] = self.below.part(constants, equals)
        return found

    def _lookup(self, relation: Relation, column: int) -> Lookup:
        return relation.known_lookup(column) or relation.lookup(column, self._universe())

    def _below_rows(self, part: Part, fixed: Fixed) -> Iterator[Tuple]:
        below = self._part(part)
        if not below.size:
            return
        for _, rows in self._chunks(below, fixed):
            yield from rows

    def _chunks(self, below: Relation, fixed: Fixed) -> Iterator[tuple[RowNumbers, list[Tuple]]]:
        """Rows of a relation that have these values, with their numbers, few at first."""
        if not below.columns:
            yield np.zeros(below.size, np.intp), [()] * below.size
            return
        lookup: Lookup | None = None
        begin, end, by = 0, below.size, -1
        for column, value in fixed:
            other = self._lookup(below, column)
            first, last = other.span(value)
            if last - first < end - begin or lookup is None:
                lookup, begin, end, by = other, first, last, column
            if end - begin <= SHORT:
                break
        if end - begin == 1:
            number = begin if lookup is None else lookup.row(begin)
            row = tuple([column.item(number) for column in below.columns])
            if all(row[column] == value for column, value in fixed):
                yield np.array([number]), [row]
            return
        rest = [(column, value) for column, value in fixed if column != by]
        size = _FIRST_CHUNK
        while begin < end:
            upto = min(end, begin + size)
            rows = np.arange(begin, upto) if lookup is None else lookup.rows(begin, upto)
            for column, value in rest:
                rows = rows[below.columns[column][rows] == value]
            columns = [column[rows].tolist() for column in below.columns]
            yield rows, list(zip(*columns, strict=True))
            begin, size = upto, min(size * 4, _MOST_CHUNK)


class Patched(LazyRelation):
    """A relation that changes, as it is at one moment: made, or a part of it, when it is read.

    It is read before the next change or not at all.
    """

    __slots__ = ("_kept",)

    def __init__(self, kept: Kept) -> None:
        super().__init__(kept.size, lambda: kept.patched(EVERYTHING).columns)
        self._kept = kept

    def part(
        self, constants: Sequence[tuple[int, int]], equals: Sequence[tuple[int, int]]
    ) -> Relation:
        key = (tuple(constants), tuple(equals))
        if key == EVERYTHING:
            return self
        found = self._parts.get(key)
        if found is None:
            found = self._parts[key] = self._kept.patched(key)
        return found


def relation_of(rows: Iterable[Tuple], arity: int) -> Relation:
    """Tuples as columns."""
    rows = list(rows)
    if not arity:
        return Relation((), len(rows))
    table = np.array(rows, np.int32).reshape(len(rows), arity)
    return Relation([np.ascontiguousarray(table[:, column]) for column in range(arity)], len(rows))


def tuples_of(relation: Relation) -> list[Tuple]:
    """The rows of a relation as tuples."""
    if not relation.columns:
        return [()] * relation.size
    return list(zip(*(column.tolist() for column in relation.columns), strict=True))
