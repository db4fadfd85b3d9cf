"""stdio: two pipes of a process, whose other ends the caller holds (060, D27)."""

import asyncio
import os

from lacec.runtime.iltp.channel import PIECE_BYTES, About, ChannelError, PipeChannel
from lacec.runtime.iltp.framing.address import Address
from lacec.runtime.iltp.transports.listening import Accepted

Pipes = tuple[int, int]
"""Two file descriptors: one to read, one to write."""


def take_standard() -> Pipes:
    """The standard input and output, for the stream alone: whatever else reads finds nothing,
    and whatever else writes does so to standard error."""
    pipes = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return pipes


async def open_pipes(pipes: Pipes | None = None) -> PipeChannel:
    """A channel over two pipes, those of the process unless others are given."""
    loop = asyncio.get_running_loop()
    inward, outward = asyncio.StreamReader(limit=PIECE_BYTES), asyncio.StreamReader()
    try:
        pipes = pipes or take_standard()
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


async def listen(accepted: Accepted, pipes: Pipes | None = None) -> StdioListening:
    channel = await open_pipes(pipes)
    return StdioListening(asyncio.ensure_future(accepted(channel)))
