"""Two machines in one process, and the same exchange by other ways."""

from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lacec.records.record import Record
from lacec.runtime.exchange.side import Policy, Side
from lacec.runtime.interlace.driver import Pair, Seat, receive
from lacec.runtime.interlace.events import Faulty, OperandChanged, StoreChanged
from lacec.runtime.interlace.limits import SECOND
from lacec.runtime.interlace.link import Config
from lacec.runtime.interlace.machine import Machine
from lacec.runtime.interlace.messages import Arrived, Invalid, SentRecord
from lacec.runtime.interlace.result import Result
from lacec.runtime.interlace.state import State
from lacec.store.protocol import Shelf
from lacec.store.store import Store
from tests.helpers import examples
from tests.runtime.interlace.solo import plex
from tests.simulation.policies import (
    ANSWERS,
    EVERYTHING,
    GROUP_U,
    LATER,
    MEMBERS,
    MONOTONE,
    library,
    local_policy,
    modules,
    operand,
    some_records,
)
from tests.simulation.shelf import MemoryShelf
from tests.simulation.world import EPOCH, Node, World, config, connect

Shelves = tuple[Shelf, Shelf]


def seat(index: int, source: str, shelf: Shelf, **options: Any) -> Seat:
    policy = Policy(operand(index, source), local_policy(index, source, "all"))
    machine = Machine(Config(index, operand(index, source).module.id, **options))
    return Seat(machine, Side(policy, shelf, modules().get))


def clock() -> tuple[int, int]:
    return 0, EPOCH


def in_process(partitions: bool) -> Callable[[str, Shelves], list[Result]]:
    def run(source: str, shelves: Shelves) -> list[Result]:
        seats = [seat(i, source, shelf, partitions=partitions) for i, shelf in enumerate(shelves)]
        Pair(seats[0], seats[1], clock).run()
        return [found for s in seats if (found := s.result) is not None]

    return run


def over_bytes(partitions: bool) -> Callable[[str, Shelves], list[Result]]:
    def run(source: str, shelves: Shelves) -> list[Result]:
        world = World(0)
        nodes = []
        for name, shelf in zip(("left", "right"), shelves, strict=True):
            assert isinstance(shelf, MemoryShelf)
            nodes.append(Node(name, source, "all", shelf=shelf))
        configs = (
            config(nodes[0], 0, partitions=partitions),
            config(nodes[1], 1, partitions=partitions),
        )
        connection = connect(world, nodes[0], nodes[1], configs)
        world.run(3600 * SECOND)
        return [found for end in connection.ends if (found := end.result) is not None]

    return run


WAYS = {
    "in one process": in_process(False),
    "in one process, by partitions": in_process(True),
    "over bytes": over_bytes(False),
    "over bytes, by partitions": over_bytes(True),
}


def shelves_of(seed: int) -> tuple[MemoryShelf, MemoryShelf]:
    random = Random(seed)
    one, other = MemoryShelf(), MemoryShelf()
    one.add(some_records(random, 30))
    other.add(some_records(random, 30))
    return one, other


@given(st.integers(0, 10**6), st.sampled_from(MONOTONE))
@examples(12)
def test_all_ways_end_with_the_same_stores(seed: int, source: str) -> None:
    """050 Performance: direct access changes nothing in the result."""
    stores, results = [], []
    for run in WAYS.values():
        shelves = shelves_of(seed)
        results.append(run(source, shelves))
        stores.append([shelf.records.keys() for shelf in shelves])
    assert all(each == stores[0] for each in stores)
    assert all(result.converged for pair in results for result in pair)
    assert results[0] == results[1] == results[2] == results[3]


def test_two_stores_converge(tmp_path: Path) -> None:
    records = [plex(f"n{n}") for n in range(10)]
    with Store.create(tmp_path / "left") as left, Store.create(tmp_path / "right") as right:
        left.add(records[:6])
        right.add(records[4:])
        results = in_process(False)(EVERYTHING, (left, right))
        assert {hash for _, hash, _ in left.records()} == {r.hash for r in records}
        assert {hash for _, hash, _ in right.records()} == {r.hash for r in records}
    assert [len(result.received_hashes) for result in results] == [4, 4]
    assert results[0].bytes_received == results[1].bytes_sent


def test_only_what_both_select_moves() -> None:
    left, right = MemoryShelf(), MemoryShelf()
    left.add([plex("shared"), plex("private", group="x")])
    in_process(False)(GROUP_U, (left, right))
    assert right.records.keys() == {plex("shared").hash}


def test_evidence_is_fetched_before_what_it_selects() -> None:
    """050's last example: member records first, then what members wrote."""
    left, right = MemoryShelf(), MemoryShelf()
    left.add(library())
    (_, result) = in_process(False)(MEMBERS, (left, right))
    assert result.converged
    assert result.loops > 3
    apps = {record.app for record in right.records.values()}
    assert apps == {"member", "ding"}


def test_a_send_set_that_depends_on_advertisements_grows_loop_by_loop() -> None:
    left, right = MemoryShelf(), MemoryShelf()
    ding, member = plex("ding"), next(r for r in library() if r.app == "member")
    left.add([ding, member])
    (result, _) = in_process(False)(ANSWERS, (left, right))
    assert result.converged
    assert right.records.keys() == {member.hash}, "the peer has no ding to answer"


def test_an_open_exchange_goes_on_when_something_is_new() -> None:
    left, right = MemoryShelf(), MemoryShelf()
    seats = [seat(i, EVERYTHING, s, open=True) for i, s in enumerate((left, right))]
    pair = Pair(seats[0], seats[1], clock)
    pair.run()
    assert [s.machine.state for s in seats] == [State.REST, State.REST]
    left.add([plex("new")])
    pair.tell(seats[0], StoreChanged(1))
    pair.go_on()
    assert right.records.keys() == left.records.keys()


def test_a_tick_may_come_just_before_a_message() -> None:
    """Time alone begins a loop; the block by which the peer began it too is heard after that."""
    left, right = MemoryShelf(), MemoryShelf()
    left.add([plex("one")])
    options = {"open": True, "tick_interval": SECOND}
    seats = [seat(i, LATER, s, **options) for i, s in enumerate((left, right))]
    passed = iter(range(0, 10**6 * SECOND, SECOND // 40))
    pair = Pair(seats[0], seats[1], lambda: (now := next(passed), EPOCH + now))
    pair.run()
    for _ in range(50):
        for each in seats:
            pair.tell(each)
        pair.go_on()
    assert [s.result and s.result.aborted for s in seats] == [None, None]
    assert right.records.keys() == left.records.keys()


def test_a_new_operand_changes_what_is_exchanged() -> None:
    left, right = MemoryShelf(), MemoryShelf()
    left.add([plex("public"), plex("private", group="x")])
    seats = [seat(i, GROUP_U, s, open=True) for i, s in enumerate((left, right))]
    pair = Pair(seats[0], seats[1], clock)
    pair.run()
    assert right.records.keys() == {plex("public").hash}
    for index, at in enumerate(seats):
        assert isinstance(at.answers, Side)
        at.answers.change(
            Policy(operand(index, EVERYTHING), local_policy(index, EVERYTHING, "all"))
        )
        pair.tell(at, OperandChanged(operand(index, EVERYTHING).module.id))
    pair.go_on()
    assert right.records.keys() == left.records.keys()
    assert [s.machine.state for s in seats] == [State.REST, State.REST]


def test_one_side_that_aborts_ends_the_other_cleanly() -> None:
    left, right = MemoryShelf(), MemoryShelf()
    left.add([plex("one")])
    right.broken_adds = 1
    results = in_process(False)(EVERYTHING, (left, right))
    assert [(result.converged, result.aborted) for result in results] == [
        (False, None),
        (False, "store-failed"),
    ]


@pytest.mark.parametrize("record", [r for r in library() if r.data_length][:8])
def test_a_record_is_validated_on_its_way(record: Record) -> None:
    assert receive(SentRecord(record.hash, record.data)) == Arrived(record)
    changed = record.data[:-1] + bytes([record.data[-1] ^ 1])
    assert receive(SentRecord(record.hash, changed)) == Invalid(record.hash, len(changed))
    assert isinstance(receive(SentRecord(record.hash, b"nothing")), Faulty)
