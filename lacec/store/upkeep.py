"""Keeping a store in order: the tail into segments, segments into larger ones, copies.

A segment is listed after its file is written, synced and named; a file goes after the
list without it is durable. So every file of a list is there, whatever happens when.
"""

import contextlib
import os
import shutil
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from functools import reduce
from pathlib import Path
from tempfile import mkdtemp
from typing import TYPE_CHECKING

from lacec.core.errors import StoreError
from lacec.store import sqlite
from lacec.store.files import sync_folder, write_segment
from lacec.store.segment import Segment, merge
from lacec.store.segments import SEGMENTS, is_worth_merging, listed_files

if TYPE_CHECKING:
    from lacec.store.store import Store

_TAIL_LENGTH = """
SELECT coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'records'), 0)
     - coalesce((SELECT max(last) FROM segments), 0)
"""


def settle(store: "Store", least: int) -> None:
    """Write the tail as a segment, if it is long enough, and merge it with its likes."""
    with store.reading():
        (length,) = store.connection.execute(_TAIL_LENGTH).fetchone()
    if length < max(least, 1):
        return
    with store.writing():
        _remove_orphans(store)
        listing = store.segments.read()
        segments = store.segments.load(listing)
        count = len(listing.files)
        if len(segments) == count:  # another process was here before
            return
        newest = reduce(merge, segments[count:])
        while step := _likes(segments[:count], newest, few=least <= 1):
            newest = reduce(merge, [*segments[count - step : count], newest])
            count -= step
        _list_alone(store, newest)
        # From here on the file is read, and the memory of the tail is free.
        store.segments.load(store.segments.read())
    _remove_files(store, [file.name for file in listing.files[count:]])


def _likes(segments: list[Segment], newest: Segment, few: bool) -> int:
    """How many segments before the newest are to be merged with it.

    While much is coming in, four of similar size at a time, so that each record is written
    again few times; each is then more than twice as large as the third after it. When
    that is over, all of similar size, so that few are left to read.
    """
    if few:
        return int(bool(segments) and is_worth_merging(segments[-1], newest))
    return 3 if len(segments) >= 3 and is_worth_merging(segments[-3], newest) else 0


def compact(store: "Store") -> None:
    """One segment for all records, and no byte of those that were removed."""
    with store.writing():
        execute = store.connection.execute
        _remove_orphans(store)
        names = _listed_names(store.connection)
        last = store.last_id()
        execute("DELETE FROM records WHERE removed = 1")
        # Strings get new numbers, so that those of removed records are gone as well.
        execute("UPDATE state SET generation = generation + 1")
        execute("DELETE FROM segments")
        if last:
            _list_alone(store, store.segments.build(1, last, []))
    with store.reading():
        listed = _listed_names(store.connection)
    _remove_files(store, names - listed)
    with sqlite.clear_errors(store.folder):
        store.connection.execute("PRAGMA incremental_vacuum").fetchall()
        store.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()


def _list_alone(store: "Store", segment: Segment) -> None:
    """Write a segment, then list it in place of those from its first record on."""
    name, size, digest = write_segment(store.segments.folder, segment)
    store.connection.execute("DELETE FROM segments WHERE first >= ?", (segment.first,))
    store.connection.execute(
        "INSERT INTO segments (first, last, name, size, digest) VALUES (?, ?, ?, ?, ?)",
        (segment.first, segment.last, name, size, digest),
    )


def _remove_orphans(store: "Store") -> None:
    """Files that an interrupted writer left; nobody else may write one now."""
    listed = _listed_names(store.connection)
    with contextlib.suppress(FileNotFoundError):
        names = {path.name for path in store.segments.folder.iterdir()}
        _remove_files(store, names - listed)


def _listed_names(connection: sqlite3.Connection) -> set[str]:
    return {file.name for file in listed_files(connection)}


def _remove_files(store: "Store", names: Iterable[str]) -> None:
    for name in names:
        with contextlib.suppress(OSError):
            (store.segments.folder / name).unlink()


def backup(store: "Store", folder: Path) -> None:
    """Copy a store as it is at one moment. A segment that goes meanwhile is rebuilt there."""
    with sqlite.clear_errors(folder), make_folder(folder) as made:
        (made / SEGMENTS).mkdir()
        with closing(sqlite3.connect(made / sqlite.FILE)) as copy:
            with store.reading():
                store.connection.backup(copy)
            names = _listed_names(copy)
        for name in names:
            with contextlib.suppress(FileNotFoundError):
                shutil.copyfile(store.segments.folder / name, made / SEGMENTS / name)
        for path in (made / sqlite.FILE, *(made / SEGMENTS).iterdir()):
            with open(path, "rb+") as file:
                os.fsync(file.fileno())
        sync_folder(made / SEGMENTS)


@contextmanager
def make_folder(folder: Path) -> Iterator[Path]:
    """A folder to fill, under another name until it is whole: there is never half a store."""
    if not folder.exists():
        folder.parent.mkdir(parents=True, exist_ok=True)
        made = Path(mkdtemp(prefix=f".{folder.name}.", dir=folder.parent))
        with _removed_on_error(made):
            yield made
            umask = os.umask(0)
            os.umask(umask)
            made.chmod(0o777 & ~umask)
            sync_folder(made)
            os.rename(made, folder)
        sync_folder(folder.parent)
        return
    _refuse_full(folder)
    # A folder that is there stays the same one, since it may be somebody's current folder.
    made = Path(mkdtemp(prefix=".new.", dir=folder))
    with _removed_on_error(made):
        _refuse_full(folder, made.name)  # of two that are here at once, one at most goes on
        yield made
        # Without its database it is no store, so that comes last.
        for path in sorted(made.iterdir(), key=lambda path: path.name == sqlite.FILE):
            os.rename(path, folder / path.name)
        made.rmdir()
    sync_folder(folder)


def _refuse_full(folder: Path, *but: str) -> None:
    """StoreError unless a folder is one and has nothing in it but what is named."""
    # By name: Python 3.12 and later make an absolute path of a new folder's.
    if not folder.is_dir() or {each.name for each in folder.iterdir()} != {*but}:
        what = "a store" if (folder / sqlite.FILE).exists() else "something else"
        raise StoreError(f"cannot make a store at {folder}: there is {what} already")


@contextmanager
def _removed_on_error(folder: Path) -> Iterator[None]:
    try:
        yield
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
