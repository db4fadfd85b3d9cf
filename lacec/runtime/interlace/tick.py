"""Shared time (050 Ticks, D23): when each side's clock reached which aligned tick.

In: clock readings in nanoseconds of TAI, and TickReady values. Out: the TickReady to send,
and TickTAI, which never decreases.
"""

from dataclasses import dataclass

from lacec.records.tai import read_tai, write_tai
from lacec.runtime.interlace.limits import SECOND
from lacec.runtime.interlace.reasons import Abort

LAST = 10**10 * SECOND - 1  # the last time that TAI text can say


def nanoseconds(tai: str) -> int:
    seconds, rest = read_tai(tai)
    return seconds * SECOND + rest


def tai_text(time: int) -> str:
    return write_tai(*divmod(time, SECOND))


@dataclass
class Ticks:
    """The ticks of one epoch; all times in nanoseconds of TAI."""

    start: int
    interval: int
    skew_seconds: int
    own: int
    peer: int
    shared: int

    @classmethod
    def begin(cls, start: str, interval: int, skew_seconds: int) -> "Ticks":
        time = nanoseconds(start)
        return cls(time, interval, skew_seconds, time, time, time)

    def reached(self, clock: int) -> int:
        """The last aligned tick that a clock has reached, never one before the last."""
        passed = max(0, min(clock, LAST) - self.start) // self.interval
        return max(self.own, self.start + passed * self.interval)

    def announce(self, clock: int) -> str | None:
        """The TickReady to send now, if there is a new one."""
        ready = self.reached(clock)
        if ready == self.own:
            return None
        self.own = ready
        return tai_text(ready)

    def take(self, text: str, clock: int) -> None:
        """Take the peer's TickReady; Abort unless it is valid (D23)."""
        time = nanoseconds(text)
        if time == self.peer:
            return
        ahead = self.interval + (self.skew_seconds + 1) * SECOND
        if time < self.peer or (time - self.start) % self.interval:
            raise Abort("malformed-fact-block", "a TickReady goes back or is not aligned")
        if time > clock + ahead:
            raise Abort("malformed-fact-block", "a TickReady is too far ahead of this clock")
        self.peer = time

    def settle(self) -> None:
        """TickTAI for a loop, once both sides have sent its first advertise block."""
        self.shared = max(self.shared, min(self.own, self.peer))
