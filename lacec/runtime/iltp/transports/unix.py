"""unix: sockets of this machine, where the system knows the user at the other end (060, D27)."""

import asyncio
import os
import socket
import stat
import struct
from contextlib import suppress
from pathlib import Path

from lacec.runtime.iltp.channel import About, ChannelError, PipeChannel, reason
from lacec.runtime.iltp.framing.address import Address
from lacec.runtime.iltp.transports.listening import Accepted

_CREDENTIALS = struct.Struct("3i")  # the process, the user, the group


async def connect(address: Address) -> PipeChannel:
    check_system()
    try:
        reader, writer = await asyncio.open_unix_connection(address.path)
    except OSError as error:
        raise ChannelError(f"cannot connect to {address}: {reason(error)}") from None
    return _channel(address, reader, writer)


def check_system() -> None:
    """Raise ChannelError on a system without Unix sockets."""
    if not hasattr(asyncio, "open_unix_connection"):
        raise ChannelError("this system has no Unix sockets: use tcp or ws")


def _channel(
    address: Address, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
) -> PipeChannel:
    uid = _user(writer.get_extra_info("socket"))
    return PipeChannel(About(str(address), local=True, uid=uid), reader, writer)


def _user(connection: socket.socket) -> int | None:
    """The user at the other end, where the system tells (Linux does)."""
    option = getattr(socket, "SO_PEERCRED", None)
    if option is None:
        return None
    data = connection.getsockopt(socket.SOL_SOCKET, option, _CREDENTIALS.size)
    _, uid, _ = _CREDENTIALS.unpack(data)
    return int(uid)


class UnixListening:
    def __init__(self, server: asyncio.Server, address: Address) -> None:
        self._server, self.address = server, address
        self._made = os.stat(address.path).st_ino

    async def stop(self) -> None:
        self._server.close()
        with suppress(OSError):
            if os.stat(self.address.path).st_ino == self._made:
                os.unlink(self.address.path)


async def listen(address: Address, accepted: Accepted) -> UnixListening:
    async def take(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await accepted(_channel(address, reader, writer))

    check_system()
    await _make_way(address)
    try:
        server = await asyncio.start_unix_server(take, address.path)
    except OSError as error:
        raise ChannelError(f"cannot listen at {address}: {error}") from None
    return UnixListening(server, address)


async def _make_way(address: Address) -> None:
    """What stands there is removed if it is a socket at which nobody listens."""
    path = Path(address.path)
    try:
        if not stat.S_ISSOCK(path.lstat().st_mode):
            raise ChannelError(f"cannot listen at {address}: something else stands there")
    except FileNotFoundError:
        return
    try:
        _, writer = await asyncio.open_unix_connection(address.path)
    except OSError:
        path.unlink(missing_ok=True)
        return
    writer.close()
    raise ChannelError(f"cannot listen at {address}: somebody does already")
