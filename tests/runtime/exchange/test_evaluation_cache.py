"""What a side remembers from one exchange to the next changes nothing but the time it takes."""

import tempfile
from pathlib import Path
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from lacec.runtime.exchange.evaluation_cache import MOST, Memory
from lacec.runtime.exchange.in_process import Participant, make_pair
from lacec.runtime.exchange.side import Policy
from lacec.runtime.interlace.driver import Pair
from lacec.store.protocol import Shelf
from lacec.store.store import Store
from tests.helpers import examples
from tests.runtime.interlace.solo import plex
from tests.simulation.policies import (
    EVERYTHING,
    LATER,
    MONOTONE,
    OTHERS,
    library,
    local_policy,
    operand,
    some_records,
)
from tests.simulation.shelf import MemoryShelf
from tests.simulation.world import EPOCH

Sides = tuple[Participant, Participant]


def sides_of(left: Shelf, right: Shelf, source: str = EVERYTHING, exposed: str = "all") -> Sides:
    policies = [Policy(operand(i, source), local_policy(i, source, exposed)) for i in (0, 1)]
    return Participant(left, policies[0]), Participant(right, policies[1])


def run(sides: Sides, at: int = 0) -> Pair:
    """An exchange that begins so many seconds later."""
    pair = make_pair(*sides, lambda: (0, EPOCH + at * 10**9))
    pair.run()
    return pair


def test_an_exchange_with_nothing_new_finds_nothing_again(evaluations: list[object]) -> None:
    """Although it is at another time: the policy does not read it."""
    left, right = MemoryShelf(), MemoryShelf()
    left.add([plex("a")])
    sides = sides_of(left, right)
    run(sides)
    run(sides, at=1)
    count = len(evaluations)
    again = run(sides, at=2)
    assert len(evaluations) == count
    assert all(seat.result and seat.result.converged for seat in again.seats)
    peer = again.seats[1].machine.link.epoch.peer
    assert peer.keys() == left.records.keys()


def test_what_changed_is_evaluated_again(evaluations: list[object]) -> None:
    left, right = MemoryShelf(), MemoryShelf()
    sides = sides_of(left, right)
    run(sides)
    before = len(evaluations)
    left.add([plex("a")])
    run(sides)
    assert len(evaluations) > before
    assert right.records.keys() == left.records.keys()


def test_a_policy_that_reads_the_time_is_evaluated_at_each_time(evaluations: list[object]) -> None:
    sides = sides_of(MemoryShelf(), MemoryShelf(), LATER)
    counts = []
    for at in (0, 0, 1):
        run(sides, at)
        counts.append(len(evaluations))
    assert counts[0] == counts[1] < counts[2]


def test_what_another_policy_found_is_not_remembered(evaluations: list[object]) -> None:
    shelves, memories = (MemoryShelf(), MemoryShelf()), (Memory(), Memory())
    for exposed in ("all", "nothing", "all"):
        sides = sides_of(*shelves, exposed=exposed)
        one, other = (
            Participant(each.shelf, each.policy, memory=memory)
            for each, memory in zip(sides, memories, strict=True)
        )
        before = len(evaluations)
        run((one, other))
    assert before == len(evaluations), "of the first is left what was found"
    assert before == 4


def test_a_few_answers_are_remembered_and_no_more() -> None:
    shelf = MemoryShelf()
    sides = sides_of(shelf, MemoryShelf(), LATER)
    for at in range(2 * MOST):
        run(sides, at)
    memory = sides[0].memory
    assert len(memory._evaluated) == MOST


@given(st.integers(0, 10**6), st.sampled_from(MONOTONE + OTHERS), st.sampled_from(["all", "group"]))
@examples(12)
def test_exchanges_with_and_without_memory_are_the_same(
    seed: int, source: str, exposed: str
) -> None:
    """Over stores on disk that change between exchanges: results, records, and what each side
    knows of the other."""
    random, found = Random(seed), []
    steps = [(random.randrange(2), some_records(random, 6)) for _ in range(4)]
    removed = random.choice(library()).hash
    for remembers in (True, False):
        with (
            tempfile.TemporaryDirectory() as folder,
            Store.create(Path(folder) / "left") as left,
            Store.create(Path(folder) / "right") as right,
        ):
            stores, seen = (left, right), []
            sides = sides_of(left, right, source, exposed)
            for number, (which, records) in enumerate(steps):
                stores[which].add(records)
                if number == 2:
                    stores[which].remove([removed])
                if not remembers:
                    sides = sides_of(left, right, source, exposed)
                pair = run(sides, number // 2)
                for seat, store in zip(pair.seats, stores, strict=True):
                    epoch = seat.machine.link.epoch
                    kept = {hash for _, hash, _ in store.records()}
                    seen.append((seat.result, kept, dict(epoch.own), dict(epoch.peer)))
            found.append(seen)
    assert found[0] == found[1]
