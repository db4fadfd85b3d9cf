"""Operations: selectors that are generated, and select what a coordinate means."""

import pytest

from lacec.plan.operands import author_operand
from lacec.records.coordinates import read_coordinate
from lacec.runtime.exchange.in_process import Participant, make_pair
from lacec.runtime.exchange.operations import select_coordinate, select_hashes
from lacec.runtime.exchange.side import Policy
from tests.runtime.exchange.test_in_process import participant
from tests.runtime.interlace.solo import plex
from tests.runtime.interlace.test_driver import clock
from tests.simulation.policies import local_policy
from tests.simulation.shelf import MemoryShelf

RECORDS = [plex("links/1"), plex("links/2"), plex("it's"), plex("links/1", group="x")]


def moved(source: str, stored_left: bool = False) -> set[str]:
    """What moves from one side to the other when the left has this selector."""
    left, right = MemoryShelf(), MemoryShelf()
    (left if stored_left else right).add(RECORDS)
    policy = Policy(author_operand(0, [("<op>", source)]), local_policy(0, source, "all"))
    pair = make_pair(Participant(left, policy), participant(1, right), clock)
    pair.run()
    assert all(seat.result and seat.result.converged for seat in pair.seats)
    return set(right.records if stored_left else left.records)


@pytest.mark.parametrize(
    ("coordinate", "found"),
    [
        ("//u//ding//links/1", [0]),
        ("//u//ding//links/", [0, 1]),
        ("//u//ding//it's", [2]),
        ("//u//ding", [0, 1, 2]),
        ("//x", [3]),
        ("//y", []),
        (f"////{RECORDS[2].hash}", [2]),
    ],
)
def test_get_and_list_select_what_a_coordinate_means(coordinate: str, found: list[int]) -> None:
    where = read_coordinate(coordinate)
    assert moved(select_coordinate(where)) == {RECORDS[n].hash for n in found}
    assert {r.hash for r in RECORDS if where.matches(r)} == {RECORDS[n].hash for n in found}


def test_put_selects_hashes_on_the_sending_side() -> None:
    hashes = [RECORDS[0].hash, RECORDS[3].hash]
    assert moved(select_hashes(hashes), stored_left=True) == set(hashes)
