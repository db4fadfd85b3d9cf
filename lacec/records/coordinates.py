"""Coordinates (D2): `//group//app//name`, a prefix of one, or a hash address `////hash`.

In: text. Out: a Coordinate or a HashAddress, which say whether they mean a record.
"""

import re
from dataclasses import dataclass
from unicodedata import is_normalized

from lacec.core.errors import RecordError
from lacec.records.links import is_typed_hash
from lacec.records.mistakes import check_path
from lacec.records.record import Record
from lacec.records.rules import COORDINATES

_CONTROL = re.compile(r"[\x00-\x1f\x7f]")


class CoordinateError(ValueError):
    """A text that is no coordinate: what is wrong with it, and what to write."""


@dataclass(frozen=True, slots=True)
class HashAddress:
    hash: str

    def __str__(self) -> str:
        return f"////{self.hash}"

    def matches(self, record: Record) -> bool:
        return record.hash == self.hash


@dataclass(frozen=True, slots=True)
class Coordinate:
    """Where a Plex belongs; a part that is None, or a name that ends in `/`, makes a prefix."""

    group: str
    app: str | None = None
    name: str | None = None

    @property
    def prefix(self) -> bool:
        return self.name is None or self.name.endswith("/")

    def __str__(self) -> str:
        parts = (self.group, self.app, self.name)
        return "".join(f"//{part}" for part in parts if part is not None)

    def matches(self, record: Record) -> bool:
        """Whether a Plex or Seal stands here, or below the prefix."""
        if record.group != self.group or self.app not in (None, record.app):
            return False
        if self.name is None or record.name is None:
            return record.group is not None
        return record.name.startswith(self.name) if self.prefix else record.name == self.name


def read_coordinate(text: str) -> Coordinate | HashAddress:
    """What a text means. A hash address is tried first."""
    if text.startswith("////"):
        if not is_typed_hash(text[4:]):
            raise CoordinateError(f"{text!r} is not a hash address: write ////S.<b64a>.H3")
        return HashAddress(text[4:])
    start, *parts = text.split("//")
    if 2 <= len(parts) <= 3 and not parts[-1]:
        parts.pop()  # cut short after the slashes: the prefix that it is without them
    if start or not 1 <= len(parts) <= 3:
        raise CoordinateError(f"{text!r} is not a coordinate: write //group//app//name")
    if _CONTROL.search(text) or not is_normalized("NFC", text):
        raise CoordinateError("a coordinate is NFC text without control characters")
    for what, part in zip(COORDINATES, parts, strict=False):
        try:
            check_path(part.removesuffix("/") if what == "Name" else part, what, 0)
        except RecordError as error:
            raise CoordinateError(f"{text!r} is not a coordinate: {error.message}") from None
    return Coordinate(*parts)


def coordinate_of(record: Record) -> Coordinate | None:
    """Where a Plex or Seal stands; a Blob stands nowhere."""
    return None if record.group is None else Coordinate(record.group, record.app, record.name)
