"""Negotiation (050 Hello): two hellos into what both sides go by.

In: our hello, the peer's, and what the plan requires. Out: the agreement, or Abort. It is
symmetric: both sides compute the same from the same two hellos, but for their own limits.
"""

from dataclasses import dataclass

from blake3 import blake3

from lacec.records import b64a
from lacec.runtime.interlace.advertisement import Schema
from lacec.runtime.interlace.limits import (
    LIMIT_NAMES,
    PARTITION_SUMMARIES,
    SECOND,
    ExchangeLimits,
    OwnLimits,
    effective,
    read_limit,
)
from lacec.runtime.interlace.messages import Hello
from lacec.runtime.interlace.reasons import Abort
from lacec.runtime.interlace.tick import nanoseconds


@dataclass(frozen=True, slots=True)
class Agreement:
    start: str
    skew_seconds: int
    interval: int
    formats: frozenset[str]
    schema: Schema
    limits: ExchangeLimits
    partitions: bool


def offered_schema(required: Schema, more: Schema) -> Schema:
    """What a side offers to advertise: Type, what the plan requires, and more by option (D22)."""
    every = required.every or more.every
    return Schema(frozenset() if every else required.names | more.names | {"Type"}, every)


def limits_to_tell(limits: ExchangeLimits, partitions: bool) -> tuple[tuple[str, str], ...]:
    """The HelloLimit facts of a side."""
    told = [(name, str(getattr(limits, name))) for name in LIMIT_NAMES]
    return tuple([*told, (PARTITION_SUMMARIES, "1")] if partitions else told)


def negotiate(
    own: Hello, peer: Hello, required: Schema, limits: ExchangeLimits, local: OwnLimits
) -> Agreement:
    if peer.plan != own.plan:
        raise Abort("exchange-plan-mismatch", f"here {own.plan}, there {peer.plan[:64]}")
    if not local.shortest_tick <= peer.interval <= local.longest_tick:
        raise Abort("negotiation-failed", f"a tick interval of {peer.interval} ns")
    formats = own.formats & peer.formats
    if not formats:
        raise Abort("unsupported-record-format")
    schema = own.schema & peer.schema
    if (required.every and not schema.every) or not all(n in schema for n in required.names):
        raise Abort("unsupported-advertisement-schema")
    return Agreement(
        max(own.tai, peer.tai),
        abs(nanoseconds(own.tai) - nanoseconds(peer.tai)) // SECOND,
        max(own.interval, peer.interval),
        formats,
        schema,
        effective(limits, peer.limits),
        _capable(own) and _capable(peer),
    )


def _capable(hello: Hello) -> bool:
    values = {read_limit(name, text) for name, text in hello.limits if name == PARTITION_SUMMARIES}
    return values == {1}


def link_id(one: str, other: str, plan: str) -> str:
    """The Link-Id of two proven verifiers (050, D24)."""
    first, last = sorted((one.encode("utf-8"), other.encode("utf-8")))
    return b64a.encode(blake3(first + last + plan.encode("utf-8")).digest())
