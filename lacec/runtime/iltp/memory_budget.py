"""One memory budget for all links of a process (D29): over it, links wait.

A link reports what it holds: bytes of blocks, resources and records that came and have not
been dealt with, and bytes that wait to be sent. While all of them together are over the
budget, only the one that has held something for longest goes on, so that it can come to the
end of what it holds; the others wait. Who is at rest is not in that order: it may never come
to an end, and would shut the others out.
"""

import asyncio

DEFAULT_BYTES = 2**29


class Memory:
    def __init__(self, most: int = DEFAULT_BYTES) -> None:
        self.most, self.used = most, 0
        self._holding: dict[Share, None] = {}  # in the order in which they began to hold
        self._changed = asyncio.Event()

    def share(self) -> "Share":
        return Share(self)

    def note(self, share: "Share", change: int) -> None:
        self.used += change
        freed = change < 0
        if share.held and not share.resting:
            self._holding.setdefault(share)
        elif share in self._holding:
            del self._holding[share]
            freed = True
        if freed:
            self._changed.set()
            self._changed = asyncio.Event()

    def is_open(self, share: "Share") -> bool:
        return self.used < self.most or next(iter(self._holding), share) is share

    async def wait(self) -> None:
        await self._changed.wait()


class Share:
    """What one link holds."""

    def __init__(self, memory: Memory) -> None:
        self._memory, self.held, self.resting = memory, 0, False

    def hold(self, size: int, resting: bool = False) -> None:
        """Say how much is held now, and whether by one who is at rest."""
        change, self.held = size - self.held, size
        turns, self.resting = resting != self.resting, resting
        if change or turns:
            self._memory.note(self, change)

    async def room(self) -> bool:
        """Wait until there is room for more; whether there was need to."""
        waited = False
        while not self._memory.is_open(self):
            waited = True
            await self._memory.wait()
        return waited
