"""Ingest on Spark beside plain Python processes that check the same records of one table."""

import os
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import nullcontext
from pathlib import Path
from time import perf_counter
from typing import NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq
from rich.console import Console
from rich.table import Table

from lacec.records.record import parse_record
from lacec.spark.ingest import ingest
from lacec.spark.session import open_session
from tests.bench import results
from tests.bench.store import make_records

RECORDS = 200_000
RUNS = 3
_GROUP = 10_000


class Cost(NamedTuple):
    """Seconds by the clock, and of all processors."""

    wall: float
    processor: float


def write_table(path: Path, count: int) -> None:
    schema = pa.schema([("bytes", pa.binary())])
    records = make_records(count, sealed=True)
    with pq.ParquetWriter(path, schema) as writer:
        while group := [record.data for _, record in zip(range(_GROUP), records, strict=False)]:
            writer.write_table(pa.table([pa.array(group, pa.binary())], schema=schema))


def check_group(path: Path, number: int) -> int:
    """Parse and verify the records of a row group, as a program without Spark would."""
    with pq.ParquetFile(path) as file:
        batches = file.iter_batches(256, row_groups=[number])
        return sum(bool(parse_record(data)) for batch in batches for data in batch[0].to_pylist())


def _processor_seconds() -> dict[int, float]:
    """What each process that this one started, or those did, has taken."""
    ticks, parents = {}, {}
    for each in Path("/proc").iterdir():
        if each.name.isdecimal():
            try:
                stat = (each / "stat").read_text().rpartition(")")[2].split()
            except OSError:  # it has just ended
                continue
            parents[int(each.name)] = int(stat[1])
            ticks[int(each.name)] = int(stat[11]) + int(stat[12])

    def ours(process: int) -> bool:
        while process in parents and process != os.getpid():
            process = parents[process]
        return process == os.getpid()

    return {n: ticks[n] / os.sysconf("SC_CLK_TCK") for n in ticks if ours(n)}


def cost(work: Callable[[], int], count: int) -> Cost:
    """What some work takes. Those that do it outlive it; others end meanwhile, idle."""
    before, start = _processor_seconds(), perf_counter()
    assert work() == count
    wall, after = perf_counter() - start, _processor_seconds()
    return Cost(wall, sum(after[process] - before.get(process, 0) for process in after))


def costs(folder: Path, count: int) -> Iterator[tuple[str, Cost]]:
    """Both ways in turn, so that they meet the same machine; the first of each warms it up."""
    table = folder / "records.parquet"
    write_table(table, count)
    groups = range(pq.ParquetFile(table).num_row_groups)
    spark = open_session()
    with ProcessPoolExecutor() as processes:
        for run in range(RUNS + 1):
            out = folder / f"out{run}"
            for what, work in (
                (
                    "plain processes: parse, verify",
                    lambda: sum(processes.map(check_group, [table] * len(groups), groups)),
                ),
                (
                    "spark ingest",
                    lambda out=out: ingest([table], out, spark=lambda: nullcontext(spark)).admitted,
                ),
            ):
                measured = cost(work, count)
                if run:
                    yield what, measured
    spark.stop()


def ingest_table(count: int = RECORDS) -> Table:
    title = f"Ingest of {count:,} sealed records from Parquet on Spark, warm (best of {RUNS})"
    table = Table(title=title)
    for heading in ("what", "s", "processor s", "records/s a core", "of plain"):
        table.add_column(heading, justify="left" if heading == "what" else "right")
    best: dict[str, Cost] = {}
    with tempfile.TemporaryDirectory() as name:
        for what, measured in costs(Path(name), count):
            best[what] = Cost(*map(min, measured, best.get(what, measured)))
    about = f"{count:,} sealed records of a Parquet table, the best of {RUNS} warm runs."
    rates = [("records", what, count / found.processor) for what, found in best.items()]
    results.keep("ingest", about, rates)
    base = next(iter(best.values())).processor
    for what, found in best.items():
        rate = f"{count / found.processor:,.0f}"
        share = f"{base / found.processor:.0%}"
        table.add_row(what, f"{found.wall:.1f}", f"{found.processor:.1f}", rate, share)
    return table


def main(console: Console) -> None:
    console.print(ingest_table())


if __name__ == "__main__":
    main(Console())
