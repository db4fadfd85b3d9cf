"""Counts by rank while facts change: rows in their order, so that a count is a place in it.

    Newer(P,Q) :- Candidate(P,T), Candidate(Q,T), LexCompare(Q,'>',P).
    Newer(P,Q) :- Candidate(P,TP), Candidate(Q,TQ), LexCompare(TQ,'>',TP).

In: what RANK reads, and what changed of it. Out: the keys P whose count went past a bound. Of
rows in order of T, then P, those that a row counts are those before it, so that one more
row changes all counts after it by one; past the bound goes only who stood just there. That
holds where each key has one row and numbers are written in one way; otherwise, and
where much changes, nobody can tell, and all are counted anew.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter

import numpy as np

from lacec.bytecode.opcodes import Compare, Test
from lacec.vm import kernels
from lacec.vm.arrays import unique_inverse
from lacec.vm.builtins import integer
from lacec.vm.live.live_facts import Change
from lacec.vm.live.overlay import Kept, Part, Tuple
from lacec.vm.live.sorted_rows import By, Ordered, Table
from lacec.vm.rank import Way, value_ranks
from lacec.vm.relation import Relation
from lacec.vm.symbols import Symbols

# More rows that change, or more keys that are concerned, are work for the machine.
MANY = 1_000
# With so many keys that have several rows there is no use in following them.
MANY_CROWDED = 10_000


@dataclass(frozen=True, slots=True)
class Rows:
    """The rows that one side of a comparison reads: columns of the tuples of an atom."""

    predicate: int
    kept: Kept
    part: Part
    columns: tuple[int, ...]

    def has(self, row: Tuple) -> bool:
        fixed = list(zip(self.columns, row, strict=True))
        return next(self.kept.find(self.part, fixed), None) is not None

    def of(self, key: int) -> set[Tuple]:
        """The rows of a key."""
        found = self.kept.find(self.part, [(self.columns[0], key)])
        return {self._project(row) for row in found}

    def changed(self, change: Change) -> set[Tuple]:
        """Rows that may have come or gone."""
        both = (change.added, change.removed)
        return {self._project(row) for side in both for row in side.match(self.part, ())}

    def all(self, universe: int) -> Relation:
        return kernels.distinct(self.kept.patched(self.part).keep(self.columns), universe)

    def _project(self, row: Tuple) -> Tuple:
        return tuple([row[column] for column in self.columns])


class Chain:
    """Ways of which each settles what those before it leave equal: one order for all rows."""

    def __init__(self, ways: Sequence[Way]) -> None:
        ordered = sorted(ways, key=lambda way: len(way[0]))
        self.equal = tuple(ordered[0][0])  # the columns within whose values is counted
        self.steps = [(Test(way[1]), way[2], way[3], Compare(way[4])) for way in ordered]
        self.strict = self.steps[-1][3].strict
        known = set(self.equal)
        self.fits = True
        for way, (_, low, high, compare) in zip(ordered, self.steps, strict=True):
            self.fits &= set(way[0]) == known
            self.fits &= compare.strict or way is ordered[-1]
            known.add((low, high))

    def sides(self) -> tuple[list[int], list[int]]:
        """The columns of the order, of the rows that count and of those that are counted."""
        pairs = [*self.equal, *((low, high) for _, low, high, _ in self.steps)]
        return [low for low, _ in pairs], [high for _, high in pairs]


class Side:
    """The rows of one side in their order, and what stands in the way of counting by it."""

    def __init__(self, rows: Rows, chain: Chain, columns: Sequence[int], symbols: Symbols) -> None:
        self.rows = rows
        tests = [*(None for _ in chain.equal), *(test for test, _, _, _ in chain.steps)]
        values: dict[Test | None, Callable[[int], object]] = {
            None: int,
            Test.LEX_COMPARE: symbols.text,
            Test.INT_COMPARE: lambda value: _number(symbols.text(value)),
        }
        # What is counted comes first: for `low < high` the largest do.
        falling = [False] * len(chain.equal)
        falling += [compare in (Compare.LESS, Compare.LESS_EQUAL) for *_, compare in chain.steps]
        rest = [c for c in range(len(rows.columns)) if c not in columns]
        self._tests = [
            *zip(columns, tests, falling, strict=True),
            *((c, None, False) for c in rest),
        ]
        self.by = [By(column, values[test], down) for column, test, down in self._tests]
        self.width = len(columns)
        self._symbols = symbols
        self._crowded: set[int] = set()
        self._odd = 0
        relation = rows.all(symbols.universe())
        keys, counts = np.unique(relation.columns[0], return_counts=True)
        self._crowded.update(keys[counts > 1].tolist())
        self.ordered = Ordered(self.by, self._sorted(relation))

    def _sorted(self, relation: Relation) -> Table:
        keys = []
        for column, test, down in self._tests:
            ids = relation.columns[column].astype(np.int64)
            if test is not None:
                wanted, inverse = unique_inverse(relation.columns[column])
                if test == Test.INT_COMPARE:
                    odd = [not _is_plain(text) for text in self._symbols.texts(wanted)]
                    self._odd += int(np.count_nonzero(np.array(odd, bool)[inverse]))
                ids = value_ranks(self._symbols, test, wanted)[0][inverse]
            keys.append(-ids if down else ids)
        order = np.lexsort(keys[::-1])
        return np.stack([column[order] for column in relation.columns], axis=1)

    @property
    def is_plain(self) -> bool:
        """Whether each key has one row, and its numbers are written in one way."""
        return not self._crowded and not self._odd

    @property
    def is_hopeless(self) -> bool:
        return len(self._crowded) > MANY_CROWDED

    def move(self, row: Tuple) -> bool | None:
        """Follow a row that may have come or gone: whether it came; None if it did neither."""
        if len(self.rows.of(row[0])) > 1:
            self._crowded.add(row[0])
        else:
            self._crowded.discard(row[0])
        came = self.rows.has(row)
        if not (self.ordered.add(row) if came else self.ordered.discard(row)):
            return None
        numbers = [row[c] for c, test, _ in self._tests if test == Test.INT_COMPARE]
        odd = sum(not _is_plain(self._symbols.text(id)) for id in numbers)
        self._odd += odd if came else -odd
        return came


class Ranks:
    """The counts of one RANK, by key."""

    def __init__(self, symbols: Symbols, low: Rows, high: Rows, chain: Chain) -> None:
        self._symbols, self._chain = symbols, chain
        self._read = low, high
        self._sides: tuple[Side, Side] | None = None

    def forget(self) -> None:
        """The facts are others now: all is counted anew the next time."""
        self._sides = None

    def _build(self) -> None:
        (low, high), (lows, highs) = self._read, self._chain.sides()
        one = Side(low, self._chain, lows, self._symbols)
        same = low == high and lows == highs
        other = one if same else Side(high, self._chain, highs, self._symbols)
        self._sides = None if one.is_hopeless or other.is_hopeless else (one, other)

    def count(self, key: int) -> int | None:
        """How many rows there are before that of a key; None when nobody can tell."""
        if self._sides is None:
            self._build()  # what changed first is nothing that is counted
        if self._sides is None or not self._is_plain():
            return None
        low, high = self._sides
        for row in low.rows.of(key):
            wanted = low.ordered.key(row, low.width)
            first = high.ordered.place(wanted[: len(self._chain.equal)], after=False)
            return high.ordered.place(wanted, after=not self._chain.strict) - first
        return 0

    def move(self, changes: Mapping[int, Change], bounds: Collection[int]) -> set[int] | None:
        """The keys whose count went to a bound or from it; None when nobody can tell."""
        read = {rows.predicate for rows in self._read}
        if not read & changes.keys():
            return set()
        if self._sides is None:
            self._build()
            return None
        known = self._is_plain()
        found: set[int] = set()
        low, high = (self._changed(side, changes) for side in self._sides)
        if max(len(low), len(high)) > MANY:
            self.forget()
            return None
        for key in self._moved(low, high, bounds):
            found.add(key)
            if len(found) > MANY:
                self.forget()
                return None
        return found if known and self._is_plain() else None

    def _is_plain(self) -> bool:
        assert self._sides is not None
        return all(side.is_plain for side in self._sides)

    def _moved(
        self, lows: Iterable[Tuple], highs: Iterable[Tuple], bounds: Collection[int]
    ) -> Iterator[int]:
        assert self._sides is not None
        low, high = self._sides
        if low is not high:
            for row in lows:
                low.move(row)
                yield row[0]
        for row in highs:
            came = high.move(row)
            if low is high:
                yield row[0]
            if came is not None:
                for bound in bounds:
                    yield from self._past(row, came, bound)

    def _changed(self, side: Side, changes: Mapping[int, Change]) -> Collection[Tuple]:
        change = changes.get(side.rows.predicate)
        return () if change is None else side.rows.changed(change)

    def _past(self, row: Tuple, came: bool, bound: int) -> Iterator[int]:
        """The keys that a row took past a bound: those after it that have just so many now."""
        assert self._sides is not None
        low, high = self._sides
        now = bound if came else bound - 1
        if now < 0:
            return
        key = high.ordered.key(row, high.width)
        group = key[: len(self._chain.equal)]
        begin = max(self._first(group, now), low.ordered.place(key, after=self._chain.strict))
        yield from map(itemgetter(0), low.ordered.rows(begin, self._first(group, now + 1)))

    def _first(self, group: Sequence[object], count: int) -> int:
        """The place of the first row of a group that counts at least so many."""
        assert self._sides is not None
        low, high = self._sides
        if count <= 0:
            return low.ordered.place(group, after=False)
        place = high.ordered.place(group, after=False) + count - 1
        if place >= high.ordered.place(group, after=True):
            return low.ordered.place(group, after=True)
        (last,) = high.ordered.rows(place, place + 1)
        return low.ordered.place(high.ordered.key(last, high.width), after=self._chain.strict)


def _number(text: str) -> int:
    """What a decimal stands for; what is none is never asked for in this order."""
    digits = text.removeprefix("-")
    return integer(text) if digits.isascii() and digits.isdigit() else 0


def _is_plain(text: str) -> bool:
    """Whether a text is a decimal, and written as most would."""
    digits = text.removeprefix("-")
    if not (digits.isascii() and digits.isdigit()):
        return False
    return digits == text == "0" or not digits.startswith("0")
