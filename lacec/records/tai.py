"""Time (010): International Atomic Time as text, from and to UTC.

In: a clock, or UTC as ISO 8601 text. Out: ten digits of seconds, a colon, nine digits of
nanoseconds, counted from the zero of the Unix epoch; and back. The seconds are those of a
Unix clock and the offset TAI-UTC that was in force.
"""

import re
import time
from bisect import bisect_right
from datetime import UTC, datetime, timedelta

# The days on which an offset came into force (IERS Bulletin C); none before 1972 is whole.
_OFFSETS = (
    ("1972-01-01", 10),
    ("1972-07-01", 11),
    ("1973-01-01", 12),
    ("1974-01-01", 13),
    ("1975-01-01", 14),
    ("1976-01-01", 15),
    ("1977-01-01", 16),
    ("1978-01-01", 17),
    ("1979-01-01", 18),
    ("1980-01-01", 19),
    ("1981-07-01", 20),
    ("1982-07-01", 21),
    ("1983-07-01", 22),
    ("1985-07-01", 23),
    ("1988-01-01", 24),
    ("1990-01-01", 25),
    ("1991-01-01", 26),
    ("1992-07-01", 27),
    ("1993-07-01", 28),
    ("1994-07-01", 29),
    ("1996-01-01", 30),
    ("1997-07-01", 31),
    ("1999-01-01", 32),
    ("2006-01-01", 33),
    ("2009-01-01", 34),
    ("2012-07-01", 35),
    ("2015-07-01", 36),
    ("2017-01-01", 37),
)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_STARTS = [
    (datetime.fromisoformat(day).replace(tzinfo=UTC) - _EPOCH) // timedelta(seconds=1)
    for day, _ in _OFFSETS
]
_TAI_STARTS = [start + offset for start, (_, offset) in zip(_STARTS, _OFFSETS, strict=True)]

_TEXT = re.compile(r"([0-9]{10}):([0-9]{9})")
_UTC = re.compile(
    r"([0-9]{4}-[0-9]{2}-[0-9]{2})T((?:[01][0-9]|2[0-3]):[0-9]{2}):([0-9]{2})(?:\.([0-9]{1,9}))?Z"
)


def now() -> str:
    """The time of this machine's clock."""
    seconds, nanoseconds = divmod(time.time_ns(), 10**9)
    return write_tai(seconds + _offset(seconds), nanoseconds)


def write_tai(seconds: int, nanoseconds: int = 0) -> str:
    """The text of a time; ValueError if it does not fit."""
    if not (0 <= seconds < 10**10 and 0 <= nanoseconds < 10**9):
        raise ValueError("a time has ten digits of seconds and nine of nanoseconds")
    return f"{seconds:010}:{nanoseconds:09}"


def read_tai(text: str) -> tuple[int, int]:
    """The seconds and nanoseconds of a text; ValueError if it is no time."""
    match = _TEXT.fullmatch(text)
    if match is None:
        raise ValueError(f"{text!r} is not a time: ten digits, a colon, nine digits")
    return int(match[1]), int(match[2])


def read_time(text: str) -> str:
    """The text of a time that is TAI already, or UTC and ends in Z; ValueError for any other."""
    return from_utc(text) if text.endswith("Z") else write_tai(*read_tai(text))


def from_utc(text: str) -> str:
    """The time of `2026-01-31T12:00:00Z`, which may have a fraction; leap seconds are known."""
    match = _UTC.fullmatch(text)
    if match is None:
        raise ValueError(f"{text!r} is not UTC: write 2026-01-31T12:00:00Z")
    day, minutes, second, fraction = match.groups()
    leap = second == "60"
    moment = datetime.fromisoformat(f"{day}T{minutes}:{'59' if leap else second}+00:00")
    seconds = (moment - _EPOCH) // timedelta(seconds=1)
    tai = seconds + _offset(seconds) + leap
    if leap and tai + 1 not in _TAI_STARTS[1:]:
        raise ValueError(f"{text!r} is not UTC: no leap second was added then")
    return write_tai(tai, int((fraction or "0").ljust(9, "0")))


def to_utc(text: str) -> str:
    """A time as UTC, as in `2026-01-31T12:00:00.000000000Z`."""
    tai, nanoseconds = read_tai(text)
    place = bisect_right(_TAI_STARTS, tai) - 1
    if place < 0:
        raise ValueError(f"{text!r} is before 1972: UTC had no whole seconds then")
    # The second before an offset comes into force is the one that was added.
    leap = tai + 1 in _TAI_STARTS[1:]
    moment = _EPOCH + timedelta(seconds=tai - _OFFSETS[place][1] - leap)
    shown = moment.strftime("%Y-%m-%dT%H:%M:") + ("60" if leap else moment.strftime("%S"))
    return f"{shown}.{nanoseconds:09}Z"


def _offset(unix: int) -> int:
    """TAI-UTC at a second of a Unix clock."""
    place = bisect_right(_STARTS, unix) - 1
    if place < 0:
        raise ValueError("the time is before 1972, and UTC had no whole seconds then")
    return _OFFSETS[place][1]
