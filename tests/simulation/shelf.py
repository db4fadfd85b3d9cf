"""A store in memory: what it was told to keep survives a kill; a disk error keeps nothing."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from lacec.core.errors import StoreError
from lacec.core.limits import DEFAULT_LIMITS, Limits
from lacec.records.facts import HAVE, record_facts
from lacec.records.record import Record, parse_record
from lacec.runtime.interlace.events import Cursor, Remember
from lacec.store.protocol import FactChange, Rows, rows_of
from lacec.vm.database import Database
from lacec.vm.sources import TupleSource, load


class FrozenShelf:
    """The facts at one moment."""

    def __init__(self, records: Iterable[Record], last: int) -> None:
        self.last = last
        self.records = {record.hash: record for record in records}
        facts = rows_of(f for record in self.records.values() for f in record_facts(record))
        self.rows: Rows = {HAVE: [], **facts}

    def database(self, limits: Limits = DEFAULT_LIMITS) -> Database:
        return load(TupleSource(self.rows), limits)

    def check_values(self, limits: Limits) -> None:
        self.database(limits)


@dataclass
class Admitted:
    admitted: list[str]


@dataclass
class MemoryShelf:
    records: dict[str, Record] = field(default_factory=dict)
    last: int = 0
    broken_adds: int = 0  # so many adds will fail
    _moment: FrozenShelf | None = None

    def snapshot(self) -> FrozenShelf:
        if self._moment is None:
            self._moment = FrozenShelf(self.records.values(), self.last)
        return self._moment

    def changes(self, before: FrozenShelf, now: FrozenShelf, most: int) -> FactChange | None:
        come, gone = (
            [one.records[hash] for hash in one.records.keys() - other.records.keys()]
            for one, other in ((now, before), (before, now))
        )
        if len(come) + len(gone) > most:
            return None
        facts = ([f for record in some for f in record_facts(record)] for some in (come, gone))
        return FactChange(*map(rows_of, facts))

    def get(self, hash: str) -> bytes | None:
        return self.records[hash].data if hash in self.records else None

    def add(self, records: Iterable[Record | bytes]) -> Admitted:
        if self.broken_adds:
            self.broken_adds -= 1
            raise StoreError("the disk is full")
        admitted = []
        for record in records:
            # Nothing is stored that is not valid, whoever says it is.
            valid = parse_record(record if isinstance(record, bytes) else record.data)
            if valid.hash not in self.records:
                self.records[valid.hash] = valid
                self.last += 1
                admitted.append(valid.hash)
        self._moment = None
        return Admitted(admitted)

    def remove(self, hash: str) -> None:
        if self.records.pop(hash, None) is not None:
            self._moment = None


class MemoryCursors:
    """Cursors by link, kept like the records."""

    def __init__(self) -> None:
        self.kept: dict[str, Cursor] = {}

    def recall(self, link: str) -> Cursor | None:
        return self.kept.get(link)

    def remember(self, question: Remember) -> bool:
        self.kept[question.link] = question.cursor
        return True
