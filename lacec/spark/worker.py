"""What executors do with records: units of parts in, Parquet files of rows out.

A unit is a list of parts of sources, of some megabytes. A task reads the bytes of its unit
itself, in pieces, checks each record, and writes the rows under a name that no other task
has; what it gives back is that name. A task that dies has given back nothing, and when it
is tried again it writes another file. Memory is bounded by a few records and a few
thousand rows.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple
from uuid import uuid4

import pyarrow as pa
import pyarrow.parquet as pq

from lacec import __version__
from lacec.core.errors import RecordError
from lacec.records.limits import RecordLimits
from lacec.records.record import Record, check_signature, parse_record
from lacec.spark.rows import RECORD_COLUMNS, REFUSED_COLUMNS, Row, record_arrays, row_of
from lacec.store.importing import Place, Refused, read_stream

# So many rows are Python objects at a time, or fewer if their heads have more bytes.
_ROWS = 4096
_HEAD_BYTES = 4 * 2**20
# So many bytes of columns make a row group.
_GROUP_BYTES = 32 * 2**20
# So many bytes of a table of records are read at a time, where records are alike.
_READ_BYTES = 2**20
_READ_ROWS = 256
# Columns with few different values; in the others a dictionary would only take time.
_REPEATED = [
    *("type", "data_length", "group", "app", "signed_by"),
    *("extras.list.element.name", "extras.list.element.index"),
    *("links.list.element.name", "links.list.element.index", "links.list.element.data"),
]
# Any reader sees plain columns, and not that Arrow wrote them.
_WRITING: dict[str, Any] = {"compression": "snappy", "store_schema": False}

Found = Record | Refused


# The source of a part is its name for people: the path as it was given.


class FilePart(NamedTuple):
    """Records in a file, from a place where one begins to a place where one begins."""

    source: str
    path: str
    start: int
    stop: int | None


class UnreadPart(NamedTuple):
    """A folder that cannot be listed, and why."""

    source: str
    number: int
    reason: str


class TablePart(NamedTuple):
    """A row group of a Parquet file: which column has the records, and its first row."""

    source: str
    path: str
    column: str
    group: int
    row: int


class StorePart(NamedTuple):
    """A table of what a store has: StoreRecordIds, hashes and bytes."""

    source: str
    path: str


Part = FilePart | UnreadPart | TablePart | StorePart
_KINDS: dict[str, type[Part]] = {
    kind.__name__: kind for kind in (FilePart, UnreadPart, TablePart, StorePart)
}

CHECKED = "unit bigint, records string, admitted bigint, refused string, faults bigint"


def write_unit(folder: Path, number: int, parts: Sequence[Part]) -> None:
    """Put a unit where `check_units` finds it."""
    text = json.dumps([[type(part).__name__, *part] for part in parts])
    (folder / f"{number}.json").write_text(text, encoding="ascii")


def _read_unit(folder: Path, number: int) -> list[Part]:
    text = (folder / f"{number}.json").read_text(encoding="ascii")
    return [_KINDS[kind](*values) for kind, *values in json.loads(text)]


def check_units(batches: Iterator[Any], folder: str, limits: Sequence[int]) -> Iterator[Any]:
    """Numbers of units in; for each the files of its rows and of what it refused, and counts."""
    place = Path(folder)
    for batch in batches:
        for number in batch.column(0).to_pylist():
            parts = _read_unit(place, number)
            checked = _check(read_parts(parts, RecordLimits(*limits)), place, number)
            (place / f"{number}.done").touch()
            kinds = (pa.int64(), pa.string(), pa.int64(), pa.string(), pa.int64())
            yield pa.RecordBatch.from_arrays(
                [pa.array([value], kind) for value, kind in zip(checked, kinds, strict=True)],
                ["unit", "records", "admitted", "refused", "faults"],
            )


def _check(
    found: Iterable[Found], folder: Path, number: int
) -> tuple[int, str | None, int, str | None, int]:
    """Write what was found; the names of the files, and how many rows they have."""
    records = _Table(folder, number, RECORD_COLUMNS, use_dictionary=_REPEATED)
    refused = _Table(folder, number, REFUSED_COLUMNS)
    rows: list[Row] = []
    faults: list[Refused] = []
    size = 0
    for each in found:
        if isinstance(each, Refused):
            faults.append(each._replace(source=_encodable(each.source)))
        else:
            rows.append(row_of(each))
            size += each.data_start
        if len(rows) >= _ROWS or size >= _HEAD_BYTES:
            records.add(record_arrays(rows))
            rows, size = [], 0
        if len(faults) >= _ROWS:
            refused.add(list(zip(*faults, strict=True)))
            faults = []
    if rows:
        records.add(record_arrays(rows))
    if faults:
        refused.add(list(zip(*faults, strict=True)))
    return number, records.close(), records.rows, refused.close(), refused.rows


def _encodable(name: str) -> str:
    """The name of a file as text; bytes that are none become question marks."""
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


class _Table:
    """A Parquet file that is there once it has a row."""

    def __init__(self, folder: Path, number: int, schema: Any, **options: Any) -> None:
        self._path = folder / f"{number}-{uuid4().hex}.parquet"
        self._schema, self._options = schema, {**_WRITING, **options}
        self._writer: Any = None
        self._waiting: list[Any] = []
        self.rows = 0

    def add(self, columns: Sequence[Any]) -> None:
        arrays = [
            pa.array(column, field.type) if isinstance(column, tuple) else column
            for field, column in zip(self._schema, columns, strict=True)
        ]
        self._waiting.append(pa.RecordBatch.from_arrays(arrays, schema=self._schema))
        self.rows += len(arrays[0])
        if sum(batch.nbytes for batch in self._waiting) >= _GROUP_BYTES:
            self._write()

    def _write(self) -> None:
        if self._writer is None:
            self._writer = pq.ParquetWriter(self._path, self._schema, **self._options)
        self._writer.write_table(pa.Table.from_batches(self._waiting))
        self._waiting = []

    def close(self) -> str | None:
        """The name of the file; None if it has no rows."""
        if self._waiting:
            self._write()
        if self._writer is None:
            return None
        self._writer.close()
        return self._path.name


# Reading.


def read_parts(parts: Iterable[Part], limits: RecordLimits) -> Iterator[Found]:
    for part in parts:
        match part:
            case FilePart():
                yield from _read_file(part, limits)
            case UnreadPart(source, number, reason):
                yield from _sealed(read_stream(source, OSError(number, reason), limits))
            case TablePart():
                yield from _read_table(part, limits)
            case StorePart():
                yield from _read_stored(part)


def _read_file(part: FilePart, limits: RecordLimits) -> Iterator[Found]:
    try:
        stream = open(part.path, "rb")  # noqa: SIM115
    except OSError as error:
        yield from _sealed(read_stream(part.source, error, limits))
        return
    with stream:
        yield from _sealed(read_stream(part.source, stream, limits, part.start, part.stop))


def _sealed(found: Iterable[tuple[Place, Record] | Refused]) -> Iterator[Found]:
    """What was found, with its signatures checked."""
    for each in found:
        if isinstance(each, Refused):
            yield each
            continue
        place, record = each
        yield _sealed_record(place, record)


def _sealed_record(place: Place, record: Record) -> Found:
    try:
        check_signature(record)
    except RecordError as error:
        return place.refused(error)
    return record


def _read_table(part: TablePart, limits: RecordLimits) -> Iterator[Found]:
    try:
        for row, (data,) in enumerate(_values(part.path, part.group, [part.column]), part.row):
            place = Place(f"{part.source}, row {row}", 0)
            if data is None:
                yield Refused(*place, "truncated", "there is nothing to read")
                continue
            try:
                yield parse_record(data, limits)
            except RecordError as error:
                yield place.refused(error)
    except (pa.ArrowException, OSError) as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        yield Refused(part.source, 0, "unreadable", f"it cannot be read: {reason}")


def _values(path: str, group: int, columns: list[str]) -> Iterator[tuple[Any, ...]]:
    """The rows of a row group, a few at a time."""
    with pq.ParquetFile(path, buffer_size=_READ_BYTES) as file:
        about = file.metadata.row_group(group)
        each = about.total_byte_size // max(about.num_rows, 1) + 1
        rows = min(max(_READ_BYTES // each, 1), _READ_ROWS)
        for batch in file.iter_batches(rows, row_groups=[group], columns=columns):
            yield from zip(*(batch.column(name).to_pylist() for name in columns), strict=True)


def _read_stored(part: StorePart) -> Iterator[Found]:
    from lacec.store.check import read_stored

    with pq.ParquetFile(part.path) as file:
        groups = file.num_row_groups
    for group in range(groups):
        for id, hash, data in _values(part.path, group, ["id", "hash", "data"]):
            place = Place(f"{part.source}, record {id}", 0)
            record, wrong = read_stored(hash, data)
            if wrong is not None:
                yield Refused(*place, *wrong)
            elif record is not None:
                yield _sealed_record(place, record)


# Dropping.

DROPPED = "unit bigint, records string, dropped bigint, known bigint"


def drop_rows(batches: Iterator[Any], folder: str, files: dict[int, str]) -> Iterator[Any]:
    """Units in, each with the numbers of rows to be dropped; out: files without them."""
    place = Path(folder)
    for batch in batches:
        for each in batch.to_pylist():
            number, rows = each["unit"], each["rows"]
            name = _without(place, number, files[number], rows)
            values = (number, name, len(rows), each["known"])
            kinds = (pa.int64(), pa.string(), pa.int64(), pa.int64())
            yield pa.RecordBatch.from_arrays(
                [pa.array([value], kind) for value, kind in zip(values, kinds, strict=True)],
                ["unit", "records", "dropped", "known"],
            )


def _without(folder: Path, number: int, name: str, rows: Sequence[int]) -> str | None:
    """The file of a unit again, without some rows; None if no row is left."""
    dropped = set(rows)
    kept = _Table(folder, number, RECORD_COLUMNS, use_dictionary=_REPEATED)
    with pq.ParquetFile(folder / name) as file:
        if len(dropped) == file.metadata.num_rows:
            return None
        first = 0
        for batch in file.iter_batches(_ROWS):
            mask = [first + n not in dropped for n in range(len(batch))]
            first += len(batch)
            kept.add(batch.filter(pa.array(mask)).cast(RECORD_COLUMNS).columns)
    return kept.close()


def say_version(batches: Iterator[Any]) -> Iterator[Any]:
    """Which lacec this is: that it says so shows that all of this can be imported."""
    for _ in batches:
        yield pa.RecordBatch.from_arrays([pa.array([__version__])], ["version"])
