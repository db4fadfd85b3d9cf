"""Exchanges: two stores in one process, and what partition summaries cost on the wire."""

import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from time import perf_counter

from blake3 import blake3
from rich.console import Console
from rich.table import Table

from lacec.plan.expose import LocalPolicy, expose_all
from lacec.plan.operands import author_operand
from lacec.records import b64a
from lacec.runtime.exchange.in_process import Participant, make_pair, system_clock
from lacec.runtime.exchange.side import Policy
from lacec.runtime.interlace.advertisement import Advertisement, ClaimedField
from lacec.runtime.interlace.codec import write_message
from lacec.runtime.interlace.limits import DEFAULT_LIMITS, DEFAULT_OWN_LIMITS, ExchangeLimits
from lacec.runtime.interlace.messages import Offer
from lacec.runtime.interlace.reconcile.narrowing import Answerer, Asker
from lacec.runtime.interlace.reconcile.partitions import Partitions
from lacec.store.store import Store
from tests.bench import results
from tests.bench.store import make_records

SEALED = 100_000
ADVERTISED = 1_000_000
DIFFERENCES = (0, 1, 100, 10_000)
MANY_SUMMARIES = 2**19
_BATCH = 512
GROUPS = """\
SelectHave(P) :- Field(P,'Group',_,_).
SelectAdvertised(P,S) :- AdvertisedField(P,S,'Group',_,_).
"""


def participants(left: Store, right: Store) -> tuple[Participant, Participant]:
    local = LocalPolicy((expose_all(),))
    operands = [author_operand(index, [("groups", GROUPS)]) for index in (0, 1)]
    return (
        Participant(left, Policy(operands[0], local)),
        Participant(right, Policy(operands[1], local)),
    )


def exchange(
    sides: tuple[Participant, Participant], time: Callable[[], float] = perf_counter
) -> float:
    """The seconds of an exchange, which converges."""
    pair = make_pair(*sides, system_clock)
    start = time()
    pair.run()
    assert all(seat.result and seat.result.converged for seat in pair.seats)
    return time() - start


def in_one_process(console: Console, count: int = SEALED) -> None:
    records = list(make_records(count, sealed=True))
    with tempfile.TemporaryDirectory() as folder:
        stores = [Store.create(Path(folder) / name) for name in ("left", "right", "bare")]
        stores[0].add(records)
        start = perf_counter()
        for low in range(0, count, _BATCH):
            stores[2].add([record.data for record in records[low : low + _BATCH]])
        bare = perf_counter() - start
        table = Table(
            "exchange of sealed records", "seconds", "of validating and storing", "of the first"
        )
        table.add_row(f"{count:,} validated and stored", f"{bare:.3f}", "", "")
        sides = participants(stores[0], stores[1])
        first = exchange(sides)
        second = exchange(sides)
        anew = exchange(participants(stores[0], stores[1]))
        for what, seconds in (
            (f"{count:,} missing", first),
            ("nothing new", second),
            ("nothing new, and nothing remembered", anew),
        ):
            table.add_row(what, f"{seconds:.3f}", f"{seconds / bare:.2%}", f"{seconds / first:.2%}")
        for store in stores:
            store.close()
    console.print(table)


def wire_bytes(known: Partitions, offered: Partitions, limits: ExchangeLimits) -> tuple[int, int]:
    """The bytes of offers and asks, one way, and how many steps they took."""
    answerer, asker = Answerer(offered, limits), Asker(known, limits, DEFAULT_OWN_LIMITS)
    offer, total, steps = Offer(summaries=answerer.first()), 0, 0
    while True:
        asker.take(offer)
        ask = asker.ask()
        total += len(write_message(offer)) + len(write_message(ask)) + 2
        steps += 1
        if not ask.lists and not ask.narrows:
            return total, steps
        answerer.ask(ask)
        records, summaries = answerer.answer()
        offer = Offer(tuple(records), tuple(summaries))


def on_the_wire(console: Console, count: int = ADVERTISED) -> None:
    """The bound: a peer that knew which records are missing would send 32 bytes for each.

    How deep differences are looked for is bounded by the limit on summaries: 050's default,
    and one that lets every partition of a few records have its own.
    """
    records = [
        Advertisement(
            f"P.{b64a.encode(blake3(b'%d' % number).digest())}.H3",
            f"V.{'0' * 43}.H3",
            (ClaimedField("Type", 0, "P"),),
        )
        for number in range(count)
    ]
    full = sum(record.size for record in records)
    table = Table(
        f"differences in {count:,}",
        "summaries at most",
        "bytes",
        "of full listing",
        "steps",
        "least",
    )
    offered = Partitions(records)
    kept: list[results.Row] = []
    for number in DIFFERENCES:
        known = Partitions(records[number:])
        for most in (DEFAULT_LIMITS.max_partition_summaries, MANY_SUMMARIES):
            limits = replace(DEFAULT_LIMITS, max_partition_summaries=most)
            size, steps = wire_bytes(known, offered, limits)
            kept.append((f"{number:,} differ", f"at most {most:,} summaries", size))
            table.add_row(
                f"{number:,}",
                f"{most:,}",
                f"{size:,}",
                f"{size / full:.2%}",
                str(steps),
                f"{32 * number:,}",
            )
        kept.append((f"{number:,} differ", "the least", 32 * number))
    kept.append(("whatever differs", "a full listing", full))
    about = f"One side has {count:,} records, the other all but those that differ."
    results.keep("wire", about, kept)
    console.print(table)


def main(console: Console, by: int = 1) -> None:
    in_one_process(console, SEALED // by)
    on_the_wire(console, ADVERTISED // by)
