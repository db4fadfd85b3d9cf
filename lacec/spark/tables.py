"""The folder of ingested records: batches of tables, each there as a whole or not at all.

    DIR/lacec.json                          the version of this layout
    DIR/batches/NUMBER/records/*.parquet    one row a record; no two of one hash
    DIR/batches/NUMBER/refused/*.parquet    what was no valid record, and why

In: a folder. Out: the DataFrame of all its records; and batches, which become visible by
being renamed once all of their files are complete. One process at a time writes.
"""

import json
import os
import re
import shutil
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import pyarrow as pa
from pyspark.sql.pandas.types import from_arrow_schema

from lacec.core.errors import SparkError
from lacec.spark.rows import RECORD_COLUMNS, REFUSED_COLUMNS, Row, record_arrays
from lacec.store.files import sync_folder

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

LAYOUT = 1
SCHEMA: "StructType" = from_arrow_schema(RECORD_COLUMNS)
REFUSED_SCHEMA: "StructType" = from_arrow_schema(REFUSED_COLUMNS)

_ABOUT = "lacec.json"
_BATCHES = "batches"
_LOCK = ".lock"
_STAGING = ".staging-"
_PATTERN = re.compile(r"[][{}*?\\]")


def read_records(session: "SparkSession", folder: str | Path) -> "DataFrame":
    """One row for each record of all batches."""
    return read_table(session, _parts(folder, "records"), SCHEMA)


def read_folders(session: "SparkSession", folders: Sequence[str]) -> "DataFrame":
    """One row for each record of several folders."""
    frames = [read_records(session, folder) for folder in dict.fromkeys(folders)]
    whole = frames[0]
    if len(frames) == 1:
        return whole
    for more in frames[1:]:
        whole = whole.unionAll(more)
    return whole.dropDuplicates(["hash"])


def read_refused(session: "SparkSession", folder: str | Path) -> "DataFrame":
    """What was refused, of all batches."""
    return read_table(session, _parts(folder, "refused"), REFUSED_SCHEMA)


def read_table(
    session: "SparkSession", folders: Sequence[Path], schema: "StructType"
) -> "DataFrame":
    """The rows of Parquet files in folders; none where there is no folder."""
    if not folders:
        return session.createDataFrame([], schema)
    # To Spark a bracket in a name would be a pattern.
    paths = [_PATTERN.sub(r"\\\g<0>", str(folder.absolute())) for folder in folders]
    return session.read.schema(schema).parquet(*paths)


def records_frame(session: "SparkSession", rows: Sequence[Row]) -> "DataFrame":
    """A DataFrame of rows, as `read_records` gives them."""
    table = pa.Table.from_arrays(record_arrays(rows), schema=RECORD_COLUMNS)
    return session.createDataFrame(table, SCHEMA)


def batches(folder: str | Path) -> list[int]:
    """The numbers of the batches of a folder; SparkError if it is none of ours."""
    path = Path(folder)
    _check_layout(path)
    found = path / _BATCHES
    return sorted(int(each.name) for each in found.iterdir() if each.name.isdecimal())


def _parts(folder: str | Path, part: str) -> list[Path]:
    all = [Path(folder, _BATCHES, str(number), part) for number in batches(folder)]
    return [each for each in all if each.is_dir()]


def _check_layout(path: Path) -> None:
    try:
        about = json.loads((path / _ABOUT).read_text(encoding="utf-8"))
        layout = about["layout"]
    except FileNotFoundError:
        what = "has no ingested records" if path.is_dir() else "is not there"
        raise SparkError(f"the folder {path} {what}: run `lacec spark ingest` first") from None
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise SparkError(f"the file {path / _ABOUT} cannot be read: {error}") from None
    if layout != LAYOUT:
        raise SparkError(
            f"the folder {path} has the layout {layout}, and this lacec reads {LAYOUT}: "
            "update lacec, or ingest again into a new folder"
        )


@contextmanager
def writing(folder: str | Path) -> Iterator[Path]:
    """The folder for one who may write to it, with a place for what is not complete yet.

    The folder is made if it is not there. SparkError if another process writes to it. What
    a process left behind that was killed is removed.
    """
    path = Path(folder)
    with ExitStack() as stack:
        try:
            _check_ours(path)
            path.mkdir(parents=True, exist_ok=True)
            _lock(path, stack.enter_context((path / _LOCK).open("wb")))
            _make_ours(path)
            for left in path.glob(f"{_STAGING}*"):
                _remove(left)
            staging = Path(tempfile.mkdtemp(prefix=_STAGING, dir=path)).absolute()
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            raise SparkError(f"the folder {path} cannot be written: {reason}") from None
        stack.callback(_remove, staging)
        yield staging


def _check_ours(path: Path) -> None:
    """SparkError for a folder that has something else in it."""
    if (path / _ABOUT).exists():
        _check_layout(path)
    elif path.exists() and any(each.name not in (_BATCHES, _LOCK) for each in path.iterdir()):
        raise SparkError(f"the folder {path} is not empty, and has no ingested records")


def _lock(path: Path, file: BinaryIO) -> None:
    try:
        import fcntl
    except ImportError:
        raise SparkError(
            "lacec ingests on Linux and macOS, where a file can be locked for one process"
        ) from None
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise SparkError(f"another process is ingesting into {path}") from None


def _make_ours(path: Path) -> None:
    (path / _BATCHES).mkdir(exist_ok=True)
    if not (path / _ABOUT).exists():
        new = path / _BATCHES / _ABOUT
        new.write_text(f'{{"layout": {LAYOUT}}}\n', encoding="utf-8")
        new.replace(path / _ABOUT)


def _remove(folder: Path) -> None:
    """Remove a folder into which a task that is being ended may still write."""
    for _ in range(20):
        shutil.rmtree(folder, ignore_errors=True)
        if not folder.exists():
            break
        time.sleep(0.1)


def commit(folder: str | Path, complete: Path) -> int:
    """Make a folder of tables the next batch; all of it is on the disk before it is seen."""
    for directory, _, names in os.walk(complete):
        for name in names:
            with open(os.path.join(directory, name), "rb+") as file:
                os.fsync(file.fileno())
        sync_folder(Path(directory))
    number = max(batches(folder), default=0) + 1
    target = Path(folder, _BATCHES, str(number))
    complete.rename(target)
    sync_folder(target.parent)
    return number
