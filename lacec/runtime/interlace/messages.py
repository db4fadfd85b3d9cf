"""What one machine says to the other, phase by phase (050, D18).

A message is a value: a binding writes it as a fact block and reads it back, and two
machines in one process hand it over as it is. `tick` is a TickReady that it carries (D23).
"""

from collections.abc import Sequence
from dataclasses import dataclass

from lacec.records.record import Record
from lacec.runtime.interlace.advertisement import Advertisement, Schema
from lacec.runtime.interlace.reconcile.partitions import Summary

UNASSIGNED = "unassigned"


@dataclass(frozen=True, slots=True)
class Setup:
    """ExchangeOperand: the operand of the sender, and the verifier it will prove (D14)."""

    index: int
    module: str
    origin: str
    facet: str
    nonce: str | None = None


@dataclass(frozen=True, slots=True)
class Hello:
    plan: str
    tai: str
    interval: int
    formats: frozenset[str]
    schema: Schema
    limits: tuple[tuple[str, str], ...] = ()
    signer: str | None = None
    proof: str | None = None


@dataclass(frozen=True, slots=True)
class Offer:
    """Advertisement records, or partition summaries, of one snapshot of the send set."""

    records: Sequence[Advertisement] = ()
    summaries: tuple[Summary, ...] = ()
    tick: str | None = None


@dataclass(frozen=True, slots=True)
class Ask:
    lists: tuple[str, ...] = ()
    narrows: tuple[str, ...] = ()
    tick: str | None = None


@dataclass(frozen=True, slots=True)
class Request:
    hashes: tuple[str, ...] = ()
    tick: str | None = None


@dataclass(frozen=True, slots=True)
class SentRecord:
    """The stored bytes of a requested record, on their way out."""

    hash: str
    data: bytes


@dataclass(frozen=True, slots=True)
class Arrived:
    """A record that came in and is valid (010): that it is a Record says so."""

    record: Record


@dataclass(frozen=True, slots=True)
class Invalid:
    """Bytes that came in for a hash and are not that record: wrong digest or signature (D20)."""

    hash: str
    size: int


@dataclass(frozen=True, slots=True)
class NotAvailable:
    hash: str


@dataclass(frozen=True, slots=True)
class BatchEnd:
    """The end of a transfer batch; what got no answer is deferred."""


Block = Setup | Hello | Offer | Ask | Request
Message = Block | SentRecord | NotAvailable | BatchEnd
