"""Why a record moves in an exchange, or why it does not: on each side, in both directions.

In: two participants, and a hash if one record is meant. Out: for each direction what becomes
of the record, or of all of them, and the explanation of either side. The exchange is run over
stores that keep what arrives in memory. Each side explains itself, over its own facts and
what the other advertised to it: nothing that one side says here comes from the records of
the other.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from lacec.core.limits import Limits
from lacec.core.predicates import Predicate
from lacec.engine.side import HAVE
from lacec.explain.proof_tree import Authored, Fact, Proof, WhyNot
from lacec.explain.provenance import Why, explain_plan
from lacec.plan.lower import MAY_REQUEST, MAY_SEND, SideProgram
from lacec.runtime.exchange.in_process import Layer, Participant, make_pair
from lacec.runtime.exchange.side import EXCHANGE_LIMITS, Side
from lacec.runtime.interlace import events as e
from lacec.runtime.interlace.advertisements import Claims
from lacec.runtime.interlace.driver import Pair
from lacec.vm.database import Database

# Of all records, so many that move each way are explained, and so many that do not.
MOST_MOVES = 100
MOST_STAYS = 50

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

    @property
    def explanations(self) -> tuple[tuple[int, str, Proof | WhyNot], ...]:
        """Which side does what, or does not, and why."""
        found = ((1 - self.to, "sends", self.send), (self.to, "requests", self.request))
        return tuple((side, what, why) for side, what, why in found if why is not None)

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
    """Answers for a side, and explains records at the moment they go out or come in."""

    side: Side
    hash: str | None  # the one that is asked for; otherwise the first that move
    authored: Authored
    explained: dict[tuple[Predicate, str], Proof | WhyNot] = field(default_factory=dict)
    stored: dict[str, int] = field(default_factory=dict)
    evaluated: tuple[SideProgram, Database] | None = None
    _last: Why | None = None

    def answer(self, question: e.Question) -> e.Answer:
        answer = self.side.answer(question)
        match question, answer:
            case e.Evaluate(runtime, advertised), e.Evaluated():
                # What is stored next was requested by what holds now, not by what holds then.
                self.evaluated, self._last = self._now(runtime, advertised), None
            case e.Load(_, _, runtime, advertised), e.Loaded(records):
                if wanted := self._wanted(MAY_SEND, (record.hash for record in records)):
                    self._note(MAY_SEND, wanted, self._why(*self._now(runtime, advertised)))
            case e.Store(records), e.Stored():
                self.stored |= {record.hash: len(record.data) for record in records}
                if wanted := self._wanted(MAY_REQUEST, (record.hash for record in records)):
                    self._note(MAY_REQUEST, wanted, self._last_why())
        return answer

    def explanation(self, predicate: Predicate, hash: str) -> Proof | WhyNot | None:
        """Of the moment it mattered; else of the last evaluation; None if there was none."""
        if (predicate, hash) not in self.explained and self.evaluated is not None:
            self._note(predicate, [hash], self._last_why())
        return self.explained.get((predicate, hash))

    def _wanted(self, predicate: Predicate, hashes: Iterable[str]) -> list[str]:
        if self.hash is not None:
            return [hash for hash in hashes if hash == self.hash]
        noted = sum(key[0] == predicate for key in self.explained)
        return list(hashes)[: MOST_MOVES - noted]

    def _now(
        self, runtime: Sequence[Sequence[str]], advertised: Claims
    ) -> tuple[SideProgram, Database]:
        assert self.side.program is not None
        return self.side.program, self.side.facts(runtime, advertised)[1]

    def _why(self, program: SideProgram, database: Database) -> Why:
        return explain_plan(program, database, self.side.limits, self.authored)

    def _last_why(self) -> Why:
        assert self.evaluated is not None
        self._last = self._last or self._why(*self.evaluated)
        return self._last

    def _note(self, predicate: Predicate, hashes: Iterable[str], why: Why) -> None:
        for hash in hashes:
            fact = Fact(predicate.name, (hash,))
            found = why.why(fact) or why.why_not(fact)
            assert found is not None
            self.explained[predicate, hash] = found


def _run(
    left: Participant,
    right: Participant,
    hash: str | None,
    clock: Callable[[], tuple[int, int]],
    limits: Limits,
) -> tuple[Pair, list[_Noting]]:
    """The exchange, and what its sides noted. Nothing is stored, and no cursor is kept."""
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
    return pair, sides


def explain_exchange(
    left: Participant,
    right: Participant,
    hash: str,
    clock: Callable[[], tuple[int, int]],
    limits: Limits = EXCHANGE_LIMITS,
) -> tuple[Pair, tuple[Direction, Direction]]:
    """The exchange, and what becomes of the record: to the right, and to the left."""
    had = [each.shelf.get(hash) is not None for each in (left, right)]
    pair, sides = _run(left, right, hash, clock, limits)
    to_right, to_left = (_direction(to, hash, sides, had, _converged(pair)) for to in (1, 0))
    return pair, (to_right, to_left)


@dataclass(frozen=True)
class Explained:
    """A record, its size where it moves, and what becomes of it on its way to one side."""

    hash: str
    size: int | None
    direction: Direction


@dataclass(frozen=True)
class Overview:
    """A whole exchange: what moves, what stays though the other side lacks it, and why."""

    pair: Pair
    moves: tuple[Explained, ...]
    stays: tuple[Explained, ...]
    more_moves: int
    more_stays: int
    evaluated: tuple[tuple[SideProgram, Database] | None, ...]  # by side, as it was at the end


def explain_all(
    left: Participant,
    right: Participant,
    clock: Callable[[], tuple[int, int]],
    limits: Limits = EXCHANGE_LIMITS,
) -> Overview:
    """The exchange, and what becomes of the records of both sides."""
    pair, sides = _run(left, right, None, clock, limits)
    moves: list[Explained] = []
    stays: list[Explained] = []
    more_moves = more_stays = 0
    have = [_records(each) for each in sides]
    for to in (1, 0):
        had = [to == 1, to == 0]
        moved = sorted(sides[to].stored.items())
        for hash, size in moved[:MOST_MOVES]:
            found = _direction(to, hash, sides, had, _converged(pair))
            moves.append(Explained(hash, size, found))
        lacking = sorted(have[1 - to] - have[to] - sides[to].stored.keys())
        for hash in lacking[:MOST_STAYS]:
            found = _direction(to, hash, sides, had, _converged(pair))
            stays.append(Explained(hash, None, found))
        more_moves += max(0, len(moved) - MOST_MOVES)
        more_stays += max(0, len(lacking) - MOST_STAYS)
    evaluated = tuple(each.evaluated for each in sides)
    return Overview(pair, tuple(moves), tuple(stays), more_moves, more_stays, evaluated)


def _records(noting: _Noting) -> set[str]:
    if noting.evaluated is None:
        return set()
    database = noting.evaluated[1]
    return set(database.symbols.texts(database.relation(HAVE).columns[0]))


def _converged(pair: Pair) -> bool:
    return all(seat.result is not None and seat.result.converged for seat in pair.seats)


def _direction(
    to: int, hash: str, sides: Sequence[_Noting], had: Sequence[bool], converged: bool
) -> Direction:
    sender, receiver = sides[1 - to], sides[to]
    if had[to]:
        return Direction(to, "already-there")
    if not had[1 - to]:
        return Direction(to, "not-there")
    send = sender.explanation(MAY_SEND, hash)
    if receiver.side.shelf.get(hash) is not None:
        return Direction(to, "moves", send, receiver.explanation(MAY_REQUEST, hash))
    if isinstance(send, WhyNot):
        return Direction(to, "not-sent", send)
    if not converged:  # the receiver may not have heard of the record
        return Direction(to, "stopped", send)
    request = receiver.explanation(MAY_REQUEST, hash)
    outcome: Outcome = "not-requested" if isinstance(request, WhyNot) else "stopped"
    return Direction(to, outcome, send, request)
