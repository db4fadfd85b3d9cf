"""Cursors on disk: what was last known of the peer of a proven link (050, D24).

A cursor is a file beside the records of a store: lines for the schema, a blank line, then
the advertisement records, packed. It saves time and proves nothing, so a file that cannot
be read is as good as none. What was read or written last is also kept in memory, and
counts as long as the file is the same.
"""

import os
from pathlib import Path

from lacec.records import b64a
from lacec.runtime.exchange.advertisement_codec import pack, unpack
from lacec.runtime.interlace.advertisement import Schema
from lacec.runtime.interlace.events import Cursor, Remember
from lacec.runtime.interlace.facts import HELLO, read_block, write_block
from lacec.runtime.interlace.reasons import Abort

FOLDER = "cursors"

# How to tell whether a file is the one that was read: its name, number, time and size.
Stamp = tuple[str, int, int, int]


class FileCursors:
    """The cursors of a store, each in a file named after its link."""

    def __init__(self, store: Path) -> None:
        self._folder = store / FOLDER
        self._last: tuple[Stamp, Cursor] | None = None

    def recall(self, link: str) -> Cursor | None:
        path = self._path(link)
        try:
            with path.open("rb") as file:
                stamp = _stamp(path, os.fstat(file.fileno()))
                if self._last is not None and self._last[0] == stamp:
                    return self._last[1]
                data = file.read()
            # The blank line after the schema; it comes first if that has no fields.
            blank = 0 if data.startswith(b"\n") else data.index(b"\n\n") + 1
            cursor = Cursor(_read_schema(data[:blank]), unpack(data[blank + 1 :]))
        except (OSError, ValueError, Abort):
            return None
        self._last = (stamp, cursor)
        return cursor

    def remember(self, question: Remember) -> bool:
        cursor, path = question.cursor, self._path(question.link)
        try:
            written = self._write(path, _write_schema(cursor.schema) + b"\n" + pack(cursor.records))
        except OSError:
            return False
        self._last = (_stamp(path, written), cursor)
        return True

    def _path(self, link: str) -> Path:
        b64a.decode(link)  # a link is a digest as text, and no path
        return self._folder / link

    def _write(self, path: Path, data: bytes) -> os.stat_result:
        """The whole file or none of it."""
        self._folder.mkdir(exist_ok=True)
        new = path.with_name(f".{path.name}.{os.getpid()}")
        with new.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
            written = os.fstat(file.fileno())
        new.replace(path)
        return written


def _stamp(path: Path, found: os.stat_result) -> Stamp:
    return path.name, found.st_ino, found.st_mtime_ns, found.st_size


def _write_schema(schema: Schema) -> bytes:
    if schema.every:
        return write_block([("HelloAllAdvertisedFields",)])
    return write_block([("HelloAdvertisedField", name) for name in sorted(schema.names)])


def _read_schema(data: bytes) -> Schema:
    facts = read_block(data, HELLO)
    names = frozenset(fact[1] for fact in facts if fact[0] == "HelloAdvertisedField")
    return Schema(names, ("HelloAllAdvertisedFields",) in facts)
