"""What goes into a machine beside messages, and what comes out of it.

A machine does nothing itself. It asks: each question that comes out is answered, sooner or
later, by an event that goes in. Time, too, comes as an event.
"""

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import NamedTuple

from lacec.records.record import Record
from lacec.runtime.interlace.advertisement import Advertisement, Schema
from lacec.runtime.interlace.advertisements import Claims
from lacec.runtime.interlace.facts import Fact
from lacec.runtime.interlace.messages import (
    Arrived,
    Ask,
    BatchEnd,
    Hello,
    Invalid,
    Message,
    NotAvailable,
    Offer,
    Request,
    Setup,
)
from lacec.runtime.interlace.result import Result

# Questions, each with its answers.


@dataclass(frozen=True, slots=True)
class Compile:
    """Make the plan of our operand and the peer's; get its module's bytes if need be."""

    own: Setup
    peer: Setup


@dataclass(frozen=True, slots=True)
class Compiled:
    """The plan: its id, the origin labels by operand index, the advertised fields it reads."""

    plan: str
    labels: tuple[str, str]
    required: Schema


@dataclass(frozen=True, slots=True)
class NotCompiled:
    reason: str  # one of COMPILE_REASONS
    detail: str = ""


COMPILE_REASONS = frozenset(
    (
        "module-unavailable",
        "malformed-exchange-module",
        "exchange-plan-compilation-failure",
        "malformed-prepared-policy",
    )
)


@dataclass(frozen=True, slots=True)
class Prove:
    """Make the proof that this side is the verifier it claimed at setup (D26)."""

    plan: str
    own: Setup
    peer: Setup


@dataclass(frozen=True, slots=True)
class Proof:
    """`signature` is for the peer to check; a binding that proves otherwise has none (D27)."""

    proven: bool
    signature: str | None = None


@dataclass(frozen=True, slots=True)
class CheckProof:
    """Is the peer the verifier that its hello names?"""

    plan: str
    own: Setup
    peer: Setup
    signer: str
    signature: str | None


@dataclass(frozen=True, slots=True)
class ProofChecked:
    valid: bool
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Recall:
    """The cursor kept for a link, if there is one."""

    link: str


@dataclass(frozen=True, slots=True)
class Cursor:
    """What was last known of a peer (050): its advertisement records, all of one schema."""

    schema: Schema
    records: Claims


@dataclass(frozen=True, slots=True)
class Recalled:
    cursor: Cursor | None


@dataclass(frozen=True, slots=True)
class Remember:
    """Keep a cursor in place of the one before. It is whole, not a change to that one: another
    exchange on the same link may have replaced it meanwhile."""

    link: str
    cursor: Cursor


@dataclass(frozen=True, slots=True)
class Remembered:
    kept: bool


@dataclass(frozen=True, slots=True)
class Evaluate:
    """Evaluate the local executable over one snapshot of the store, these runtime facts and
    what the peer advertises."""

    runtime: tuple[Fact, ...]
    advertised: Claims


@dataclass(frozen=True, slots=True)
class Evaluated:
    """Of one snapshot: MaySend and Have, MayRequest and not Have, and its StoreRecordId."""

    send: AbstractSet[str]
    request: AbstractSet[str]
    cursor: int


@dataclass(frozen=True, slots=True)
class NotEvaluated:
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Describe:
    """The advertisement records of these hashes, from validated record facts."""

    hashes: AbstractSet[str]
    source: str
    schema: Schema


@dataclass(frozen=True, slots=True)
class Described:
    """Those of the hashes that are still in the store."""

    records: Sequence[Advertisement]


@dataclass(frozen=True, slots=True)
class Load:
    """The stored bytes of these records, of each that may be sent at this moment: evaluate as
    for Evaluate, over a snapshot in which the bytes are. Answered when the peer has taken
    what was sent before, with as many from the first on as pass `most_bytes`."""

    hashes: tuple[str, ...]
    most_bytes: int
    runtime: tuple[Fact, ...]
    advertised: Claims


class LoadedRecord(NamedTuple):
    hash: str
    data: bytes | None  # None: no longer MaySend and Have


@dataclass(frozen=True, slots=True)
class Loaded:
    records: tuple[LoadedRecord, ...]


@dataclass(frozen=True, slots=True)
class Store:
    """Keep these records."""

    records: tuple[Record, ...]


@dataclass(frozen=True, slots=True)
class Stored:
    """Kept; `new` are the hashes that were not there before."""

    new: frozenset[str]


@dataclass(frozen=True, slots=True)
class NotStored:
    detail: str = ""


# What else comes out.


@dataclass(frozen=True, slots=True)
class Send:
    message: Message


@dataclass(frozen=True, slots=True)
class Rested:
    """An open exchange is at a fixed point; so far this is the result."""

    result: Result


@dataclass(frozen=True, slots=True)
class Closed:
    """The exchange has ended: send what was said, then end the stream. Nothing follows."""

    result: Result


# What else goes in.


@dataclass(frozen=True, slots=True)
class Start:
    """Begin. A Clock has come before."""


@dataclass(frozen=True, slots=True)
class Clock:
    """The time: a clock that never jumps, and TAI, which may; both in nanoseconds."""

    steady: int
    tai: int


@dataclass(frozen=True, slots=True)
class Progress:
    """Bytes came from the peer, or were taken by it."""

    count: int


@dataclass(frozen=True, slots=True)
class StoreChanged:
    """Records were stored here, up to this StoreRecordId, or some were removed."""

    cursor: int
    removed: bool = False


@dataclass(frozen=True, slots=True)
class OperandChanged:
    """This side has another selector from now on: a new epoch (D18a)."""

    module: str


@dataclass(frozen=True, slots=True)
class Faulty:
    """The binding could not read what the peer sent: a name of REASONS."""

    reason: str
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Disconnected:
    """The stream of the peer ended; `whole` unless in the middle of a block or a record."""

    whole: bool


@dataclass(frozen=True, slots=True)
class Cancel:
    """Stop: at once, with what there is."""


@dataclass(frozen=True, slots=True)
class Finish:
    """Close an open exchange at its next fixed point."""


Question = Compile | Prove | CheckProof | Recall | Remember | Evaluate | Describe | Load | Store
Answer = (
    Compiled
    | NotCompiled
    | Proof
    | ProofChecked
    | Recalled
    | Remembered
    | Evaluated
    | NotEvaluated
    | Described
    | Loaded
    | Stored
    | NotStored
)
Effect = Question | Send | Rested | Closed
FromPeer = Setup | Hello | Offer | Ask | Request | Arrived | Invalid | NotAvailable | BatchEnd
Event = (
    Answer
    | FromPeer
    | Start
    | Clock
    | Progress
    | StoreChanged
    | OperandChanged
    | Faulty
    | Disconnected
    | Cancel
    | Finish
)
