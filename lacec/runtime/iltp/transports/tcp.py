"""tcp: proves neither who the peer is nor that nobody listens (060)."""

import asyncio
from dataclasses import replace

from lacec.runtime.iltp.channel import About, ChannelError, PipeChannel, reason
from lacec.runtime.iltp.framing.address import Address
from lacec.runtime.iltp.transports.listening import Accepted


async def connect(address: Address) -> PipeChannel:
    try:
        streams = await asyncio.open_connection(address.host, address.port)
    except OSError as error:
        raise ChannelError(f"cannot connect to {address}: {reason(error)}") from None
    return PipeChannel(About(str(address)), *streams)


class TcpListening:
    def __init__(self, server: asyncio.Server, address: Address) -> None:
        self._server, self.address = server, address

    async def stop(self) -> None:
        self._server.close()


async def listen(address: Address, accepted: Accepted) -> TcpListening:
    async def take(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        host, port, *_ = writer.get_extra_info("peername")
        about = About(str(Address("tcp", host, port)))
        await accepted(PipeChannel(about, reader, writer))

    try:
        server = await asyncio.start_server(take, address.host, address.port)
    except OSError as error:
        raise ChannelError(f"cannot listen at {address}: {error}") from None
    port = server.sockets[0].getsockname()[1]
    return TcpListening(server, replace(address, port=port))
