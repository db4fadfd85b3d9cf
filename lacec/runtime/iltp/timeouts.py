"""How long a peer is waited for (D24a): not when it is silent, and not when it is slow.

In: when something begins, and the bytes of it that move. Out: why to wait no longer, if so.
The machine looks by itself while it is the peer's turn; this is for all other waiting.
"""

from lacec.runtime.interlace.limits import SECOND, OwnLimits


class Patience:
    """With one thing: `did` says what the peer does, as in "sent". Times are nanoseconds."""

    def __init__(self, did: str) -> None:
        self._did = did
        self._since = self._last = self._moved = 0

    def begin(self, now: int) -> None:
        self._since = self._last = now
        self._moved = 0

    def move(self, count: int, now: int) -> None:
        self._last = now
        self._moved += count

    def lost(self, now: int, seconds: float, own: OwnLimits) -> str | None:
        """Why it is lost: no byte for so many seconds, or too few on average after a while."""
        if now - self._last > seconds * SECOND:
            return f"the peer {self._did} nothing for {seconds} s"
        waited = now - self._since
        if waited > own.rate_after_seconds * SECOND and (
            self._moved * SECOND < own.lowest_rate * waited
        ):
            return f"the peer {self._did} less than {own.lowest_rate} bytes a second"
        return None
