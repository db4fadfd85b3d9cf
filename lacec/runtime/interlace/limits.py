"""The limits of an exchange (050, D24a): each side's own, and the smaller of both in effect."""

from collections.abc import Iterable
from dataclasses import dataclass, fields, replace

from lacec.runtime.interlace.reasons import Abort

SECOND = 10**9

# HelloLimit names a capability too: partition summaries are used when both sides offer it (D19).
PARTITION_SUMMARIES = "partition_summaries"


@dataclass(frozen=True, slots=True)
class ExchangeLimits:
    """The limits that hello names. The lowest values are those that still let a peer talk."""

    max_fact_block_bytes: int = 64 * 2**20
    max_advertisement_records: int = 100_000
    max_partition_summaries: int = 16_384
    max_narrowing_depth: int = 12
    max_total_transferred_bytes: int = 2**30
    max_loop_iterations: int = 16
    phase_timeout_seconds: int = 30


DEFAULT_LIMITS = ExchangeLimits()
LOWEST = ExchangeLimits(
    max_fact_block_bytes=8192,  # the summaries of all children of a partition fit
    max_advertisement_records=1,
    max_partition_summaries=64,
    max_narrowing_depth=1,
    max_total_transferred_bytes=1,
    max_loop_iterations=2,
    phase_timeout_seconds=1,
)
HIGHEST_VALUE = 2**63 - 1
LIMIT_NAMES = tuple(field.name for field in fields(ExchangeLimits))


@dataclass(frozen=True, slots=True)
class OwnLimits:
    """What a side limits for itself, without a word to the peer."""

    peer_advertisements: int = 2**22  # records that a peer may advertise at once
    requests: int = 100_000  # hashes in one request list
    stored_at_once: int = 512  # records given to the store together ...
    stored_bytes_at_once: int = 8 * 2**20  # ... and bytes
    loaded_at_once: int = 512  # records asked of the store together ...
    loaded_bytes_at_once: int = 8 * 2**20  # ... and bytes, but for the last record
    lowest_rate: int = 16 * 1024  # D24a: bytes a second, after the first 30 s of a phase
    rate_after_seconds: int = 30
    idle_seconds: int = 600  # after which without change Merkle trees are dropped
    shortest_tick: int = SECOND // 1000
    longest_tick: int = 366 * 86_400 * SECOND


DEFAULT_OWN_LIMITS = OwnLimits()


@dataclass(frozen=True, slots=True)
class Budget:
    """What a sender serves in one transfer phase; what is left is deferred (D20)."""

    records: int = 100_000
    bytes: int = 2**28
    seconds: int = 20


DEFAULT_BUDGET = Budget()


def effective(own: ExchangeLimits, told: Iterable[tuple[str, str]]) -> ExchangeLimits:
    """The smaller of our limits and those a peer told; unknown names are ignored."""
    agreed = own
    for name, text in told:
        if name not in LIMIT_NAMES:
            continue
        value = read_limit(name, text)
        if value < getattr(LOWEST, name):
            lowest = getattr(LOWEST, name)
            raise Abort("negotiation-failed", f"{name} of {value} is under {lowest}")
        agreed = replace(agreed, **{name: min(value, getattr(agreed, name))})
    return agreed


def read_limit(name: str, text: str) -> int:
    if not (text.isascii() and text.isdecimal()) or len(text) > 19 or int(text) > HIGHEST_VALUE:
        raise Abort("negotiation-failed", f"the value of {name[:40]} is not a decimal in range")
    return int(text)
