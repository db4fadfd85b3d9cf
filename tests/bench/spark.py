"""The machine on Spark beside DuckDB: the same questions over the same facts in Parquet.

Ours reads one row a record, as `lacec spark ingest` writes them; DuckDB reads a row for each
field, split by nothing, which is what one has without that. Both count what they find.
"""

import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from rich.console import Console
from rich.table import Table

from lacec.core.predicates import Predicate
from lacec.pipeline import compile_module
from lacec.spark.rows import RECORD_COLUMNS
from tests.bench import results
from tests.bench.corpus import FIELD, HAVE, LINK, Corpus, make_corpus
from tests.bench.workloads import MEMBERSHIP, SELECTION, SUPPORT

FACTS_OF_A_RECORD = 10
PART = 100_000  # records in a file
SIZES = (100_000, 800_000)
LARGEST = 3_200_000
RUNS = 3

_FIELDS = "read_parquet('{folder}/fields/*.parquet')"
_LINKS = "read_parquet('{folder}/links/*.parquet')"
_HAVE = "read_parquet('{folder}/have/*.parquet')"


def _is(alias: str, name: str, value: str | None = None) -> str:
    same = f"join {_FIELDS} {alias} on {alias}.p = h.p and {alias}.name = '{name}'"
    return same if value is None else f"{same} and {alias}.value = '{value}'"


def _keys(app: str) -> str:
    with_app = f"{_is('g', 'Group', 'keys')} {_is('a', 'App', app)} {_is('k', 'Name')}"
    return f"select k.value from {_HAVE} h {with_app}"


SQL = {
    SELECTION: f"select distinct h.p from {_HAVE} h {_is('g', 'Group', 'u')} "
    f"{_is('a', 'App', 'ding')} {_is('k', 'Name')} where starts_with(k.value, 'links/')",
    MEMBERSHIP: f"select distinct h.p from {_HAVE} h {_is('g', 'Group', 'u')} "
    f"{_is('s', 'Signed-By')} where s.value in ({_keys('member')}) "
    f"and s.value not in ({_keys('blocked')})",
    SUPPORT: f"with recursive support(p) as (select h.p from {_HAVE} h "
    f"{_is('g', 'Group', 'keys')} {_is('a', 'App', 'blocked')} union select l.target "
    f"from support join {_LINKS} l on l.p = support.p and l.name = '+Link' "
    "and l.data = 'evidence') select p from support",
}


def write_corpus(folder: Path, records: int) -> None:
    """Facts in both layouts, a file of each for every part."""
    for name in ("records", "fields", "links", "have"):
        (folder / name).mkdir(parents=True)
    for part in range(max(1, records // PART)):
        tables = _tables(make_corpus(min(records, PART), seed=part))
        for name, table in tables.items():
            pq.write_table(table, folder / name / f"{part}.parquet")


def _tables(corpus: Corpus) -> dict[str, Any]:
    texts = pa.array(corpus.texts, pa.string())

    def column(ids: Any) -> Any:
        return texts.take(pa.array(ids))

    (record,) = corpus.facts[HAVE]
    fields = dict(zip(("p", "name", "index", "value"), corpus.facts[FIELD], strict=True))
    link = dict(zip(("p", "name", "index", "data", "target"), corpus.facts[LINK], strict=True))
    single = {
        name: column(corpus.field(name)[1])
        for name in ("Type", "Data-Length", "Group", "App", "Name", "TAI", "Signed-By")
    }
    ends = pa.array(np.arange(len(record) + 1, dtype=np.int32))
    parts = [column(link[name]) for name in ("name", "index", "data", "target")]
    struct = pa.StructArray.from_arrays(parts, names=["name", "index", "data", "target"])
    none = pa.array(np.zeros(len(record) + 1, np.int32))
    empty = pa.StructArray.from_arrays(
        [pa.array([], pa.string())] * 3, names=["name", "index", "value"]
    )
    columns = [
        column(record),
        *single.values(),
        pa.nulls(len(record), pa.string()),
        pa.ListArray.from_arrays(none, empty),
        pa.ListArray.from_arrays(ends, struct),
        pa.nulls(len(record), pa.string()),
        column(corpus.facts[Predicate("PlexHash", 2)][1]),
        pa.array(np.full(len(record), 700, np.int64)),
    ]
    return {
        "records": pa.table(columns, schema=RECORD_COLUMNS),
        "fields": pa.table({name: column(ids) for name, ids in fields.items()}),
        "links": pa.table({name: column(ids) for name, ids in link.items()}),
        "have": pa.table({"p": column(record)}),
    }


def _timed(run: Callable[[], int]) -> tuple[float, int]:
    """The median of a few runs after one that warms up, and what was found."""
    found = run()
    seconds = []
    for _ in range(RUNS):
        start = perf_counter()
        assert run() == found
        seconds.append(perf_counter() - start)
    return median(seconds), found


@contextmanager
def _session() -> Iterator[Any]:
    from lacec.spark.session import session

    with session(memory="2g", long=True) as opened:
        yield opened


def main(console: Console, sizes: tuple[int, ...] = (*SIZES, LARGEST)) -> None:
    import duckdb

    from lacec.spark.evaluate import Evaluator, Facts
    from lacec.spark.scratch import Work

    table = Table(title="On Spark, beside DuckDB on Field rows in Parquet; seconds")
    for name in ("facts", "workload", "found", "lacec", "DuckDB", "ratio"):
        table.add_column(name, justify="right")
    kept: list[results.Row] = []
    with tempfile.TemporaryDirectory() as name, _session() as session:
        for records in sizes:
            folder = Path(name, str(records))
            write_corpus(folder, records)
            duck = duckdb.connect()
            for number, (workload, sql) in enumerate(SQL.items()):
                module = compile_module([(workload.name, workload.source)])
                rounds = iter(range(100))

                def ours(
                    folder: Path = folder,
                    module: Any = module,
                    output: Any = workload.output,
                    number: int = number,
                    rounds: Iterator[int] = rounds,
                ) -> int:
                    facts = Facts(session.read.parquet(str(folder / "records")))
                    work = Work(session, str(folder / f"work-{number}-{next(rounds)}"))
                    found = Evaluator(session, facts, work).evaluate(module, [output])
                    return int(found[output].count())

                def theirs(query: str = sql.format(folder=folder), duck: Any = duck) -> int:
                    found = duck.execute(f"select count(*) from ({query})").fetchone()
                    return int(found[0])

                (our, found), (their, same) = _timed(ours), _timed(theirs)
                assert found == same, (workload.name, found, same)
                facts = f"{records * FACTS_OF_A_RECORD // 10**6}M"
                kept.append((f"{workload.name}, {facts} facts", "lacec on Spark", our))
                kept.append((f"{workload.name}, {facts} facts", "DuckDB", their))
                table.add_row(
                    facts,
                    workload.name,
                    f"{found:,}",
                    f"{our:.2f}",
                    f"{their:.2f}",
                    f"{our / their:.2f}x",
                )
    console.print(table)
    about = f"The median of {RUNS} runs after one that warms up, with 2 GB for the driver."
    results.keep("spark", about, kept)


if __name__ == "__main__":
    main(Console(), tuple(map(int, sys.argv[1:])) or (*SIZES, LARGEST))
