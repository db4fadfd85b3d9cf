"""The table of transitions, and what a caller may do with a machine."""

from typing import get_args

import pytest

from lacec.runtime.interlace import events as e
from lacec.runtime.interlace.codec import Reading
from lacec.runtime.interlace.link import Config
from lacec.runtime.interlace.machine import Machine, MisuseError
from lacec.runtime.interlace.state import State
from lacec.runtime.interlace.table import ENDS, EVALUATIONS, NOTED, ROWS, TABLE
from tests.runtime.interlace.solo import Solo


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


def test_a_new_machine_says_nothing_before_it_is_started() -> None:
    machine = Machine(Config(0, "R.x"))
    assert machine.handle(e.Clock(1, 1)) == []
    assert machine.reading is None
