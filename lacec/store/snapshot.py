"""Snapshots: the facts of a store as they were at one moment, ready to evaluate over.

A snapshot never changes and holds no transaction. Its relations are made from the
segments when a program reads them, each name of `Field` and `RecordLink` apart, and are
shared by all databases of the snapshot.
"""

from collections.abc import Sequence
from functools import cached_property, partial

import numpy as np

from lacec.core.errors import FactError
from lacec.core.limits import DEFAULT_LIMITS, Limits
from lacec.core.predicates import Predicate
from lacec.records.facts import HAVE
from lacec.store.segment import NAMED, PREDICATES, RecordIds, Segment
from lacec.vm.arrays import among, unique
from lacec.vm.database import Database
from lacec.vm.lazy import LazyRelation, SplitRelation
from lacec.vm.relation import Ids, Relation
from lacec.vm.symbols import Symbols


class Snapshot:
    """`last` is the StoreRecordId of the last record it can have."""

    def __init__(
        self, segments: Sequence[Segment], removed: RecordIds, last: int, generation: int
    ) -> None:
        self.segments = tuple(segments)
        self.last = last
        self.generation = generation
        self.removed = removed
        self._gone = [_gone(segment, removed) for segment in segments]

    def database(self, limits: Limits = DEFAULT_LIMITS) -> Database:
        """A database of the record facts, to which others may be added for one evaluation.

        FactError if a value is longer than the limit (020).
        """
        self.check_values(limits)
        return Database(Symbols([segment.layer for segment in self.segments]), self._relations)

    def count(self, predicate: Predicate = HAVE) -> int:
        """How many facts a predicate has."""
        return self._relations[predicate].size

    @cached_property
    def _relations(self) -> dict[Predicate, Relation]:
        found: dict[Predicate, Relation] = {}
        for predicate in PREDICATES:
            size = sum(
                self._size(segment, gone, predicate)
                for segment, gone in zip(self.segments, self._gone, strict=True)
            )
            make = partial(self._columns, predicate, None)
            if predicate in NAMED:
                pick = partial(self._part, predicate)
                found[predicate] = SplitRelation(size, make, NAMED[predicate], pick)
            else:
                found[predicate] = LazyRelation(size, make)
        return found

    def _size(self, segment: Segment, gone: Ids, predicate: Predicate) -> int:
        size = segment.counts[predicate]
        if len(gone) and size:
            size -= int(np.count_nonzero(among(segment.array(f"{predicate.name}.0"), gone)))
        return size

    def _part(self, predicate: Predicate, name: int) -> Relation:
        return Relation(self._columns(predicate, name))

    def _columns(self, predicate: Predicate, name: int | None) -> list[Ids]:
        """The facts of a predicate, perhaps only those with one name, of records not removed."""
        pieces: list[list[Ids]] = []
        for segment, gone in zip(self.segments, self._gone, strict=True):
            if name is None:
                columns = segment.columns(predicate)
            else:
                columns = segment.columns_named(predicate, name)
            if len(gone):
                rows = np.flatnonzero(~among(columns[0], gone))
                columns = [column[rows] for column in columns]
            if len(columns[0]):
                pieces.append(columns)
        if not pieces:
            return [np.empty(0, np.int32)] * predicate.arity
        if len(pieces) == 1:
            return pieces[0]
        return [
            np.broadcast_to(np.int32(name), sum(len(piece[0]) for piece in pieces))
            if name is not None and column == NAMED[predicate]
            else np.concatenate([piece[column] for piece in pieces])
            for column in range(predicate.arity)
        ]

    def check_values(self, limits: Limits) -> None:
        """FactError if a value is longer than the limit (020)."""
        if max((segment.longest for segment in self.segments), default=0) <= limits.value_bytes:
            return
        # The long value may be that of a record that was removed.
        symbols = Symbols([segment.layer for segment in self.segments])
        for predicate in PREDICATES:
            for column in self._columns(predicate, None):
                _, starts, ends = symbols.slices(unique(column))
                longest = int((ends - starts).max(initial=0))
                if longest > limits.value_bytes:
                    raise FactError(
                        f"a value of {predicate} in the store has {longest} bytes, over the "
                        f"limit value_bytes of {limits.value_bytes}"
                    )


def _gone(segment: Segment, removed: RecordIds) -> Ids:
    """The strings of the removed records of a segment, sorted."""
    here = removed[(removed >= segment.first) & (removed <= segment.last)]
    if not len(here):
        return np.empty(0, np.int32)
    return np.sort(segment.have[among(segment.record_ids, np.sort(here))])
