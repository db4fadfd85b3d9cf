"""The pump: both directions at once, patience, memory, and how a stream may end."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path

import pytest
from blake3 import blake3
from websockets.asyncio.client import connect as open_websocket
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.typing import Origin

from lacec.records.record import build_blob
from lacec.runtime.exchange.in_process import system_clock
from lacec.runtime.iltp.channel import Channel
from lacec.runtime.iltp.framing.rules import PREFACE
from lacec.runtime.iltp.framing.writer import StreamWriter
from lacec.runtime.iltp.memory_budget import Memory, Share
from lacec.runtime.iltp.session import Lace
from lacec.runtime.interlace.codec import write_message
from lacec.runtime.interlace.limits import ExchangeLimits, OwnLimits
from lacec.runtime.interlace.messages import Setup
from lacec.runtime.interlace.reconcile import merkle
from lacec.runtime.interlace.reconcile.partitions import LARGE
from lacec.runtime.interlace.result import Result
from lacec.runtime.interlace.state import State
from tests.runtime.iltp.ends import SCHEMES, End, end, listening, run, terms
from tests.runtime.interlace.solo import ALL_FIELDS, plex
from tests.simulation.policies import EVERYTHING, GROUP_U, operand

MODULE = operand(0, EVERYTHING).module
SETUP = StreamWriter({MODULE.id: MODULE.canonical.encode()}).write(
    Setup(0, MODULE.id, "unassigned", "selector")
)
# It names a module whose bytes nobody has sent.
UNSENT = PREFACE + write_message(Setup(0, operand(0, GROUP_U).module.id, "unassigned", "selector"))
IMPATIENT = ExchangeLimits(phase_timeout_seconds=1)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_two_sides_with_much_to_say_do_not_block_each_other(scheme: str, tmp_path: Path) -> None:
    """Both blocks, and both batches, are larger than what any transport holds on its way."""
    sides = [
        [plex(f"{n}/{index}/{'x' * 400}") for n in range(400)]
        + [build_blob(bytes([index, n]) * 2**20) for n in range(4)]
        for index in range(2)
    ]
    options = {"partitions": False, "fields": ALL_FIELDS}
    left, right = (end(n, sides[n], **options) for n in range(2))
    one, other = run(scheme, tmp_path, left, right)
    assert one.converged, one
    assert other.converged, other
    assert left.shelf.records.keys() == right.shelf.records.keys()
    assert len(left.shelf.records) == 808


# How a stream may end.

Raw = Callable[[Channel], Awaitable[None]]


def against(folder: Path, raw: Raw, scheme: str = "tcp", **options: object) -> Result:
    """What a side makes of a peer that does as it likes."""

    async def meet(right: End) -> None:
        async with asyncio.timeout(30), listening(scheme, folder, right) as dial:
            channel = await dial()
            await raw(channel)
            await channel.close()

    right = end(1, [plex("a")], **options)
    asyncio.run(meet(right))
    return right.result


def saying(said: bytes, then: str = "end") -> Raw:
    async def say(channel: Channel) -> None:
        await channel.write(said)
        if then == "end":
            await channel.end()
        while await channel.read():
            pass

    return say


@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_disconnect_between_phases_is_a_clean_close(scheme: str, tmp_path: Path) -> None:
    for said in (PREFACE, SETUP, SETUP + b"# bye\n"):
        result = against(tmp_path, saying(said), scheme)
        assert (result.aborted, result.converged) == (None, False), said


@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_disconnect_inside_an_item_is_an_abort(scheme: str, tmp_path: Path) -> None:
    for said in (b"", PREFACE[:5], SETUP[:60], SETUP[:-1], SETUP + b"Hello", SETUP + b"# by"):
        assert against(tmp_path, saying(said), scheme).aborted == "disconnected", said


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        (b"GET / HTTP/1.1\r\n\r\n", "malformed-stream"),
        (PREFACE + b"\n", "malformed-stream"),
        (SETUP + b"\x00", "malformed-stream"),
        (SETUP + build_blob(b"").data, "unrequested-record"),
        (SETUP + b"Hello('x')\n\n", "malformed-fact-block"),
        (UNSENT + b"\n", "module-unavailable"),
        (SETUP.replace(b"Have(P)", b"Have(Q)"), "malformed-exchange-module"),
    ],
)
def test_a_peer_is_told_why_in_a_comment(said: bytes, reason: str, tmp_path: Path) -> None:
    """D18a: for people, and nothing depends on it."""
    heard = bytearray()

    async def speak(channel: Channel) -> None:
        await channel.write(said)
        while data := await channel.read():
            heard.extend(data)

    assert against(tmp_path, speak).aborted == reason
    assert heard.startswith(PREFACE)
    assert heard.endswith(f"# abort: {reason}\n".encode())


# Patience (D24a).


@pytest.mark.parametrize("said", [SETUP, SETUP + b"Hel"])
def test_a_silent_peer_is_not_waited_for_any_longer(said: bytes, tmp_path: Path) -> None:
    result = against(tmp_path, saying(said, then="listen"), limits=IMPATIENT)
    assert (result.aborted, result.converged) == ("phase-timeout", False)


def test_a_slow_peer_is_not_waited_for_any_longer(tmp_path: Path) -> None:
    """After a while, it must also average so many bytes a second."""

    async def trickle(channel: Channel) -> None:
        await channel.write(SETUP)
        for _ in range(60):
            await channel.write(b"H")
            await asyncio.sleep(0.05)

    own = OwnLimits(rate_after_seconds=1)
    result = against(tmp_path, trickle, own_limits=own)
    assert (result.aborted, "bytes a second" in result.detail) == ("phase-timeout", True)


@pytest.mark.parametrize("drips", [False, True])
def test_d24a_half_a_block_at_rest_is_not_waited_for_any_longer(
    drips: bool, tmp_path: Path
) -> None:
    """Neither from one who falls silent nor from one who sends a byte now and then."""

    async def meet(left: End, right: End) -> None:
        async with asyncio.timeout(30), listening("tcp", tmp_path, right) as dial:
            channel, rested = await dial(), asyncio.Event()
            link = left.lace.link(channel, 0, left.terms, lambda _: rested.set())
            task = asyncio.create_task(link)
            await rested.wait()
            await channel.write(b"Adv")
            (pump,) = right.lace.links
            while drips and not pump.machine.closed:
                await channel.write(b"a")
                await asyncio.sleep(0.05)
            await task

    own, limits = OwnLimits(rate_after_seconds=1), IMPATIENT if not drips else ExchangeLimits()
    left, right = end(0, open=True), end(1, open=True, own_limits=own, limits=limits)
    asyncio.run(meet(left, right))
    assert right.result.aborted == "phase-timeout"
    assert ("bytes a second" if drips else "half a block nothing for 1 s") in right.result.detail
    assert right.memory.used == 0


def test_while_nothing_happens_the_next_loop_is_looked_ahead_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After a change at rest: the root over many records after the next one takes few hashes."""
    hashed: list[int] = []

    def counted(data: bytes) -> blake3:
        hashed.append(len(data))
        return blake3(data)

    def is_ahead(lace: Lace) -> bool:
        (pump,) = lace.links
        known = pump.machine.link.epoch.own_partitions
        trees = known[1]._trees.values() if known else ()
        return pump.machine.state is State.REST and {tree._ahead for tree in trees} == {True}

    async def meet(left: End, right: End) -> None:
        async with asyncio.timeout(60), listening("tcp", tmp_path, right) as dial:
            rested = asyncio.Event()
            link = left.lace.link(await dial(), 0, left.terms, lambda _: rested.set())
            task = asyncio.create_task(link)
            await rested.wait()
            assert not is_ahead(left.lace)  # where nothing changes, that is for nothing
            for news in map(plex, ("one", "two")):
                hashed.clear()
                left.shelf.add([news])
                left.lace.changed()
                while news.hash not in right.shelf.records or not (
                    is_ahead(left.lace) and is_ahead(right.lace)
                ):
                    await asyncio.sleep(0.01)
                counts.append(len(hashed))
            await left.lace.finish(5)
            await task

    many, counts = [plex(f"{number}") for number in range(LARGE)], list[int]()
    left, right = (end(index, many, open=True) for index in range(2))
    monkeypatch.setattr(merkle, "blake3", counted)
    asyncio.run(meet(left, right))
    assert counts[1] < LARGE < counts[0]


class Deaf:
    """A channel whose reader stops after some bytes, until it is let go on."""

    def __init__(self, channel: Channel, after: int) -> None:
        self._channel, self._left = channel, after
        self.about, self.write = channel.about, channel.write
        self.end, self.close = channel.end, channel.close
        self.go_on = asyncio.Event()

    async def read(self) -> bytes:
        if self._left < 0:
            await self.go_on.wait()
        data = await self._channel.read()
        self._left -= len(data)
        return data


@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_peer_that_takes_nothing_is_not_waited_for_any_longer(
    scheme: str, tmp_path: Path
) -> None:
    """Its transport is full, and it is not its turn to speak."""

    async def meet(left: End, right: End) -> None:
        # Time stands still for the left, so that it does not lose its own patience.
        lace, now = Lace(left.shelf, clock=lambda: now), system_clock()
        async with asyncio.timeout(30), listening(scheme, tmp_path, right) as dial:
            channel = Deaf(await dial(), 100_000)
            task = asyncio.create_task(lace.link(channel, 0, left.terms))
            while not right.ended:
                await asyncio.sleep(0.05)
            channel.go_on.set()
            await task

    left = end(0, [plex("b")])
    right = end(1, [build_blob(bytes([n]) * 2**20) for n in range(20)], limits=IMPATIENT)
    asyncio.run(meet(left, right))
    assert right.result.aborted == "phase-timeout"
    assert "took nothing" in right.result.detail
    assert plex("b").hash in right.shelf.records, "what had arrived is kept"


# Memory (D29).


def test_d29_links_wait_while_the_budget_is_used_up() -> None:
    async def story() -> list[str]:
        memory, said = Memory(100), list[str]()
        first, second, third = (memory.share() for _ in range(3))
        first.hold(60)
        second.hold(50)

        async def go_on(name: str, share: Share) -> None:
            await share.room()
            said.append(name)

        tasks = [asyncio.create_task(go_on(n, s)) for n, s in (("2", second), ("3", third))]
        await first.room()  # who has held for longest goes on, or nobody would ever end
        said.append("1")
        await asyncio.sleep(0)
        assert said == ["1"]
        first.hold(0)
        await asyncio.gather(*tasks)
        assert memory.used == 50
        return said

    assert asyncio.run(story()) == ["1", "2", "3"]


def test_d29_who_is_at_rest_shuts_nobody_out() -> None:
    """However long it holds something, and though it came first."""

    async def story() -> None:
        memory = Memory(100)
        resting, other = memory.share(), memory.share()
        resting.hold(200)
        waiting = asyncio.create_task(other.room())
        await asyncio.sleep(0)
        assert not waiting.done()
        resting.hold(200, resting=True)
        assert await waiting
        other.hold(10)
        later = asyncio.create_task(resting.room())
        await asyncio.sleep(0)
        assert not await other.room()
        assert not later.done(), "it goes on after those who have begun something"
        other.hold(0)
        assert await later

    asyncio.run(story())


def test_d29_many_links_come_to_an_end_within_a_small_budget(tmp_path: Path) -> None:
    most = 0

    class Watched(Memory):
        def note(self, share: Share, change: int) -> None:
            nonlocal most
            super().note(share, change)
            most = max(most, self.used)

    async def meet(right: End, lefts: list[End]) -> list[Result]:
        async with asyncio.timeout(60), listening("tcp", tmp_path, right) as dial:
            channels = [await dial() for _ in lefts]
            pairs = zip(lefts, channels, strict=True)
            return await asyncio.gather(*(e.lace.link(c, 0, e.terms) for e, c in pairs))

    shared = [build_blob(bytes([n]) * 10**6) for n in range(4)]
    right = End(terms(1), memory=Watched(3 * 10**6))
    right.shelf.add(shared)
    lefts = [end(0, [build_blob(bytes([n]) * 10**6)]) for n in range(100, 112)]
    results = asyncio.run(meet(right, lefts))
    assert all(result.converged for result in results)
    assert len(right.shelf.records) == 16
    assert right.memory.used == 0, "all is given back"
    assert most < 12 * 10**6, "twelve at once would hold more"


# WebSockets: binary messages, whose boundaries mean nothing.


async def over_websocket(right: End, folder: Path, talk: Callable[[str], Awaitable[None]]) -> None:
    async with asyncio.timeout(30), listening("ws", folder, right) as dial:
        channel = await dial()
        address = channel.about.address
        await channel.close()
        await talk(address.replace("ws:", "ws://"))


@pytest.mark.parametrize("size", [1, 7, 10**6])
def test_message_boundaries_mean_nothing(size: int, tmp_path: Path) -> None:
    async def talk(uri: str) -> None:
        async with open_websocket(uri, compression=None) as connection:
            pieces = [SETUP[at : at + size] for at in range(0, len(SETUP), size)]
            await connection.send(pieces)  # fragments of one message
            with suppress(ConnectionClosed):
                for piece in pieces:
                    await connection.send(piece)

    right = end(1)
    asyncio.run(over_websocket(right, tmp_path, talk))
    _, (_, result) = right.ended
    assert result.aborted == "malformed-stream", "the second preface was found"
    assert f"byte {len(SETUP)}: second-preface" in result.detail


def test_what_is_sent_are_binary_messages(tmp_path: Path) -> None:
    heard: list[str | bytes] = []

    async def talk(uri: str) -> None:
        async with open_websocket(uri, compression=None) as connection:
            await connection.send(SETUP + b"\x00")
            heard.extend([message async for message in connection])

    asyncio.run(over_websocket(end(1), tmp_path, talk))
    assert {type(message) for message in heard} == {bytes}
    assert heard[0] == PREFACE


def test_a_text_message_is_refused(tmp_path: Path) -> None:
    async def talk(uri: str) -> None:
        async with open_websocket(uri, compression=None) as connection:
            await connection.send(SETUP.decode())
            await connection.wait_closed()

    right = end(1)
    asyncio.run(over_websocket(right, tmp_path, talk))
    _, (_, result) = right.ended
    assert result.aborted == "disconnected"
    assert "text message" in result.detail


def test_other_paths_and_pages_of_browsers_are_turned_away(tmp_path: Path) -> None:
    async def talk(uri: str) -> None:
        with pytest.raises(InvalidStatus, match="404"):
            await open_websocket(uri.replace("/interlace", "/notes"))
        with pytest.raises(InvalidStatus, match="403"):
            await open_websocket(uri, origin=Origin("https://example.com"))

    right = end(1)
    asyncio.run(over_websocket(right, tmp_path, talk))
