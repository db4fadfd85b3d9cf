"""The engines beside ours. Each is given the facts in its best layout, and solves each workload.

A peer that is not installed is left out. clingo and pyDatalog cannot test text, and
Nemo does it slowly, so the names that begin with links/ are marked for them beforehand.
"""

import importlib.util
import multiprocessing
import re
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from tests.bench.corpus import EDGE, HAVE, LINK, RECENT, Corpus, Ids
from tests.bench.workloads import NAMED, Workload

Rows = tuple[Ids, ...]


class Result(NamedTuple):
    """Seconds to load the facts and to solve, and the number of tuples found."""

    load: float
    solve: float
    size: int


MODULES = {"DuckDB": "duckdb", "Nemo": "nmo_python", "clingo": "clingo", "pyDatalog": "pyDatalog"}


def installed(module: str) -> bool:
    return importlib.util.find_spec(module) is not None


def missing() -> list[str]:
    """Return the peers that are left out: not each has a release for each Python."""
    return [name for name, module in MODULES.items() if not installed(module)]


def within(seconds: float, run: Callable[[], Any]) -> Any:
    """The answer of a function in a process of its own; None when it takes too long."""
    context = multiprocessing.get_context("fork")
    receive, send = context.Pipe(duplex=False)
    process = context.Process(target=lambda: send.send(run()))
    process.start()
    answer = receive.recv() if receive.poll(seconds) else None
    process.kill()
    process.join()
    return answer


def numbers(corpus: Corpus) -> dict[str, int]:
    return {name: corpus.id(name) for name in NAMED}


def split(corpus: Corpus) -> dict[str, Rows]:
    """Facts split by field name, each with the columns the workloads read."""
    record, _, _, why, target = corpus.facts[LINK]
    evidence = why == corpus.id("evidence")
    return {
        "have": tuple(corpus.facts[HAVE]),
        "recent": tuple(corpus.facts[RECENT]),
        "group": corpus.field("Group"),
        "app": corpus.field("App"),
        "name": corpus.field("Name"),
        "tai": corpus.field("TAI"),
        "signer": corpus.field("Signed-By"),
        "link": (record[evidence], target[evidence]),
        "edge": tuple(corpus.facts[EDGE]),
    }


class DuckDB:
    """Integer columns, one table for each field name; text where the query reads text."""

    def __init__(self, corpus: Corpus) -> None:
        import duckdb

        self.numbers = numbers(corpus)
        self.connection = duckdb.connect()
        texts = np.array(corpus.texts, object)
        for name, columns in split(corpus).items():
            if name in ("have", "recent"):
                table: dict[str, Any] = {"p": columns[0]}
                if name == "recent":
                    table["s"] = texts[columns[0]]
            elif name == "link":
                table = {"p": columns[0], "t": columns[1]}
            elif name == "edge":
                table = {"x": columns[0], "y": columns[1]}
            else:
                table = {"p": columns[0], "v": columns[1]}
                if name in ("name", "tai"):
                    table["s"] = texts[columns[1]]
            self.create(name if "v" not in table else f"f_{name}", table)

    def create(self, name: str, table: dict[str, Any]) -> None:
        import pyarrow

        self.connection.register("columns", pyarrow.table(table))
        self.connection.execute(f"create table {name} as select * from columns")
        self.connection.unregister("columns")

    def solve(self, workload: Workload) -> int:
        query = workload.sql.format(**self.numbers)
        return len(self.connection.execute(query).fetchnumpy()["p"])


def clingo(corpus: Corpus, workload: Workload) -> Result:
    """One run: facts as text, which is how clingo takes them."""
    import clingo as engine

    start = perf_counter()
    facts = "".join(_asp_facts(name, rows) for name, rows in _wanted(corpus, workload).items())
    rules = workload.asp.format(**numbers(corpus)) + f" #show {workload.asp_output}/"
    arity = workload.output.arity
    control = engine.Control(["--warn=none"])
    control.add("base", [], f"{facts} {rules}{arity}.")
    loaded = perf_counter()
    control.ground([("base", [])])
    sizes: list[int] = []
    control.solve(on_model=lambda model: sizes.append(len(model.symbols(shown=True))))
    return Result(loaded - start, perf_counter() - loaded, sizes[0])


def _wanted(corpus: Corpus, workload: Workload) -> dict[str, Rows]:
    """The facts that the rules of a workload read."""
    wanted = {name: rows for name, rows in split(corpus).items() if f"{name}(" in workload.asp}
    if "links(" in workload.asp:
        links = [i for i, text in enumerate(corpus.texts) if text.startswith("links/")]
        wanted["links"] = (np.array(links, np.int32),)
    return wanted


def nemo(corpus: Corpus, workload: Workload) -> Result:
    """One run: facts as CSV files of integers, whose reading Nemo measures itself."""
    import nmo_python as engine

    rules = workload.asp.format(**numbers(corpus)).replace("not ", "~")
    rules = re.sub(r"\b([A-Z])\b", r"?\1", rules)
    with tempfile.TemporaryDirectory() as folder:
        for name, rows in _wanted(corpus, workload).items():
            path = Path(folder) / f"{name}.csv"
            np.savetxt(path, np.stack(rows, axis=1), "%d", ",")
            form = ",".join(["int"] * len(rows))
            rules += f' @import {name} :- csv {{ resource="{path}", format=({form}) }} .'
        start = perf_counter()
        reasoner = engine.NemoEngine(engine.load_string(f"{rules} @output {workload.asp_output} ."))
        reasoner.reason()
        total = perf_counter() - start
    execution = reasoner.timing().subnode("Reasoning").subnode("Execution")
    load = execution.subnode("Load Table").system_time.total_seconds()
    size = sum(1 for _ in reasoner.result(workload.asp_output))
    return Result(load, total - load, size)


def _asp_facts(name: str, rows: Rows) -> str:
    tuples = zip(*(column.tolist() for column in rows), strict=True)
    return "".join(f"{name}({','.join(map(str, row))})." for row in tuples)


def py_datalog_closure(corpus: Corpus) -> Result:
    """One run of the closure, the workload that pyDatalog's users would write."""
    from pyDatalog import pyDatalog

    start = perf_counter()
    pyDatalog.clear()
    for x, y in zip(*(column.tolist() for column in corpus.facts[EDGE]), strict=True):
        pyDatalog.assert_fact("edge", x, y)
    pyDatalog.load("path(X,Y) <= edge(X,Y)\npath(X,Z) <= path(X,Y) & edge(Y,Z)")
    loaded = perf_counter()
    size = len(pyDatalog.ask("path(X,Y)").answers)
    return Result(loaded - start, perf_counter() - loaded, size)


def median(times: Iterable[float]) -> float:
    ordered = sorted(times)
    return ordered[len(ordered) // 2]
