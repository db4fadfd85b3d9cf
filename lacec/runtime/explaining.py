"""Why a record moves in an exchange, or why it does not: on each side, in both directions.

In: two participants and a hash. Out: for each direction what becomes of the record, and the
explanation of either side. The exchange is run over stores that keep what arrives in memory.
Each side explains itself, over its own facts and what the other advertised to it: nothing
that one side says here comes from the records of the other.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from lacec.explainer import Authored, explain_plan
from lacec.limits import Limits
from lacec.plan.lower import MAY_REQUEST, MAY_SEND, SideProgram
from lacec.predicates import Predicate
from lacec.proof import Fact, Proof, WhyNot
from lacec.runtime.exchange import Layer, Participant, make_pair
from lacec.runtime.interlace import events as e
from lacec.runtime.interlace.claims import Claims
from lacec.runtime.interlace.driver import Pair
from lacec.runtime.side import EXCHANGE_LIMITS, Side
from lacec.vm.database import Database

Outcome = Literal["moves", "not-there", "already-there", "not-sent", "not-requested", "stopped"]

OUTCOMES: dict[Outcome, str] = {
    "moves": "the record would move",
    "not-there": "the record is not there",
    "already-there": "the record is there already",
    "not-sent": "the record would not be sent",
    "not-requested": "the record would be sent, but is not requested",
    "stopped": "the exchange ended before the record moved",
}


@dataclass(frozen=True)
class Direction:
    """What becomes of a record on its way to a side; who would send and request it explains."""

    to: int  # the operand index of the side that would get it
    outcome: Outcome
    send: Proof | WhyNot | None = None
    request: Proof | WhyNot | None = None

    def json(self, names: Sequence[str]) -> dict[str, Any]:
        return {
            "from": names[1 - self.to],
            "to": names[self.to],
            "outcome": self.outcome,
            "send": None if self.send is None else self.send.json(),
            "request": None if self.request is None else self.request.json(),
        }


@dataclass
class _Noting:
    """Answers for a side, and explains one record at the moment it goes out or comes in."""

    side: Side
    hash: str
    authored: Authored
    explained: dict[Predicate, Proof | WhyNot] = field(default_factory=dict)
    _evaluated: tuple[SideProgram, Database] | None = None

    def answer(self, question: e.Question) -> e.Answer:
        answer = self.side.answer(question)
        match question, answer:
            case e.Evaluate(runtime, advertised), e.Evaluated():
                # What is stored next was requested by what holds now, not by what holds then.
                self._evaluated = self._now(runtime, advertised)
            case e.Load(_, _, runtime, advertised), e.Loaded(records):
                if any(record.hash == self.hash for record in records):
                    self.explained[MAY_SEND] = self._explain(
                        MAY_SEND, *self._now(runtime, advertised)
                    )
            case e.Store(records), e.Stored():
                if any(record.hash == self.hash for record in records):
                    assert self._evaluated is not None
                    self.explained[MAY_REQUEST] = self._explain(MAY_REQUEST, *self._evaluated)
        return answer

    def explanation(self, predicate: Predicate) -> Proof | WhyNot | None:
        """Of the moment it mattered; else of the last evaluation; None if there was none."""
        if predicate in self.explained or self._evaluated is None:
            return self.explained.get(predicate)
        return self._explain(predicate, *self._evaluated)

    def _now(
        self, runtime: Sequence[Sequence[str]], advertised: Claims
    ) -> tuple[SideProgram, Database]:
        assert self.side.program is not None
        return self.side.program, self.side.facts(runtime, advertised)[1]

    def _explain(
        self, predicate: Predicate, program: SideProgram, database: Database
    ) -> Proof | WhyNot:
        why = explain_plan(program, database, self.side.limits, self.authored)
        fact = Fact(predicate.name, (self.hash,))
        found = why.why(fact) or why.why_not(fact)
        assert found is not None
        return found


def explain_exchange(
    left: Participant,
    right: Participant,
    hash: str,
    clock: Callable[[], tuple[int, int]],
    limits: Limits = EXCHANGE_LIMITS,
) -> tuple[Pair, tuple[Direction, Direction]]:
    """The exchange, and what becomes of the record: to the right, and to the left.

    Nothing is stored, and no cursor is kept.
    """
    had = [each.shelf.get(hash) is not None for each in (left, right)]
    layered = [replace(each, shelf=Layer(each.shelf), cursors=None) for each in (left, right)]
    pair = make_pair(layered[0], layered[1], clock, limits)
    authored = {
        (index, rule.id): rule
        for index, each in enumerate((left, right))
        for rule in each.policy.operand.module.rules
    }
    sides = []
    for seat in pair.seats:
        assert isinstance(seat.answers, Side)
        sides.append(_Noting(seat.answers, hash, authored))
        seat.answers = sides[-1]
    pair.run()
    for seat, noting in zip(pair.seats, sides, strict=True):
        seat.answers = noting.side
    converged = all(seat.result is not None and seat.result.converged for seat in pair.seats)
    to_right, to_left = (_direction(to, sides, had, converged) for to in (1, 0))
    return pair, (to_right, to_left)


def _direction(
    to: int, sides: Sequence[_Noting], had: Sequence[bool], converged: bool
) -> Direction:
    sender, receiver = sides[1 - to], sides[to]
    if had[to]:
        return Direction(to, "already-there")
    if not had[1 - to]:
        return Direction(to, "not-there")
    send = sender.explanation(MAY_SEND)
    if receiver.side.shelf.get(receiver.hash) is not None:
        return Direction(to, "moves", send, receiver.explanation(MAY_REQUEST))
    if isinstance(send, WhyNot):
        return Direction(to, "not-sent", send)
    if not converged:  # the receiver may not have heard of the record
        return Direction(to, "stopped", send)
    request = receiver.explanation(MAY_REQUEST)
    outcome: Outcome = "not-requested" if isinstance(request, WhyNot) else "stopped"
    return Direction(to, outcome, send, request)
