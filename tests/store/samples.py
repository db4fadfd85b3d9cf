"""Records for the tests of the store, and what is expected of a store that has them."""

from collections.abc import Iterable
from functools import cache
from itertools import product

from lacec.core.predicates import Predicate
from lacec.records.facts import record_facts
from lacec.records.record import Record, build_blob, build_plex, build_seal
from lacec.records.signature import Secret
from lacec.store.snapshot import Snapshot
from lacec.vm.sources import DatabaseSource

Facts = dict[Predicate, list[tuple[str, ...]]]

SECRET = Secret(bytes(range(32)))


@cache
def samples() -> tuple[Record, ...]:
    """Some of each form: shared and own values, links good and malformed, headers repeated."""
    blobs = [build_blob(bytes([n]) * n) for n in range(3)]
    plexes: list[Record] = []
    for group, app, n in product(("u", "keys"), ("ding", "日本"), range(4)):
        extras = [("X", "same"), ("X", "same"), (f"Own-{n}", f"{group} {app}")]
        if plexes:
            extras += [("+Link", f"evidence {plexes[-1].hash}"), ("Chunk+Link", "malformed")]
        tai = f"16409952{n:02}:000000000"
        plexes.append(build_plex(group, app, f"links/{n}", tai, extras, blobs[n % 3]))
    seals = [build_seal(plex, SECRET, b"\1" * 32) for plex in plexes[::2]]
    return (*blobs, *plexes, *seals)


def plex(number: int, group: str = "u", data: bytes = b"") -> Record:
    """One of many that are all different."""
    return build_plex(group, "ding", f"links/{number}", "1640995200:000000000", [], data)


def facts_of(records: Iterable[Record]) -> Facts:
    """The facts of records, sorted; only of predicates that have some."""
    found: Facts = {}
    for record in records:
        for predicate, values in record_facts(record):
            found.setdefault(predicate, []).append(values)
    return {predicate: sorted(rows) for predicate, rows in found.items()}


def facts_in(snapshot: Snapshot) -> Facts:
    source = DatabaseSource(snapshot.database())
    found = {predicate: list(source.iterate(predicate)) for predicate in source.predicates()}
    for predicate, rows in found.items():
        assert source.count(predicate) == len(rows)
    return {predicate: rows for predicate, rows in found.items() if rows}
