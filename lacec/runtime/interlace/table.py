"""The transitions of a machine: in which state which event leads where, in one table.

`docs/interlace.md` is drawn from it. What is not in the table is out of phase when it comes
from the peer, and a mistake of the caller when it does not. Beside what a row says, every
row may lead to ENDING or CLOSED: that is how an exchange aborts.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

from lacec.runtime.interlace import events as e
from lacec.runtime.interlace import messages as m
from lacec.runtime.interlace.link import Link
from lacec.runtime.interlace.phases import advertising, anywhere, closing, opening, transferring
from lacec.runtime.interlace.state import State

S = State


class Row(NamedTuple):
    state: State
    event: type
    act: Callable[[Link, Any], State]
    leads_to: tuple[State, ...]


# Where a loop begins: with an evaluation, or with a setup if our operand changed.
LOOP = (S.SELECTING, S.SETUP)
# Where a loop may end.
RESTS = (S.REMEMBERING, S.REST, S.CLOSED, *LOOP)

ROWS = (
    Row(S.NEW, e.Start, opening.on_start, (S.SETUP,)),
    # setup and hello
    Row(S.SETUP, m.Setup, opening.on_setup, (S.COMPILING,)),
    Row(S.SETUP, m.Offer, opening.on_crossing_offer, (S.SETUP,)),
    Row(S.COMPILING, e.Compiled, opening.on_compiled, (S.PROVING, S.HELLO)),
    Row(S.COMPILING, e.NotCompiled, opening.on_not_compiled, ()),
    Row(S.PROVING, e.Proof, opening.on_proof, (S.HELLO,)),
    Row(S.HELLO, m.Hello, opening.on_hello, (S.CHECKING_PROOF, S.RECALLING, *LOOP)),
    Row(S.CHECKING_PROOF, e.ProofChecked, opening.on_proof_checked, (S.RECALLING, *LOOP)),
    Row(S.RECALLING, e.Recalled, opening.on_recalled, LOOP),
    # advertise
    Row(
        S.SELECTING,
        e.Evaluated,
        advertising.on_selected,
        (S.DESCRIBING, S.ADVERTISE, S.ASK, S.EVALUATING, S.REST),
    ),
    Row(
        S.DESCRIBING,
        e.Described,
        advertising.on_described,
        (S.ADVERTISE, S.ASK, S.EVALUATING),
    ),
    Row(S.ADVERTISE, m.Offer, advertising.on_offer, (S.ASK, S.EVALUATING)),
    Row(S.ADVERTISE, m.Setup, opening.on_new_setup, (S.COMPILING,)),
    Row(S.ASK, m.Ask, advertising.on_ask, (S.ADVERTISE, S.EVALUATING)),
    # request
    Row(S.EVALUATING, e.Evaluated, transferring.on_evaluated, (S.REQUEST,)),
    Row(S.REQUEST, m.Request, transferring.on_request, (S.TRANSFER, *RESTS)),
    # transfer
    Row(S.TRANSFER, e.Loaded, transferring.on_loaded, (S.TRANSFER, *LOOP)),
    Row(S.TRANSFER, m.Arrived, transferring.on_arrived, (S.TRANSFER,)),
    Row(S.TRANSFER, m.Invalid, transferring.on_invalid, (S.TRANSFER,)),
    Row(S.TRANSFER, m.NotAvailable, transferring.on_not_available, (S.TRANSFER,)),
    Row(S.TRANSFER, m.BatchEnd, transferring.on_batch_end, (S.TRANSFER, *LOOP)),
    Row(S.TRANSFER, e.Stored, transferring.on_stored, (S.TRANSFER, *LOOP)),
    Row(S.TRANSFER, e.NotStored, transferring.on_not_stored, ()),
    # the fixed point
    Row(S.REMEMBERING, e.Remembered, closing.on_remembered, (S.REST, S.CLOSED, *LOOP)),
    Row(S.REMEMBERING, e.Disconnected, anywhere.on_disconnected_late, (S.REMEMBERING,)),
    Row(S.REST, m.Offer, advertising.on_held_offer, LOOP),
    Row(S.REST, m.Setup, opening.on_new_setup, (S.COMPILING,)),
    Row(S.REST, e.Clock, closing.on_clock_at_rest, (S.REST, *LOOP)),
    Row(S.REST, e.StoreChanged, closing.on_change_at_rest, (S.REST, *LOOP)),
    Row(S.REST, e.OperandChanged, closing.on_operand_at_rest, LOOP),
    Row(S.REST, e.Finish, closing.on_finish_at_rest, (S.CLOSED,)),
    Row(S.REST, e.Disconnected, anywhere.on_disconnected_at_rest, (S.CLOSED,)),
    # the end
    Row(S.ENDING, e.Stored, anywhere.on_last_stored, (S.CLOSED,)),
    Row(S.ENDING, e.NotStored, anywhere.on_last_not_stored, (S.CLOSED,)),
)
TABLE = {(row.state, row.event): row for row in ROWS}

# In every other state but the last two: what is only noted, and what ends the exchange.
NOTED: dict[type, Callable[[Link, Any], None]] = {
    e.Clock: anywhere.on_clock,
    e.Progress: anywhere.on_progress,
    e.StoreChanged: closing.on_store_changed,
    e.OperandChanged: anywhere.on_operand_changed,
    e.Finish: anywhere.on_finish,
}
ENDS: dict[type, Callable[[Link, Any], State]] = {
    e.NotEvaluated: anywhere.on_not_evaluated,
    e.Faulty: anywhere.on_faulty,
    e.Disconnected: anywhere.on_disconnected,
    e.Cancel: anywhere.on_cancel,
}
# An evaluation may fail wherever one is awaited, and nowhere else.
EVALUATIONS = frozenset((S.SELECTING, S.EVALUATING, S.TRANSFER))
