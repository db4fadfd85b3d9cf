"""From the facts of records to a segment: their values are interned.

Strings are numbered in the order in which the facts of the records first name them, so
that the same records give the same ids however they are cut into segments.
"""

from collections.abc import Iterable, Sequence
from itertools import islice

import numpy as np

from lacec.core.errors import StoreError
from lacec.records.facts import HAVE, Fact
from lacec.store.segment import PREDICATES, Segment, make_segment
from lacec.vm.layers import Layer
from lacec.vm.relation import Ids, Rows
from lacec.vm.symbols import Symbols
from lacec.vm.text import join_values

# How many records are encoded together.
_CHUNK = 4096
# Ids have 32 bits, and evaluations add constants of their own.
_MOST_STRINGS = 2**31 - 2**26
_NUMBERS = {predicate: number for number, predicate in enumerate(PREDICATES)}
_ARITIES = np.array([predicate.arity for predicate in PREDICATES])


def build_segment(
    first: int, last: int, records: Iterable[tuple[int, Sequence[Fact]]], below: Sequence[Layer]
) -> Segment:
    """The segment of the records from one StoreRecordId to another, in ascending order."""
    symbols = Symbols(below)
    record_ids: list[int] = []
    ids: list[Ids] = []
    kinds: list[Rows] = []
    owners: list[Rows] = []
    source = iter(records)
    while chunk := list(islice(source, _CHUNK)):
        values: list[str] = []
        numbers: list[int] = []
        sizes: list[int] = []
        for _, facts in chunk:
            sizes.append(len(facts))
            for predicate, row in facts:
                numbers.append(_NUMBERS[predicate])
                values += row
        places = np.arange(len(record_ids), len(record_ids) + len(chunk))
        record_ids += [id for id, _ in chunk]
        ids.append(_intern(symbols, values))
        if len(symbols) > _MOST_STRINGS:
            raise StoreError(f"a store has at most {_MOST_STRINGS:,} different values")
        kinds.append(np.array(numbers, np.intp))
        owners.append(np.repeat(places, sizes))
    table = _Facts(_joined(ids, np.int32), _joined(kinds, np.intp), _joined(owners, np.intp))
    numbers_kept = np.array(record_ids, np.int64)
    have = table.columns(_NUMBERS[HAVE])[0]
    latest = _latest(have)
    if not latest.all():
        # A record that was removed and came back: only its later self has facts.
        numbers_kept = numbers_kept[latest]
        table.keep(latest)
    found = {predicate: table.columns(number) for number, predicate in enumerate(PREDICATES)}
    return make_segment(first, last, symbols.frozen(), numbers_kept, found)


def _intern(symbols: Symbols, values: list[str]) -> Ids:
    """The ids of texts; what is new is found again by its hash, and makes no dict grow."""
    different = dict.fromkeys(values, 0)
    ids = symbols.intern_slices(*join_values([text.encode("utf-8") for text in different]))
    number = dict(zip(different, ids.tolist(), strict=True))
    return np.fromiter(map(number.__getitem__, values), np.int32, len(values))


class _Facts:
    """Facts of all predicates, one after the other, as a flat row of ids."""

    def __init__(self, ids: Ids, kinds: Rows, owners: Rows) -> None:
        self._ids, self._kinds, self._owners = ids, kinds, owners
        arities = _ARITIES[kinds]
        self._starts = np.cumsum(arities) - arities

    def columns(self, kind: int) -> list[Ids]:
        starts = self._starts[self._kinds == kind]
        return [self._ids[starts + column] for column in range(PREDICATES[kind].arity)]

    def keep(self, records: Rows) -> None:
        """Forget the facts of the records that are not marked."""
        rows = np.flatnonzero(records[self._owners])
        self._kinds, self._starts = self._kinds[rows], self._starts[rows]


def _latest(have: Ids) -> Rows:
    """Which records do not occur again after."""
    latest = np.zeros(len(have), bool)
    order = np.argsort(have, kind="stable")
    latest[order] = np.diff(have[order], append=-1) != 0
    return latest


def _joined(pieces: Sequence[Rows], type: type) -> Rows:
    return np.concatenate(pieces) if pieces else np.empty(0, type)
