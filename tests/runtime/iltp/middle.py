"""Somebody in the middle: takes connections, and passes on what is said, perhaps changed."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress

from lacec.runtime.iltp.channel import Channel, ChannelError
from lacec.runtime.iltp.framing.address import Address, parse_address
from lacec.runtime.iltp.transports import tcp, websocket
from lacec.runtime.iltp.transports.listening import Listening
from lacec.runtime.iltp.transports.tls import ServerTls

# What is said by the one who connected (0) or the other (1): block by block up to hello.
Change = Callable[[int, bytes], bytes]
OPENING = 3  # the module, setup, hello


class Noting:
    """A channel that keeps what is written to it: what only its own end can, where nobody else
    reads it."""

    def __init__(self, channel: Channel) -> None:
        self._channel, self.about = channel, channel.about
        self.said: list[bytes] = []

    async def read(self) -> bytes:
        return await self._channel.read()

    async def write(self, data: bytes) -> None:
        self.said.append(data)
        await self._channel.write(data)

    async def end(self) -> None:
        await self._channel.end()

    async def close(self, now: bool = False) -> None:
        await self._channel.close(now)


def unchanged(_: int, block: bytes) -> bytes:
    return block


@asynccontextmanager
async def middleman(
    onward: Callable[[], Awaitable[Channel]],
    scheme: str = "tcp",
    change: Change = unchanged,
    tls: ServerTls | None = None,
) -> AsyncIterator[Address]:
    """Listen, and pass what comes on over another channel: one connection."""

    over = asyncio.Event()

    async def accepted(near: Channel) -> None:
        far = await onward()
        await asyncio.gather(_pass(0, near, far, change), _pass(1, far, near, change))
        await asyncio.gather(near.close(), far.close())
        over.set()

    bound: Listening
    if scheme == "tcp":
        bound = await tcp.listen(parse_address("tcp:127.0.0.1:0"), accepted)
    else:
        bound = await websocket.listen(parse_address(f"{scheme}:localhost:0"), accepted, tls)
    yield bound.address
    await over.wait()
    await bound.stop()


async def _pass(way: int, source: Channel, target: Channel, change: Change) -> None:
    held, blocks = b"", 0
    with suppress(ChannelError):
        while data := await source.read():
            held += data
            while blocks < OPENING and (at := held.find(b"\n\n") + 2) > 1:
                block, held, blocks = held[:at], held[at:], blocks + 1
                await target.write(change(way, block))
            if held and blocks == OPENING:
                await target.write(change(way, held))
                held = b""
        await target.write(held)
        await target.end()
