"""What the tests of ingest share: sources of every kind, and what a folder of tables has."""

import os
import shutil
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from lacec.records.record import Record
from lacec.spark.rows import Row
from lacec.spark.tables import batches
from lacec.store.importing import Refused
from tests.fuzz.mutate import mutate
from tests.records import made
from tests.records.test_reader import BROKEN, STREAM
from tests.store.samples import samples
from tests.store.test_import import forged, stream_of


@cache
def hostile_streams() -> tuple[bytes, ...]:
    """Streams that are good, broken, cut short, changed and mutated."""
    seal = made.seal().data
    cut = [STREAM[:length] for length in range(0, len(STREAM), 37)]
    changed = [seal[:at] + bytes([seal[at] ^ 1]) + seal[at + 1 :] for at in range(0, len(seal), 5)]
    after = [stream_of([made.plex()]) + each + b"\n" + made.blob().data for each in changed[::4]]
    random = Random(11)
    good = [STREAM, stream_of(list(samples())), forged() + b"\n" + seal, made.blob(b"").data]
    mutated = [mutate(random.choice(good), random.choice(good), random) for _ in range(150)]
    return (*good, *BROKEN, *cut, *changed, *after, *mutated, b"", b"\n", b"PAR")


def write_streams(folder: Path, streams: Iterable[bytes]) -> Path:
    folder.mkdir()
    for number, stream in enumerate(streams):
        (folder / f"{number:04}").write_bytes(stream)
    return folder


def write_table(path: Path, values: list[bytes | None], rows: int = 1000) -> Path:
    """A Parquet file with records in a column, so many in a row group."""
    columns = {"number": pa.array(range(len(values))), "bytes": pa.array(values, pa.binary())}
    pq.write_table(pa.table(columns), path, row_group_size=rows)
    return path


def rows_in(folder: Path) -> list[Row]:
    """All rows of all batches, sorted, read without Spark."""
    tables = [read(folder, number, "records") for number in batches(folder)]
    return sorted(read_row(each) for table in tables for each in table)


def refused_in(folder: Path) -> list[Refused]:
    tables = [read(folder, number, "refused") for number in batches(folder)]
    return sorted(Refused(**each) for table in tables for each in table)


def read(folder: Path, batch: int, part: str) -> list[dict[str, Any]]:
    files = sorted((folder / "batches" / str(batch) / part).glob("*.parquet"))
    return [row for file in files for row in pq.ParquetFile(file).read().to_pylist()]


def read_row(values: dict[str, Any]) -> Row:
    """A row of a table, whose structs are dicts."""
    lists = {name: [tuple(each.values()) for each in values[name]] for name in ("extras", "links")}
    return Row(**{**values, **lists})


def hashes(records: Iterable[Record]) -> list[str]:
    return sorted({record.hash for record in records})


def environment_without_java(folder: Path) -> dict[str, str]:
    """The environment, but for any Java in it."""
    folder.mkdir()
    for place in os.environ["PATH"].split(os.pathsep):
        for program in Path(place).iterdir() if os.path.isdir(place) else ():
            if not program.name.startswith("java") and not (folder / program.name).is_symlink():
                (folder / program.name).symlink_to(program)
    assert shutil.which("java", path=str(folder)) is None
    kept = {name: value for name, value in os.environ.items() if name != "JAVA_HOME"}
    return {**kept, "PATH": str(folder)}
