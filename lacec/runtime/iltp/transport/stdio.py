"""stdio: two pipes of a process, whose other ends the caller holds (060, D27)."""

import asyncio
import os

from lacec.runtime.iltp.address import Address
from lacec.runtime.iltp.channel import PIECE_BYTES, About, ChannelError, PipeChannel
from lacec.runtime.iltp.transport.listening import Accepted

STANDARD = (0, 1)


async def open_pipes(pipes: tuple[int, int] = STANDARD) -> PipeChannel:
    """A channel over two file descriptors: one to read, one to write."""
    loop = asyncio.get_running_loop()
    inward, outward = asyncio.StreamReader(limit=PIECE_BYTES), asyncio.StreamReader()
    try:
        source, target = os.fdopen(pipes[0], "rb"), os.fdopen(pipes[1], "wb")
        reading, _ = await loop.connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(inward), source
        )
        # Nothing is read here: a writer needs a protocol that knows when the pipe is gone.
        writing, protocol = await loop.connect_write_pipe(
            lambda: asyncio.StreamReaderProtocol(outward), target
        )
    except (OSError, ValueError) as error:
        raise ChannelError(f"cannot speak over the standard input and output: {error}") from None
    writer = asyncio.StreamWriter(writing, protocol, outward, loop)
    return PipeChannel(About(str(Address("stdio")), local=True), inward, writer, reading)


class StdioListening:
    """The one peer of a process that was started for it."""

    address = Address("stdio")

    def __init__(self, link: asyncio.Future[None]) -> None:
        self._link = link  # kept, so that it goes on

    async def stop(self) -> None:
        pass


async def listen(accepted: Accepted, pipes: tuple[int, int] = STANDARD) -> StdioListening:
    channel = await open_pipes(pipes)
    return StdioListening(asyncio.ensure_future(accepted(channel)))
