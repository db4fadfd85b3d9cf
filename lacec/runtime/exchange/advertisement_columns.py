"""Hashes and advertisement records as columns of ids: no object is made until one is asked for.

In: the facts of a store, or advertisement records from a peer. Out: sets and claims that
the machine of an exchange takes like any other, and facts for an evaluation. Ids are those
of some symbols; two stores have their own, so that ids are carried from one to the other.
"""

from collections.abc import Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from functools import cached_property
from typing import NamedTuple

import numpy as np

from lacec.core.errors import FactError
from lacec.core.limits import Limits
from lacec.core.predicates import Predicate
from lacec.records.facts import FIELD, HAVE, record_facts
from lacec.records.record import Record
from lacec.runtime.interlace.advertisement import (
    SURELY_SHORT,
    Advertisement,
    Schema,
    advertise,
    fits,
)
from lacec.runtime.interlace.advertisements import Claims, LayeredClaims, Said
from lacec.runtime.interlace.facts import LINE_BYTES
from lacec.runtime.interlace.hashes import Ground, Grounded
from lacec.vm.arrays import among, members, unique
from lacec.vm.database import Database
from lacec.vm.relation import DENSE, Ids, Mask, Relation, Rows
from lacec.vm.sources import check_values
from lacec.vm.symbols import Symbols
from lacec.vm.text import Words, hash_slices, join_values

ADVERTISED = Predicate("Advertised", 2)
ADVERTISED_FIELD = Predicate("AdvertisedField", 5)

# A set makes all its texts for one that has more hashes than these to take from it, or when
# it was asked for a single hash as often as this share of its size.
_MODEST, _SELDOM = 1024, 16


class HashSet(Grounded):
    """Hashes as ids, ascending, none twice; their texts are made when they are asked for."""

    def __init__(self, symbols: Symbols, ids: Ids) -> None:
        self.symbols, self.ids = symbols, np.sort(ids)
        self._asked = 0  # how often for a single hash

    @cached_property
    def _texts(self) -> dict[str, None]:
        return dict.fromkeys(self.symbols.texts(self.ids))

    def __contains__(self, hash: object) -> bool:
        self._asked += 1
        if self._asked >= len(self) // _SELDOM or not isinstance(hash, str):
            return hash in self._texts
        ordered, places = self._index
        (wanted,) = hash_slices(*join_values([hash.encode("utf-8")]))
        first, last = (int(np.searchsorted(ordered, wanted, side)) for side in ("left", "right"))
        return hash in self.symbols.texts(self.ids[places[first:last]])

    @cached_property
    def _index(self) -> tuple[Words, Rows]:
        """The hash of each text, ascending, and which one it is. It needs nothing of the
        symbols that changes: another thread may be adding to them."""
        hashes = hash_slices(*self.symbols.slices(self.ids))
        places = np.argsort(hashes)
        return hashes[places], places

    def __iter__(self) -> Iterator[str]:
        return iter(self._texts)

    def __len__(self) -> int:
        return len(self.ids)

    def __sub__(self, other: AbstractSet[object]) -> AbstractSet[str]:
        if isinstance(other, Grounded) or len(other) <= _MODEST:
            return super().__sub__(other)
        return self._texts.keys() - other

    def minus(self, other: AbstractSet[str]) -> AbstractSet[str]:
        if not isinstance(other, HashSet):
            return super().minus(other)
        # Ids below that number mean the same in both, and all others are of other texts.
        shared = self.symbols.shared(other.symbols)
        here, there = (int(np.searchsorted(each.ids, shared)) for each in (self, other))
        low = self.ids[:here][~among(self.ids[:here], other.ids[:there])]
        high = self.ids[here:]
        if there < len(other.ids):
            texts = set(other.symbols.texts(other.ids[there:]))
            high = high[[text not in texts for text in self.symbols.texts(high)]]
        return HashSet(self.symbols, np.concatenate((low, high)))


def flattened(some: Grounded) -> HashSet:
    """A set that differs from a HashSet by a few, as one of its own."""
    ground = some.ground.hashes
    assert isinstance(ground, HashSet)
    gone, more = (np.sort(ground.symbols.intern_all(few)) for few in (some.gone, some.more))
    left = ground.ids[~among(ground.ids, gone)]
    return HashSet(ground.symbols, np.concatenate((left, more)))


def find_ids(hashes: AbstractSet[str], symbols: Symbols) -> Ids:
    """The ids that hashes have in these symbols, ascending."""
    if isinstance(hashes, HashSet):
        return np.sort(carry([hashes.ids], hashes.symbols, symbols)[0])
    return np.sort(symbols.intern_all(sorted(hashes)))


def carry(columns: list[Ids], origin: Symbols, target: Symbols) -> list[Ids]:
    """Columns of ids of one table as ids of another, which gets the values that it lacks."""
    most = max((int(column.max(initial=-1)) for column in columns), default=-1)
    shared = origin.shared(target)
    if most < shared:
        return columns
    if most < DENSE * sum(map(len, columns)):
        marks = np.zeros(most + 1, bool)
        for column in columns:
            marks[column] = True
        marks[:shared] = False
        numbers = np.arange(most + 1, dtype=np.int32)
        numbers[marks] = _intern(numbers[marks], origin, target)
        return [numbers[column] for column in columns]
    wanted = unique(np.concatenate([column[column >= shared] for column in columns]))
    ids, found = _intern(wanted, origin, target), [column.copy() for column in columns]
    for column in found:
        new = column >= shared
        column[new] = ids[np.searchsorted(wanted, column[new])]
    return found


def _intern(wanted: Ids, origin: Symbols, target: Symbols) -> Ids:
    """The ids in one table of values of another, none twice."""
    data, starts, ends = origin.slices(wanted)
    return target.intern_hashed(data, starts, ends, hash_slices(data, starts, ends))


class Fields(NamedTuple):
    """The fields of many records: the row of each one's record, its name, index and value."""

    rows: Rows
    names: Ids
    indexes: Ids
    values: Ids


def _in_order(fields: Fields) -> list[Rows]:
    order = np.lexsort(fields[::-1])
    return [column[order] for column in fields]


class Columns(Claims):
    """Advertisement records as columns; all ids are of `symbols`, and hashes ascend."""

    def __init__(self, symbols: Symbols, hashes: Ids, sources: Ids, fields: Fields) -> None:
        self.symbols, self.ids, self.sources, self.fields = symbols, hashes, sources, fields
        self._hashes = HashSet(symbols, hashes)

    def objects(self) -> Mapping[str, Advertisement]:
        return self._objects

    @cached_property
    def _objects(self) -> dict[str, Advertisement]:
        rows, *columns = self.fields
        names, indexes, values = map(self.symbols.texts, columns)
        claimed: list[list[tuple[str, int, str]]] = [[] for _ in self.ids]
        for row, name, index, value in zip(rows.tolist(), names, indexes, values, strict=True):
            claimed[row].append((name, int(index), value))
        texts = self.symbols.texts
        return {
            hash: advertise(hash, source, fields)
            for hash, source, fields in zip(self.hashes, texts(self.sources), claimed, strict=True)
        }

    @property
    def hashes(self) -> AbstractSet[str]:
        return self._hashes

    def __eq__(self, other: object) -> bool:
        if self is other or not isinstance(other, Columns):
            return self is other or super().__eq__(other)
        if len(self) != len(other) or len(self.fields.rows) != len(other.fields.rows):
            return False
        there = other.over(self.symbols)
        return (
            np.array_equal(self.ids, there.ids)
            and np.array_equal(self.sources, there.sources)
            and all(map(np.array_equal, _in_order(self.fields), _in_order(there.fields)))
        )

    __hash__ = None

    def over(self, symbols: Symbols) -> "Columns":
        """The same claims with ids of other symbols."""
        return _ordered(symbols, *self._carried(symbols))

    def _carried(self, symbols: Symbols) -> tuple[Ids, Ids, Fields]:
        rows, *named = self.fields
        hashes, sources, *named = carry([self.ids, self.sources, *named], self.symbols, symbols)
        return hashes, sources, Fields(rows, *named)

    @cached_property
    def ground(self) -> Ground:
        return self._hashes.ground

    def __getitem__(self, hash: str) -> Advertisement:
        if hash not in self._hashes:
            raise KeyError(hash)
        return self._where(among(self.ids, find_ids({hash}, self.symbols))).objects()[hash]

    def without(self, gone: AbstractSet[str]) -> "Columns":
        return self._where(~among(self.ids, find_ids(gone, self.symbols)))

    def _where(self, mask: Mask) -> "Columns":
        place = np.cumsum(mask) - 1
        rows = self.fields.rows
        rows, *named = (column[mask[rows]] for column in self.fields)
        return Columns(
            self.symbols, self.ids[mask], self.sources[mask], Fields(place[rows], *named)
        )

    def joined(self, more: Claims) -> "Columns":
        more = as_columns(more)
        # Over the symbols of what came later: those of the store as it is now.
        here = self.over(more.symbols)
        here = here._where(~among(here.ids, more.ids))
        rows = np.concatenate((here.fields.rows, more.fields.rows + len(here)))
        named = map(np.concatenate, zip(here.fields[1:], more.fields[1:], strict=True))
        return _ordered(
            more.symbols,
            np.concatenate((here.ids, more.ids)),
            np.concatenate((here.sources, more.sources)),
            Fields(rows, *named),
        )

    @cached_property
    def said(self) -> Said:
        texts = self.symbols.texts
        return Said(set(texts(unique(self.sources))), set(texts(unique(self.fields.names))))

    def add_to(self, database: Database, limits: Limits) -> None:
        """Give the facts to a database that has no advertisements."""
        hashes, sources, (rows, *named) = self._carried(database.symbols)
        # What is advertised fits in a line, and so in most limits.
        if limits.value_bytes < LINE_BYTES and self.longest > limits.value_bytes:
            raise FactError(
                f"a value that the peer advertises has {self.longest} bytes, over the limit "
                f"value_bytes of {limits.value_bytes}"
            )
        database.add_set(ADVERTISED, [hashes, sources])
        database.add_set(ADVERTISED_FIELD, [hashes[rows], sources[rows], *named])

    @cached_property
    def longest(self) -> int:
        """The bytes of the longest value."""
        columns = (self.ids, self.sources, *self.fields[1:])
        return max(int(_lengths(self.symbols, column).max(initial=0)) for column in columns)


def _ordered(symbols: Symbols, hashes: Ids, sources: Ids, fields: Fields) -> Columns:
    """Columns of hashes in any order."""
    order = np.argsort(hashes)
    place = np.empty(len(order), np.intp)
    place[order] = np.arange(len(order))
    rows, *named = fields
    return Columns(symbols, hashes[order], sources[order], Fields(place[rows], *named))


def _lengths(symbols: Symbols, ids: Ids) -> Rows:
    _, starts, ends = symbols.slices(ids)
    return ends - starts


def columns_of(claims: Claims, limits: Limits) -> Columns:
    """Claims of a peer as columns; FactError if one is no value."""
    if isinstance(claims, LayeredClaims):
        columns_of(claims.below, limits)
        _check(claims.more.values(), limits)
    elif not isinstance(claims, Columns) and claims.columns is None:
        _check(claims.values(), limits)
    return as_columns(claims)


def _check(records: Iterable[Advertisement], limits: Limits) -> None:
    check_values([value for each in records for _, *fact in each.facts() for value in fact], limits)


def as_columns(claims: Claims) -> Columns:
    """Claims as columns, over symbols of their own if they are objects; made once."""
    if isinstance(claims, Columns):
        return claims
    if isinstance(claims, LayeredClaims):
        below = as_columns(claims.below).without(claims.gone)
        return below.joined(as_columns(Claims(claims.more.values())).over(below.symbols))
    if claims.columns is None:
        claims.columns = _columns_of_objects(list(claims.values()))
    assert isinstance(claims.columns, Columns)
    return claims.columns


def _columns_of_objects(records: list[Advertisement]) -> Columns:
    symbols = Symbols()
    fields = [field for record in records for field in record.fields]
    rows = np.repeat(np.arange(len(records)), [len(record.fields) for record in records])
    return Columns(
        symbols,
        symbols.intern_all(record.hash for record in records),
        symbols.intern_all(record.source for record in records),
        Fields(
            rows,
            symbols.intern_all(field.name for field in fields),
            symbols.intern_all(str(field.nth) for field in fields),
            symbols.intern_all(field.value for field in fields),
        ),
    )


def describe(database: Database, hashes: AbstractSet[str], source: str, schema: Schema) -> Columns:
    """The advertisement records of those hashes that a store has, from its facts."""
    symbols, field = database.symbols, database.relation(FIELD)
    wanted = find_ids(hashes, symbols)
    wanted = wanted[members(wanted, database.relation(HAVE).columns[0])]
    row_of = np.full(len(symbols), -1, np.int32)
    row_of[wanted] = np.arange(len(wanted), dtype=np.int32)
    names = [symbols.find(name) for name in sorted(schema.names)]
    named = [field.part([(1, name)], ()) for name in names if name >= 0]
    parts = []
    for part in [field] if schema.every else named:
        here = part.where(row_of[part.columns[0]] >= 0)
        parts.append(here.where(_fitting(symbols, here, source)))
    columns = [np.concatenate(each) for each in zip(*(part.columns for part in parts), strict=True)]
    records, *rest = columns or [np.empty(0, np.int32)] * FIELD.arity
    sources = np.broadcast_to(np.int32(symbols.intern(source)), len(wanted))
    return Columns(symbols, wanted, sources, Fields(row_of[records], *rest))


def describe_record(record: Record, source: str, schema: Schema) -> Advertisement:
    """The advertisement record of one record."""
    fields = [values for predicate, values in record_facts(record) if predicate == FIELD]
    claimed = [
        (name, int(nth), value)
        for _, name, nth, value in fields
        if name in schema and fits(record.hash, source, name, nth, value)
    ]
    return advertise(record.hash, source, claimed)


def _fitting(symbols: Symbols, fields: Relation, source: str) -> Mask:
    """Which fields have a line that is not too long (D22)."""
    _, names, _, values = fields.columns
    keep = _lengths(symbols, names) + _lengths(symbols, values) <= SURELY_SHORT
    for row in np.flatnonzero(~keep).tolist():
        hash, name, index, value = symbols.texts(np.array([c[row] for c in fields.columns]))
        keep[row] = fits(hash, source, name, index, value)
    return keep
