"""What one machine holds of its link: the exchange, its epoch, its loop (050 Local state).

No decision is made here; the phases do that. An epoch begins with a setup, a loop with an
evaluation of what to advertise.
"""

from dataclasses import dataclass, field

from lacec.records.record import Record
from lacec.runtime.interlace.advertisement import NO_FIELDS, Schema
from lacec.runtime.interlace.advertisements import Claims
from lacec.runtime.interlace.events import Compiled, Effect, Evaluate
from lacec.runtime.interlace.facts import Fact
from lacec.runtime.interlace.hello import Agreement
from lacec.runtime.interlace.limits import (
    DEFAULT_BUDGET,
    DEFAULT_LIMITS,
    DEFAULT_OWN_LIMITS,
    SECOND,
    Budget,
    ExchangeLimits,
    OwnLimits,
)
from lacec.runtime.interlace.messages import UNASSIGNED, Ask, Hello, Offer, Setup
from lacec.runtime.interlace.reconcile.narrowing import Answerer, Asker
from lacec.runtime.interlace.reconcile.partitions import Partitions
from lacec.runtime.interlace.result import Result
from lacec.runtime.interlace.tick import Ticks, tai_text


@dataclass(frozen=True, slots=True)
class Config:
    """How this side takes part. `claim` is the verifier that it will prove (D14)."""

    index: int
    module: str
    claim: str | None = None
    nonce: str | None = None
    demand_proof: bool = False
    formats: frozenset[str] = frozenset(("H3",))
    # Beside Type and what the plan requires (D22).
    fields: Schema = NO_FIELDS
    tick_interval: int = 10 * SECOND
    limits: ExchangeLimits = DEFAULT_LIMITS
    own_limits: OwnLimits = DEFAULT_OWN_LIMITS
    budget: Budget = DEFAULT_BUDGET
    partitions: bool = True
    open: bool = False
    transport: str | None = None
    encrypted: bool = False


@dataclass
class Loop:
    """One loop: advertise, request, transfer."""

    woken: bool = False  # begun from rest by this side
    first_offer: bool = True  # whether the offer to come is the peer's first of the loop
    answerer: Answerer | None = None
    asker: Asker | None = None
    asked: Ask = field(default_factory=Ask)
    requested: set[str] = field(default_factory=set)  # by us, and not yet answered
    to_serve: list[str] = field(default_factory=list)  # requested by the peer
    sent_end: bool = False
    received_end: bool = False
    began_transfer: int = 0
    arrived: list[Record] = field(default_factory=list)  # and not yet given to the store
    arrived_bytes: int = 0
    storing: bool = False
    served: int = 0
    bytes: int = 0  # transferred, either way
    bytes_sent: int = 0
    progress: bool = False  # a record was stored here, or sent for the first time


@dataclass
class Epoch:
    """What holds from one setup to the next."""

    setup: Setup
    crossing: bool = False  # an advertise block may cross our setup (D18a)
    peer_setup: Setup | None = None
    compiled: Compiled | None = None
    hello: Hello | None = None
    peer_hello: Hello | None = None
    proven: bool = False
    peer_verifier: str | None = None
    agreement: Agreement | None = None
    ticks: Ticks | None = None
    link_id: str | None = None
    recalled: Claims | None = None  # the cursor as it is kept
    own: Claims = field(default_factory=Claims)  # what we advertise
    peer: Claims = field(default_factory=Claims)  # what the peer advertises
    # What each was made of, and the partitions.
    own_partitions: tuple[Claims, Partitions] | None = None
    peer_partitions: tuple[Claims, Partitions] | None = None
    own_changed: int = 0  # when what we advertise last did
    # D18: answered NotAvailable or not valid, so not asked for while it stays advertised.
    unwanted: set[str] = field(default_factory=set)
    # What we answered NotAvailable: its advertisement goes, so that it can come back.
    withheld: set[str] = field(default_factory=set)
    # The advertisements of the loop before, ours and the peer's, and its TickTAI.
    before: tuple[Claims, Claims, int] | None = None


@dataclass
class Totals:
    """For the result, over all epochs."""

    received: dict[str, None] = field(default_factory=dict)
    rejected: dict[str, None] = field(default_factory=dict)
    not_available: dict[str, None] = field(default_factory=dict)
    sent: set[str] = field(default_factory=set)
    bytes_received: int = 0
    bytes_sent: int = 0
    cursor_updated: bool = False
    loops: int = 0


class Link:
    """Everything a machine knows. `out` are the effects of the event at hand."""

    def __init__(self, config: Config) -> None:
        self.config = config
        self.out: list[Effect] = []
        self.steady = self.tai = 0
        self.module = config.module
        self.epoch = Epoch(self.make_setup())
        self.loop = Loop()
        self.totals = Totals()
        self.idle_loops = self.idle_bytes = 0  # since the last progress, or the last rest
        self.observed = self.changed = 0  # StoreRecordIds: of the last snapshot, of the store
        self.removed = False  # records, since the last snapshot
        self.next_module: str | None = None
        self.held: Offer | None = None  # the offer by which the peer began a loop
        self.finishing = self.peer_gone = False
        self.ending: tuple[str | None, str] = (None, "")  # why, and what happened
        # Since when the machine waits for the peer, when it last heard of it, and how much.
        self.waiting_since = self.last_progress = self.progress = 0

    def make_setup(self) -> Setup:
        config = self.config
        origin = config.claim or UNASSIGNED
        return Setup(config.index, self.module, origin, "selector", config.nonce)

    def emit(self, effect: Effect) -> None:
        self.out.append(effect)

    @property
    def agreement(self) -> Agreement:
        assert self.epoch.agreement is not None
        return self.epoch.agreement

    @property
    def ticks(self) -> Ticks:
        assert self.epoch.ticks is not None
        return self.epoch.ticks

    @property
    def compiled(self) -> Compiled:
        assert self.epoch.compiled is not None
        return self.epoch.compiled

    @property
    def peer_setup(self) -> Setup:
        assert self.epoch.peer_setup is not None
        return self.epoch.peer_setup

    def source(self, index: int) -> str:
        """The S of a side's advertisements: its verifier when proven, else its label (D21)."""
        if index == self.config.index:
            verifier = self.config.claim if self.epoch.proven else None
        else:
            verifier = self.epoch.peer_verifier
        return verifier or self.compiled.labels[index]

    @property
    def own_source(self) -> str:
        return self.source(self.config.index)

    @property
    def peer_source(self) -> str:
        return self.source(1 - self.config.index)

    def runtime_facts(self) -> tuple[Fact, ...]:
        """050 Runtime facts, of this moment."""
        config, epoch = self.config, self.epoch
        facts: list[Fact] = [
            ("StartTAI", self.agreement.start),
            ("TickTAI", tai_text(self.ticks.shared)),
            ("ClockSkewSeconds", str(self.agreement.skew_seconds)),
        ]
        if epoch.proven and config.claim is not None:
            facts.append(("Here", config.claim))
        if epoch.peer_verifier is not None:
            facts.append(("Peer", epoch.peer_verifier))
        if config.transport is not None:
            facts.append(("Transport", config.transport))
        if config.encrypted:
            facts.append(("TransportEncrypted",))
        return tuple(facts)

    def evaluate(self) -> None:
        self.emit(Evaluate(self.runtime_facts(), self.epoch.peer))

    def result(self, converged: bool, aborted: str | None = None, detail: str = "") -> Result:
        totals, epoch = self.totals, self.epoch
        return Result(
            epoch.link_id,
            epoch.compiled.plan if epoch.compiled else None,
            epoch.peer_verifier,
            tuple(totals.received),
            tuple(totals.rejected),
            tuple(totals.not_available),
            totals.bytes_received,
            totals.bytes_sent,
            totals.cursor_updated,
            converged,
            totals.loops,
            aborted,
            detail,
        )
