"""The embedded record store: a folder with record bytes in SQLite and facts in segments.

A record is admitted by the transaction that inserts its bytes, and by nothing else:
segments follow from the bytes and are made later. A Store belongs to one thread; others,
and other processes, open the folder again. Any number may read while one writes.
"""

import sqlite3
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import NamedTuple, Self

from lacec.core.errors import StoreError
from lacec.records.limits import DEFAULT_RECORD_LIMITS, RecordLimits
from lacec.records.record import Record, parse_record
from lacec.store import sqlite
from lacec.store.changes import changes
from lacec.store.check import Problem, Stats, stats, verify
from lacec.store.protocol import FactChange
from lacec.store.segments import SEGMENTS, DamagedRecordError, FileGoneError, Segments
from lacec.store.snapshot import Snapshot
from lacec.store.upkeep import backup, compact, make_folder, settle

# The tail is written as a segment before it gets longer: it is parsed at every opening.
MOST_TAIL = 8192
# So many records at once are encoded while they are at hand; fewer when somebody reads them.
MANY = 256
# How long a writer waits for another, in seconds.
PATIENCE = 60.0
_STARTS = 8  # how often a snapshot is begun anew when files go while they are opened

# More bytes of records are not held in memory at once.
MANY_BYTES = 16 * 2**20
_AFTER = "SELECT id, hash, data FROM records WHERE id > ? AND removed = 0 ORDER BY id LIMIT ?"
_IS_THERE = "SELECT id FROM records WHERE hash = ? AND removed = 0"
_MEND = "UPDATE records SET data = ? WHERE id = ? AND data IS NOT ?"


class Added(NamedTuple):
    """The hashes of records that are new, and of those that were there."""

    admitted: list[str]
    known: list[str]


class Store:
    def __init__(
        self,
        folder: Path,
        connection: sqlite3.Connection,
        stamp: sqlite.Stamp | None,
        read_only: bool,
        patience: float,
        on_wait: Callable[[], None] | None,
    ) -> None:
        self.folder = folder
        self.read_only = read_only
        self.connection = connection
        self._stamp = stamp
        self._patience = patience
        self._on_wait = on_wait
        self.segments = Segments(folder, connection, self.reading, not read_only)
        self._snapshot: tuple[tuple[object, ...], Snapshot] | None = None

    @classmethod
    def create(cls, path: str | Path) -> Self:
        """A new store in a folder that is not there yet, or is empty."""
        folder = Path(path)
        with sqlite.clear_errors(folder), make_folder(folder) as made:
            sqlite.create(made)
            (made / SEGMENTS).mkdir()
        return cls.open(folder)

    @classmethod
    def open(
        cls,
        path: str | Path,
        *,
        read_only: bool = False,
        patience: float = PATIENCE,
        on_wait: Callable[[], None] | None = None,
    ) -> Self:
        """The store in a folder. `on_wait` is called when another writer must be waited for."""
        folder = Path(path)
        sqlite.check_version(folder)
        with sqlite.clear_errors(folder):
            connection, stamp = sqlite.connect(folder, read_only)
        return cls(folder, connection, stamp, read_only, patience, on_wait)

    def close(self) -> None:
        self.connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # Transactions.

    @contextmanager
    def reading(self) -> Iterator[None]:
        """All reads within see one moment; within a transaction, its moment."""
        if self.connection.in_transaction:
            yield
            return
        with sqlite.clear_errors(self.folder):
            if self._is_stale():
                self._connect_again()
            self.connection.execute("BEGIN")
            try:
                yield
            except sqlite3.Error:
                self._check_stamp()
                raise
            finally:
                self.connection.execute("COMMIT")
            self._check_stamp()

    def _is_stale(self) -> bool:
        """Whether somebody wrote of whom the connection takes no notice."""
        return self._stamp is not None and sqlite.stamp(self.folder) != self._stamp

    def _connect_again(self) -> None:
        self.connection.close()
        self.connection, self._stamp = sqlite.connect(self.folder, self.read_only)
        self.segments.connection = self.connection

    def _check_stamp(self) -> None:
        """What was read while somebody wrote may be of two moments."""
        if self._is_stale():
            raise StoreError(
                f"the store {self.folder}: another user is writing to it, and you may not, "
                "so that it cannot be read at the same time: try again"
            )

    @contextmanager
    def writing(self) -> Iterator[None]:
        """A transaction that is durable when this ends, or leaves no trace."""
        if self.read_only:
            raise StoreError(f"the store {self.folder} was opened for reading alone")
        with sqlite.clear_errors(self.folder):
            self._begin()
            try:
                yield
                self.connection.execute("COMMIT")
            except BaseException:
                if self.connection.in_transaction:
                    self.connection.execute("ROLLBACK")
                raise

    def _begin(self) -> None:
        try:
            self.connection.execute("PRAGMA busy_timeout = 0")
            self.connection.execute("BEGIN IMMEDIATE")
        except sqlite3.OperationalError as error:
            if "locked" not in str(error):
                raise
            if self._on_wait is not None:
                self._on_wait()
            self.connection.execute(f"PRAGMA busy_timeout = {int(self._patience * 1000)}")
            self.connection.execute("BEGIN IMMEDIATE")
        finally:
            self.connection.execute(f"PRAGMA busy_timeout = {sqlite.BUSY_MS}")

    # Records.

    def add(
        self,
        records: Iterable[Record | bytes],
        limits: RecordLimits = DEFAULT_RECORD_LIMITS,
    ) -> Added:
        """Admit records, all or none; they are durable when this returns.

        Bytes are validated, signature and all; a Record must have been. One that is there
        stays as it is, unless its stored bytes are damaged: then it gets them again.
        """
        found = [parse_record(r, limits) if isinstance(r, bytes) else r for r in records]
        with suppress(DamagedRecordError):  # which may be one that comes again now
            self.settle(MOST_TAIL)
            if len(found) >= MANY:
                self.snapshot()  # so that what is admitted can be encoded after all that is there
        added = Added([], [])
        admitted: list[tuple[int, Record]] = []
        mended = False
        with self.writing():
            execute = self.connection.execute
            for record in found:
                # Asked first: an insert that is ignored would use up a StoreRecordId.
                if row := execute(_IS_THERE, (record.hash,)).fetchone():
                    added.known.append(record.hash)
                    mended |= execute(_MEND, (record.data, *row, record.data)).rowcount > 0
                    continue
                values = (record.hash, record.data)
                cursor = execute("INSERT INTO records (hash, data) VALUES (?, ?)", values)
                assert cursor.lastrowid is not None
                added.admitted.append(record.hash)
                admitted.append((cursor.lastrowid, record))
            if mended:  # what was read of the damaged bytes is forgotten
                execute("UPDATE state SET generation = generation + 1")
        if len(admitted) >= MANY:
            self.segments.extend(admitted)
        return added

    def remove(self, hashes: Iterable[str]) -> list[str]:
        """Remove records; those that were there. Their bytes go when the store is compacted."""
        removed = []
        with self.writing():
            for hash in hashes:
                cursor = self.connection.execute(
                    "UPDATE records SET removed = 1 WHERE hash = ? AND removed = 0", (hash,)
                )
                if cursor.rowcount:
                    removed.append(hash)
        return removed

    def get(self, hash: str) -> bytes | None:
        """The bytes of a record."""
        with self.reading():
            row = self.connection.execute(
                "SELECT data FROM records WHERE hash = ? AND removed = 0", (hash,)
            ).fetchone()
        return None if row is None else row[0]

    def has(self, hash: str) -> bool:
        with self.reading():
            return self.connection.execute(_IS_THERE, (hash,)).fetchone() is not None

    def last_id(self) -> int:
        """The StoreRecordId given last. They grow by one, and none is given twice."""
        with self.reading():
            query = "SELECT seq FROM sqlite_sequence WHERE name = 'records'"
            row = self.connection.execute(query).fetchone()
        return row[0] if row else 0

    def version(self) -> int:
        """A number that changes when another connection, here or elsewhere, has written."""
        with sqlite.clear_errors(self.folder):
            (version,) = self.connection.execute("PRAGMA data_version").fetchone()
        return int(version)

    def after(self, id: int = 0, most: int = 1024) -> list[tuple[int, str, bytes]]:
        """The next records after a StoreRecordId: id, hash and bytes. None: there are no more.

        At most so many; fewer when they are large, but one at least.
        """
        found: list[tuple[int, str, bytes]] = []
        size = 0
        with self.reading(), closing(self.connection.execute(_AFTER, (id, most))) as rows:
            for row in rows:
                found.append(row)
                size += len(row[2])
                if size >= MANY_BYTES:
                    break
        return found

    def records(self, most: int = 1024) -> Iterator[tuple[int, str, bytes]]:
        """All records from first to last; those that come meanwhile too."""
        last = 0
        while rows := self.after(last, most):
            yield from rows
            last = rows[-1][0]

    # Facts.

    def snapshot(self) -> Snapshot:
        """The facts as they are now. It costs little when not much is new since the last one."""
        for left in reversed(range(_STARTS)):
            with self.reading():
                listing = self.segments.read()
            try:
                with sqlite.clear_errors(self.folder):
                    segments = self.segments.load(listing)
                break
            except FileGoneError:
                # Another process merged segments meanwhile, and has another list for us.
                if not left:
                    raise StoreError(f"the segments of {self.folder} change all the time") from None
        key = (listing.generation, listing.last, listing.files, listing.removed.tobytes())
        if self._snapshot is None or self._snapshot[0] != key:
            snapshot = Snapshot(segments, listing.removed, listing.last, listing.generation)
            self._snapshot = (key, snapshot)
        return self._snapshot[1]

    def changes(self, before: Snapshot, now: Snapshot, most: int) -> FactChange | None:
        """The facts that came and went from one snapshot to another; None if that is more than
        so many records, or no longer known."""
        return changes(self, before, now, most)

    def settle(self, least: int = 1) -> None:
        """Write the tail as a segment, if it has at least so many records."""
        settle(self, least)

    def compact(self) -> None:
        """Give the bytes of removed records back, and make one segment of all."""
        compact(self)

    def backup(self, path: str | Path) -> None:
        """A copy of the store as it is now, in a new folder; others may go on writing."""
        backup(self, Path(path))

    def verify(self, workers: int = 0) -> list[Problem]:
        """Validate every record, and every segment against the records. Empty: all is well."""
        return verify(self, workers)

    def stats(self) -> Stats:
        return stats(self)
