"""Live links find what full evaluation finds, whatever comes and goes, at the cost of it."""

from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lacec.records.record import Record
from lacec.runtime.exchange import live as live_links
from lacec.runtime.exchange.advertisement_columns import describe_record
from lacec.runtime.exchange.in_process import Participant, make_pair
from lacec.runtime.exchange.live import LiveStore
from lacec.runtime.exchange.side import EXCHANGE_LIMITS, Policy, Side
from lacec.runtime.interlace import events as e
from lacec.runtime.interlace.advertisement import Schema
from lacec.runtime.interlace.advertisements import Claims
from lacec.runtime.interlace.driver import Pair
from lacec.runtime.interlace.limits import SECOND
from lacec.runtime.interlace.messages import UNASSIGNED, Setup
from lacec.store.protocol import Shelf
from lacec.store.store import Store
from tests.helpers import examples
from tests.runtime.interlace.solo import plex
from tests.simulation.policies import (
    AT_MOST_THREE,
    EVERYTHING,
    EXPOSURES,
    LATER,
    MONOTONE,
    OTHERS,
    library,
    local_policy,
    modules,
    operand,
)
from tests.simulation.shelf import MemoryShelf
from tests.simulation.world import EPOCH

EVERY = Schema(every=True)
SOURCE = "V.peer.H3"
START = "1700000000:000000000"


def side_of(shelf: Shelf, source: str, exposed: str, live: LiveStore | None, **more: Any) -> Side:
    """A side whose plan is made."""
    policy = Policy(operand(0, source), local_policy(0, source, exposed))
    limits = replace(EXCHANGE_LIMITS, **more)
    side = Side(policy, shelf, modules().get, limits=limits, live=live)
    setups = [Setup(n, operand(n, source).module.id, UNASSIGNED, "selector") for n in (0, 1)]
    assert isinstance(side.answer(e.Compile(*setups)), e.Compiled)
    return side


def ask(side: Side, claims: Claims, tick: int = 0) -> e.Answer:
    runtime = (("StartTAI", START), ("TickTAI", f"{1700000000 + tick}:000000000"))
    return side.answer(e.Evaluate(runtime, claims))


def is_live(side: Side) -> bool:
    assert side._live is not None
    return side._live.is_live


def claim(record: Record) -> Claims:
    return Claims([describe_record(record, SOURCE, EVERY)])


class Steps:
    """A store and what two peers advertise, changed at random."""

    def __init__(self, seed: int, shelf: MemoryShelf) -> None:
        self.random, self.shelf = Random(seed), shelf
        self.claims = [Claims(), Claims()]
        self.tick = 0

    def step(self) -> None:
        what, record = self.random.randrange(5), self.random.choice(library())
        peer = self.random.randrange(2)
        match what:
            case 0:
                self.shelf.add([record])
            case 1:
                self.shelf.remove(record.hash)
            case 2:
                self.claims[peer] = self.claims[peer].and_also(claim(record))
            case 3:
                self.claims[peer] = self.claims[peer].only(self.claims[peer].keys() - {record.hash})
            case 4:
                self.tick += 1


@given(st.integers(0, 10**6), st.sampled_from(MONOTONE + OTHERS), st.sampled_from(EXPOSURES))
@examples(25)
def test_two_live_links_find_what_full_evaluation_finds(
    seed: int, source: str, exposed: str
) -> None:
    """On one store, after every step, with another exposure each; one is now and then idle."""
    steps = Steps(seed, MemoryShelf())
    store = LiveStore(steps.shelf)
    exposures = (exposed, "selected")
    sides = [side_of(steps.shelf, source, each, store) for each in exposures]
    fresh = [side_of(steps.shelf, source, each, None) for each in exposures]
    was_live = False
    for number in range(40):
        steps.step()
        for side, full, claims in zip(sides, fresh, steps.claims, strict=True):
            if side is sides[1] and number % 8 > 4:
                continue
            full.forget()
            assert ask(side, claims, steps.tick) == ask(full, claims, steps.tick)
            was_live |= is_live(side)
    assert was_live


def test_a_link_is_live_from_its_second_evaluation_on(evaluations: list[object]) -> None:
    shelf = MemoryShelf()
    side = side_of(shelf, EVERYTHING, "all", LiveStore(shelf))
    ask(side, Claims())
    assert not is_live(side)
    for n in range(3):
        shelf.add([plex(f"n{n}")])
        found = ask(side, Claims())
        assert isinstance(found, e.Evaluated)
        assert found.send == shelf.records.keys()
        assert is_live(side)
    assert len(evaluations) == 1


def test_a_bounded_exchange_is_never_live() -> None:
    pair = open_pair(MemoryShelf(), MemoryShelf(), ticks=None)
    pair.run()
    assert all(isinstance(s.answers, Side) and s.answers._live is None for s in pair.seats)


def test_links_share_the_facts_of_their_store() -> None:
    shelf = MemoryShelf()
    store = LiveStore(shelf)
    sides = [side_of(shelf, EVERYTHING, "all", store) for _ in range(2)]
    for n in range(2):
        shelf.add([plex(f"n{n}")])
        for side in sides:
            ask(side, Claims())
    one, other = (side._live._state for side in sides if side._live is not None)
    assert one is not None
    assert other is not None
    assert one.shared is other.shared is store.base
    assert one.own is not other.own
    for side in sides:
        side.close()
    assert store.base is None, "nobody needs it"


def test_an_idle_link_is_dropped_and_found_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live_links, "MOST_LINKS", 2)
    shelf = MemoryShelf()
    store = LiveStore(shelf)
    sides = [side_of(shelf, EVERYTHING, "all", store) for _ in range(3)]
    for n in range(2):
        shelf.add([plex(f"n{n}")])
        for side in sides:
            ask(side, Claims())
    assert [is_live(side) for side in sides] == [False, True, True]
    shelf.add([plex("more")])
    found = ask(sides[0], Claims())
    assert isinstance(found, e.Evaluated)
    assert found.send == shelf.records.keys()
    assert [is_live(side) for side in sides] == [True, False, True]


@pytest.mark.parametrize("bound", ["MOST_CHANGES", "MOST_FACTS"])
def test_a_link_that_missed_too_much_is_evaluated_anew(
    monkeypatch: pytest.MonkeyPatch, bound: str
) -> None:
    monkeypatch.setattr(live_links, bound, 1)
    shelf = MemoryShelf()
    store = LiveStore(shelf)
    sides = [side_of(shelf, EVERYTHING, "all", store) for _ in range(2)]
    for n in range(6):
        shelf.add([plex(f"n{n}")])
        found = [ask(side, Claims()) for side in (sides if n in (0, 1, 5) else sides[:1])]
        for each in found:
            assert isinstance(each, e.Evaluated)
            assert each.send == shelf.records.keys()
    assert len(store._changes) <= 1


def test_values_that_no_fact_has_any_more_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    """A peer that advertises something else all the time fills no memory."""
    monkeypatch.setattr(live_links, "SPARE_VALUES", 10)
    shelf = MemoryShelf()
    shelf.add([plex("a")])
    store = LiveStore(shelf)
    side, sizes = side_of(shelf, EVERYTHING, "all", store), []
    claims = Claims()
    for n in range(60):
        record = plex(f"n{n}")
        claims = claims.only(frozenset()).and_also(claim(record))
        found = ask(side, claims)
        assert isinstance(found, e.Evaluated)
        assert found.request == {record.hash}
        sizes.append(len(store.base.symbols) if store.base else 0)
    assert max(sizes) < 100


def test_a_limit_is_decided_by_full_evaluation() -> None:
    shelf = MemoryShelf()
    side = side_of(shelf, EVERYTHING, "all", LiveStore(shelf), base_facts=30)
    fresh = side_of(shelf, EVERYTHING, "all", None, base_facts=30)
    kinds = []
    for n in range(5):
        shelf.add([plex(f"n{n}")])
        assert ask(side, Claims()) == ask(fresh, Claims())
        kinds.append(type(ask(side, Claims())))
    assert kinds[1] is e.Evaluated
    assert kinds[-1] is e.NotEvaluated
    shelf.remove(plex("n0").hash)
    shelf.remove(plex("n1").hash)
    assert ask(side, Claims()) == ask(fresh, Claims())


def test_a_link_that_meets_a_limit_does_not_try_to_be_live_each_time() -> None:
    shelf = MemoryShelf()
    side = side_of(shelf, EVERYTHING, "all", LiveStore(shelf), base_facts=10)
    shelf.add([plex(f"n{n}") for n in range(5)])
    for _ in range(16):
        assert isinstance(ask(side, Claims()), e.NotEvaluated)
    assert side._live is not None
    assert 1 <= side._live._failures <= 4, "each time it waits twice as long"
    for n in range(5):
        shelf.remove(plex(f"n{n}").hash)
    for _ in range(16):
        shelf.add([plex("a")])
        assert isinstance(ask(side, Claims()), e.Evaluated)
        shelf.remove(plex("a").hash)
    assert is_live(side)


@pytest.mark.parametrize("live", [True, False])
def test_a_value_over_the_limit_of_one_link_ends_that_one_alone(live: bool) -> None:
    shelf = MemoryShelf()
    store = LiveStore(shelf)
    strict = side_of(shelf, EVERYTHING, "all", store, value_bytes=100)
    other = side_of(shelf, EVERYTHING, "all", store)
    for n in range(2 * live):
        shelf.add([plex(f"n{n}")])
        assert isinstance(ask(strict, Claims()), e.Evaluated)
    shelf.add([plex("n" * 200)])
    assert isinstance(ask(other, Claims()), e.Evaluated)
    assert isinstance(ask(strict, Claims()), e.NotEvaluated)


# Stores on disk.


@given(st.integers(0, 10**6), st.sampled_from((EVERYTHING, AT_MOST_THREE)))
@examples(8)
def test_a_store_says_what_changed(tmp_path_factory: Any, seed: int, source: str) -> None:
    """Records that come, go, come back; segments that are written; a store that is compacted."""
    random = Random(seed)
    folder = tmp_path_factory.mktemp("stores")
    with Store.create(folder / "store") as store:
        side = side_of(store, source, "group", LiveStore(store))
        for _ in range(25):
            match random.randrange(6):
                case 0 | 1:
                    store.add(random.sample(library(), 2))
                case 2 | 3:
                    store.remove([record.hash for record in random.sample(library(), 3)])
                case 4:
                    store.settle()
                case 5 if random.random() < 0.3:
                    store.compact()
            fresh = side_of(store, source, "group", None)
            assert ask(side, Claims()) == ask(fresh, Claims())


def test_changes_that_are_many_or_lost_are_not_told(tmp_path: Path) -> None:
    with Store.create(tmp_path / "store") as store:
        first = store.snapshot()
        store.add(library()[:4])
        second = store.snapshot()
        assert store.changes(first, second, 3) is None
        assert store.changes(second, first, 9) is None, "time does not go back"
        store.remove([library()[0].hash])
        third = store.snapshot()
        change = store.changes(second, third, 9)
        assert change is not None
        assert not change.added
        store.compact()
        assert store.changes(second, third, 9) is None, "the bytes are gone"
        assert store.changes(third, store.snapshot(), 9) is None


# Open exchanges.


def open_pair(
    left: Shelf, right: Shelf, ticks: int | None = SECOND, source: str = EVERYTHING, step: int = 1
) -> Pair:
    """`step` is by how much the clock has moved each time it is read."""
    one, other = (
        Participant(shelf, Policy(operand(i, source), local_policy(i, source, "all")))
        for i, shelf in enumerate((left, right))
    )
    times = iter(range(0, 10**9 * step, step))
    return make_pair(one, other, lambda: (now := next(times), EPOCH + now), tick_interval=ticks)


@pytest.fixture
def opened() -> tuple[Pair, MemoryShelf, MemoryShelf]:
    left, right = MemoryShelf(), MemoryShelf()
    left.add([plex(f"old {n}") for n in range(40)])
    pair = open_pair(left, right)
    pair.run()
    assert right.records.keys() == left.records.keys()
    return pair, left, right


def store(pair: Pair, seat: int, shelf: MemoryShelf, name: str) -> None:
    shelf.add([plex(name)])
    pair.tell(pair.seats[seat], e.StoreChanged(shelf.last))
    pair.go_on()


def test_records_of_an_open_exchange_are_not_evaluated_in_full(
    opened: tuple[Pair, MemoryShelf, MemoryShelf], evaluations: list[object]
) -> None:
    pair, left, right = opened
    store(pair, 0, left, "first")  # now both turn live
    evaluations.clear()
    for n in range(5):
        store(pair, 0, left, f"new {n}")
        store(pair, 1, right, f"back {n}")
    assert left.records.keys() == right.records.keys()
    assert len(left.records) == 51
    assert evaluations == []


def test_a_record_that_is_removed_is_advertised_no_more(
    opened: tuple[Pair, MemoryShelf, MemoryShelf],
) -> None:
    pair, left, _ = opened
    store(pair, 0, left, "first")
    left.remove(plex("old 3").hash)
    pair.tell(pair.seats[0], e.StoreChanged(left.last, removed=True))
    pair.go_on()
    assert pair.seats[1].machine.link.epoch.peer.keys() <= {*left.records, plex("old 3").hash}
    assert pair.seats[0].machine.link.epoch.own.keys() == left.records.keys()


def test_ticks_go_in_as_changes(evaluations: list[object]) -> None:
    left, right = MemoryShelf(), MemoryShelf()
    left.add([plex("a")])
    pair = open_pair(left, right, SECOND, LATER, step=SECOND // 100)
    pair.run()
    pair.go_on()
    count = len(evaluations)
    for _ in range(400):
        for seat in pair.seats:
            pair.tell(seat)
        pair.go_on()
    assert right.records.keys() == left.records.keys()
    assert len(evaluations) <= count + 2
