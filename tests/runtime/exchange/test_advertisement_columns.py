"""Columns: the same sets and claims as objects would be, whatever ids stand for them."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lacec.core.errors import FactError
from lacec.core.limits import DEFAULT_LIMITS
from lacec.records.facts import FIELD, HAVE, record_facts
from lacec.records.record import Record
from lacec.runtime.exchange.advertisement_columns import (
    ADVERTISED,
    ADVERTISED_FIELD,
    Columns,
    HashSet,
    carry,
    columns_of,
    describe,
)
from lacec.runtime.interlace.advertisement import Advertisement, ClaimedField, Schema, advertise
from lacec.runtime.interlace.advertisements import Claims, Listing, claims_of
from lacec.runtime.interlace.facts import LINE_BYTES
from lacec.store.store import Store
from lacec.vm.database import Database
from lacec.vm.symbols import Symbols
from tests.helpers import examples
from tests.runtime.interlace.solo import plex
from tests.simulation.policies import library
from tests.simulation.shelf import MemoryShelf

EVERY = Schema(every=True)
TYPE = Schema(frozenset(("Type", "Nobody-Has-This")))
SOURCE = "V.x.H3"


def hashes_of(records: Sequence[Record]) -> frozenset[str]:
    return frozenset(record.hash for record in records)


def database_of(records: Sequence[Record]) -> Database:
    shelf = MemoryShelf()
    shelf.add(records)
    return shelf.snapshot().database()


def claim(record: Record, schema: Schema) -> Advertisement:
    """An advertisement record by the book."""
    fields = [values for predicate, values in record_facts(record) if predicate == FIELD]
    chosen = [(name, int(nth), value) for _, name, nth, value in fields if name in schema]
    return advertise(record.hash, SOURCE, chosen)


# Sets of hashes.


@given(st.sets(st.text("abc", max_size=3)), st.sets(st.text("abc", max_size=3)), st.booleans())
@examples(200)
def test_a_set_of_hashes_is_a_set(one: set[str], other: set[str], together: bool) -> None:
    """Whether the ids of both are of one table or of two."""
    symbols = Symbols()
    symbols.intern_all(["b", "a"])
    left = HashSet(symbols, symbols.intern_all(one))
    there = symbols if together else Symbols()
    right = HashSet(there, there.intern_all(other))
    assert left == one
    assert right == other
    assert (left == right) == (one == other)
    assert left - right == one - other
    assert left - other == one - other
    assert left | right == one | other
    assert left & right == one & other
    assert len(left) == len(one)
    assert set(left) == one
    assert ("a" in left) == ("a" in one)


def test_what_nothing_is_taken_from_stays_the_same_object() -> None:
    symbols = Symbols()
    some = HashSet(symbols, symbols.intern_all(["a", "b"]))
    assert some - frozenset() is some
    assert some - HashSet(symbols, symbols.intern_all(["c"])) is some


@given(st.lists(st.text("abé", max_size=4)), st.lists(st.text("abé", max_size=4)), st.booleans())
@examples(200)
def test_ids_carried_to_another_table_are_the_same_values(
    values: list[str], there: list[str], far: bool
) -> None:
    origin, target = Symbols(), Symbols()
    if far:  # so that a table over all ids does not pay
        origin.intern_all([f"filler {n}" for n in range(500)])
    ids = origin.intern_all(values)
    target.intern_all(there)
    found, again = carry([ids, ids[::-1]], origin, target)
    assert target.texts(found) == values
    assert target.texts(again) == values[::-1]


def test_ids_of_layers_that_both_have_stay_as_they_are(tmp_path: Path) -> None:
    with Store.create(tmp_path / "store") as store:
        store.add([plex("a")])
        snapshot = store.snapshot()
        one, other = snapshot.database().symbols, snapshot.database().symbols
        ids = np.arange(len(one), dtype=np.int32)
        own = one.intern_all(["new"])
        assert carry([ids], one, other)[0] is ids
        assert other.texts(carry([own], one, other)[0]) == ["new"]


# Advertisement records.


@pytest.mark.parametrize("schema", [EVERY, TYPE, Schema()])
def test_a_store_describes_its_records_by_the_book(tmp_path: Path, schema: Schema) -> None:
    records = library()[:40]
    with Store.create(tmp_path / "store") as store:
        for low in range(0, 40, 10):
            store.add(records[low : low + 10])
            store.settle()
        wanted = hashes_of(records[5:]) | {plex("not here").hash}
        found = describe(store.snapshot().database(), wanted, SOURCE, schema)
    assert found == {record.hash: claim(record, schema) for record in records[5:]}
    assert found == Claims(claim(record, schema) for record in records[5:])
    assert found.said.sources == {SOURCE}
    assert found.said.names == Claims(found.values()).said.names


def test_records_that_are_gone_are_not_described() -> None:
    found = describe(database_of([plex("a")]), frozenset((plex("b").hash,)), SOURCE, EVERY)
    assert len(found) == 0
    assert list(Listing(found)) == []
    assert Listing(found) == ()


def test_d22_a_fact_whose_line_would_be_too_long_is_left_out() -> None:
    """The longest value that fits, one more, and one that is surely short."""
    hash = plex("a").hash
    line = Advertisement(hash, SOURCE, (ClaimedField("X", 0, ""),)).canonical.split(b"\n")[1]
    room = LINE_BYTES - len(line)
    for size, fitting in ((300, True), (room, True), (room + 1, False)):
        database = Database()
        symbols, text = database.symbols, "x" * size
        database.add(FIELD, [symbols.intern_all([v]) for v in (hash, "X", "0", text)])
        database.add(HAVE, [symbols.intern_all([hash])])
        found = describe(database, frozenset((hash,)), SOURCE, EVERY)
        assert bool(found[hash].fields) == fitting


@given(st.lists(st.sampled_from(library()), unique_by=lambda record: record.hash))
@examples(30)
def test_columns_and_objects_give_the_same_facts(records: list[Record]) -> None:
    described = describe(database_of(library()), hashes_of(records), SOURCE, EVERY)
    objects = columns_of(Claims(claim(record, EVERY) for record in records), DEFAULT_LIMITS)
    databases = [database_of(library()[:3]) for _ in range(2)]
    for columns, database in zip((described, objects), databases, strict=True):
        columns.add_to(database, DEFAULT_LIMITS)
    for predicate in (ADVERTISED, ADVERTISED_FIELD):
        one, other = (d.tuples(d.relation(predicate)) for d in databases)
        facts = [f[1:] for r in records for f in claim(r, EVERY).facts() if f[0] == predicate.name]
        assert one == other == sorted(facts)


@pytest.mark.parametrize("as_objects", [True, False])
def test_a_value_over_the_limit_is_not_taken_in(as_objects: bool) -> None:
    record, limits = plex("n" * 100), replace(DEFAULT_LIMITS, value_bytes=99)
    claims: Claims = describe(database_of([record]), hashes_of([record]), SOURCE, EVERY)
    if as_objects:
        claims = Claims(claims.values())
    with pytest.raises(FactError, match="value_bytes"):
        columns_of(claims, limits).add_to(Database(), limits)


# Claims of either form.


some = st.lists(st.sampled_from(library()), unique_by=lambda record: record.hash)


@given(some, some, st.booleans())
@examples(60)
def test_columns_go_together_like_objects(
    one: list[Record], other: list[Record], apart: bool
) -> None:
    """Whether their ids are of one table or of two; of a hash in both the later one counts."""
    first = database_of(library())
    then = database_of(library()[::-1]) if apart else first
    left = describe(first, hashes_of(one), SOURCE, EVERY)
    right = describe(then, hashes_of(other), SOURCE, TYPE)
    objects = Claims(left.values()), Claims(right.values())
    assert left.and_also(right) == objects[0].and_also(objects[1])
    for hashes in (right.hashes, hashes_of(other)):
        assert left.only(hashes) == objects[0].only(hashes_of(other))
        assert dict(left.only(hashes)) == dict(objects[0].only(hashes_of(other)))


def test_claims_of_both_forms_go_together() -> None:
    first, then = library()[:6], library()[4:10]
    database = database_of(library())
    columns = describe(database, hashes_of(first), SOURCE, TYPE)
    objects = Claims(claim(record, TYPE) for record in then)
    for both in (columns.and_also(objects), objects.and_also(columns)):
        assert both == {record.hash: claim(record, TYPE) for record in library()[:10]}
    assert columns.and_also(Claims()) is columns
    assert Claims().and_also(columns) is columns
    some = hashes_of(then)
    assert columns.only(some) == Claims(claim(record, TYPE) for record in first[4:])


def test_all_claims_are_made_at_once_and_in_their_order(monkeypatch: pytest.MonkeyPatch) -> None:
    """One by one each would be looked up, which is slow for the many of a partition."""
    columns = describe(database_of(library()), hashes_of(library()[:6]), SOURCE, TYPE)
    layered = columns.and_also(Claims(claim(record, TYPE) for record in library()[8:9]))
    expected = [[claims[hash] for hash in claims] for claims in (columns, layered)]
    monkeypatch.setattr(Columns, "__getitem__", None)
    assert [list(columns.values()), list(layered.values())] == expected


def test_a_listing_is_its_claims() -> None:
    claims = Claims(claim(record, TYPE) for record in library()[:3])
    assert claims_of(Listing(claims)) is claims
    assert Listing(claims) == tuple(claims.values())
    assert Listing(claims)[1:] == tuple(claims.values())[1:]
    assert claims_of(tuple(claims.values())) == claims
