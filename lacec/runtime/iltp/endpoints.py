"""To connect to an address, and to listen at one: links over every transport.

In: a lace, an address string, terms. Out: the result of one link; or a listener, which runs
the links of all that connect until it is stopped.
"""

import asyncio
import logging
import ssl
from collections.abc import Callable

from lacec.runtime.iltp.channel import About, Channel, ChannelError
from lacec.runtime.iltp.framing.address import Address, parse_address
from lacec.runtime.iltp.session import Lace, Terms, Welcome
from lacec.runtime.iltp.transports.listening import Accepted, Listening
from lacec.runtime.iltp.transports.tls import ServerTls
from lacec.runtime.interlace.limits import DEFAULT_LIMITS
from lacec.runtime.interlace.result import Result

# Transports are imported where they are used: a WebSocket library is not small.

MOST_LINKS = 1024
CONNECT_SECONDS = 10
GRACE_SECONDS = 10
_LOGGER = logging.getLogger(__name__)
_LOGGER.addHandler(logging.NullHandler())


async def open_channel(address: Address, context: ssl.SSLContext | None = None) -> Channel:
    """Connect; ChannelError says why it could not be done. `context` says whom wss believes."""
    try:
        async with asyncio.timeout(CONNECT_SECONDS):
            return await _open(address, context)
    except TimeoutError:
        message = f"cannot connect to {address}: no answer within {CONNECT_SECONDS} s"
        raise ChannelError(message) from None


async def _open(address: Address, context: ssl.SSLContext | None) -> Channel:
    match address.scheme:
        case "stdio":
            from lacec.runtime.iltp.transports import stdio

            return await stdio.open_pipes()
        case "unix":
            from lacec.runtime.iltp.transports import unix

            return await unix.connect(address)
        case "tcp":
            from lacec.runtime.iltp.transports import tcp

            return await tcp.connect(address)
        case "ws":
            from lacec.runtime.iltp.transports import websocket

            return await websocket.connect(address, None)
    from lacec.runtime.iltp.transports import tls, websocket

    return await websocket.connect(address, context or tls.client_context())


async def connect(
    lace: Lace,
    address: str,
    terms: Terms,
    context: ssl.SSLContext | None = None,
    on_rest: Callable[[Result], None] | None = None,
) -> Result:
    """Run one link with who listens at an address. AddressError, ChannelError: there is none."""
    channel = await open_channel(parse_address(address), context)
    return await lace.link(channel, 0, terms, on_rest)


class Listener:
    """Takes connections, and runs a link on each, many at once."""

    def __init__(
        self,
        lace: Lace,
        welcome: Welcome,
        on_end: Callable[[About, Result], None] | None = None,
        most: int = MOST_LINKS,
        on_begin: Callable[[About], None] | None = None,
        patience: float = DEFAULT_LIMITS.phase_timeout_seconds,
    ) -> None:
        self._lace, self._welcome, self._most, self._patience = lace, welcome, most, patience
        self._on_begin, self._on_end = on_begin, on_end
        self._tasks: set[asyncio.Task[None]] = set()
        self.bound: Listening | None = None

    @property
    def address(self) -> Address:
        """Where it listens, with the port that was chosen."""
        assert self.bound is not None
        return self.bound.address

    @property
    def links(self) -> int:
        """How many connections there are."""
        return len(self._tasks)

    async def accepted(self, channel: Channel) -> None:
        """Run the link of one connection. Whatever happens on it concerns no other."""
        if self._on_begin is not None:
            self._on_begin(channel.about)
        if len(self._tasks) >= self._most:
            self._end(channel.about, Result(aborted="turned-away", detail="too many links"))
            await channel.close()
            return
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            self._end(channel.about, await self._run(channel))
        except asyncio.CancelledError:
            pass  # the listener was stopped
        finally:
            await channel.close(now=True)
            self._tasks.discard(task)

    async def _run(self, channel: Channel) -> Result:
        try:
            return await self._lace.welcome(channel, self._welcome, patience=self._patience)
        except Exception as error:
            _LOGGER.exception("a link from %s failed", channel.about.address)
            return Result(aborted="internal-error", detail=f"{type(error).__name__}: {error}")

    def _end(self, about: About, result: Result) -> None:
        if self._on_end is not None:
            self._on_end(about, result)

    async def stop(self, grace: float = GRACE_SECONDS) -> None:
        """Take no more connections, let the links end, and end those that do not."""
        if self.bound is not None:
            await self.bound.stop()
        await self._lace.finish(grace)
        tasks = tuple(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def serve(
    lace: Lace,
    address: str,
    welcome: Welcome,
    tls: ServerTls | None = None,
    on_end: Callable[[About, Result], None] | None = None,
    most: int = MOST_LINKS,
    on_begin: Callable[[About], None] | None = None,
    patience: float = DEFAULT_LIMITS.phase_timeout_seconds,
) -> Listener:
    """Listen at an address; on stdio there is one peer, who is there already. `patience` is how
    many seconds of silence there may be before a peer has said who it is."""
    listener = Listener(lace, welcome, on_end, most, on_begin, patience)
    listener.bound = await _listen(parse_address(address), listener.accepted, tls)
    return listener


async def _listen(address: Address, accepted: Accepted, tls: ServerTls | None) -> Listening:
    match address.scheme:
        case "stdio":
            from lacec.runtime.iltp.transports import stdio

            return await stdio.listen(accepted)
        case "unix":
            from lacec.runtime.iltp.transports import unix

            return await unix.listen(address, accepted)
        case "tcp":
            from lacec.runtime.iltp.transports import tcp

            return await tcp.listen(address, accepted)
    from lacec.runtime.iltp.transports import websocket

    if (address.scheme == "wss") != (tls is not None):
        raise ChannelError(f"cannot listen at {address}: wss, and wss alone, has a certificate")
    return await websocket.listen(address, accepted, tls)
