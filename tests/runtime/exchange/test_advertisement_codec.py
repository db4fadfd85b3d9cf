"""Claims as bytes: the same claims again, and no damage that goes unnoticed."""

import struct

import pytest
from blake3 import blake3
from hypothesis import given
from hypothesis import strategies as st

from lacec.core.limits import DEFAULT_LIMITS
from lacec.runtime.exchange.advertisement_codec import pack, unpack
from lacec.runtime.exchange.advertisement_columns import columns_of, describe
from lacec.runtime.interlace.advertisement import Advertisement, ClaimedField, Schema
from lacec.runtime.interlace.advertisements import Claims
from tests.helpers import examples
from tests.simulation.policies import library
from tests.simulation.shelf import MemoryShelf

texts = st.text("aé'\n", max_size=5)
records = st.builds(
    Advertisement,
    st.integers(0, 50).map(lambda n: f"P.{n:042}0.H3"),
    texts,
    st.dictionaries(st.tuples(texts, st.integers(0, 12)), texts, max_size=3).map(
        lambda fields: tuple(
            ClaimedField(name, nth, value)
            for (name, nth), value in sorted(
                fields.items(), key=lambda each: (each[0][0].encode(), each[0][1])
            )
        )
    ),
)
claims = st.lists(records, max_size=8).map(Claims)
SOME = Claims(
    Advertisement(f"P.{n:042}0.H3", "é", (ClaimedField("Type", 0, "P"),)) for n in range(2)
)


@given(claims)
@examples(200)
def test_what_is_packed_is_unpacked(given: Claims) -> None:
    found = unpack(pack(given))
    assert found == given
    assert given == found
    assert dict(found) == dict(given)
    assert pack(found) == pack(given)


def test_claims_of_a_store_are_packed_like_others() -> None:
    shelf = MemoryShelf()
    shelf.add(library()[:20])
    hashes = frozenset(record.hash for record in library()[5:15])
    found = describe(shelf.snapshot().database(), hashes, "S", Schema(every=True))
    assert unpack(pack(found)) == found == Claims(found.values())


@given(claims, claims)
@examples(200)
def test_columns_are_equal_when_their_records_are(one: Claims, other: Claims) -> None:
    """Whatever their ids are, and in whatever order their fields stand."""
    left, right = columns_of(one, DEFAULT_LIMITS), columns_of(other, DEFAULT_LIMITS)
    assert (left == right) == (dict(one) == dict(other))
    reordered = Claims(reversed(list(one.values())))
    assert left == columns_of(reordered, DEFAULT_LIMITS)


def test_any_damage_is_noticed() -> None:
    data = pack(SOME)
    for at in range(len(data)):
        with pytest.raises(ValueError):  # noqa: PT011
            unpack(data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :])
        with pytest.raises(ValueError):  # noqa: PT011
            unpack(data[:at])
    with pytest.raises(ValueError, match="size"):
        unpack(data + b"x")


@given(st.data())
@examples(300)
def test_bytes_that_somebody_made_are_claims_or_nothing(data: st.DataObject) -> None:
    """With a digest that is right."""
    body = bytearray(pack(SOME)[32:])
    words = st.integers(0, len(body) // 4 - 1)
    for at in data.draw(st.lists(words, min_size=1, max_size=3)):
        struct.pack_into("<i", body, 4 * at, data.draw(st.integers(-2, 300)))
    try:
        found = unpack(blake3(body).digest() + body)
    except ValueError:
        return
    for hash, record in found.items():
        assert record.hash == hash
