"""Advertisement records (050): what a side claims of one record that it offers.

In: a hash and the fields of the validated record. Out: the record in its canonical form,
and its digest. Fields are those of the negotiated schema, without the facts whose line
would be too long (D22), whether or not lines are ever written: see `fits`.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from blake3 import blake3

from lacec.runtime.interlace.facts import LABEL_BYTES, LINE_BYTES, Fact
from lacec.syntax.show import show_fact

DIGEST_TAG = b"lace-advertisement-record/v1"


class ClaimedField(NamedTuple):
    name: str
    nth: int  # its Index
    value: str


@dataclass(frozen=True, slots=True)
class Schema:
    """The names of fields that are advertised; all of them when `every` is set."""

    names: frozenset[str] = frozenset()
    every: bool = False

    def __contains__(self, name: object) -> bool:
        return self.every or name in self.names

    def __and__(self, other: "Schema") -> "Schema":
        """050: all fields and a set of names yield the names."""
        if self.every:
            return other
        return self if other.every else Schema(self.names & other.names)


NO_FIELDS = Schema()


def payload_of(hash: str) -> str:
    """What partitions are made by: the hash without its type and its suffix."""
    return hash[2 : hash.rindex(".")]


@dataclass(frozen=True)
class Advertisement:
    """One advertisement record: P, its source S, its fields in canonical order."""

    hash: str
    source: str
    fields: tuple[ClaimedField, ...] = ()

    @property
    def payload(self) -> str:
        return payload_of(self.hash)

    def facts(self) -> Iterator[Fact]:
        yield "Advertised", self.hash, self.source
        for name, index, value in self.fields:
            yield "AdvertisedField", self.hash, self.source, name, str(index), value

    @property
    def canonical(self) -> bytes:
        return "".join(show_fact(*fact) + "\n" for fact in self.facts()).encode("utf-8")

    @cached_property
    def digest(self) -> bytes:
        return digest_of(self.canonical)

    @cached_property
    def size(self) -> int:
        """The bytes of its lines."""
        return len(self.canonical)


def digest_of(canonical: bytes) -> bytes:
    """The digest of an advertisement record in its canonical form."""
    return blake3(DIGEST_TAG + canonical).digest()


# No line with a field of so few bytes can be too long: the rest of it is the predicate, a
# hash, a source, an index and quotes. An escape makes of one byte two.
SURELY_SHORT = (LINE_BYTES - LABEL_BYTES - 200) // 2


def advertise(hash: str, source: str, fields: Iterable[tuple[str, int, str]]) -> Advertisement:
    """The advertisement of a record with these fields, in canonical order."""
    claimed = [ClaimedField(*field) for field in fields]
    claimed.sort(key=lambda field: (field.name.encode("utf-8"), field.nth))
    return Advertisement(hash, source, tuple(claimed))


def fits(hash: str, source: str, name: str, index: str, value: str) -> bool:
    """Whether the line of a field is short enough to be advertised (D22)."""
    line = show_fact("AdvertisedField", hash, source, name, index, value)
    return len(line.encode("utf-8")) <= LINE_BYTES
