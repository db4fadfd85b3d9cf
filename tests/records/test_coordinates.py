"""Coordinates and hash addresses (D2)."""

import pytest

from lacec.records.coordinates import (
    Coordinate,
    CoordinateError,
    HashAddress,
    coordinate_of,
    read_coordinate,
)
from tests.records import made

SEAL = made.seal()


@pytest.mark.parametrize(
    ("text", "coordinate", "prefix"),
    [
        ("//u//ding//links/one", Coordinate("u", "ding", "links/one"), False),
        ("//u//ding//links/", Coordinate("u", "ding", "links/"), True),
        ("//u//ding", Coordinate("u", "ding"), True),
        ("//u", Coordinate("u"), True),
        ("//a/b//c/d//e f", Coordinate("a/b", "c/d", "e f"), False),
    ],
)
def test_a_coordinate_is_read_and_written(text: str, coordinate: Coordinate, prefix: bool) -> None:
    assert read_coordinate(text) == coordinate
    assert coordinate.prefix == prefix
    assert str(coordinate) == text


def test_a_coordinate_may_be_cut_short_after_the_slashes_d2() -> None:
    assert read_coordinate("//u//ding//") == Coordinate("u", "ding")
    assert read_coordinate("//u//") == Coordinate("u")


@pytest.mark.parametrize(
    ("text", "matches"),
    [
        ("//u//ding//links/one", True),
        ("//u//ding//links/", True),
        ("//u//ding", True),
        ("//u", True),
        ("//u//ding//links", False),
        ("//u//ding//links/on", False),
        ("//u//ding//links/one/", False),
        ("//u//din", False),
        ("//v", False),
        ("//u//other//links/one", False),
        (f"////{SEAL.hash}", True),
        (f"////{SEAL.plex_hash}", False),
    ],
)
def test_which_records_a_coordinate_means(text: str, matches: bool) -> None:
    assert read_coordinate(text).matches(SEAL) == matches


def test_a_blob_stands_nowhere() -> None:
    assert not read_coordinate("//u").matches(made.blob())
    assert coordinate_of(made.blob()) is None
    assert read_coordinate(f"////{made.blob().hash}").matches(made.blob())


def test_the_coordinate_of_a_record() -> None:
    assert str(coordinate_of(SEAL)) == "//u//ding//links/one"


def test_a_hash_address_is_tried_first() -> None:
    address = read_coordinate(f"////{SEAL.hash}")
    assert address == HashAddress(SEAL.hash)
    assert str(address) == f"////{SEAL.hash}"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "/",
        "//",
        "u",
        "u//ding",
        "/u//ding//one",
        "//u////",
        "//u//ding////",
        "//u//ding//one//two",
        "//u/",
        "//u//ding/",
        "//u//ding///one",
        "//u//ding//links//",
        "//u//ding//../one",
        "//u//{x}",
        "//u//a\nb",
        "//u\u0308",
        "////",
        "////x",
        "////S.0.H3",
        "//" + "u" * 513,
    ],
)
def test_other_text_is_refused(text: str) -> None:
    with pytest.raises(CoordinateError):
        read_coordinate(text)
