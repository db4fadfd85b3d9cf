"""The table of transitions, and what a caller may do with a machine."""

from collections.abc import Sequence
from typing import get_args

import pytest

from lacec.records.record import Record
from lacec.runtime.interlace import events as e
from lacec.runtime.interlace import messages as m
from lacec.runtime.interlace.codec import Reading
from lacec.runtime.interlace.limits import SECOND
from lacec.runtime.interlace.link import Config
from lacec.runtime.interlace.machine import Machine, MisuseError
from lacec.runtime.interlace.phases import advertising
from lacec.runtime.interlace.reconcile.partitions import Partitions
from lacec.runtime.interlace.state import State
from lacec.runtime.interlace.table import ENDS, EVALUATIONS, NOTED, ROWS, TABLE
from tests.cli.run import python
from tests.runtime.interlace.solo import Solo, plex


def test_every_state_is_reached_and_left() -> None:
    reached = {state for row in ROWS for state in row.leads_to} | {State.NEW, State.ENDING}
    assert reached == set(State)
    assert {row.state for row in ROWS} == set(State) - {State.CLOSED}


def test_a_state_and_an_event_have_one_row() -> None:
    assert len(TABLE) == len(ROWS)


def test_every_event_is_handled_somewhere() -> None:
    handled = {row.event for row in ROWS} | NOTED.keys() | ENDS.keys()
    assert handled == set(get_args(e.Event))


def test_evaluations_are_awaited_where_the_table_says() -> None:
    assert {row.state for row in ROWS if row.event is e.Evaluated} | {State.TRANSFER} == EVALUATIONS


@pytest.mark.parametrize(
    "event", [e.Stored(frozenset()), e.Described(()), e.NotEvaluated(), e.Start()]
)
def test_an_answer_to_no_question_is_the_callers_mistake(event: e.Event) -> None:
    solo = Solo()
    with pytest.raises(MisuseError):
        solo.machine.handle(event)


def test_a_machine_says_what_it_is_ready_to_read() -> None:
    solo = Solo(partitions=True)
    seen = [solo.machine.reading]
    solo.open()
    seen.append(solo.machine.reading)
    assert seen == [Reading.SETUP, Reading.SETUP_OR_OFFER]


def test_a_busy_machine_reads_nothing() -> None:
    solo = Solo()
    solo.machine.handle(solo.peer_setup())
    assert solo.machine.state is State.COMPILING
    assert solo.machine.reading is None


def test_the_machine_needs_no_engine_no_store_and_no_connection() -> None:
    """Nor does anything that it imports."""
    code = "import sys, lacec.runtime.interlace.driver, lacec.runtime.interlace.codec"
    heavy = "('numpy', 'sqlite3', 'socket', 'asyncio')"
    found = python(["-c", f"{code}; print([m for m in {heavy} if m in sys.modules])"])
    assert (found.code, found.out) == (0, "[]\n")


def test_a_new_machine_says_nothing_before_it_is_started() -> None:
    machine = Machine(Config(0, "R.x"))
    assert machine.handle(e.Clock(1, 1)) == []
    assert machine.reading is None


def test_trees_of_an_idle_link_are_dropped_and_found_again() -> None:
    """What is idle can be dropped and rebuilt: the root after the next change is that of a fresh
    set."""
    solo = at_rest([plex("one")])
    epoch = solo.machine.link.epoch
    trees = Partitions(epoch.own.values(), large=1)
    epoch.own_partitions = (epoch.own, trees)
    trees.summary("")
    solo.clock(600)
    assert trees.leaves == 1
    solo.clock(1)
    assert trees.leaves == 0
    assert_offered(solo, [plex("two")], 2)


@pytest.mark.parametrize("more", [1, 2])
def test_many_changes_at_once_make_partitions_anew(
    monkeypatch: pytest.MonkeyPatch, more: int
) -> None:
    """050: whether those of the loop before are changed or not, the offer is of the set."""
    monkeypatch.setattr(advertising, "MANY", 1)
    solo = at_rest([plex("one")])
    before = solo.machine.link.epoch.own_partitions
    assert_offered(solo, [plex(f"more {number}") for number in range(more)], 1 + more)
    after = solo.machine.link.epoch.own_partitions
    assert before is not None
    assert after is not None
    assert (before[1] is after[1]) == (more == 1)


def at_rest(records: Sequence[Record]) -> Solo:
    """An open link by summaries, at rest, whose peer has nothing."""
    solo = Solo(records, open=True, partitions=True, tick_interval=10_000 * SECOND)
    solo.open()
    nothing = m.Offer(summaries=(Partitions(()).summary(""),))
    for _ in range(2):
        solo.tell(nothing, m.Ask(), m.Request())
    return solo


def assert_offered(solo: Solo, more: Sequence[Record], size: int) -> None:
    """More records are stored, and what is offered is the summary of them all."""
    solo.shelf.add(more)
    (offer,) = solo.tell(e.StoreChanged(solo.shelf.snapshot().last))
    assert isinstance(offer, m.Offer)
    assert offer.summaries == (Partitions(solo.machine.link.epoch.own.values()).summary(""),)
    assert offer.summaries[0].size == size
