"""Cursors on disk: what was last known of the peer of a proven link (050, D24).

A cursor is a file beside the records of a store: a line for the schema, then the
advertisement records as fact lines. It saves time and proves nothing, so a file that
cannot be read is as good as none.
"""

import os
from pathlib import Path

from lacec.records import b64a
from lacec.runtime.interlace.advertisement import Schema
from lacec.runtime.interlace.claims import Claims, Listing
from lacec.runtime.interlace.codec import Reading, read_message, write_message
from lacec.runtime.interlace.events import Cursor, Remember
from lacec.runtime.interlace.facts import HELLO, read_block, write_block
from lacec.runtime.interlace.messages import Offer
from lacec.runtime.interlace.reasons import Abort

FOLDER = "cursors"


class FileCursors:
    """The cursors of a store, each in a file named after its link."""

    def __init__(self, store: Path) -> None:
        self._folder = store / FOLDER

    def recall(self, link: str) -> Cursor | None:
        try:
            data = self._path(link).read_bytes()
            # The blank line after the schema; it comes first if that has no fields.
            blank = 0 if data.startswith(b"\n") else data.index(b"\n\n") + 1
            schema = _read_schema(data[:blank])
            offer = read_message(Reading.OFFER, data[blank + 1 :])
        except (OSError, ValueError, Abort):
            return None
        if not isinstance(offer, Offer) or offer.summaries:
            return None
        return Cursor(schema, Claims(offer.records))

    def remember(self, question: Remember) -> bool:
        cursor = question.cursor
        body = write_message(Offer(Listing(cursor.records)))
        try:
            self._write(self._path(question.link), _write_schema(cursor.schema) + b"\n" + body)
        except OSError:
            return False
        return True

    def _path(self, link: str) -> Path:
        b64a.decode(link)  # a link is a digest as text, and no path
        return self._folder / link

    def _write(self, path: Path, data: bytes) -> None:
        """The whole file or none of it."""
        self._folder.mkdir(exist_ok=True)
        new = path.with_name(f".{path.name}.{os.getpid()}")
        with new.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        new.replace(path)


def _write_schema(schema: Schema) -> bytes:
    if schema.every:
        return write_block([("HelloAllAdvertisedFields",)])
    return write_block([("HelloAdvertisedField", name) for name in sorted(schema.names)])


def _read_schema(data: bytes) -> Schema:
    facts = read_block(data, HELLO)
    names = frozenset(fact[1] for fact in facts if fact[0] == "HelloAdvertisedField")
    return Schema(names, ("HelloAllAdvertisedFields",) in facts)
