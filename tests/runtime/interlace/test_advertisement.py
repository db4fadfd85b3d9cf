"""Advertisement records in canonical form, and their digests (050, D22)."""

from blake3 import blake3
from hypothesis import given
from hypothesis import strategies as st

from lacec.runtime.interlace.advertisement import (
    SURELY_SHORT,
    Advertisement,
    ClaimedField,
    Schema,
    advertise,
    fits,
)
from lacec.runtime.interlace.facts import LINE_BYTES
from tests.helpers import examples

HASH = f"P.{'0' * 43}.H3"


def test_the_canonical_record_of_050() -> None:
    fields = [("Type", 0, "P"), ("Name", 0, "links/1"), ("App", 0, "ding"), ("Group", 0, "u")]
    record = advertise("P.EXAMPLE.H3", "V.PEER.H3", fields)
    assert record.canonical.decode().split("\n") == [
        "Advertised('P.EXAMPLE.H3','V.PEER.H3')",
        "AdvertisedField('P.EXAMPLE.H3','V.PEER.H3','App','0','ding')",
        "AdvertisedField('P.EXAMPLE.H3','V.PEER.H3','Group','0','u')",
        "AdvertisedField('P.EXAMPLE.H3','V.PEER.H3','Name','0','links/1')",
        "AdvertisedField('P.EXAMPLE.H3','V.PEER.H3','Type','0','P')",
        "",
    ]
    tagged = b"lace-advertisement-record/v1" + record.canonical
    assert record.digest == blake3(tagged).digest()
    assert record.payload == "EXAMPLE"


def test_fields_are_ordered_by_bytes_and_then_by_number() -> None:
    fields = [("b", 10, "x"), ("b", 9, "y"), ("a", 0, "z"), ("Z", 0, "")]
    record = advertise(HASH, "S", fields)
    assert [(field.name, field.nth) for field in record.fields] == [
        ("Z", 0),
        ("a", 0),
        ("b", 9),
        ("b", 10),
    ]


def test_schemas_intersect() -> None:
    """050: all and a set yield the set; all and all yield all; two sets what both have."""
    every, some = Schema(every=True), Schema(frozenset(("a", "b")))
    assert every & some == some & every == some
    assert (every & every).every
    assert some & Schema(frozenset(("b", "c"))) == Schema(frozenset(("b",)))


@given(st.text(st.sampled_from("aé'\\"), max_size=1100), st.sampled_from("S'\\"))
@examples(200)
def test_d22_a_field_fits_when_its_line_is_not_too_long(value: str, mark: str) -> None:
    source = mark * 4
    line = Advertisement(HASH, source, (ClaimedField("Name", 0, value),)).canonical.split(b"\n")[1]
    fitting = fits(HASH, source, "Name", "0", value)
    assert fitting == (len(line) <= LINE_BYTES)
    assert fitting or len(f"Name{value}".encode()) > SURELY_SHORT
