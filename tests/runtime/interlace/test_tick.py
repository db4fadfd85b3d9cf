"""Shared time: what a side announces, what it takes, what both then go by (D23)."""

import pytest

from lacec.runtime.interlace.limits import SECOND
from lacec.runtime.interlace.reasons import Abort
from lacec.runtime.interlace.tick import LAST, Ticks, nanoseconds, tai_text

START = "1640995200:000000000"
ZERO = nanoseconds(START)


def ticks(interval: int = 10, skew: int = 0) -> Ticks:
    return Ticks.begin(START, interval * SECOND, skew)


def at(seconds: float) -> int:
    return ZERO + int(seconds * SECOND)


def test_times_are_counted_in_nanoseconds() -> None:
    assert nanoseconds("0000000001:000000002") == SECOND + 2
    assert tai_text(SECOND + 2) == "0000000001:000000002"


def test_a_side_announces_each_aligned_tick_once() -> None:
    found = ticks()
    assert found.announce(at(9)) is None
    assert found.announce(at(10)) == tai_text(at(10))
    assert found.announce(at(19)) is None
    assert found.announce(at(45)) == tai_text(at(40))


def test_a_clock_that_goes_back_announces_nothing() -> None:
    found = ticks()
    found.announce(at(30))
    assert found.announce(at(-500)) is None
    assert found.own == at(30)


def test_a_clock_at_the_end_of_time_is_still_a_clock() -> None:
    assert ticks().reached(LAST + 5) <= LAST


def test_ticktai_is_the_smaller_of_both_and_never_decreases() -> None:
    found = ticks()
    found.announce(at(30))
    found.take(tai_text(at(20)), at(20))
    assert found.shared == at(0)
    found.settle()
    assert found.shared == at(20)
    found.own = at(0)
    found.settle()
    assert found.shared == at(20)


@pytest.mark.parametrize(
    ("text", "clock"),
    [
        (at(15), 15),  # not aligned
        (at(-10), 0),  # before the start
        (at(10), 40),  # before the last one
        (at(60), 30),  # too far ahead: an interval, the skew of 3 s and one second
    ],
)
def test_d23_a_tick_that_is_not_valid_makes_the_block_malformed(text: int, clock: int) -> None:
    found = ticks(skew=3)
    found.take(tai_text(at(20)), at(20))
    with pytest.raises(Abort) as aborted:
        found.take(tai_text(text), at(clock))
    assert aborted.value.reason == "malformed-fact-block"


def test_d23_the_furthest_tick_that_is_taken() -> None:
    found = ticks(skew=3)
    found.take(tai_text(at(50)), at(50 - 10 - 3 - 1))
    assert found.peer == at(50)


def test_d23_the_same_tick_again_has_no_effect() -> None:
    found = ticks()
    found.take(tai_text(at(20)), at(20))
    found.take(tai_text(at(20)), at(0))
    assert found.peer == at(20)
