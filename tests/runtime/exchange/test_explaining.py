"""Why a record moves in an exchange: each side explains what it saw when it decided."""

from lacec.core.limits import Limits
from lacec.explain.proof_tree import Proof
from lacec.runtime.exchange.explaining import explain_all, explain_exchange
from lacec.runtime.exchange.in_process import dry_run, limit_exceeded
from tests.runtime.exchange.test_in_process import participant
from tests.runtime.interlace.solo import plex
from tests.runtime.interlace.test_driver import clock
from tests.simulation.shelf import MemoryShelf

INTO_AN_EMPTY_STORE = """\
SelectHave(P) :- Have(P).
SelectAdvertised(P,S) :- Advertised(P,S), Cardinality(Have(_),'<','1').
"""
FEW = """\
SelectHave(P) :- Have(P), Cardinality(Have(_),'<','2').
SelectAdvertised(P,S) :- Advertised(P,S).
"""


def test_what_is_requested_is_explained_by_what_the_request_saw() -> None:
    """Records are stored in batches: when a later one comes, the store is no longer empty."""
    left, right = MemoryShelf(), MemoryShelf()
    records = [plex(f"n{n}") for n in range(700)]
    left.add(records)
    sides = [participant(n, shelf, INTO_AN_EMPTY_STORE) for n, shelf in enumerate((left, right))]
    for record in (min(records, key=lambda r: r.hash), max(records, key=lambda r: r.hash)):
        _, (to_right, to_left) = explain_exchange(sides[0], sides[1], record.hash, clock)
        assert (to_right.outcome, to_left.outcome) == ("moves", "already-there")
        assert isinstance(to_right.send, Proof)
        assert isinstance(to_right.request, Proof)


def test_what_is_sent_is_explained_by_what_the_sender_saw_then() -> None:
    """In the end both have two records, and the selector would let none out."""
    left, right = MemoryShelf(), MemoryShelf()
    mine, theirs = plex("mine"), plex("theirs")
    left.add([mine])
    right.add([theirs])
    sides = [participant(n, shelf, FEW) for n, shelf in enumerate((left, right))]
    for hash, to in ((mine.hash, 0), (theirs.hash, 1)):
        _, directions = explain_exchange(sides[0], sides[1], hash, clock)
        assert directions[to].outcome == "moves"
        assert isinstance(directions[to].send, Proof)


def test_an_exchange_that_stops_says_so() -> None:
    left, right = MemoryShelf(), MemoryShelf()
    records = [plex(f"n{n}") for n in range(4)]
    left.add(records)
    sides = [participant(n, shelf) for n, shelf in enumerate((left, right))]
    limits = Limits(derived_facts=2)
    pair, (to_right, _) = explain_exchange(sides[0], sides[1], records[0].hash, clock, limits)
    assert (to_right.outcome, to_right.send, to_right.request) == ("stopped", None, None)
    exceeded = limit_exceeded(pair)
    assert exceeded is not None
    assert exceeded.name == "derived_facts"


def test_all_that_moves_is_what_a_dry_run_moves() -> None:
    left, right = MemoryShelf(), MemoryShelf()
    shared = plex("shared")
    left.add([shared, *(plex(f"l{n}") for n in range(5))])
    right.add([shared, *(plex(f"r{n}") for n in range(3))])
    sides = [participant(n, shelf) for n, shelf in enumerate((left, right))]
    overview = explain_all(sides[0], sides[1], clock)
    _, moves = dry_run(sides[0], sides[1], clock)
    found = [(each.hash, each.size, each.direction.to) for each in overview.moves]
    assert sorted(found) == sorted((move.hash, move.size, move.to) for move in moves)
    assert len(found) == 8
    assert all(isinstance(each.direction.send, Proof) for each in overview.moves)
    assert all(isinstance(each.direction.request, Proof) for each in overview.moves)
    assert (overview.stays, overview.more_moves, overview.more_stays) == ((), 0, 0)
