"""What a side advertises at one moment (050): its advertisement records, by hash.

In: advertisement records, as objects, or in a form that makes an object only when one is
asked for (lacec.runtime.columns). Out: the same mapping either way, which never changes.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any, NamedTuple

from lacec.runtime.interlace.advertisement import Advertisement


class Said(NamedTuple):
    """What stands in all records together: whose they are, and the names of their fields."""

    sources: AbstractSet[str]
    names: AbstractSet[str]


class Claims(Mapping[str, Advertisement]):
    """Records that are objects. Another form overrides what here looks at each of them."""

    def __init__(self, records: Iterable[Advertisement] = ()) -> None:
        self._records = {record.hash: record for record in records}

    def objects(self) -> Mapping[str, Advertisement]:
        return self._records

    def __getitem__(self, hash: str) -> Advertisement:
        return self.objects()[hash]

    def __iter__(self) -> Iterator[str]:
        return iter(self.hashes)

    def __contains__(self, hash: object) -> bool:
        return hash in self.hashes

    def __len__(self) -> int:
        return len(self.hashes)

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if not isinstance(other, Mapping) or len(self) != len(other):
            return False
        return self.objects() == (other.objects() if isinstance(other, Claims) else other)

    __hash__ = None  # type: ignore[assignment]

    @property
    def hashes(self) -> AbstractSet[str]:
        return self._records.keys()

    def only(self, hashes: AbstractSet[str]) -> "Claims":
        """Those of some hashes."""
        return Claims(record for hash, record in self.items() if hash in hashes)

    def and_also(self, more: "Claims") -> "Claims":
        """These and others, which count where a hash is in both."""
        if not self:
            return more
        return Claims((*self.values(), *more.values())) if more else self

    def said(self) -> Said:
        return said_in(self.values())


class Listing(Sequence[Advertisement]):
    """All records of claims one after the other, as a message holds them."""

    def __init__(self, claims: Claims) -> None:
        self.claims = claims

    def __len__(self) -> int:
        return len(self.claims)

    def __iter__(self) -> Iterator[Advertisement]:
        return iter(self.claims.values())

    def __getitem__(self, at: Any) -> Any:
        return tuple(self)[at]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and tuple(self) == tuple(other)

    __hash__ = None  # type: ignore[assignment]


def claims_of(records: Collection[Advertisement]) -> Claims:
    """The claims that a message lists."""
    return records.claims if isinstance(records, Listing) else Claims(records)


def said_of(records: Collection[Advertisement]) -> Said:
    """What a message says of its records; each counts, even if two have one hash."""
    return records.claims.said() if isinstance(records, Listing) else said_in(records)


def said_in(records: Collection[Advertisement]) -> Said:
    return Said(
        {record.source for record in records},
        {field.name for record in records for field in record.fields},
    )
