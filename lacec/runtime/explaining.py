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
from lacec.plan.lower import MAY_REQUEST, MAY_SEND
from lacec.predicates import Predicate
from lacec.proof import Fact, Proof, WhyNot
from lacec.runtime.exchange import Layer, Participant, make_pair
from lacec.runtime.interlace import events as e
from lacec.runtime.side import EXCHANGE_LIMITS, Side

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
    seen: e.Evaluate | e.Load | None = None
    explained: dict[Predicate, Proof | WhyNot] = field(default_factory=dict)

    def answer(self, question: e.Question) -> e.Answer:
        match question:
            case e.Evaluate():
                self.seen = question
            case e.Load(hashes):
                self.seen = question
                if self.hash in hashes:
                    self.explain(MAY_SEND)
            case e.Store(records):
                if any(record.hash == self.hash for record in records):
                    self.explain(MAY_REQUEST)
        return self.side.answer(question)

    def explain(self, predicate: Predicate) -> Proof | WhyNot | None:
        """Over what the last evaluation saw; None if there was none."""
        if self.seen is None or self.side.program is None:
            return None
        if predicate not in self.explained:
            _, database = self.side.facts(self.seen.runtime, self.seen.advertised)
            why = explain_plan(self.side.program, database, self.side.limits, self.authored)
            fact = Fact(predicate.name, (self.hash,))
            found = why.why(fact) or why.why_not(fact)
            assert found is not None
            self.explained[predicate] = found
        return self.explained[predicate]


def explain_exchange(
    left: Participant,
    right: Participant,
    hash: str,
    clock: Callable[[], tuple[int, int]],
    limits: Limits = EXCHANGE_LIMITS,
) -> tuple[Direction, Direction]:
    """To the right, and to the left. Nothing is stored, and no cursor is kept."""
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
    to_right, to_left = (_direction(to, sides, had) for to in (1, 0))
    return to_right, to_left


def _direction(to: int, sides: Sequence[_Noting], had: Sequence[bool]) -> Direction:
    sender, receiver = sides[1 - to], sides[to]
    if had[to]:
        return Direction(to, "already-there")
    if not had[1 - to]:
        return Direction(to, "not-there")
    send = sender.explain(MAY_SEND)
    if isinstance(send, WhyNot):
        return Direction(to, "not-sent", send)
    request = receiver.explain(MAY_REQUEST)
    if isinstance(request, WhyNot):
        return Direction(to, "not-requested", send, request)
    moved = receiver.side.shelf.get(receiver.hash) is not None
    return Direction(to, "moves" if moved else "stopped", send, request)
