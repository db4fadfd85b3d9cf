"""TAI: its text, the leap seconds between it and UTC, and the clock."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lacec.records.tai import from_utc, now, read_tai, to_utc, write_tai
from tests.helpers import examples

PAIRS = [
    ("1972-01-01T00:00:00.000000000Z", "0063072010:000000000"),
    ("1999-01-01T00:00:00.000000000Z", "0915148832:000000000"),
    ("2016-12-31T23:59:59.000000000Z", "1483228835:000000000"),
    ("2016-12-31T23:59:60.500000000Z", "1483228836:500000000"),
    ("2017-01-01T00:00:00.000000000Z", "1483228837:000000000"),
    ("2021-12-31T23:59:23.000000000Z", "1640995200:000000000"),
    ("2026-01-31T12:00:00.000000001Z", "1769860837:000000001"),
]


@pytest.mark.parametrize(("utc", "tai"), PAIRS)
def test_utc_and_tai(utc: str, tai: str) -> None:
    assert from_utc(utc) == tai
    assert to_utc(tai) == utc


def test_the_offset_is_37_seconds_since_2017() -> None:
    seconds, _ = read_tai(from_utc("2017-01-01T00:00:00Z"))
    assert seconds - 1483228800 == 37


def test_a_fraction_may_be_short_or_missing() -> None:
    assert from_utc("2017-01-01T00:00:00.5Z") == "1483228837:500000000"
    assert from_utc("2017-01-01T00:00:00Z") == "1483228837:000000000"


@examples(300)
@given(st.integers(63072010, 4_000_000_000), st.integers(0, 10**9 - 1))
def test_every_second_since_1972_has_its_utc(seconds: int, nanoseconds: int) -> None:
    tai = write_tai(seconds, nanoseconds)
    assert from_utc(to_utc(tai)) == tai


def test_seconds_around_every_leap_second_differ() -> None:
    start = read_tai(from_utc("2015-06-30T23:59:58Z"))[0]
    shown = [to_utc(write_tai(start + step))[11:19] for step in range(4)]
    assert shown == ["23:59:58", "23:59:59", "23:59:60", "00:00:00"]


@pytest.mark.parametrize(
    "text",
    [
        "2017-01-01",
        "2017-01-01T00:00:00",
        "2017-01-01 00:00:00Z",
        "2017-13-01T00:00:00Z",
        "2017-02-29T00:00:00Z",
        "2017-01-01T24:00:00Z",  # which Python 3.14 and later take for the next day
        "2017-01-01T00:00:61Z",
        "2017-01-01T00:00:60Z",
        "2017-12-31T23:59:60Z",
        "1971-12-31T23:59:59Z",
        "2017-01-01T00:00:00+00:00",
    ],
)
def test_what_is_no_utc_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        from_utc(text)


def test_the_clock_adds_the_offset() -> None:
    before = time.time()
    seconds, nanoseconds = read_tai(now())
    assert before + 37 <= seconds + nanoseconds / 10**9 + 0.001 <= time.time() + 37.001


@pytest.mark.parametrize(("seconds", "nanoseconds"), [(-1, 0), (10**10, 0), (0, -1), (0, 10**9)])
def test_a_time_has_ten_and_nine_digits(seconds: int, nanoseconds: int) -> None:
    with pytest.raises(ValueError, match="ten digits"):
        write_tai(seconds, nanoseconds)


@pytest.mark.parametrize("text", ["", "1:1", "1640995200", "1640995200:0000000001", "１" * 10])
def test_other_text_is_no_time(text: str) -> None:
    with pytest.raises(ValueError, match="not a time"):
        read_tai(text)


def test_time_before_utc_has_none() -> None:
    with pytest.raises(ValueError, match="before 1972"):
        to_utc("0000000001:000000000")
