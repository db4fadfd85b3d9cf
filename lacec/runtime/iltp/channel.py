"""A connection as the pump sees it: bytes in, bytes out, and what is known about it.

Each transport makes channels. What a channel says `about` itself is all that an exchange
learns of its transport: nothing in it is asserted by the peer.
"""

import asyncio
from dataclasses import dataclass
from typing import Protocol

PIECE_BYTES = 64 * 2**10  # what is read or written at once
CLOSE_SECONDS = 5

UNBOUND = "-"


class ChannelError(Exception):
    """The connection broke, or the other end does not keep to its transport."""


@dataclass(frozen=True, slots=True)
class About:
    """What a transport proves about a connection (060 Transport bindings).

    `binding` ties a signer proof to the channel (D26): the digest of the server's certificate
    on wss. `local` is a connection that does not leave the machine, between processes whose
    owner the system knows. `uid` is the user at the other end of a unix socket.
    """

    address: str
    encrypted: bool = False
    binding: str = UNBOUND
    local: bool = False
    uid: int | None = None


class Channel(Protocol):
    """One connection. Reading and writing go on at once, in two tasks."""

    about: About

    async def read(self) -> bytes:
        """The next bytes, some at least; none when the peer has ended its direction."""

    async def write(self, data: bytes) -> None:
        """Write, and wait until there is room for more."""

    async def end(self) -> None:
        """End this direction; the other may go on."""

    async def close(self, now: bool = False) -> None:
        """Be done with it: after what was written, or now. Never raises."""


class PipeChannel:
    """A channel over the streams of asyncio: sockets and pipes. `inward` is what the reader
    reads from, if that is not what the writer writes to."""

    def __init__(
        self,
        about: About,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        inward: asyncio.BaseTransport | None = None,
    ) -> None:
        self.about, self._reader, self._writer, self._inward = about, reader, writer, inward

    async def read(self) -> bytes:
        try:
            return await self._reader.read(PIECE_BYTES)
        except OSError as error:
            raise ChannelError(str(error)) from None

    async def write(self, data: bytes) -> None:
        try:
            self._writer.write(data)
            await self._writer.drain()
        except OSError as error:
            raise ChannelError(str(error)) from None

    async def end(self) -> None:
        try:
            await self._writer.drain()
            if self._writer.can_write_eof():
                self._writer.write_eof()
        except OSError as error:
            raise ChannelError(str(error)) from None

    async def close(self, now: bool = False) -> None:
        if self._inward is not None:
            self._inward.close()
        if now:
            self._writer.transport.abort()
        self._writer.close()
        try:
            async with asyncio.timeout(CLOSE_SECONDS):
                await self._writer.wait_closed()
        except (OSError, TimeoutError):
            self._writer.transport.abort()
