"""One side of an exchange: the answers to what its machine asks, from a plan and a store.

In: questions (interlace/events). Out: their answers. Here a plan is compiled, a policy
evaluated, records are read and kept; the machine itself does none of that.
"""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Protocol

from lacec.canonical.identifiers import lacegram_id
from lacec.core.errors import (
    CodeError,
    CompileError,
    FactError,
    LimitError,
    PlanError,
    RecordError,
    StoreError,
)
from lacec.core.limits import DEFAULT_LIMITS, Limits
from lacec.core.origins import OriginMode
from lacec.core.predicates import Predicate
from lacec.engine.side import OUTPUTS, evaluate_side
from lacec.pipeline import make_code
from lacec.plan.exchange import ExchangePlan, make_plan
from lacec.plan.expose import NO_POLICY, LocalPolicy
from lacec.plan.lower import MAY_REQUEST, MAY_SEND, SideProgram
from lacec.plan.lowerings import STANDARD
from lacec.plan.operands import Operand, peer_operand
from lacec.plan.origins import Party
from lacec.records.facts import HAVE
from lacec.records.limits import NO_RECORD_LIMITS
from lacec.records.record import Record, parse_record
from lacec.runtime.exchange.advertisement_columns import (
    Columns,
    HashSet,
    columns_of,
    describe,
    describe_record,
)
from lacec.runtime.exchange.evaluation_cache import Description, Memory
from lacec.runtime.exchange.live import Given, LiveLink, LiveStore
from lacec.runtime.interlace import events as e
from lacec.runtime.interlace.advertisement import Schema
from lacec.runtime.interlace.advertisements import Claims, Listing
from lacec.runtime.interlace.messages import UNASSIGNED, Setup
from lacec.store.protocol import Moment, Shelf
from lacec.vm.arrays import members
from lacec.vm.database import Database
from lacec.vm.sources import add_rows

# D12: an evaluation inside an exchange has less time than a command.
EXCHANGE_SECONDS = 10
EXCHANGE_LIMITS = replace(DEFAULT_LIMITS, seconds=EXCHANGE_SECONDS)
# So many records are described one by one.
FEW = 64


class Cursors(Protocol):
    """Where the cursors of proven links are kept."""

    def recall(self, link: str) -> e.Cursor | None: ...

    def remember(self, question: e.Remember) -> bool: ...


class Prover(Protocol):
    """How verifiers are proven on this connection."""

    def prove(self, question: e.Prove) -> e.Proof: ...

    def check(self, question: e.CheckProof) -> e.ProofChecked: ...


@dataclass(frozen=True)
class Policy:
    """What a side brings: its operand, its local policy, and how plans are made."""

    operand: Operand
    local: LocalPolicy = NO_POLICY
    origins: OriginMode = OriginMode.OPAQUE
    lowering: str = STANDARD


class Side:
    """Answers for one machine. `modules` gives canonical bytes by R. identifier."""

    def __init__(
        self,
        policy: Policy,
        shelf: Shelf,
        modules: Callable[[str], bytes | None],
        prover: Prover | None = None,
        cursors: Cursors | None = None,
        limits: Limits = EXCHANGE_LIMITS,
        memory: Memory | None = None,
        live: LiveStore | None = None,
        cancelled: Callable[[], bool] | None = None,
    ) -> None:
        """`live` is of the same store, for a link that stays open; `cancelled` is asked now and
        then, and ends an evaluation that nobody waits for by CancelledError."""
        self.shelf, self.limits = shelf, limits
        self.memory = memory or Memory()
        self._live = None if live is None else LiveLink(live, limits, cancelled)
        self.policies = {policy.operand.module.id: policy}
        self._modules, self._prover, self._cursors = modules, prover, cursors
        self._cancelled = cancelled
        self.program: SideProgram | None = None
        self.exceeded: LimitError | None = None  # the limit that ended an evaluation
        self._advertised: tuple[Claims, Columns] | None = None

    def change(self, policy: Policy) -> None:
        """Bring another operand from the next epoch on; the machine is told its module's id."""
        self.policies[policy.operand.module.id] = policy

    def answer(self, question: e.Question) -> e.Answer:
        match question:
            case e.Compile():
                return self._compile(question)
            case e.Prove():
                return self._prover.prove(question) if self._prover else e.Proof(False)
            case e.CheckProof():
                return self._prover.check(question) if self._prover else e.ProofChecked(False)
            case e.Recall(link):
                return e.Recalled(self._cursors.recall(link) if self._cursors else None)
            case e.Remember():
                kept = self._cursors is not None and self._cursors.remember(question)
                return e.Remembered(kept)
            case e.Evaluate(runtime, advertised):
                return self._evaluate(runtime, advertised)
            case e.Describe(hashes, source, schema):
                return e.Described(Listing(self._describe(Description(hashes, source, schema))))
            case e.Load():
                return self._load(question)
            case e.Store(records):
                return self._store(records)

    def _compile(self, question: e.Compile) -> e.Answer:
        peer = question.peer
        data = self._modules(peer.module)
        if data is None:
            return e.NotCompiled("module-unavailable", peer.module)
        try:
            theirs = peer_operand(peer.index, data, self.limits)
        except (CompileError, PlanError) as error:
            return e.NotCompiled("malformed-exchange-module", str(error))
        if lacegram_id(theirs.module.canonical) != peer.module:
            return e.NotCompiled("malformed-exchange-module", "its bytes have another identifier")
        policy = self.policies[question.own.module]
        try:
            plan, compiled = make_exchange_plan(policy, theirs, question)
            side = plan.side(question.own.index, policy.local)
            self.program = self.memory.program(side).side
        except PlanError as error:
            return e.NotCompiled("exchange-plan-compilation-failure", str(error))
        try:
            resolution = self.program.resolution
            make_code(self.program.main, OUTPUTS, None, resolution, self.limits)
        except (CodeError, LimitError) as error:
            return e.NotCompiled("malformed-prepared-policy", str(error))
        return compiled

    def forget(self) -> None:
        """Find everything anew from now on, whether or not anything changed."""
        self.memory, self._live = Memory(), None

    def close(self) -> None:
        """The exchange has ended: keep nothing that only the next loop would need."""
        if self._live is not None:
            self._live.close()

    def facts(
        self, runtime: Sequence[Sequence[str]], advertised: Claims
    ) -> tuple[Moment, Database]:
        """All that an evaluation sees: the store as it is now, runtime facts, advertisements."""
        moment = self.shelf.snapshot()
        database = moment.database(self.limits)
        for name, *values in runtime:
            add_rows(database, Predicate(name, len(values)), [values], self.limits)
        self._columns(advertised).add_to(database, self.limits)
        return moment, database

    def _columns(self, advertised: Claims) -> Columns:
        """What a peer advertises as columns, made once while it advertises the same."""
        if self._advertised is None or self._advertised[0] is not advertised:
            self._advertised = (advertised, columns_of(advertised, self.limits))
        return self._advertised[1]

    def _evaluate(
        self, runtime: Sequence[Sequence[str]], advertised: Claims
    ) -> e.Evaluated | e.NotEvaluated:
        """Over the store as it is now; the same again costs nothing while nothing changed."""
        assert self.program is not None
        try:
            program = self.memory.program(self.program)
            key = program.evaluation(runtime, advertised, self.limits)
            moment = self.shelf.snapshot()
            known = self.memory.evaluated(moment, key)
            if known is None and self._live is not None:
                facts = tuple(map(tuple, runtime))
                known = self._live.evaluate(Given(self.program, moment, facts, advertised))
                if known is not None:
                    self.memory.keep_evaluated(moment, key, known)
            if known is not None:
                return known
            moment, database = self.facts(runtime, advertised)
            found = evaluate_side(self.program, database, self.limits, self._cancelled)
        except LimitError as error:
            self.exceeded = error
            return e.NotEvaluated(str(error))
        except (FactError, StoreError) as error:
            return e.NotEvaluated(str(error))
        have = database.relation(HAVE).columns[0]
        send = found.main.relations[MAY_SEND].columns[0]
        request = found.main.relations[MAY_REQUEST].columns[0]
        evaluated = e.Evaluated(
            HashSet(database.symbols, send[members(send, have)]),
            HashSet(database.symbols, request[~members(request, have)]),
            moment.last,
        )
        self.memory.keep_evaluated(moment, key, evaluated)
        return evaluated

    def _describe(self, key: Description) -> Claims:
        moment = self.shelf.snapshot()
        found = self.memory.described(moment, key)
        if found is None:
            if len(key.hashes) <= FEW:
                found = self._describe_few(key)
            else:
                found = describe(moment.database(self.limits), *key)
            self.memory.keep_described(moment, key, found)
        return found

    def _describe_few(self, key: Description) -> Claims:
        """From the bytes of the records, so that it costs nothing of the others."""
        found = []
        for hash in sorted(key.hashes):
            data = self.shelf.get(hash)
            # What cannot be read cannot be sent either: it is not offered.
            with suppress(RecordError):
                if data is not None:
                    record = parse_record(data, NO_RECORD_LIMITS, verify=False)
                    found.append(describe_record(record, key.source, key.schema))
        return Claims(found)

    def _load(self, question: e.Load) -> e.Loaded | e.NotEvaluated:
        """As much as may be loaded at once, and at least one record."""
        found = self._evaluate(question.runtime, question.advertised)
        if isinstance(found, e.NotEvaluated):
            return found
        loaded, size = [], 0
        for hash in question.hashes:
            data = self.shelf.get(hash) if hash in found.send else None
            loaded.append(e.LoadedRecord(hash, data))
            size += len(data or b"")
            if size >= question.most_bytes:
                break
        return e.Loaded(tuple(loaded))

    def _store(self, records: Sequence[Record]) -> e.Stored | e.NotStored:
        try:
            return e.Stored(frozenset(self.shelf.add(records).admitted))
        except StoreError as error:
            return e.NotStored(str(error))


def make_exchange_plan(
    policy: Policy, theirs: Operand, question: e.Compile
) -> tuple[ExchangePlan, e.Compiled]:
    """The plan of both operands, and what the machine is told of it; PlanError if there is none."""
    setups = sorted((question.own, question.peer), key=lambda setup: setup.index)
    parties = (_party(setups[0]), _party(setups[1]))
    plan = make_plan((policy.operand, theirs), parties, policy.origins, policy.lowering)
    labels = (plan.origins[0].label, plan.origins[1].label)
    required = Schema(frozenset(plan.required.names), plan.required.all)
    return plan, e.Compiled(plan.id, labels, required)


def _party(setup: Setup) -> Party:
    return Party(None if setup.origin == UNASSIGNED else setup.origin)
