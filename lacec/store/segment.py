"""Segments: the facts of a range of records, in the layout that the machine wants.

A segment is arrays: the strings that no segment before it has, the record ids, and the
columns of each predicate. `Field` and `RecordLink` stand sorted by name, so that the
fields of one name are one slice of each column. What a segment holds follows from the
record bytes alone: built at once, or merged from others, its arrays are the same.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from lacec.core.predicates import Predicate
from lacec.records.facts import BLOB_HASH, FIELD, HAVE, PLEX_HASH, RECORD_LINK
from lacec.vm.arrays import members
from lacec.vm.layers import ARRAYS, Layer, merge_layers
from lacec.vm.relation import Ids, Rows

Array = npt.NDArray[Any]
RecordIds = npt.NDArray[np.int64]

PREDICATES = (HAVE, FIELD, RECORD_LINK, BLOB_HASH, PLEX_HASH)
# The predicates that are sorted by the values of a column, and which column that is.
NAMED = {FIELD: 1, RECORD_LINK: 1}


class DamagedError(Exception):
    """Bytes of a segment's file are not those that were written."""


class Source(Protocol):
    """Where the arrays of a segment are."""

    def slice(self, name: str, low: int, high: int | None) -> Array:
        """The items of an array from one to another; DamagedError if they are not sound."""


class Memory:
    """Arrays that were just made."""

    def __init__(self, arrays: Mapping[str, Array]) -> None:
        self.arrays = arrays

    def slice(self, name: str, low: int, high: int | None) -> Array:
        return self.arrays[name][low:high]


class Segment:
    """`counts` holds the size of each predicate; `longest` the bytes of the longest string."""

    def __init__(
        self,
        first: int,
        last: int,
        strings: tuple[int, int],
        counts: Mapping[Predicate, int],
        longest: int,
        source: Source,
        rebuild: "Callable[[], Segment] | None" = None,
    ) -> None:
        self.first, self.last = first, last
        self.counts, self.longest = counts, longest
        self.source = source
        self._rebuild = rebuild
        self.layer = Layer(*strings, lambda name: self.array(f"strings.{name}"))

    def array(self, name: str, low: int = 0, high: int | None = None) -> Array:
        """A part of an array. If its file turns out to be damaged, everything is rebuilt."""
        try:
            return self.source.slice(name, low, high)
        except DamagedError:
            if self._rebuild is None:
                raise
            self.source = self._rebuild().source
            return self.source.slice(name, low, high)

    @property
    def record_ids(self) -> RecordIds:
        """The StoreRecordId of each record, ascending."""
        return self.array("records")

    @property
    def have(self) -> Ids:
        """The string of each record's hash, in the order of `record_ids`."""
        return self.array("Have.0")

    def columns(self, predicate: Predicate) -> list[Ids]:
        """All facts of a predicate."""
        named = NAMED.get(predicate)
        found = []
        for column in range(predicate.arity):
            if column == named:
                starts = self.array(f"{predicate.name}.starts")
                found.append(np.repeat(self.array(f"{predicate.name}.names"), np.diff(starts)))
            else:
                found.append(self.array(f"{predicate.name}.{column}"))
        return found

    def columns_named(self, predicate: Predicate, name: int) -> list[Ids]:
        """The facts of a predicate that have this name; the name is a column without memory."""
        names = self.array(f"{predicate.name}.names")
        at = int(np.searchsorted(names, name))
        low = high = 0
        if at < len(names) and names[at] == name:
            low, high = self.array(f"{predicate.name}.starts", at, at + 2).tolist()
        return [
            np.broadcast_to(np.int32(name), high - low)
            if column == NAMED[predicate]
            else self.array(f"{predicate.name}.{column}", low, high)
            for column in range(predicate.arity)
        ]

    def arrays(self) -> dict[str, Array]:
        """Every array by name: what a file holds."""
        names = [f"strings.{name}" for name in ARRAYS] + ["records"]
        for predicate in PREDICATES:
            if predicate in NAMED:
                names += [f"{predicate.name}.names", f"{predicate.name}.starts"]
            columns = (c for c in range(predicate.arity) if c != NAMED.get(predicate))
            names += [f"{predicate.name}.{column}" for column in columns]
        return {name: self.array(name) for name in names}


def make_segment(
    first: int,
    last: int,
    layer: Layer,
    record_ids: RecordIds,
    facts: Mapping[Predicate, Sequence[Ids]],
) -> Segment:
    """A segment in memory; facts in the order of their records."""
    arrays: dict[str, Array] = {f"strings.{name}": layer.load(name) for name in ARRAYS}
    arrays["records"] = record_ids
    for predicate, given in facts.items():
        named, columns = NAMED.get(predicate), given
        if named is not None:
            order = np.argsort(columns[named], kind="stable")
            columns = [column[order] for column in columns]
            names = columns[named]
            starts = np.flatnonzero(np.diff(names, prepend=-1))
            arrays[f"{predicate.name}.names"] = names[starts]
            arrays[f"{predicate.name}.starts"] = np.append(starts, len(names)).astype(np.int64)
        for number, column in enumerate(columns):
            if number != named:
                arrays[f"{predicate.name}.{number}"] = column
    counts = {predicate: len(columns[0]) for predicate, columns in facts.items()}
    longest = int(np.diff(layer.offsets).max(initial=0))
    return Segment(first, last, (layer.first, layer.count), counts, longest, Memory(arrays))


def merge(low: Segment, high: Segment) -> Segment:
    """Two segments, one after the other, as one; nothing is parsed, no id changes."""
    record_ids, facts = low.record_ids, {p: low.columns(p) for p in PREDICATES}
    again = members(low.have, high.have)
    if again.any():
        # A record that was removed and came back: only its later self has facts.
        gone = low.have[again]
        record_ids = record_ids[~again]
        facts = {p: _without(columns, gone) for p, columns in facts.items()}
    both = {
        predicate: [
            np.concatenate(pair)
            for pair in zip(facts[predicate], high.columns(predicate), strict=True)
        ]
        for predicate in PREDICATES
    }
    return make_segment(
        low.first,
        high.last,
        merge_layers(low.layer, high.layer),
        np.concatenate((record_ids, high.record_ids)),
        both,
    )


def _without(columns: Sequence[Ids], records: Ids) -> list[Ids]:
    rows: Rows = np.flatnonzero(~members(columns[0], records))
    return [column[rows] for column in columns]
