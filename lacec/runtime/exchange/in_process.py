"""An exchange between two stores in one process: who takes part, and what comes of it.

In: two participants. Out: the result of each side. A dry run is the same exchange over
stores that keep what arrives in memory, so that it lists what the real one then moves.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from time import monotonic_ns

from lacec.canonical.module import Module, ModuleRule
from lacec.core.errors import LimitError
from lacec.core.limits import DEFAULT_LIMITS, Limits
from lacec.plan.lower import LoweredRule
from lacec.records.facts import record_facts
from lacec.records.record import Record, parse_record
from lacec.records.tai import now
from lacec.runtime.exchange.deciding_rules import deciding_rules
from lacec.runtime.exchange.evaluation_cache import Memory
from lacec.runtime.exchange.live import LiveStore
from lacec.runtime.exchange.recording.entries import Part
from lacec.runtime.exchange.recording.recorder import Recorder, held
from lacec.runtime.exchange.side import EXCHANGE_LIMITS, Cursors, Policy, Side
from lacec.runtime.interlace import events as e
from lacec.runtime.interlace.advertisement import NO_FIELDS, Schema
from lacec.runtime.interlace.advertisements import Claims
from lacec.runtime.interlace.driver import Pair, Seat
from lacec.runtime.interlace.facts import Fact
from lacec.runtime.interlace.limits import ExchangeLimits, OwnLimits
from lacec.runtime.interlace.link import Config
from lacec.runtime.interlace.machine import Machine
from lacec.runtime.interlace.tick import nanoseconds
from lacec.store.protocol import AddedLike, FactChange, Moment, Records, Shelf, rows_of
from lacec.vm.database import Database
from lacec.vm.sources import add_rows

# In one process nobody is silent: who says nothing is at work.
_NEVER = 10**9
PATIENT = OwnLimits(rate_after_seconds=_NEVER)
# What is recorded is written in blocks, with the limits of blocks.
IN_BLOCKS = ExchangeLimits(phase_timeout_seconds=_NEVER)
# Otherwise nothing is, so only memory limits what is advertised.
LIMITS = replace(IN_BLOCKS, max_advertisement_records=2**22)


@dataclass(frozen=True)
class Participant:
    """One side: its records, its policy, and the verifier it is known by, if any.

    `memory` serves one exchange after the other: what changed nothing is not found again.
    """

    shelf: Shelf
    policy: Policy
    verifier: str | None = None
    cursors: Cursors | None = None
    fields: Schema = NO_FIELDS
    memory: Memory = field(default_factory=Memory, compare=False)


class KnownParties:
    """Proof by being there: who brings the key of each side is known (D24b, D27)."""

    def __init__(self, own: str | None, peer: str | None) -> None:
        self.own, self.peer = own, peer

    def prove(self, question: e.Prove) -> e.Proof:
        return e.Proof(question.own.origin == self.own)

    def check(self, question: e.CheckProof) -> e.ProofChecked:
        return e.ProofChecked(question.signer == self.peer)


def system_clock() -> tuple[int, int]:
    """A clock that never jumps, and TAI by the clock of this machine, in nanoseconds."""
    return monotonic_ns(), nanoseconds(now())


def make_pair(
    left: Participant,
    right: Participant,
    clock: Callable[[], tuple[int, int]],
    limits: Limits = EXCHANGE_LIMITS,
    tick_interval: int | None = None,
    record: Callable[[bytes], object] | None = None,
) -> Pair:
    """The two machines of an exchange, and who answers them; open, if it has ticks.

    `record` takes the bytes of a recording. What is recorded is written in blocks, so the
    machines then keep to the limits of blocks, as they would on a connection.
    """
    modules = _modules(left.policy.operand.module, right.policy.operand.module)
    # Here and Peer are present when the keys of both sides are given (D24b).
    proven = left.verifier is not None and right.verifier is not None
    seats, parts = [], []
    for index, (own, peer) in enumerate(((left, right), (right, left))):
        claim, other = (own.verifier, peer.verifier) if proven else (None, None)
        module = own.policy.operand.module.id
        config = Config(
            index, module, claim=claim, fields=own.fields, limits=IN_BLOCKS, own_limits=PATIENT
        )
        if record is None:
            config = replace(config, limits=LIMITS, partitions=False)
        if tick_interval is not None:
            config = replace(config, open=True, tick_interval=tick_interval)
        prover = KnownParties(claim, other)
        live = None if tick_interval is None else LiveStore(own.shelf)
        answers = Side(
            own.policy, own.shelf, modules.get, prover, own.cursors, limits, own.memory, live
        )
        seats.append(Seat(Machine(config), answers))
        parts.append(Part(config, own.policy.origins, own.policy.lowering))
    if record is None:
        return Pair(seats[0], seats[1], clock)
    pair = Pair(seats[0], seats[1], held(clock))
    pair.trace = Recorder(record, parts, modules)
    return pair


def _modules(*modules: Module) -> dict[str, bytes]:
    return {module.id: module.canonical.encode("utf-8") for module in modules}


def limit_exceeded(pair: Pair) -> LimitError | None:
    """The limit at which an evaluation of either side ended, if one did."""
    for seat in pair.seats:
        side = seat.answers.side if isinstance(seat.answers, _Watched) else seat.answers
        if isinstance(side, Side) and side.exceeded is not None:
            return side.exceeded
    return None


# Dry runs.


class _LayeredMoment:
    """The facts of a store at one moment, and of records beside it."""

    def __init__(self, below: Moment, records: Sequence[Record]) -> None:
        self._below, self._records = below, tuple(records)

    @property
    def last(self) -> int:
        return self._below.last + len(self._records)

    def database(self, limits: Limits = DEFAULT_LIMITS) -> Database:
        database = self._below.database(limits)
        rows = rows_of(fact for record in self._records for fact in record_facts(record))
        for predicate, facts in rows.items():
            add_rows(database, predicate, facts, limits)
        return database

    def check_values(self, limits: Limits) -> None:
        self.database(limits)


@dataclass
class _Kept:
    admitted: list[str]


@dataclass
class Layer:
    """A store that keeps what is added in memory, and changes nothing below."""

    below: Records
    records: dict[str, Record] = field(default_factory=dict)
    _moment: tuple[Moment, _LayeredMoment] | None = None

    def snapshot(self) -> Moment:
        below = self.below.snapshot()
        if self._moment is None or self._moment[0] is not below:
            self._moment = (below, _LayeredMoment(below, list(self.records.values())))
        return self._moment[1]

    def changes(self, *_: object) -> FactChange | None:
        """Not known: a dry run is soon over."""
        return None

    def get(self, hash: str) -> bytes | None:
        if hash in self.records:
            return self.records[hash].data
        return self.below.get(hash)

    def add(self, records: Iterable[Record | bytes]) -> AddedLike:
        kept = _Kept([])
        for each in records:
            record = parse_record(each) if isinstance(each, bytes) else each
            if self.get(record.hash) is None:
                self.records[record.hash] = record
                kept.admitted.append(record.hash)
        self._moment = None
        return kept


@dataclass(frozen=True)
class Decider:
    """A rule of an operand, as its author wrote it."""

    index: int
    rule: ModuleRule


@dataclass(frozen=True)
class Move:
    """A record that an exchange would move, and the rules of both operands that decide it."""

    hash: str
    size: int
    to: int  # the operand index of the side that gets it
    sent_by: tuple[Decider, ...]
    requested_by: tuple[Decider, ...]


class _Watched:
    """Answers for a side, and notes by which rules records go out and come in."""

    def __init__(self, side: Side) -> None:
        self.side = side
        self.sent: dict[str, tuple[LoweredRule, ...]] = {}
        self.requested: dict[str, tuple[LoweredRule, ...]] = {}
        self.stored: dict[str, int] = {}
        self._found: dict[str, dict[str, tuple[LoweredRule, ...]]] = {}

    def answer(self, question: e.Question) -> e.Answer:
        answer = self.side.answer(question)
        match question, answer:
            case e.Evaluate(runtime, advertised), e.Evaluated():
                # What is stored next was requested by what holds now.
                self._found = self._decide(runtime, advertised)
            case e.Load(hashes, _, runtime, advertised), e.Loaded():
                found = self._decide(runtime, advertised)["SelectHave"]
                self.sent |= {hash: found[hash] for hash in hashes if hash in found}
            case e.Store(records), e.Stored():
                found = self._found["SelectAdvertised"]
                self.requested |= {record.hash: found[record.hash] for record in records}
                self.stored |= {record.hash: len(record.data) for record in records}
        return answer

    def _decide(
        self, runtime: Sequence[Fact], advertised: Claims
    ) -> dict[str, dict[str, tuple[LoweredRule, ...]]]:
        assert self.side.program is not None
        _, database = self.side.facts(runtime, advertised)
        return deciding_rules(self.side.program, database, self.side.limits)


def dry_run(
    left: Participant,
    right: Participant,
    clock: Callable[[], tuple[int, int]],
    limits: Limits = EXCHANGE_LIMITS,
    run: Callable[[Pair], None] = Pair.run,
) -> tuple[Pair, list[Move]]:
    """What an exchange would move; nothing is stored, and no cursor is kept."""
    layered = [
        replace(each, shelf=Layer(each.shelf), cursors=None, memory=Memory())
        for each in (left, right)
    ]
    pair = make_pair(layered[0], layered[1], clock, limits)
    watched = []
    for seat in pair.seats:
        assert isinstance(seat.answers, Side)
        watched.append(_Watched(seat.answers))
        seat.answers = watched[-1]
    run(pair)
    rules = {
        (f"O{index}", rule.id): Decider(index, rule)
        for index, side in enumerate((left, right))
        for rule in side.policy.operand.module.rules
    }

    def deciders(found: Iterable[LoweredRule]) -> tuple[Decider, ...]:
        named = [(rule.what, rule.original.id) for rule in found if rule.original is not None]
        return tuple(rules[name] for name in sorted(named))

    moves = [
        Move(hash, size, to, deciders(there.sent[hash]), deciders(here.requested[hash]))
        for to, here, there in ((0, watched[0], watched[1]), (1, watched[1], watched[0]))
        for hash, size in sorted(here.stored.items())
    ]
    return pair, moves
