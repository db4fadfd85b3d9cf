"""Open exchanges in one process: from one fixed point to the next (050 Open exchanges).

In: a pair of open machines, and the stores of both. Out: nothing until it is enough; then
both are closed. Other processes may write to the stores meanwhile, and time passes.
"""

from collections.abc import Callable, Sequence

from lacec.runtime.interlace.driver import Pair
from lacec.runtime.interlace.events import Finish, StoreChanged
from lacec.store.store import Store


class Watch:
    """Sees when another process changes a store. What this one writes, its machine knows."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._seen = store.version()
        self._last = store.last_id()

    def look(self) -> tuple[StoreChanged, ...]:
        """What is new since the last look."""
        version = self._store.version()
        if version == self._seen:
            return ()
        # In this order: what comes between the two is found by the next look.
        self._seen, before, self._last = version, self._last, self._store.last_id()
        return (StoreChanged(self._last, removed=self._last == before),)


def stay(pair: Pair, watches: Sequence[Watch], wait: Callable[[], bool]) -> None:
    """Go on while `wait`, which lets some time pass, says so; then close at a fixed point."""
    pair.go_on()
    while not pair.closed and wait():
        for seat, watch in zip(pair.seats, watches, strict=True):
            pair.tell(seat, *watch.look())
        pair.go_on()
    for seat in pair.seats:
        pair.tell(seat, Finish())
    pair.go_on()
