"""What an exchange asks of a store, and what a store says of its changes.

The stores of people are folders (lacec.store); a dry run puts a layer over one, and
a test has one in memory. An exchange sees no difference.
"""

from collections.abc import Iterable
from typing import Any, NamedTuple, Protocol

from lacec.core.limits import Limits
from lacec.core.predicates import Predicate
from lacec.records.facts import Fact
from lacec.records.record import Record
from lacec.vm.database import Database

Rows = dict[Predicate, list[tuple[str, ...]]]


class Moment(Protocol):
    """The facts of a store at one moment (lacec.store.snapshot.Snapshot)."""

    @property
    def last(self) -> int:
        """The StoreRecordId of the last record."""

    def database(self, limits: Limits = ...) -> Database:
        """A database of its record facts."""

    def check_values(self, limits: Limits) -> None:
        """FactError if a value is longer than the limit, as when a database is made."""


class FactChange(NamedTuple):
    """Facts that go, and facts that come after that: a record that came back has both."""

    added: Rows
    removed: Rows


class Records(Protocol):
    """Records that can be read."""

    def snapshot(self) -> Moment:
        """The facts as they are now; the same object while nothing changes."""

    def get(self, hash: str) -> bytes | None:
        """The bytes of a record."""


class Shelf(Records, Protocol):
    """Where the records of a side are (lacec.store.store.Store)."""

    def changes(self, before: Any, now: Any, most: int) -> FactChange | None:
        """What came and went between two of its moments; None if that is more than so many
        records, or not known."""

    def add(self, records: Iterable[Record | bytes]) -> "AddedLike":
        """Admit records, all or none."""


class AddedLike(Protocol):
    @property
    def admitted(self) -> list[str]:
        """The hashes of records that are new."""


def rows_of(facts: Iterable[Fact]) -> Rows:
    """Facts by predicate."""
    rows: Rows = {}
    for predicate, values in facts:
        rows.setdefault(predicate, []).append(values)
    return rows
