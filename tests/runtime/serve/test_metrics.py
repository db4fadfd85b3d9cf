"""Numbers for Prometheus: over HTTP, of links that are and links that were."""

import asyncio
import re
from pathlib import Path

import pytest

from lacec.runtime.iltp.endpoints import connect, serve
from lacec.runtime.interlace.reasons import REASONS
from lacec.runtime.interlace.result import Result
from lacec.runtime.serve.counters import Tally
from lacec.runtime.serve.metrics import REQUEST_BYTES, MetricsServer
from tests.runtime.iltp.ends import end, link
from tests.runtime.interlace.solo import plex

GET = b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n"


def ask(request: bytes, page: str = "numbers\n") -> bytes:
    async def run() -> bytes:
        server = MetricsServer(lambda: page)
        await server.open("127.0.0.1", 0)
        reader, writer = await asyncio.open_connection(server.host, server.port)
        writer.write(request)
        writer.write_eof()
        try:
            return await reader.read()
        except ConnectionError:
            return b""
        finally:
            writer.close()
            await server.close()

    return asyncio.run(run())


def test_the_page_is_at_one_place() -> None:
    head, _, body = ask(GET).partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 200 OK\r\n")
    assert b"Content-Length: 8" in head
    assert body == b"numbers\n"
    assert ask(b"HEAD /metrics HTTP/1.0\r\n\r\n").endswith(b"close\r\n\r\n")
    assert ask(b"GET / HTTP/1.1\r\n\r\n").startswith(b"HTTP/1.1 404 ")
    assert ask(b"POST /metrics HTTP/1.1\r\n\r\n").startswith(b"HTTP/1.1 405 ")
    assert ask(b"GET /metrics SPDY/3\r\n\r\n").startswith(b"HTTP/1.1 400 ")


@pytest.mark.parametrize(
    "request_bytes", [b"", b"GET", b"\r\n\r\n", b"\x16\x03\x01\r\n\r\n", b"x" * 2 * REQUEST_BYTES]
)
def test_what_is_no_request_gets_no_answer(request_bytes: bytes) -> None:
    assert ask(request_bytes) == b""


def numbers(page: str) -> dict[str, int]:
    """All numbers; a line that is none of the format fails."""
    found = {}
    for line in page.splitlines():
        if line.startswith("# "):
            assert re.fullmatch(r"# (HELP|TYPE) lacec_[a-z_]+ \S.*", line)
            continue
        match = re.fullmatch(r'(lacec_[a-z_]+(?:\{[a-z]+="[a-z_-]+"\})?) ([0-9]+)', line)
        assert match is not None, line
        found[match[1]] = int(match[2])
    return found


def test_links_that_were_are_counted(tmp_path: Path) -> None:
    left, right = end(0, [plex("one"), plex("two")]), end(1)
    asyncio.run(link("unix", tmp_path, left, right))
    tally = Tally(right.lace)
    tally.end(right.result)
    tally.end(Result(aborted="phase-timeout"))
    found = numbers(tally.page())
    assert found['lacec_links_total{outcome="converged"}'] == 1
    assert found['lacec_links_total{outcome="phase-timeout"}'] == 1
    assert found["lacec_received_records_total"] == 2
    assert found["lacec_received_bytes_total"] == sum(
        len(record.data) for record in left.shelf.records.values()
    )
    assert found["lacec_held_bytes"] == 0


def test_links_that_are_count_too(tmp_path: Path) -> None:
    left, right = end(0, [plex("one")], open=True), end(1, open=True)
    tally = Tally(right.lace)

    async def run() -> dict[str, int]:
        listener = await serve(right.lace, f"unix:{tmp_path}/sock", lambda _: right.terms)
        asking = asyncio.create_task(connect(left.lace, f"unix:{tmp_path}/sock", left.terms))
        async with asyncio.timeout(20):
            while not right.shelf.records:
                await asyncio.sleep(0.01)
        found = numbers(tally.page())
        await listener.stop(1)
        await asking
        return found

    found = asyncio.run(run())
    assert found["lacec_received_records_total"] == 1
    assert sum(n for name, n in found.items() if name.startswith("lacec_links{")) == 1


def test_every_reason_is_a_label() -> None:
    tally = Tally(end(0).lace)
    for reason in REASONS:
        tally.end(Result(aborted=reason))
    assert len(numbers(tally.page())) >= len(REASONS)
