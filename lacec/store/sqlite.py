"""The SQLite file of a store: its schema and version, and errors in the words of a store."""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from threading import Lock
from weakref import WeakKeyDictionary

from lacec.core.errors import StoreError

FILE = "records.sqlite"
VERSION = 1
# "lace", as a number: where SQLite's header says whose file it is.
_APPLICATION = 0x6C616365
_HEADER = b"SQLite format 3\0"

_SCHEMA = """
CREATE TABLE records (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    hash TEXT NOT NULL,
    removed INTEGER NOT NULL DEFAULT 0,
    data BLOB NOT NULL
);
CREATE UNIQUE INDEX live ON records (hash) WHERE removed = 0;
CREATE INDEX gone ON records (id) WHERE removed = 1;
CREATE TABLE segments (
    first INTEGER PRIMARY KEY,
    last INTEGER NOT NULL,
    name TEXT NOT NULL,
    size INTEGER NOT NULL,
    digest BLOB NOT NULL
);
CREATE TABLE state (generation INTEGER NOT NULL);
INSERT INTO state VALUES (0);
"""
_CACHE_KIB = 65_536
_CHECKPOINT_PAGES = 16_384
# Readers wait this long for the moments in which SQLite recovers or resets its log.
BUSY_MS = 10_000


class _Connection(sqlite3.Connection):
    """A connection that is known for as long as it is open."""

    def close(self) -> None:
        super().close()
        with _CONNECTING:
            _CONNECTED.pop(self, None)


# The files that this process has open, by device and inode. Who reads such a file by other means
# and closes it takes SQLite's locks away: the next process that writes then removes the log
# under our feet, with all that is written to it from then on.
_CONNECTED: WeakKeyDictionary[_Connection, tuple[int, int]] = WeakKeyDictionary()
_CONNECTING = Lock()


def _inode(folder: Path) -> tuple[int, int]:
    status = os.stat(folder / FILE)
    return status.st_dev, status.st_ino


def _header(folder: Path) -> bytes | None:
    """How the file begins; None where this process has it open, so that it was looked at."""
    with _CONNECTING:
        if _inode(folder) in _CONNECTED.values():
            return None
        with open(folder / FILE, "rb") as file:
            return file.read(100)


def create(folder: Path) -> None:
    """A new file, of this version, without records."""
    with closing(sqlite3.connect(folder / FILE, isolation_level=None)) as connection:
        connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
        connection.execute(f"PRAGMA application_id = {_APPLICATION}")
        connection.execute(f"PRAGMA user_version = {VERSION}")
        connection.executescript(f"BEGIN; {_SCHEMA} COMMIT;")
        connection.execute("PRAGMA journal_mode = WAL")


def check_version(folder: Path) -> None:
    """StoreError unless this is a store of this version. Nothing but bytes is read."""
    if folder.is_file():
        raise StoreError(f"{folder} is a file, and a store is a folder")
    if not folder.is_dir():
        raise StoreError(f"there is no store {folder}: make one with `lacec store init`")
    try:
        header = _header(folder)
    except FileNotFoundError:
        raise StoreError(f"{folder} is not a store: it has no {FILE}") from None
    except OSError as error:
        raise StoreError(f"cannot read {folder}: {(error.strerror or '').lower()}") from None
    if header is None:
        return
    if len(header) < 100 or not header.startswith(_HEADER):
        raise StoreError(
            f"{folder} is not a store: its {FILE} is no database, or was never finished"
        )
    if int.from_bytes(header[68:72]) != _APPLICATION:
        raise StoreError(f"{folder} is not a store: its {FILE} belongs to something else")
    version = int.from_bytes(header[60:64])
    if version != VERSION:
        raise StoreError(
            f"{folder} is a store of version {version}, and this lacec knows version {VERSION}: "
            "export its records with the lacec that made it, and import them into a new store"
        )


Stamp = tuple[object, ...]
"""What changes when somebody writes."""


def stamp(folder: Path) -> Stamp:
    status = os.stat(folder / FILE)
    logs = (os.path.exists(folder / f"{FILE}{end}") for end in ("-wal", "-shm"))
    return (status.st_ino, status.st_size, status.st_mtime_ns, *logs)


def connect(folder: Path, read_only: bool) -> tuple[sqlite3.Connection, Stamp | None]:
    """A connection that syncs what it commits.

    With a stamp it takes no notice of writers: it is good for as long as the stamp is true.
    """
    seen = stamp(folder)
    address = (folder / FILE).absolute().as_uri()
    how = "mode=ro" if read_only else "mode=rw"
    frozen = read_only and not os.access(folder, os.W_OK) and seen[-2:] != (True, True)
    if frozen:
        # SQLite cannot make its index of the log here, so there must be no log to read.
        with suppress(FileNotFoundError):
            if os.stat(folder / f"{FILE}-wal").st_size:
                raise StoreError(
                    f"the store {folder}: its last writer was interrupted, and you may not write "
                    "to it: let its owner open it once, for example with `lacec store compact`"
                )
        how = "immutable=1"
    with _CONNECTING:
        connection = sqlite3.connect(
            f"{address}?{how}", uri=True, isolation_level=None, factory=_Connection
        )
        _CONNECTED[connection] = _inode(folder)
    connection.execute(f"PRAGMA busy_timeout = {BUSY_MS}")
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute(f"PRAGMA cache_size = -{_CACHE_KIB}")
    connection.execute(f"PRAGMA wal_autocheckpoint = {_CHECKPOINT_PAGES}")
    return connection, seen if frozen else None


@contextmanager
def clear_errors(folder: Path) -> Iterator[None]:
    """What SQLite and the system say, as a StoreError that says what to do."""
    try:
        yield
    except sqlite3.Error as error:
        text = str(error)
        if "locked" in text or "busy" in text:
            what = "another process is writing to it: try again when that has ended"
        elif "full" in text:
            what = "the disk is full: make room and try again; what was stored stays stored"
        elif "readonly" in text or "unable to open" in text:
            what = "it may not be written to: see who owns the folder and its files"
        elif "disk I/O error" in text:
            what = "the disk cannot be read or written: see that it has room and is sound"
        elif "malformed" in text or "not a database" in text:
            what = f"its {FILE} is damaged: restore a backup, or import the records again"
        else:
            what = text
        raise StoreError(f"the store {folder}: {what}") from error
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise StoreError(f"the store {folder}: {reason}") from error
