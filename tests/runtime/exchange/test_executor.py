"""A costly peer at a listener: it is evaluated aside, and holds up nobody else."""

import asyncio
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from threading import Event, Timer

import pytest

from lacec.runtime.exchange.executor import Aside, in_thread
from lacec.runtime.exchange.side import EXCHANGE_LIMITS
from lacec.runtime.iltp.endpoints import connect, serve
from lacec.runtime.iltp.session import Lace, Terms
from lacec.runtime.interlace import events as e
from lacec.runtime.interlace.result import Result
from lacec.runtime.interlace.state import State
from lacec.store.store import Store
from tests.runtime.iltp.ends import End, end, terms
from tests.runtime.interlace.solo import plex

THEIRS = [plex(f"theirs {n}") for n in range(100)]
PATIENT = replace(EXCHANGE_LIMITS, seconds=600)


def costly(rules: int) -> str:
    """Each rule joins everything with everything, twice, to find what was there."""
    lines = ["Both(P,Q) :- Have(P), Have(Q).", "SelectAdvertised(P,S) :- Advertised(P,S)."]
    for n in range(rules):
        lines.append(f"A{n}(P,Q) :- Both(P,R), Both(R,Q), P != '{n}'.")
        lines.append(f"SelectHave(P) :- A{n}(P,P).")
    return "\n".join(lines)


@contextmanager
def stored(folder: Path) -> Iterator[tuple[Store, Executor, Aside]]:
    with ThreadPoolExecutor(1) as executor:
        store = executor.submit(Store.create, folder).result()
        executor.submit(store.add, THEIRS).result()
        with Aside(partial(Store.open, folder, read_only=True)) as aside:
            yield store, executor, aside
        executor.submit(store.close).result()


async def until(holds: Callable[[], object]) -> None:
    while not holds():
        await asyncio.sleep(0.01)


def test_a_costly_peer_holds_up_nobody(tmp_path: Path) -> None:
    """All of its evaluation takes seconds; the other one waits for a turn of it at most."""
    slow, quick = end(0, source=costly(60)), end(0, [plex("mine")])
    own = replace(terms(1), evaluation=PATIENT)

    async def meet(lace: Lace) -> Result:
        listener = await serve(lace, "tcp:127.0.0.1:0", lambda _: own)
        address = str(listener.address)
        first = asyncio.create_task(connect(slow.lace, address, slow.terms))
        await until(lambda: [p for p in lace.links if p.machine.state is State.SELECTING])
        result = await connect(quick.lace, address, quick.terms)
        assert not first.done()
        await slow.lace.tell(e.Cancel())
        assert (await first).aborted == "cancelled"
        await listener.stop(5)
        return result

    with stored(tmp_path / "store") as (store, executor, aside):
        assert asyncio.run(meet(Lace(store, executor=executor, aside=aside))).converged
    assert set(quick.shelf.records) == {record.hash for record in (*THEIRS, plex("mine"))}


def test_a_link_that_is_ended_leaves_no_evaluation_behind(tmp_path: Path) -> None:
    """All of it would take much longer: whoever is aside next, or ends all, waits for none."""
    slow, own = end(0, source=costly(120)), replace(terms(1), evaluation=PATIENT)

    async def meet(lace: Lace, aside: Aside) -> None:
        listener = await serve(lace, "tcp:127.0.0.1:0", lambda _: own)
        gone = asyncio.create_task(connect(slow.lace, str(listener.address), slow.terms))
        await until(lambda: aside._live)
        await lace.tell(e.Cancel())
        await until(lambda: not lace.links)
        async with asyncio.timeout(3):
            await in_thread(aside.executor, lambda _: None, None)
        await listener.stop(5)
        assert not (await gone).converged

    with stored(tmp_path / "store") as (store, executor, aside):
        asyncio.run(meet(Lace(store, executor=executor, aside=aside), aside))


class Watched(Store):
    """A store of which is known whether it was closed."""

    is_closed = False

    def close(self) -> None:
        self.is_closed = True
        super().close()


def test_a_store_that_is_just_being_opened_is_closed_at_the_end(tmp_path: Path) -> None:
    Store.create(tmp_path / "store").close()
    begun, ending, opened = Event(), Event(), list[Watched]()

    def open() -> Store:
        begun.set()
        ending.wait()
        opened.append(Watched.open(tmp_path / "store", read_only=True))
        return opened[0]

    with Aside(open) as aside:
        aside.executor.submit(aside.live)
        begun.wait()
        Timer(0.1, ending.set).start()
    assert opened[0].is_closed


async def link(lace: Lace, own: Terms, *lefts: End) -> tuple[list[Result], list[Result]]:
    """What became of links on both sides."""
    ended: list[Result] = []
    listener = await serve(
        lace, "tcp:127.0.0.1:0", lambda _: own, None, lambda _, r: ended.append(r)
    )
    address = str(listener.address)
    results = await asyncio.gather(*(connect(x.lace, address, x.terms) for x in lefts))
    await until(lambda: len(ended) == len(lefts))
    await listener.stop(5)
    return results, ended


def test_who_is_aside_is_served_as_ever(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Here a turn is no time at all, so that all go aside; what they bring is stored."""
    monkeypatch.setattr("lacec.runtime.exchange.executor.TURN_SECONDS", 0)
    lefts = [end(0, [plex(f"of {n}")]) for n in range(3)]
    with stored(tmp_path / "store") as (store, executor, aside):
        lace = Lace(store, executor=executor, aside=aside)
        results, ended = asyncio.run(link(lace, terms(1), *lefts))
    assert all(result.converged and result.exceeded is None for result in (*results, *ended))
    with Store.open(tmp_path / "store") as store:
        brought = {plex(f"of {n}").hash for n in range(3)}
        assert {hash for _, hash, _ in store.records()} == brought | {r.hash for r in THEIRS}


def test_who_needs_too_long_aside_is_told_as_ever(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lacec.runtime.exchange.executor.TURN_SECONDS", 0)
    own = replace(terms(1), evaluation=replace(PATIENT, seconds=0))
    with stored(tmp_path / "store") as (store, executor, aside):
        lace = Lace(store, executor=executor, aside=aside)
        _, (result,) = asyncio.run(link(lace, own, end(0, source=costly(60))))
    assert result.aborted == "evaluation-failed"
    assert result.exceeded is not None
    assert (result.exceeded.name, result.exceeded.limit) == ("seconds", 0)


def test_a_store_that_cannot_be_opened_again_ends_the_link(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lacec.runtime.exchange.executor.TURN_SECONDS", 0)
    with (
        stored(tmp_path / "store") as (store, executor, _),
        Aside(partial(Store.open, tmp_path / "gone", read_only=True)) as aside,
    ):
        lace = Lace(store, executor=executor, aside=aside)
        _, (result,) = asyncio.run(link(lace, terms(1), end(0)))
    assert result.aborted == "evaluation-failed"
    assert "there is no store" in result.detail
    assert result.exceeded is None
