"""To connect to an address, again if need be: until it is done, or it is no use.

In: a lace, an address, terms, patience. Out: one result for all links that it took. Who does
not answer is tried again, after a while that gets longer; so is one that went away before
the exchange had converged, or, if it is to stay open, at all.
"""

import asyncio
import logging
import random
import ssl
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace

from lacec.runtime.iltp.channel import ChannelError, UntrustedError
from lacec.runtime.iltp.endpoints import open_channel
from lacec.runtime.iltp.framing.address import Address
from lacec.runtime.iltp.session import Lace, Terms
from lacec.runtime.interlace import events as e
from lacec.runtime.interlace.result import Result

FIRST_WAIT, LONGEST_WAIT = 0.2, 30.0  # seconds
PATIENCE = 60.0
# What ends a link, and may go better the next time.
PASSING = frozenset((None, "disconnected", "phase-timeout", "turned-away"))
_LOGGER = logging.getLogger(__name__)
_LOGGER.addHandler(logging.NullHandler())


@dataclass(frozen=True)
class Retrying:
    """How long to try to reach somebody, and how long to wait between two tries."""

    patience: float = PATIENCE
    first: float = FIRST_WAIT
    longest: float = LONGEST_WAIT


class Dialler:
    """One side that connects. `on_wait` hears why and for how long nothing is tried."""

    def __init__(
        self,
        lace: Lace,
        address: Address,
        terms: Terms,
        context: ssl.SSLContext | None = None,
        retrying: Retrying | None = None,
        on_wait: Callable[[str, float], None] | None = None,
        on_rest: Callable[[Result], None] | None = None,
    ) -> None:
        self._lace, self._address, self._terms, self._context = lace, address, terms, context
        self._retrying = retrying or Retrying()
        self._on_wait, self._on_rest = on_wait, on_rest
        self._enough = asyncio.Event()
        self._loop = asyncio.get_running_loop()

    async def run(self) -> Result:
        """Run links until one has converged, or none will."""
        so_far, fails, since = Result(), 0, self._loop.time()
        while True:
            result = await self._try_safely()
            so_far = _together(so_far, result)
            if result.loops:  # somebody was there
                fails, since = 0, self._loop.time()
            if not self._tries_again(result, since):
                return so_far
            wait = _wait(self._retrying, fails)
            fails += 1
            if self._on_wait is not None:
                self._on_wait(result.detail or result.aborted or "the peer closed", wait)
            with suppress(TimeoutError):
                async with asyncio.timeout(wait):
                    await self._enough.wait()
                return so_far

    async def _try_safely(self) -> Result:
        """What nobody foresaw is a result too, and said; it is not tried again."""
        try:
            return await self._try()
        except Exception as error:
            _LOGGER.exception("the link to %s failed", self._address)
            return Result(aborted="internal-error", detail=f"{type(error).__name__}: {error}")

    async def _try(self) -> Result:
        try:
            channel = await open_channel(self._address, self._context)
        except UntrustedError as error:
            return Result(aborted="peer-verifier-mismatch", detail=str(error))
        except ChannelError as error:
            return Result(aborted="disconnected", detail=str(error))
        if self._enough.is_set():
            await channel.close()
            return Result(aborted="cancelled")
        return await self._lace.link(channel, 0, self._terms, self._on_rest)

    def _tries_again(self, result: Result, since: float) -> bool:
        if self._enough.is_set() or self._address.scheme == "stdio":
            return False
        if self._terms.open:
            return result.aborted in PASSING
        patient = self._loop.time() - since < self._retrying.patience
        return not result.converged and result.aborted in PASSING and patient

    async def stop(self, event: e.Finish | e.Cancel) -> None:
        """Try no more; finish the link there is, or cancel it."""
        self._enough.set()
        await self._lace.tell(event)


def _wait(retrying: Retrying, fails: int) -> float:
    """Longer each time, and not the same for all who wait for one that went away."""
    longest: float = min(retrying.longest, retrying.first * 2 ** min(fails, 16))
    return longest * random.uniform(0.5, 1.0)


def _together(before: Result, last: Result) -> Result:
    """The last of several links, with what all of them came to."""

    def all_of(name: str) -> tuple[str, ...]:
        return tuple(dict.fromkeys((*getattr(before, name), *getattr(last, name))))

    return replace(
        last,
        link_id=last.link_id or before.link_id,
        exchange_plan_id=last.exchange_plan_id or before.exchange_plan_id,
        peer_verifier=last.peer_verifier or before.peer_verifier,
        received_hashes=all_of("received_hashes"),
        rejected_hashes=all_of("rejected_hashes"),
        not_available_hashes=all_of("not_available_hashes"),
        bytes_received=before.bytes_received + last.bytes_received,
        bytes_sent=before.bytes_sent + last.bytes_sent,
        cursor_updated=before.cursor_updated or last.cursor_updated,
        loops=before.loops + last.loops,
    )
