"""Exchanges through disasters: hundreds here, thousands with `pytest -m soak`.

A failure says its seed; `tell_story(seed)` or `tell_of_a_villain(seed)` tells it again.
"""

from collections.abc import Callable

import pytest

from tests.simulation.scenarios import tell_of_a_villain, tell_story
from tests.simulation.villains import TRICKS
from tests.simulation.world import World

STORIES_OF_A_BATCH = 20


def tell(story: Callable[[int], object], seeds: range) -> None:
    for seed in seeds:
        try:
            story(seed)
        except BaseException as error:
            error.add_note(f"seed {seed}")
            raise


def batch(number: int) -> range:
    return range(number * STORIES_OF_A_BATCH, (number + 1) * STORIES_OF_A_BATCH)


@pytest.mark.parametrize("number", range(12))
def test_two_honest_sides_come_through_disasters(number: int) -> None:
    tell(tell_story, batch(number))


@pytest.mark.parametrize("trick", TRICKS)
def test_a_hostile_peer_can_end_an_exchange_and_no_more(trick: str) -> None:
    tell(lambda seed: tell_of_a_villain(seed, trick), range(6))


@pytest.mark.soak
@pytest.mark.parametrize("number", range(1000, 1250))
def test_thousands_of_disasters(number: int) -> None:
    tell(tell_story, batch(number))
    tell(tell_of_a_villain, batch(number))


def test_a_seed_tells_the_same_story_again() -> None:
    one, other = tell_story(3), tell_story(3)
    assert one.world.events == other.world.events
    assert one.left.shelf.records.keys() == other.left.shelf.records.keys()
    results = [[end.result for c in story.connections for end in c.ends] for story in (one, other)]
    assert results[0] == results[1]


def test_a_flood_of_events_is_noticed() -> None:
    world = World(0)

    def again() -> None:
        world.after(1, again)

    again()
    with pytest.raises(AssertionError, match="too many events"):
        world.run(10**9, most_events=100)
