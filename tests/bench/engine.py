"""Evaluation beside other engines: the same facts, load and solve apart, as ratios."""

import re
import tempfile
from collections.abc import Iterator
from pathlib import Path
from time import perf_counter
from typing import NamedTuple

from rich.console import Console
from rich.table import Table

import lacec
from lacec.core.limits import DEFAULT_LIMITS
from lacec.core.predicates import RECORD_FACTS
from lacec.engine.evaluation import evaluate
from lacec.facts.bulk_reader import read_facts
from lacec.vm.database import Database
from lacec.vm.sources import load, source_of
from tests.bench import peers
from tests.bench.corpus import Corpus, make_corpus
from tests.bench.workloads import CLOSURE, LATEST, SELECTION, SMALL, WORKLOADS, Workload

SIZES = (1_000, 100_000, 1_000_000)
RUNS = 7
PATIENCE = 120.0
CHART = Path(__file__).parents[2] / "docs" / "bench.png"


class Row(NamedTuple):
    records: int
    workload: str
    engine: str
    load: float
    solve: float
    size: int


def measure() -> Iterator[Row]:
    for records in SIZES:
        corpus = make_corpus(records)
        start = perf_counter()
        database = corpus.database()
        for predicate in database.predicates():
            database.relation(predicate)
        load = perf_counter() - start
        duck = None
        if peers.installed("duckdb"):
            start = perf_counter()
            duck = peers.DuckDB(corpus)
            duck_load = perf_counter() - start
        for workload in WORKLOADS:
            yield ours(records, database, workload, load)
            if duck is not None:
                times, size = [], 0
                for _ in range(RUNS):
                    start = perf_counter()
                    size = duck.solve(workload)
                    times.append(perf_counter() - start)
                solve = peers.median(times)
                yield Row(records, workload.name, "DuckDB", duck_load, solve, size)
            yield from slow_peers(records, corpus, workload)


def ours(records: int, database: Database, workload: Workload, load: float) -> Row:
    """The median of several runs; indexes that the first run builds are part of it, not of load."""
    module = lacec.compile(workload.source)
    times = []
    for _ in range(RUNS):
        start = perf_counter()
        result = evaluate(module, database, [workload.output])
        times.append(perf_counter() - start)
    solve = peers.median(times)
    return Row(records, workload.name, "lacec", load, solve, result.count(workload.output))


def slow_peers(records: int, corpus: Corpus, workload: Workload) -> Iterator[Row]:
    """Peers that take seconds run once, in a process that can be stopped."""
    if workload is LATEST:
        return
    engines = {
        "Nemo": ("nmo_python", lambda: peers.nemo(corpus, workload)),
        "clingo": ("clingo", lambda: peers.clingo(corpus, workload)),
    }
    if workload is CLOSURE:
        engines["pyDatalog"] = ("pyDatalog", lambda: peers.py_datalog_closure(corpus))
    for name, (module, run) in engines.items():
        if peers.installed(module):
            found = peers.within(PATIENCE, run)
            load, solve, size = found or (float("nan"), float("inf"), -1)
            yield Row(records, workload.name, name, load, solve, size)


def few_facts() -> Table:
    """A policy of five rules over a thousand facts: what evaluation costs beyond compiling."""
    corpus = make_corpus(100)
    rows = {
        predicate.name: [
            tuple(corpus.texts[id] for id in row) for row in zip(*columns, strict=True)
        ]
        for predicate, columns in corpus.facts.items()
        if predicate in RECORD_FACTS
    }
    module = lacec.compile(SMALL)
    database = load(source_of(rows))
    count = sum(map(len, rows.values()))
    table = Table(title=f"{count:,} facts, {len(module.rules)} rules, beyond compiling")
    table.add_column("what")
    table.add_column("ms", justify="right")
    for name, run in (
        ("facts encoded", lambda: evaluate(module, database)),
        ("facts from Python rows, results as rows", lambda: lacec.evaluate(module, rows)),
    ):
        times = []
        for _ in range(200):
            start = perf_counter()
            run()
            times.append(perf_counter() - start)
        table.add_row(name, f"{peers.median(times) * 1000:.2f}")
    return table


def fact_lines(corpus: Corpus) -> bytes:
    """All facts of a corpus as fact lines; its values need no escapes."""
    lines: list[str] = []
    texts = corpus.texts
    for predicate, columns in corpus.facts.items():
        for row in zip(*(column.tolist() for column in columns), strict=True):
            values = "','".join([texts[id] for id in row])
            lines.append(f"{predicate.name}('{values}')\n")
    return "".join(lines).encode()


def from_file() -> Table:
    """A million fact lines from file to result, beside a dictionary that interns their values."""
    corpus = make_corpus(100_000)
    data = fact_lines(corpus)
    module = lacec.compile(SELECTION.source)
    best = {"dictionary": float("inf"), "lacec": float("inf")}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "all.facts"
        path.write_bytes(data)
        for _ in range(3):
            # Strings as a file gives them: none is known yet, none has its hash.
            values = re.findall("'([^']*)'", data.decode())
            start = perf_counter()
            known: dict[str, int] = {}
            for value in values:
                known.setdefault(value, len(known))
            best["dictionary"] = min(best["dictionary"], perf_counter() - start)
            start = perf_counter()
            database = Database()
            assert not read_facts("all.facts", path.read_bytes(), database, DEFAULT_LIMITS)
            evaluate(module, database, [SELECTION.output]).facts(SELECTION.output)
            best["lacec"] = min(best["lacec"], perf_counter() - start)
    count = data.count(b"\n")
    table = Table(title=f"{count:,} fact lines, {len(data) / 1e6:.0f} MB")
    for heading in ("what", "s", "ratio"):
        table.add_column(heading, justify="left" if heading == "what" else "right")
    base = best["dictionary"]
    table.add_row("a dictionary interns the values", f"{base:.2f}", "1.0x")
    table.add_row("from file to result", f"{best['lacec']:.2f}", f"{best['lacec'] / base:.1f}x")
    return table


def main(console: Console) -> None:
    console.print(few_facts())
    console.print(from_file())
    table = Table(
        title="Evaluation, facts encoded (solve: median of several runs; ratios to our solve)"
    )
    for heading in (
        "records",
        "workload",
        "engine",
        "load s",
        "solve ms",
        "tuples",
        "solve ratio",
        "(load + solve) : our solve",
    ):
        table.add_column(heading, justify="left" if heading in ("workload", "engine") else "right")
    rows: list[Row] = []
    mine: dict[tuple[int, str], Row] = {}
    for row in measure():
        rows.append(row)
        key = (row.records, row.workload)
        if row.engine == "lacec":
            mine[key] = row
        elif row.size >= 0 and row.size != mine[key].size:
            raise SystemExit(f"{row.engine} finds {row.size} tuples, lacec {mine[key].size}: {row}")
        solve = f"{row.solve * 1000:.2f}" if row.size >= 0 else f"> {PATIENCE * 1000:.0f}"
        best = mine[key].solve
        ratio = f"{row.solve / best:.1f}x" if row.size >= 0 else "-"
        total = f"{(row.load + row.solve) / best:.0f}x" if row.size >= 0 else "-"
        table.add_row(
            f"{row.records:,}",
            row.workload,
            row.engine,
            f"{row.load:.2f}",
            solve,
            f"{row.size:,}" if row.size >= 0 else "-",
            ratio,
            total,
        )
    console.print(table)
    draw(rows)
    console.print(f"chart: {CHART.name} in docs")


def draw(rows: list[Row]) -> None:
    """Solve times at each size as bars, logarithmic."""
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(1, len(SIZES), figsize=(13, 4), sharey=True)
    engines = list(dict.fromkeys(row.engine for row in rows))
    for records, axis in zip(SIZES, axes, strict=True):
        names = [w.name for w in WORKLOADS]
        for place, engine in enumerate(engines):
            chosen = {r.workload: r for r in rows if r.records == records and r.engine == engine}
            at = [i + place / (len(engines) + 1) for i, n in enumerate(names) if n in chosen]
            heights = [chosen[n].solve * 1000 for n in names if n in chosen]
            axis.bar(at, heights, 1 / (len(engines) + 1), label=engine, color=f"C{place}")
        axis.set_yscale("log")
        axis.set_title(f"{records:,} records")
        axis.set_xticks(range(len(names)), names, rotation=30, ha="right")
    axes[0].set_ylabel("solve, ms (less is better)")
    axes[0].legend(loc="upper left")
    figure.tight_layout()
    figure.savefig(CHART, dpi=110)
