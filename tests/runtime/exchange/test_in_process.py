"""Exchanges of two stores in one process: real and dry."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lacec.plan.expose import LocalPolicy, expose_all
from lacec.runtime.exchange.cursors import FileCursors
from lacec.runtime.exchange.in_process import Layer, Participant, dry_run, make_pair
from lacec.runtime.exchange.side import Policy
from lacec.runtime.interlace.limits import SECOND
from lacec.runtime.interlace.result import Result
from lacec.store.protocol import Shelf
from lacec.store.store import Store
from tests.helpers import examples
from tests.runtime.interlace.solo import ALICE, BOB, plex
from tests.runtime.interlace.test_driver import clock, shelves_of
from tests.simulation.policies import (
    AT_MOST_THREE,
    EVERYTHING,
    GROUP_U,
    MEMBERS,
    MONOTONE,
    local_policy,
    operand,
)
from tests.simulation.shelf import MemoryShelf
from tests.simulation.world import EPOCH

RECORDS = [plex(f"n{n}") for n in range(4)]


def participant(index: int, shelf: Shelf, source: str = EVERYTHING) -> Participant:
    policy = Policy(operand(index, source), local_policy(index, source, "all"))
    return Participant(shelf, policy)


def run(left: Participant, right: Participant) -> tuple[Result, Result]:
    pair = make_pair(left, right, clock)
    pair.run()
    one, other = (seat.result for seat in pair.seats)
    assert one is not None
    assert other is not None
    return one, other


def test_two_stores_on_disk(tmp_path: Path) -> None:
    with Store.create(tmp_path / "a") as left, Store.create(tmp_path / "b") as right:
        left.add(RECORDS[:2])
        right.add(RECORDS[1:])
        one, other = run(participant(0, left), participant(1, right))
        assert {hash for _, hash, _ in left.records()} == {r.hash for r in RECORDS}
    assert set(one.received_hashes) == {r.hash for r in RECORDS[2:]}
    assert set(other.received_hashes) == {RECORDS[0].hash}
    assert one.peer_verifier is None


def test_nobody_is_too_slow_in_one_process() -> None:
    """A side that says nothing for a minute is at work; there is no timeout (D24a) to meet."""
    left, right = shelves_of(2)
    minutes = iter(range(10**6))
    slow = make_pair(
        participant(0, left),
        participant(1, right),
        lambda: (now := next(minutes) * 60 * SECOND, EPOCH + now),
    )
    slow.run()
    assert [seat.result and seat.result.converged for seat in slow.seats] == [True, True]


def test_d24b_here_and_peer_when_both_keys_are_given(tmp_path: Path) -> None:
    with Store.create(tmp_path / "a") as left, Store.create(tmp_path / "b") as right:
        left.add(RECORDS)
        sides = [
            Participant(store, participant(i, store).policy, key, FileCursors(store.folder))
            for i, (store, key) in enumerate(((left, ALICE), (right, BOB)))
        ]
        one, other = run(sides[0], sides[1])
        again, _ = run(sides[0], sides[1])
    assert (one.peer_verifier, other.peer_verifier) == (BOB, ALICE)
    assert one.link_id == other.link_id
    assert one.cursor_updated
    assert other.cursor_updated
    assert not again.cursor_updated, "nothing changed"


def test_d24b_one_key_alone_proves_nothing() -> None:
    shelf = MemoryShelf()
    alone = Participant(shelf, participant(0, shelf).policy, ALICE)
    assert run(alone, participant(1, MemoryShelf()))[1].peer_verifier is None


@given(st.integers(0, 10**6), st.sampled_from((*MONOTONE, AT_MOST_THREE)))
@examples(10)
def test_a_dry_run_lists_what_the_run_then_moves(seed: int, source: str) -> None:
    shelves = shelves_of(seed)
    before = [set(shelf.records) for shelf in shelves]
    sides = [participant(i, shelf, source) for i, shelf in enumerate(shelves)]
    _, moves = dry_run(sides[0], sides[1], clock)
    assert [set(shelf.records) for shelf in shelves] == before, "nothing is stored"
    run(sides[0], sides[1])
    for to in (0, 1):
        moved = {move.hash for move in moves if move.to == to}
        assert moved == set(shelves[to].records) - before[to]


def test_a_dry_run_says_which_rules_decide() -> None:
    left, right = MemoryShelf(), MemoryShelf()
    left.add([plex("one")])
    policies = [Policy(operand(0, EVERYTHING), LocalPolicy((expose_all(),)))]
    policies.append(Policy(operand(1, GROUP_U), LocalPolicy((expose_all(),))))
    sides = [Participant(s, p) for s, p in zip((left, right), policies, strict=True)]
    _, (move,) = dry_run(sides[0], sides[1], clock)
    assert (move.hash, move.to, move.size) == (plex("one").hash, 1, len(plex("one").data))
    assert [(each.index, each.rule.text) for each in move.sent_by] == [
        (0, "SelectHave(P) :- Have(P)."),
        (1, "SelectHave(P) :- Field(P,'Group',_,'u')."),
    ]
    assert [(each.index, each.rule.text) for each in move.requested_by] == [
        (0, "SelectAdvertised(P,S) :- Advertised(P,S)."),
        (1, "SelectAdvertised(P,S) :- AdvertisedField(P,S,'Group',_,'u')."),
    ]


def test_only_the_rules_that_select_the_record_are_named() -> None:
    """Of several rules for one predicate, those that derive it."""
    left, right = shelves_of(1)
    sides = [participant(i, shelf, MEMBERS) for i, shelf in enumerate((left, right))]
    _, moves = dry_run(sides[0], sides[1], clock)
    for move in moves:
        record = (left.records | right.records)[move.hash]
        texts = [each.rule.text for each in move.sent_by]
        assert texts
        assert all(f"'{record.app}'" in text for text in texts)


def test_a_layer_changes_nothing_below() -> None:
    below = MemoryShelf()
    below.add(RECORDS[:1])
    layer = Layer(below)
    assert layer.add([RECORDS[0], RECORDS[1].data]).admitted == [RECORDS[1].hash]
    assert layer.get(RECORDS[1].hash) == RECORDS[1].data
    assert below.get(RECORDS[1].hash) is None
    assert layer.snapshot() is layer.snapshot()


@pytest.mark.parametrize("exposed", ["nothing", "all"])
def test_nothing_is_sent_by_a_side_that_exposes_nothing(exposed: str) -> None:
    left, right = MemoryShelf(), MemoryShelf()
    left.add(RECORDS)
    policy = Policy(operand(0, EVERYTHING), local_policy(0, EVERYTHING, exposed))
    run(Participant(left, policy), participant(1, right))
    assert bool(right.records) == (exposed == "all")
