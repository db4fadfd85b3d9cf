"""The growing relation of a recursive predicate: what is new in a round, and what there is.

A tuple is new when its round first makes it, and then belongs to all. For each
arity there is a way to know what was seen: a mark for each id, sorted runs of
packed pairs that are merged as they grow, or rows compared as a whole.
"""

import numpy as np
import numpy.typing as npt

from lacec.vm.arrays import members, unique
from lacec.vm.kernels import Packed, concatenate, distinct, pack, unpack
from lacec.vm.relation import Ids, Relation


class Growing:
    """One predicate of a recursive group while its rounds run."""

    def __init__(self, arity: int, universe: int) -> None:
        self.arity = arity
        self.universe = universe
        self.last = Relation([np.empty(0, np.int32)] * arity, 0)
        self.size = 0
        self.ends: list[int] = []  # the size after each round: rows stand in the order of rounds
        self._rounds: list[Relation] = []
        self._marks: npt.NDArray[np.bool_] | None = None
        self._pairs: Pairs | None = Pairs(universe) if arity == 2 else None
        self._runs: list[Packed] = []

    @property
    def all(self) -> Relation:
        """Everything up to the last round; made when first asked for in a round."""
        whole = concatenate(self._rounds, self.arity)
        self._rounds = [whole]
        return whole

    def grow(self, made: list[Relation]) -> int:
        """Take what a round made; `last` becomes what was not there before."""
        found = concatenate(made, self.arity)
        self.last = self._new(found) if found.size else found
        if self.last.size:
            self._rounds.append(self.last)
            self.size += self.last.size
        self.ends.append(self.size)
        return self.last.size

    def _new(self, found: Relation) -> Relation:
        if self.arity == 1:
            return self._new_values(found)
        return self._new_pairs(found) if self.arity == 2 else self._new_rows(found)

    def _new_values(self, found: Relation) -> Relation:
        if self._marks is None:
            self._marks = np.zeros(self.universe, bool)
        values = found.columns[0]
        values = unique(values[~self._marks[values]])
        self._marks[values] = True
        return Relation([values])

    def _new_pairs(self, found: Relation) -> Relation:
        if self._pairs is not None:
            fresh = self._pairs.add(found)
            if fresh is not None:
                return fresh
            # Too many values for a table of all pairs: sorted runs from here on.
            self._pairs = None
            if self.size:
                self._runs = [unique(pack(self.all.columns))]
        packed = unique(pack(found.columns))
        for run in self._runs:
            at = np.searchsorted(run, packed)
            at[at == len(run)] = 0
            packed = packed[run[at] != packed]
        if len(packed):
            self._runs.append(packed)
            while len(self._runs) > 1 and len(self._runs[-2]) < 2 * len(self._runs[-1]):
                merged = np.concatenate((self._runs.pop(), self._runs.pop()))
                merged.sort(kind="stable")
                self._runs.append(merged)
        return unpack(packed)

    def _new_rows(self, found: Relation) -> Relation:
        fresh = distinct(found, self.universe)
        if not fresh.columns:
            return fresh if not self.size else Relation((), 0)
        if not self.size:
            return fresh
        both = pack(
            [np.concatenate(pair) for pair in zip(self.all.columns, fresh.columns, strict=True)]
        )
        return fresh.where(~members(both[self.size :], both[: self.size]))


class Pairs:
    """A mark for every pair of the values seen so far, which are numbered as they come."""

    LARGEST = 13  # at most 2**13 values, 64 MiB of marks

    def __init__(self, universe: int) -> None:
        # One more than the number of each value. Zeros, because pages of zeros cost nothing
        # until they are touched, and few values of a large universe are.
        self._numbers = np.zeros(universe, np.int32)
        self._values = np.empty(0, np.int32)
        self._bits = 6
        self._marks = np.zeros(1 << 2 * self._bits, bool)

    def add(self, found: Relation) -> Relation | None:
        """The pairs that are new; None when there are too many values to go on."""
        one, other = (self._number(column) for column in found.columns)
        if one is None or other is None:
            return None
        codes = one << self._bits
        codes += other
        codes = unique(codes.take(np.flatnonzero(self._marks.take(codes) == 0)))
        self._marks[codes] = True
        low = (1 << self._bits) - 1
        return Relation([self._values.take(codes >> self._bits), self._values.take(codes & low)])

    def _number(self, values: Ids) -> Ids | None:
        """The number of each value; those that have none get one, and room for their pairs."""
        numbers = self._numbers.take(values)
        if numbers.all():
            numbers -= 1
            return numbers
        fresh = unique(values[numbers == 0])
        count = len(self._values) + len(fresh)
        if count > 1 << self.LARGEST:
            return None
        self._numbers[fresh] = np.arange(len(self._values) + 1, count + 1, dtype=np.int32)
        self._values = np.concatenate((self._values, fresh))
        bits = max(self._bits, (count - 1).bit_length())
        if bits > self._bits:
            marks = np.zeros((1 << bits, 1 << bits), bool)
            side = 1 << self._bits
            marks[:side, :side] = self._marks.reshape(side, side)
            self._bits, self._marks = bits, marks.reshape(-1)
        return self._numbers.take(values) - 1
