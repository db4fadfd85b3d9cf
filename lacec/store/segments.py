"""The segments of an open store: files that are listed, then the tail in memory.

The tail is the records after the last file. It is parsed once, piece by piece as it
grows, and its pieces are merged like the files are, so that there are few.
"""

import contextlib
import re
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import NamedTuple

import numpy as np

from lacec.core.errors import RecordError, StoreError
from lacec.records.facts import HAVE, Fact, record_facts
from lacec.records.limits import NO_RECORD_LIMITS
from lacec.records.record import Record, parse_record
from lacec.store.build import build_segment
from lacec.store.files import Mapped, mapped_segment, segment_digest, write_segment
from lacec.store.segment import DamagedError, RecordIds, Segment, merge
from lacec.vm.layers import Layer

SEGMENTS = "segments"
_NAME = re.compile(r"[0-9]+-[0-9]+-[0-9a-f]{16}\.seg")


class FileGoneError(Exception):
    """A file is neither there nor listed any more."""


class DamagedRecordError(StoreError):
    """The stored bytes of a record are not those that were admitted."""


class ListedFile(NamedTuple):
    first: int
    last: int
    name: str
    size: int
    digest: bytes


def listed_files(connection: sqlite3.Connection) -> tuple[ListedFile, ...]:
    """The list of segments. A name in it is a file of the store, and leads nowhere else."""
    rows = connection.execute("SELECT first, last, name, size, digest FROM segments ORDER BY first")
    files = tuple(ListedFile(*row) for row in rows)
    for file in files:
        if not isinstance(file.name, str) or not _NAME.fullmatch(file.name):
            raise StoreError(
                f"the store lists {file.name!r}, which is no name of a segment, so its list was "
                "changed: export the records and import them into a new store"
            )
    return files


class Listing(NamedTuple):
    """What one transaction saw."""

    generation: int
    files: tuple[ListedFile, ...]
    removed: RecordIds
    last: int
    tail: list[tuple[int, list[Fact]]]  # of the records that neither a file nor the memory has


class Segments:
    def __init__(
        self,
        folder: Path,
        connection: sqlite3.Connection,
        reading: Callable[[], AbstractContextManager[None]],
        writable: bool,
    ) -> None:
        self.folder = folder / SEGMENTS
        self.connection = connection
        self._reading = reading
        self._writable = writable
        self._generation = -1
        self._files: dict[ListedFile, Segment] = {}
        self._tail: list[Segment] = []

    def read(self) -> Listing:
        """The list and what is new behind it; within a transaction."""
        execute = self.connection.execute
        (generation,) = execute("SELECT generation FROM state").fetchone()
        files = listed_files(self.connection)
        gone = execute("SELECT id FROM records WHERE removed = 1")
        removed = np.fromiter((id for (id,) in gone), np.int64)
        if generation != self._generation:
            self._generation, self._files, self._tail = generation, {}, []
        covered = files[-1].last if files else 0
        self._tail = [segment for segment in self._tail if segment.first > covered]
        if self._tail and self._tail[0].first != covered + 1:
            self._tail = []
        known = self._tail[-1].last if self._tail else covered
        rows = execute("SELECT id, data FROM records WHERE id > ? ORDER BY id", (known,))
        tail = list(stored_facts(rows))
        last = execute("SELECT seq FROM sqlite_sequence WHERE name = 'records'").fetchone()
        return Listing(generation, files, removed, last[0] if last else 0, tail)

    def load(self, listing: Listing) -> list[Segment]:
        """The segments of a listing. FileGoneError if it is no longer true."""
        segments: list[Segment] = []
        for file in listing.files:
            segment = self._files.get(file)
            if segment is None:
                segment = self._open(file, [each.layer for each in segments])
                self._files[file] = segment
            segments.append(segment)
        self._files = dict(zip(listing.files, segments, strict=True))
        if listing.tail:
            self._append(listing.tail[-1][0], listing.tail)
        return [*segments, *self._tail]

    def extend(self, records: Sequence[tuple[int, Record]]) -> None:
        """Take records that were just admitted into the tail, if nothing is missing before them."""
        known = [*self._files.values(), *self._tail]
        if (known[-1].last if known else 0) + 1 == records[0][0]:
            self._append(records[-1][0], ((id, record_facts(record)) for id, record in records))

    def _append(self, last: int, records: Iterable[tuple[int, Sequence[Fact]]]) -> None:
        """A segment in memory after all others."""
        known = [*self._files.values(), *self._tail]
        first = known[-1].last + 1 if known else 1
        self._tail.append(build_segment(first, last, records, [each.layer for each in known]))
        while len(self._tail) > 1 and is_worth_merging(self._tail[-2], self._tail[-1]):
            self._tail[-2:] = [merge(*self._tail[-2:])]

    def _open(self, file: ListedFile, below: list[Layer]) -> Segment:
        generation = self._generation

        def rebuild() -> Segment:
            return self._rebuild(file, below, generation)

        try:
            return mapped_segment(Mapped(self.folder / file.name, file.size, file.digest), rebuild)
        except FileNotFoundError:
            with self._reading():
                if file not in listed_files(self.connection):
                    raise FileGoneError(file.name) from None
            return rebuild()
        except DamagedError:
            return rebuild()

    def _rebuild(self, file: ListedFile, below: list[Layer], generation: int) -> Segment:
        """A segment again from the bytes of its records; its file too, where that is possible."""
        with self._reading():
            row = self.connection.execute("SELECT generation FROM state").fetchone()
            if row[0] != generation:
                raise StoreError(
                    f"the segment {file.name} is damaged, and the store was compacted since: "
                    "take a new snapshot"
                )
            segment = self.build(file.first, file.last, below)
        if segment_digest(segment) != file.digest:
            raise StoreError(
                f"the segment {file.name} is damaged, and its records now give another: "
                "run `lacec store compact` to make all segments anew"
            )
        if self._writable:
            with contextlib.suppress(OSError):  # the next to open the store tries again
                write_segment(self.folder, segment)
        return segment

    def build(self, first: int, last: int, below: list[Layer]) -> Segment:
        """The segment of a range of stored records; within a transaction."""
        rows = self.connection.execute(
            "SELECT id, data FROM records WHERE id BETWEEN ? AND ? ORDER BY id", (first, last)
        )
        return build_segment(first, last, stored_facts(rows), below)


def is_worth_merging(low: Segment, high: Segment) -> bool:
    """Neighbours of similar size are merged: each record few times, and few segments stay."""
    return low.counts[HAVE] <= 2 * high.counts[HAVE]


def stored_facts(rows: Iterable[tuple[int, bytes]]) -> Iterator[tuple[int, list[Fact]]]:
    """The facts of stored records, one at a time; signatures were checked when they came."""
    for id, data in rows:
        try:
            yield id, record_facts(parse_record(data, NO_RECORD_LIMITS, verify=False))
        except RecordError as error:
            raise DamagedRecordError(
                f"the stored bytes of record {id} are damaged ({error.name}): "
                "restore a backup, or import the records again"
            ) from None
