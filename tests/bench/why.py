"""Explanations: one proof after an evaluation, and the proofs of everything at once."""

import gc
import statistics
from random import Random
from time import process_time
from typing import NamedTuple

from rich.console import Console
from rich.table import Table

import lacec
from lacec.core.predicates import Predicate
from lacec.explain.proof_tree import Fact
from lacec.explain.provenance import explain_module
from lacec.vm.database import Database
from tests.bench import results
from tests.bench.corpus import make_corpus
from tests.bench.workloads import CLOSURE, MEMBERSHIP, SELECTION, SUPPORT

RECORDS = 250_000
ASKED = 1000
# The slowest are asked again so often: whether it is the proof that takes long, or the machine.
SLOWEST, AGAIN = 20, 5
MOST_MS = 5.0
LEAST_A_SECOND = 20_000

# Half of the records, so that more than 100,000 are selected.
GROUP = "Selected(P) :- Have(P), Field(P,'Group',_,'u'), Field(P,'Name',_,K), K != ''."
PROGRAMS = (
    ("group", GROUP, Predicate("Selected", 1)),
    *((each.name, each.source, each.output) for each in (SELECTION, MEMBERSHIP, SUPPORT, CLOSURE)),
)


class Timing(NamedTuple):
    name: str
    facts: int
    evaluate: float
    first: float
    median: float
    worst: float
    again: float  # the worst median of those that were slowest
    a_second: float


def measure(name: str, source: str, output: Predicate, database: Database) -> Timing:
    """Single proofs are looked up without an index; those of everything at once make some."""
    module = lacec.compile(source)
    start = process_time()
    why = explain_module(module, database)
    facts = why.facts(output)
    evaluate = process_time() - start

    def seconds(values: tuple[str, ...]) -> float:
        start = process_time()
        assert why.why(Fact(output.name, values)) is not None
        return process_time() - start

    first, *rest = ((seconds(v), v) for v in Random(1).sample(facts, min(ASKED, len(facts))))
    slowest = [values for _, values in sorted(rest, reverse=True)[:SLOWEST]]
    again = max(statistics.median(seconds(v) for _ in range(AGAIN)) for v in slowest)
    times = [time for time, _ in rest]
    gc.collect()
    start = process_time()
    proofs = why.all(output)
    assert sum(1 for _ in proofs) == len(facts)
    bulk = process_time() - start
    ones = (first[0], statistics.median(times), max(times), again)
    return Timing(name, len(facts), evaluate, *ones, len(facts) / bulk)


def main(console: Console, by: int = 1) -> None:
    records = RECORDS // by
    database = make_corpus(records).database()
    for predicate in database.predicates():
        database.relation(predicate)
    table = Table(title=f"explanations, {records:,} records")
    table.add_column("program")
    ones = ("first ms", "median ms", "worst ms", "asked again ms")
    for heading in ("facts", "evaluate ms", *ones, "proofs/s"):
        table.add_column(heading, justify="right")
    kept: list[results.Row] = []
    for program in PROGRAMS:
        row = measure(*program, database)
        kept.append((row.name, "evaluating", row.evaluate * 1000))
        kept.append((row.name, "one proof", row.median * 1000))
        table.add_row(
            row.name,
            f"{row.facts:,}",
            *(f"{s * 1000:.1f}" for s in row[2:7]),
            f"{row.a_second:,.0f}",
        )
    console.print(table)
    about = f"{records:,} records; the median of {ASKED:,} proofs or as many as there are facts."
    results.keep("proof", about, kept)
    console.print(
        f"aims: a proof of a selected record in under {MOST_MS:g} ms, all of them at over "
        f"{LEAST_A_SECOND:,} a second; seconds of the processor"
    )


if __name__ == "__main__":
    main(Console())
