"""One listener, many peers, one store."""

import asyncio
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from lacec.runtime.iltp.channel import Channel
from lacec.runtime.iltp.endpoints import Listener, connect, open_channel, serve
from lacec.runtime.iltp.framing.rules import PREFACE
from lacec.runtime.iltp.session import Lace, Terms
from lacec.runtime.iltp.signer_proof import Trust
from lacec.runtime.interlace.result import Result
from lacec.runtime.serve.admission import Guest, Guests
from lacec.store.store import Store
from tests.runtime.iltp.ends import ALICE, BOB, MALLORY, End, end, terms
from tests.runtime.interlace.solo import plex
from tests.simulation.policies import GROUP_U


@asynccontextmanager
async def serving(right: End, **options: Any) -> AsyncIterator[Listener]:
    welcome = options.pop("welcome", lambda _: right.terms)
    listener = await serve(right.lace, "tcp:127.0.0.1:0", welcome, None, right.note, **options)
    async with asyncio.timeout(60):
        yield listener
        await listener.stop(5)


def test_many_peers_converge_on_one_store() -> None:
    """Some of them break off in the middle: that concerns no other."""

    async def vanish(listener: Listener, number: int) -> None:
        channel = await open_channel(listener.address)
        await channel.write(b"\xf0\x9f\xaa\xa2: iltp/1\nHello"[: 1 + number * 3])
        await channel.close(now=True)

    async def meet(right: End, lefts: list[End]) -> list[Result]:
        async with serving(right) as listener:
            links = [connect(each.lace, str(listener.address), each.terms) for each in lefts]
            broken = [vanish(listener, n) for n in range(6)]
            results, _ = await asyncio.gather(asyncio.gather(*links), asyncio.gather(*broken))
            return results

    right = end(1, [plex("shared")])
    lefts = [end(0, [plex(f"of {n}")]) for n in range(12)]
    assert all(result.converged for result in asyncio.run(meet(right, lefts)))
    assert len(right.shelf.records) == 13
    assert all(plex("shared").hash in each.shelf.records for each in lefts)


def test_terms_are_chosen_by_who_the_peer_is() -> None:
    """A claim that is not proven gets nothing by it."""
    trust = Trust(unbound=True)
    wide = terms(1, identity=BOB, trust=trust)
    narrow = terms(1, source=GROUP_U, exposed="nothing", identity=BOB, trust=trust)
    records = [plex("a"), plex("b", "x")]

    async def got(who: Terms) -> set[str]:
        left, right = End(who), end(1, records)
        welcome = lambda verifier: wide if verifier == ALICE.verifier else narrow  # noqa: E731
        async with serving(right, welcome=welcome) as listener:
            await connect(left.lace, str(listener.address), left.terms)
        return set(left.shelf.records)

    assert len(asyncio.run(got(terms(0, identity=ALICE, trust=trust)))) == 2
    assert not asyncio.run(got(terms(0, identity=MALLORY, trust=trust)))
    assert not asyncio.run(got(terms(0)))


def test_open_links_pass_on_what_one_of_them_brings() -> None:
    async def meet(right: End, lefts: list[End]) -> None:
        async with serving(right) as listener:
            rested = [asyncio.Event() for _ in lefts]

            async def join(each: End, event: asyncio.Event) -> Result:
                where = str(listener.address)
                return await connect(each.lace, where, each.terms, on_rest=lambda _: event.set())

            pairs = zip(lefts, rested, strict=True)
            tasks = [asyncio.create_task(join(each, event)) for each, event in pairs]
            await asyncio.gather(*(event.wait() for event in rested))
            lefts[0].shelf.add([plex("news")])
            lefts[0].lace.changed()
            while not all(plex("news").hash in each.shelf.records for each in lefts):
                await asyncio.sleep(0.02)
            for each in lefts:
                await each.lace.finish(5)
            results = await asyncio.gather(*tasks)
            assert [result.aborted for result in results] == [None] * 3

    right = end(1, open=True)
    asyncio.run(meet(right, [end(0, open=True) for _ in range(3)]))


def test_a_listener_that_stops_lets_links_come_to_rest() -> None:
    async def meet(right: End, left: End) -> Result:
        rested = asyncio.Event()
        async with serving(right) as listener:
            where = str(listener.address)
            link = connect(left.lace, where, left.terms, on_rest=lambda _: rested.set())
            task = asyncio.create_task(link)
            await rested.wait()
        return await task

    right, left = end(1, [plex("a")], open=True), end(0, open=True)
    assert asyncio.run(meet(right, left)).converged
    assert right.result.converged
    assert right.lace.links == set()


def test_no_more_links_than_allowed() -> None:
    async def meet(right: End) -> None:
        async with serving(right, most=1) as listener:
            first = await open_channel(listener.address)
            await first.write(b"\xf0")
            await first.read()
            second = await open_channel(listener.address)
            assert await second.read() == b""
            await second.close()
            await first.close()

    asyncio.run(meet(end(1)))


def test_a_link_that_fails_in_a_way_nobody_foresaw_has_a_result_too() -> None:
    """It is ended, counted and logged, and the listener goes on."""

    def fail(_: str | None) -> Terms:
        raise RuntimeError("unforeseen")

    async def meet(left: End, right: End) -> None:
        async with serving(right, welcome=fail) as listener:
            for _ in range(2):
                await connect(left.lace, str(listener.address), left.terms)

    right = end(1)
    asyncio.run(meet(end(0), right))
    assert [result.aborted for _, result in right.ended] == ["internal-error"] * 2
    assert right.ended[0][1].detail == "RuntimeError: unforeseen"
    assert right.memory.used == 0


def test_who_comes_twice_at_once_is_counted_when_it_is_proven() -> None:
    """Both claims are heard before one is proven; who is turned away learns why."""
    trust, results = Trust(unbound=True), list[Result]()
    guests = Guests(None, {ALICE.verifier: Guest(terms(1, open=True, trust=trust), 1)})
    claims, both = list[str | None](), asyncio.Event()

    async def meet(left: End, right: End) -> None:
        def welcome(verifier: str | None) -> Terms | None:
            claims.append(verifier)
            return guests.welcome(right.lace, verifier)

        async with serving(right, welcome=welcome) as listener:
            hold = [open_channel(listener.address) for _ in range(2)]
            channels = [Held(channel, both) for channel in await asyncio.gather(*hold)]
            links = [left.lace.link(each, 0, left.terms) for each in channels]
            tasks = [asyncio.create_task(each) for each in links]
            while len(claims) < 2:
                await asyncio.sleep(0.01)
            both.set()
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            results.extend(task.result() for task in done)
            while len(right.lace.links) > 1:
                await asyncio.sleep(0.01)
            assert not tasks[0].done() or not tasks[1].done()
            await left.lace.finish(5)
            await asyncio.gather(*tasks)

    left, right = End(terms(0, open=True, identity=ALICE, trust=trust)), end(1)
    asyncio.run(meet(left, right))
    assert claims == [ALICE.verifier] * 4, "asked at setup, and when proven"
    assert [result.aborted for _, result in right.ended] == ["turned-away", None]
    (refused,) = results
    assert (refused.aborted, refused.converged) == (None, False)
    assert refused.detail.endswith("it said: abort: turned-away")


class Held:
    """A channel whose reader hears nothing until it may."""

    def __init__(self, channel: Channel, may: asyncio.Event) -> None:
        self._channel, self._may = channel, may
        self.about, self.write = channel.about, channel.write
        self.end, self.close = channel.end, channel.close

    async def read(self) -> bytes:
        await self._may.wait()
        return await self._channel.read()


# Patience before anybody has said who they are (D24a).


def test_the_phase_timeout_is_that_of_the_listener() -> None:
    async def meet(right: End) -> None:
        async with serving(right, patience=0.2) as listener:
            channel = await open_channel(listener.address)
            await channel.write(PREFACE + b"Exch")
            while await channel.read():
                pass
            await channel.close()

    right = end(1)
    asyncio.run(meet(right))
    assert right.result.aborted == "phase-timeout"
    assert "nothing more for 0.2 s" in right.result.detail


def test_to_wait_for_memory_is_not_the_fault_of_the_peer() -> None:
    async def meet(left: End, right: End) -> Result:
        other = right.memory.share()
        other.hold(2 * right.memory.most)
        async with serving(right, patience=0.2) as listener:
            link = asyncio.create_task(connect(left.lace, str(listener.address), left.terms))
            await asyncio.sleep(1)
            assert not link.done()
            other.hold(0)
            return await link

    assert asyncio.run(meet(end(0, [plex("a")]), end(1))).converged


def test_a_store_on_disk_answers_in_a_thread_of_its_own(tmp_path: Path) -> None:
    async def meet(lace: Lace, lefts: list[End]) -> list[Result]:
        listener = await serve(lace, "tcp:127.0.0.1:0", lambda _: terms(1))
        links = [connect(each.lace, str(listener.address), each.terms) for each in lefts]
        results = await asyncio.gather(*links)
        await listener.stop(5)
        return results

    with ThreadPoolExecutor(1) as executor:
        store = executor.submit(Store.create, tmp_path / "store").result()
        lefts = [end(0, [plex(f"of {n}")]) for n in range(5)]
        results = asyncio.run(meet(Lace(store, executor=executor), lefts))
        executor.submit(store.close).result()
    assert all(result.converged for result in results)
    with Store.open(tmp_path / "store") as store:
        assert {hash for _, hash, _ in store.records()} == {plex(f"of {n}").hash for n in range(5)}
