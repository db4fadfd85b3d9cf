"""A page over HTTP, and nothing more: GET /metrics, for Prometheus.

A library for web servers would be larger than all that is asked of it here. Each connection
has one request, of a limited size, within a limited time.
"""

import asyncio
from collections.abc import Callable
from contextlib import suppress

from lacec.runtime.iltp.channel import ChannelError
from lacec.runtime.serve.counters import CONTENT_TYPE

PATH = "/metrics"
REQUEST_BYTES = 8192
SECONDS = 5
MOST_REQUESTS = 16  # at once


class MetricsServer:
    """Answers with what `page` gives, while it is open."""

    def __init__(self, page: Callable[[], str]) -> None:
        self._page = page
        self._server: asyncio.Server | None = None
        self._requests = 0
        self.host, self.port = "", 0

    async def open(self, host: str, port: int) -> None:
        try:
            self._server = await asyncio.start_server(self._take, host, port, limit=REQUEST_BYTES)
        except OSError as error:
            raise ChannelError(f"cannot listen at {host}:{port}: {error}") from None
        self.host, self.port, *_ = self._server.sockets[0].getsockname()

    async def close(self) -> None:
        if self._server is not None:
            self._server.close()

    async def _take(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._requests += 1
        try:
            # What is no request, or takes too long, gets no answer.
            with suppress(OSError, TimeoutError, asyncio.IncompleteReadError, ValueError):
                async with asyncio.timeout(SECONDS):
                    if self._requests <= MOST_REQUESTS:
                        writer.write(self._answer(await _request(reader)))
                        await writer.drain()
        finally:
            self._requests -= 1
            writer.close()

    def _answer(self, request: bytes) -> bytes:
        method, target, *version = request.split(b" ")
        if len(version) != 1 or not version[0].startswith(b"HTTP/1."):
            return _response("400 Bad Request", "")
        if method not in (b"GET", b"HEAD"):
            return _response("405 Method Not Allowed", "", "Allow: GET, HEAD\r\n")
        if target.partition(b"?")[0] != PATH.encode():
            return _response("404 Not Found", f"The numbers are at {PATH}.\n")
        answer = _response("200 OK", self._page())
        return answer if method == b"GET" else answer.partition(b"\r\n\r\n")[0] + b"\r\n\r\n"


async def _request(reader: asyncio.StreamReader) -> bytes:
    """The request line; the headers are read, and say nothing that matters."""
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except asyncio.LimitOverrunError:
        raise ValueError("the request is too large") from None
    line = head.partition(b"\r\n")[0]
    if line.count(b" ") != 2:
        raise ValueError("this is no request of HTTP")
    return line


def _response(status: str, body: str, more: str = "") -> bytes:
    data = body.encode("utf-8")
    head = f"HTTP/1.1 {status}\r\nContent-Type: {CONTENT_TYPE}\r\nContent-Length: {len(data)}\r\n"
    return f"{head}{more}Connection: close\r\n\r\n".encode("ascii") + data
