"""What a side advertises at one moment (050): its advertisement records, by hash.

In: advertisement records, as objects, or in a form that makes an object only when one is
asked for (lacec.runtime.exchange.advertisement_columns). Out: the same mapping either way,
which never changes. Claims that differ little from others stand on them, and cost what differs.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, ValuesView
from collections.abc import Set as AbstractSet
from functools import cached_property
from typing import Any, NamedTuple

from lacec.runtime.interlace.advertisement import Advertisement
from lacec.runtime.interlace.hashes import Ground, LayeredSet, are_few


class Said(NamedTuple):
    """What stands in all records together: whose they are, and the names of their fields."""

    sources: AbstractSet[str]
    names: AbstractSet[str]


class Claims(Mapping[str, Advertisement]):
    """Records that are objects. Another form overrides what here looks at each of them."""

    columns: "Claims | None" = (
        None  # the same in the form of lacec.runtime.exchange.advertisement_columns, once made
    )

    def __init__(self, records: Iterable[Advertisement] = ()) -> None:
        self._records = {record.hash: record for record in records}

    def objects(self) -> Mapping[str, Advertisement]:
        return self._records

    def __getitem__(self, hash: str) -> Advertisement:
        return self.objects()[hash]

    def values(self) -> ValuesView[Advertisement]:
        """All at once: one by one, each would be looked up."""
        return self.objects().values()

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

    @cached_property
    def ground(self) -> Ground:
        """The hashes, as what sets that differ little stand on."""
        return Ground(self.hashes)

    def only(self, hashes: AbstractSet[str]) -> "Claims":
        """Those of some hashes."""
        gone = self.hashes - hashes
        return self.altered(gone, {}) if gone else self

    def and_also(self, more: "Claims") -> "Claims":
        """These and others, which count where a hash is in both."""
        if not self or not more:
            return self or more
        if are_few(len(more), len(self)):
            return self.altered({hash for hash in more if hash in self}, more)
        return self.joined(more)

    def joined(self, more: "Claims") -> "Claims":
        """The same, where those are many."""
        return Claims((*self.values(), *more.values()))

    def altered(self, gone: AbstractSet[str], more: Mapping[str, Advertisement]) -> "Claims":
        """These without some hashes, and with others; `gone` has all that change."""
        if are_few(len(gone) + len(more), len(self)):
            return LayeredClaims(self, gone, more)
        return self.without(gone).and_also(Claims(more.values()))

    def without(self, gone: AbstractSet[str]) -> "Claims":
        """These without some hashes, standing on nothing."""
        return Claims(record for hash, record in self.items() if hash not in gone)

    @cached_property
    def said(self) -> Said:
        return said_in(self.values())


class LayeredClaims(Claims):
    """Claims that differ from others, which they stand on, by a few."""

    def __init__(
        self, below: Claims, gone: AbstractSet[str], more: Mapping[str, Advertisement]
    ) -> None:
        self.below, self.gone, self.more = below, gone, dict(more)
        self._hashes = LayeredSet(below.ground, gone, self.more.keys())

    def objects(self) -> Mapping[str, Advertisement]:
        return self._objects

    @cached_property
    def _objects(self) -> Mapping[str, Advertisement]:
        below = self.below.objects()
        return {hash: below[hash] for hash in below if hash not in self.gone} | self.more

    def __getitem__(self, hash: str) -> Advertisement:
        if hash in self.more:
            return self.more[hash]
        if hash in self.gone:
            raise KeyError(hash)
        return self.below[hash]

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if not isinstance(other, Claims) or len(self) != len(other):
            return super().__eq__(other)
        if isinstance(other, LayeredClaims) and other.below is self.below:
            touched = {*self.gone, *self.more, *other.gone, *other.more}
            return all(self.get(hash) == other.get(hash) for hash in touched)
        return self.flat == other

    __hash__ = None

    @property
    def hashes(self) -> AbstractSet[str]:
        return self._hashes

    @property
    def ground(self) -> Ground:
        return self.below.ground

    @cached_property
    def flat(self) -> Claims:
        """The same, standing on nothing."""
        return self.below.without(self.gone).joined(Claims(self.more.values()))

    def altered(self, gone: AbstractSet[str], more: Mapping[str, Advertisement]) -> Claims:
        left = {hash: record for hash, record in self.more.items() if hash not in gone}
        return self.below.altered(self.gone | (gone - self.more.keys()), left | dict(more))

    def joined(self, more: Claims) -> Claims:
        return self.flat.joined(more)

    def without(self, gone: AbstractSet[str]) -> Claims:
        return self.flat.without(gone)

    @cached_property
    def said(self) -> Said:
        """Also of what is gone, which was claimed by the same side over the same schema."""
        below, more = self.below.said, said_in(self.more.values())
        return Said(below.sources | more.sources, below.names | more.names)


class Altered(NamedTuple):
    """What makes other claims of claims: hashes that go, and then records that come."""

    gone: list[str]
    come: list[Advertisement]


def alteration(old: Claims, new: Claims) -> Altered | None:
    """In what claims differ, if it is few and known."""
    if old is new or not (old or new):
        return Altered([], [])
    one, two = _layers(old), _layers(new)
    if one.below is not two.below or not one.gone <= two.gone:
        return None
    gone = [hash for hash in two.gone if hash not in one.gone]
    gone += [hash for hash, record in one.more.items() if two.more.get(hash) is not record]
    come = [record for hash, record in two.more.items() if one.more.get(hash) is not record]
    return Altered(gone, come)


def _layers(claims: Claims) -> LayeredClaims:
    return claims if isinstance(claims, LayeredClaims) else LayeredClaims(claims, frozenset(), {})


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
    return records.claims.said if isinstance(records, Listing) else said_in(records)


def said_in(records: Collection[Advertisement]) -> Said:
    return Said(
        {record.source for record in records},
        {field.name for record in records for field in record.fields},
    )
