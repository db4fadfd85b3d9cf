"""ws and wss: the stream in binary messages, whose boundaries mean nothing (060).

The upgrade is connection setup only: one path, no other requests, no compression, no pages
of browsers. On wss a client has verified chain and host before the first byte; a server has
shown its certificate, and knows that only who did that handshake reads what it writes.
"""

import asyncio
import logging
import ssl
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import replace
from http import HTTPStatus
from typing import Any

from websockets.asyncio.client import connect as open_websocket
from websockets.asyncio.connection import Connection
from websockets.asyncio.server import Server, ServerConnection, serve
from websockets.exceptions import (
    ConnectionClosed,
    ConnectionClosedError,
    InvalidURI,
    WebSocketException,
)
from websockets.http11 import Request, Response

from lacec.runtime.iltp.channel import CLOSE_SECONDS, About, ChannelError, UntrustedError, reason
from lacec.runtime.iltp.framing.address import PATH, Address
from lacec.runtime.iltp.transports.listening import Accepted
from lacec.runtime.iltp.transports.tls import ServerTls, certificate_binding

# A message may have any size, but what is held at once is one frame or two.
FRAME_BYTES = 2**20
_LOGGER = logging.getLogger(__name__)
_LOGGER.addHandler(logging.NullHandler())

_OPTIONS: dict[str, Any] = {
    "compression": None,  # sizes would tell of what is inside, and small messages become large
    "max_size": (None, FRAME_BYTES),
    "max_queue": 2,
    "ping_interval": None,  # the patience of exchanges is their own (D24a)
    "close_timeout": CLOSE_SECONDS,
    "logger": _LOGGER,
}


class WebSocketChannel:
    def __init__(self, about: About, connection: Connection) -> None:
        self.about, self._connection = about, connection
        self._message: AsyncIterator[str | bytes] | None = None
        # A read that is given up goes on: half a message cannot be left and taken up again.
        self._reading: asyncio.Task[bytes] | None = None
        self._closing: asyncio.Task[None] | None = None
        self._over = False

    async def read(self) -> bytes:
        if self._reading is None:
            self._reading = asyncio.create_task(self._read())
        try:
            return await asyncio.shield(self._reading)
        finally:
            if self._reading.done():
                self._reading = None

    async def _read(self) -> bytes:
        """The next fragment of a message."""
        while not self._over:
            try:
                if self._message is None:
                    self._message = self._connection.recv_streaming()
                fragment = await anext(self._message, None)
            except ConnectionClosed as error:
                self._over = True
                if isinstance(error, ConnectionClosedError):
                    raise ChannelError(str(error)) from None
                return b""
            except UnicodeDecodeError:
                fragment = ""
            if fragment is None:
                self._message = None
            elif isinstance(fragment, str):
                raise ChannelError("the peer sent a text message; a stream is of binary ones")
            elif fragment:
                return bytes(fragment)
        return b""

    async def write(self, data: bytes) -> None:
        try:
            await self._connection.send(data)
        except ConnectionClosed as error:
            raise ChannelError(str(error)) from None

    async def end(self) -> None:
        """A WebSocket ends in both directions at once, after what was written. What still comes
        is discarded: the peer's answer is behind it."""
        if self._closing is None:
            self._closing = asyncio.create_task(self._connection.close())
        with suppress(ChannelError):
            while await self.read():
                pass
        await asyncio.shield(self._closing)

    async def close(self, now: bool = False) -> None:
        if now:
            self._connection.transport.abort()
        try:
            async with asyncio.timeout(CLOSE_SECONDS):
                await self.end()
        except TimeoutError:
            self._connection.transport.abort()
            await self.end()


async def connect(address: Address, context: ssl.SSLContext | None) -> WebSocketChannel:
    host = f"[{address.host}]" if ":" in address.host else address.host
    uri = f"{address.scheme}://{host}:{address.port}{address.path}"
    options = _OPTIONS if context is None else _OPTIONS | {"ssl": context}
    try:
        connection = await open_websocket(uri, proxy=None, user_agent_header=None, **options)
    except ssl.SSLCertVerificationError as error:
        raise UntrustedError(f"cannot connect to {address}: {error}") from None
    except OSError as error:
        raise ChannelError(f"cannot connect to {address}: {reason(error)}") from None
    except (InvalidURI, WebSocketException) as error:
        raise ChannelError(f"cannot connect to {address}: {error}") from None
    about = About(str(address))
    if context is not None:
        tls = connection.transport.get_extra_info("ssl_object")
        der = tls.getpeercert(binary_form=True)
        about = replace(about, encrypted=True, binding=certificate_binding(der))
    return WebSocketChannel(about, connection)


class WebSocketListening:
    def __init__(self, server: Server, address: Address) -> None:
        self._server, self.address = server, address

    async def stop(self) -> None:
        self._server.close(close_connections=False)


async def listen(address: Address, accepted: Accepted, tls: ServerTls | None) -> WebSocketListening:
    about = About(str(address))
    if tls is not None:
        about = replace(about, encrypted=True, binding=tls.binding)

    async def take(connection: ServerConnection) -> None:
        await accepted(WebSocketChannel(replace(about, address=str(bound.address)), connection))

    def check(connection: ServerConnection, request: Request) -> Response | None:
        if request.path == PATH:
            return None
        return connection.respond(HTTPStatus.NOT_FOUND, f"Interlace is at {PATH}.\n")

    options = _OPTIONS if tls is None else _OPTIONS | {"ssl": tls.context}
    try:
        server = await serve(
            take,
            address.host,
            address.port,
            process_request=check,
            origins=[None],
            server_header=None,
            **options,
        )
    except OSError as error:
        raise ChannelError(f"cannot listen at {address}: {error}") from None
    port = next(iter(server.sockets)).getsockname()[1]
    bound = WebSocketListening(server, replace(address, port=port))
    return bound
