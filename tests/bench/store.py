"""The store beside bare loops: importing, opening with a first selection, room on the disk."""

import json
import os
import random
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from time import perf_counter, process_time

from blake3 import blake3
from rich.console import Console
from rich.table import Table

from lacec.records import b64a
from lacec.records.record import Record, build_plex, build_seal, read_records
from lacec.records.signature import Secret, verify
from lacec.store.importing import import_streams, open_files
from lacec.store.store import Store
from tests.bench import results

SEALED = 100_000
SIZES = (100_000, 1_000_000)
RUNS = 3
_BATCH = 4096


def make_records(count: int, sealed: bool, seed: int = 20) -> Iterator[Record]:
    """Records of a lace: groups and apps shared, names and times their own, links to earlier."""
    chosen = random.Random(seed)
    secrets = [Secret(chosen.randbytes(32)) for _ in range(100)]
    groups = ["u", "keys", *(f"group{n}" for n in range(8))]
    last = None
    for number in range(count):
        name = f"{chosen.choice(['links/', 'notes/', 'files/'])}{number:x}"
        extras: list[tuple[str, str]] = []
        if last is not None and number % 4 == 0:
            extras = [("+Link", f"evidence {last}")]
        record = build_plex(
            chosen.choice(groups),
            chosen.choice(["ding", "notes"]),
            name,
            f"{1_640_995_200 + number}:000000000",
            extras,
            b"data of %d" % number,
        )
        last = record.hash
        yield build_seal(record, chosen.choice(secrets), b"\1" * 32) if sealed else record


def write_records(path: Path, records: Iterator[Record]) -> None:
    with path.open("wb") as file:
        file.writelines(record.data + b"\n" for record in records)


def bare_import(path: Path, folder: Path, time: Callable[[], float] = perf_counter) -> float:
    """Hash, verify and insert the same bytes; where they begin and end is known beforehand."""
    with path.open("rb") as file:
        records = [found for _, found in read_records([file.read()], verify=False)]
    start = time()
    connection = sqlite3.connect(folder / "bare.sqlite", isolation_level=None)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("CREATE TABLE records (id INTEGER PRIMARY KEY, hash TEXT UNIQUE, data BLOB)")
    for low in range(0, len(records), _BATCH):
        connection.execute("BEGIN")
        for record in records[low : low + _BATCH]:
            assert isinstance(record, Record)
            assert record.plex_hash
            assert record.signed_by
            assert record.signature
            digest = b64a.encode(blake3(record.data.split(b"\n", 1)[1]).digest())
            assert digest == record.hash[2:-3]
            assert verify(b64a.decode(record.plex_hash[2:-3]), record.signed_by, record.signature)
            connection.execute(
                "INSERT INTO records (hash, data) VALUES (?, ?)", (record.hash, record.data)
            )
        connection.execute("COMMIT")
    connection.close()
    return time() - start


def store_import(path: Path, folder: Path, workers: int) -> float:
    with Store.create(folder) as store:
        start = perf_counter()
        import_streams(store, open_files([path]), lambda _: None, workers=workers)
        return perf_counter() - start


_OPEN = """
import json, re, sys
from pathlib import Path
from time import perf_counter, process_time
import lacec
from lacec.engine.evaluation import evaluate
from lacec.store.build import build_segment
from lacec.store.snapshot import Snapshot
from lacec.store.store import Store
from lacec.records.facts import record_facts
from lacec.records.record import read_records
from tests.bench.workloads import SELECTION
import numpy as np
module = lacec.compile(SELECTION.source)
evaluate(module, lacec.vm.database.Database())
def peak():  # what getrusage says is the peak of whoever started this
    return int(re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text()).group(1))
before = peak()
start, work = perf_counter(), process_time()
if sys.argv[1] == "open":
    snapshot = Store.open(sys.argv[2], read_only=True).snapshot()
else:
    with open(sys.argv[2], "rb") as file:
        pieces = iter(lambda: file.read(1 << 20), b"")
        records = enumerate((record_facts(r) for _, r in read_records(pieces, verify=False)), 1)
        segment = build_segment(1, 2**40, records, [])
    snapshot = Snapshot([segment], np.empty(0, np.int64), 0, 0)
result = evaluate(module, snapshot.database(), [SELECTION.output])
seconds, work = perf_counter() - start, process_time() - work
after = peak()
print(json.dumps([seconds, after, after - before, result.count(SELECTION.output), work]))
"""


def first_selection(how: str, path: Path, runs: int) -> tuple[float, int, int, int, float]:
    """The best of some runs, each in a process of its own: seconds, KiB in all, of it, tuples,
    and seconds of the processor."""
    found = []
    for _ in range(runs):
        done = subprocess.run(
            [sys.executable, "-c", _OPEN, how, str(path)], capture_output=True, check=True
        )
        found.append(tuple(json.loads(done.stdout)))
    return min(found)


def import_table(count: int) -> Table:
    table = Table(title=f"Import of {count:,} sealed records (best of {RUNS})")
    for heading in ("what", "s", "records/s", "ratio"):
        table.add_column(heading, justify="left" if heading == "what" else "right")
    workers = (os.cpu_count() or 1) - 1
    times: dict[str, float] = {}
    busy: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        source = folder / "all.records"
        write_records(source, make_records(count, sealed=True))
        for run in range(RUNS):
            (folder / f"bare{run}").mkdir()
            for what, seconds in (
                ("bare loop: hash, verify, insert", bare_import(source, folder / f"bare{run}")),
                (f"import, {workers} worker", store_import(source, folder / f"s{run}", workers)),
                ("import, no worker", store_import(source, folder / f"n{run}", 0)),
            ):
                times[what] = min(seconds, times.get(what, seconds))
            start = process_time()
            store_import(source, folder / f"b{run}", 0)
            seconds = process_time() - start
            busy["import"] = min(seconds, busy.get("import", seconds))
            (folder / f"c{run}").mkdir()
            seconds = bare_import(source, folder / f"c{run}", process_time)
            busy["bare loop"] = min(seconds, busy.get("bare loop", seconds))
    base = next(iter(times.values()))
    for what, seconds in times.items():
        rate = f"{count / seconds:,.0f}"
        table.add_row(what, f"{seconds:.2f}", rate, f"{seconds / base:.2f}x")
    rates = [("one process", what, count / seconds) for what, seconds in busy.items()]
    results.keep("import", f"{count:,} sealed records, the best of {RUNS} runs.", rates)
    return table


def open_table(sizes: Iterable[int]) -> Table:
    table = Table(title="Opening a store of Plexes, and the first selection over it")
    table.caption = "MB: peak of the process, and by how much it grew; B: on disk, of the record"
    for heading in ("records", "what", "s", "MB", "grown", "tuples", "ratio", "B"):
        left = heading == "what"
        table.add_column(heading, justify="left" if left else "right", no_wrap=True)
    kept: list[results.Row] = []
    for count in sizes:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            source, target = folder / "all.records", folder / "store"
            write_records(source, make_records(count, sealed=False))
            import_seconds = store_import(source, target, 0)
            with Store.open(target, read_only=True) as store:
                room = store.stats()
            opened = first_selection("open", target, RUNS)
            parsed = first_selection("parse", source, 1)
        assert opened[3] == parsed[3]
        each = f"{room.disk_bytes / count:.0f}, {room.record_bytes / count:.0f}"
        table.add_row(f"{count:,}", "import", f"{import_seconds:.2f}", "", "", "", "", each)
        for what, row in (("parse again", parsed), ("open", opened)):
            kept.append((f"{count:,} records", what, row[4]))
            table.add_row(
                "",
                what,
                f"{row[0]:.3f}",
                f"{row[1] / 1024:.0f}",
                f"{row[2] / 1024:.0f}",
                f"{row[3]:,}",
                f"{parsed[0] / row[0]:.0f}x",
            )
    about = f"Plexes; opening is the best of {RUNS} runs, in a process of its own."
    results.keep("opening", about, kept)
    return table


def main(console: Console, by: int = 1) -> None:
    console.print(import_table(SEALED // by))
    console.print(open_table(size // by for size in SIZES))


if __name__ == "__main__":
    main(Console())
