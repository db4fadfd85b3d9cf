"""To connect again: who is not there, who goes away, and who does not prove to be right."""

import asyncio
from collections.abc import Coroutine
from pathlib import Path

from lacec.runtime.iltp.endpoints import serve
from lacec.runtime.iltp.framing.address import parse_address
from lacec.runtime.iltp.framing.rules import PREFACE
from lacec.runtime.interlace import events as e
from lacec.runtime.interlace.result import Result
from lacec.runtime.serve.reconnect import Dialler, Retrying
from tests.runtime.iltp.ends import End, certified, end
from tests.runtime.interlace.solo import plex

SOON = Retrying(patience=0.5, first=0.01, longest=0.04)
ONE, OTHER, LATE = plex("one"), plex("other"), plex("late")


def in_time(work: Coroutine[None, None, Result]) -> Result:
    async def run() -> Result:
        async with asyncio.timeout(20):
            return await work

    return asyncio.run(run())


def dialler(left: End, address: str, waits: list[str]) -> Dialler:
    def on_wait(why: str, seconds: float) -> None:
        assert 0 < seconds <= SOON.longest
        waits.append(why)

    return Dialler(left.lace, parse_address(address), left.terms, None, SOON, on_wait)


def test_nobody_is_tried_until_patience_ends(tmp_path: Path) -> None:
    left, waits = end(0), list[str]()

    async def run() -> Result:
        return await dialler(left, f"unix:{tmp_path}/sock", waits).run()

    result = in_time(run())
    assert (result.aborted, result.converged) == ("disconnected", False)
    assert len(waits) > 10
    assert "no such file or directory" in result.detail


def test_who_goes_away_in_the_middle_is_tried_again(tmp_path: Path) -> None:
    """What several links came to is one result."""
    left, right, waits = end(0, [ONE]), end(1, [OTHER]), list[str]()

    async def cut(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(10)
        writer.write(b"\xf0\x9f\xaa\xa2: ilt")
        writer.close()

    async def run() -> Result:
        path = f"{tmp_path}/sock"
        server = await asyncio.start_unix_server(cut, path)
        running = asyncio.create_task(dialler(left, f"unix:{path}", waits).run())
        while len(waits) < 3:
            await asyncio.sleep(0.01)
        server.close()
        Path(path).unlink(missing_ok=True)
        listener = await serve(right.lace, f"unix:{path}", lambda _: right.terms)
        result = await running
        await listener.stop(1)
        return result

    result = in_time(run())
    assert result.converged
    assert result.received_hashes == (OTHER.hash,)
    assert left.shelf.records.keys() == right.shelf.records.keys() == {ONE.hash, OTHER.hash}


def test_who_is_turned_away_learns_why_and_tries_again(tmp_path: Path) -> None:
    """D18a: the comment is for people; it cannot steer a terminal, and nothing depends on it."""
    left, waits, said = end(0), list[str](), [b"# abort: turned-away\n", b"# abort: \x1b[2J\n"]

    async def refuse(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(PREFACE + said[len(waits) % 2])
        writer.close()

    async def run() -> Result:
        async with await asyncio.start_unix_server(refuse, f"{tmp_path}/sock"):
            return await dialler(left, f"unix:{tmp_path}/sock", waits).run()

    assert not in_time(run()).converged
    assert len(waits) > 2
    assert waits[0].endswith("; it said: abort: turned-away")
    assert waits[1].endswith("; it said: abort: \u241b[2J")


def test_an_open_exchange_is_taken_up_again(tmp_path: Path) -> None:
    left, right, waits = end(0, [ONE], open=True), end(1, [OTHER], open=True), list[str]()

    async def run() -> Result:
        address = f"unix:{tmp_path}/sock"
        listener = await serve(right.lace, address, lambda _: right.terms)
        dialling = dialler(left, address, waits)
        running = asyncio.create_task(dialling.run())
        while OTHER.hash not in left.shelf.records:
            await asyncio.sleep(0.01)
        await listener.stop(1)
        right.shelf.add([LATE])
        listener = await serve(right.lace, address, lambda _: right.terms)
        while LATE.hash not in left.shelf.records:
            await asyncio.sleep(0.01)
        await asyncio.sleep(0.1)
        await dialling.stop(e.Finish())
        result = await running
        await listener.stop(1)
        return result

    result = in_time(run())
    assert result.converged
    assert set(result.received_hashes) == {OTHER.hash, LATE.hash}
    assert waits


def test_whom_it_does_not_believe_is_not_tried_again(tmp_path: Path) -> None:
    left, right, waits = end(0, [ONE]), end(1), list[str]()

    async def run() -> Result:
        tls = certified(tmp_path, "localhost")
        listener = await serve(right.lace, "wss:localhost:0", lambda _: right.terms, tls)
        result = await dialler(left, str(listener.address), waits).run()
        await listener.stop(0)
        return result

    result = in_time(run())
    assert (result.aborted, waits) == ("peer-verifier-mismatch", [])
    assert right.shelf.records == {}


def test_who_is_told_to_stop_while_it_waits_stops(tmp_path: Path) -> None:
    left, waits = end(0, open=True), list[str]()

    async def run() -> Result:
        dialling = dialler(left, f"unix:{tmp_path}/sock", waits)
        running = asyncio.create_task(dialling.run())
        while not waits:
            await asyncio.sleep(0.01)
        await dialling.stop(e.Finish())
        return await running

    assert in_time(run()).aborted == "disconnected"
