"""What there is to ingest: paths in, units of work of about equal size out.

A path is a store, a file of records, a Parquet file with records in a column, or a folder
of files. A large file is divided where records begin, which its heads tell; a Parquet file
at its row groups. A store has one reader, this process, which copies its bytes into tables
for a while.
"""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from lacec.core.diagnostics import quote
from lacec.core.errors import RecordError, SparkError
from lacec.records.head import find_head, read_head
from lacec.records.limits import RecordLimits
from lacec.spark.worker import FilePart, Part, StorePart, TablePart, UnreadPart
from lacec.store.importing import files_below
from lacec.store.sqlite import FILE
from lacec.store.store import Store

# A unit takes a core some seconds. There are not many more of them than so many.
UNIT_BYTES = 16 * 2**20
MOST_UNITS = 1024
# What a part costs beside its bytes: a file to be opened.
_PART_BYTES = 4096
_MAGIC = b"PAR1"
_WINDOW = 2**20

Sized = tuple[Part, int]


class Unit(NamedTuple):
    """What one task reads, and about how many bytes that is."""

    parts: list[Part]
    size: int


def find_units(
    paths: Sequence[Path], folder: Path, column: str | None, limits: RecordLimits
) -> list[Unit]:
    """All that is to be read; `folder` is for what must be copied first."""
    parts = [each for path in paths for each in _parts(path, folder, column, limits)]
    most = max(UNIT_BYTES, sum(size for _, size in parts) // MOST_UNITS)
    return list(_packed(parts, most))


def _packed(parts: Iterable[Sized], most: int) -> Iterator[Unit]:
    unit = Unit([], 0)
    for part, size in parts:
        if unit.parts and unit.size + size > most:
            yield unit
            unit = Unit([], 0)
        unit.parts.append(part)
        unit = Unit(unit.parts, unit.size + size)
    if unit.parts:
        yield unit


def _parts(path: Path, folder: Path, column: str | None, limits: RecordLimits) -> Iterator[Sized]:
    if (path / FILE).exists():
        yield from _copied(path, folder)
        return
    unlisted: list[OSError] = []
    files = files_below(path, unlisted.append)
    if any(file.suffix == ".parquet" for file in files) and path.is_dir():
        # A table as Spark writes it, with files beside that are no part of it.
        files = [file for file in files if not file.name.startswith(("_", "."))]
    for file in files:
        yield from _file_parts(file, column, limits)
    for error in unlisted:
        yield UnreadPart(str(error.filename), error.errno or 0, error.strerror or ""), _PART_BYTES


def _file_parts(file: Path, column: str | None, limits: RecordLimits) -> Iterator[Sized]:
    try:
        with file.open("rb") as stream:
            is_table = stream.read(len(_MAGIC)) == _MAGIC
            size = stream.seek(0, 2)
            cuts = [0] if is_table or size <= UNIT_BYTES else list(_cuts(stream, size, limits))
    except OSError:  # an executor says why
        is_table, size, cuts = False, 0, [0]
    if is_table:
        yield from _table_parts(file, column)
        return
    for start, stop in zip(cuts, [*cuts[1:], None], strict=True):
        length = (size if stop is None else stop) - start
        yield FilePart(str(file), str(file.absolute()), start, stop), length + _PART_BYTES


def _cuts(stream: Any, size: int, limits: RecordLimits) -> Iterator[int]:
    """Where parts of a large file begin, as far as its heads can be read."""
    yield 0
    at = last = base = 0
    buffer = b""
    while at < size:
        if at - last >= UNIT_BYTES:
            yield at
            last = at
        try:
            stop = None if at < base else find_head(buffer, at - base, limits)
            if stop is None:
                stream.seek(at)
                base, buffer = at, stream.read(max(_WINDOW, limits.head_bytes))
                stop = find_head(buffer, 0, limits)
            if stop is None:
                return
            head = read_head(buffer, at - base, stop, limits)
        except RecordError:
            return
        at += head.data_start + head.data_length
        if not buffer[at - base : at - base + 1]:
            stream.seek(at)
            base, buffer = at, stream.read(max(_WINDOW, limits.head_bytes))
        if buffer[at - base : at - base + 1] != b"\n":
            return
        at += 1


def _table_parts(file: Path, column: str | None) -> Iterator[Sized]:
    try:
        with pq.ParquetFile(file) as table:
            about = table.metadata
            name = _bytes_column(file, table.schema_arrow, column)
            row = 1
            for number in range(about.num_row_groups):
                group = about.row_group(number)
                if group.num_rows:
                    yield (
                        TablePart(str(file), str(file.absolute()), name, number, row),
                        group.total_byte_size,
                    )
                row += group.num_rows
    except (pa.ArrowException, OSError) as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise SparkError(f"{file}: cannot be read as a Parquet file: {reason}") from None


def _bytes_column(file: Path, schema: Any, column: str | None) -> str:
    """Which column has the records."""
    binary = [field.name for field in schema if _is_binary(field.type)]
    if column is not None:
        if column not in schema.names:
            raise SparkError(f"{file}: there is no column {quote(column)}")
        if column not in binary:
            kind = schema.field(column).type
            raise SparkError(f"{file}: the column {quote(column)} is {kind}, and must be bytes")
        return column
    if len(binary) != 1:
        names = ", ".join(map(quote, binary)) or "none"
        raise SparkError(
            f"{file}: which column has the records? Of bytes are {names}: use --column"
        )
    return str(binary[0])


def _is_binary(kind: Any) -> bool:
    types = pa.types
    if types.is_dictionary(kind):
        return _is_binary(kind.value_type)
    return bool(types.is_binary(kind) or types.is_large_binary(kind) or types.is_binary_view(kind))


_STORED = pa.schema([("id", pa.int64()), ("hash", pa.string()), ("data", pa.large_binary())])


def _copied(store: Path, folder: Path) -> Iterator[Sized]:
    """The records of a store in tables of one unit each."""
    with Store.open(store, read_only=True) as source:
        last, number = 0, len(list(folder.iterdir()))
        rows = source.after(last)
        while rows:
            path, size = folder / f"store-{number}.parquet", 0
            with pq.ParquetWriter(path, _STORED, compression="lz4") as writer:
                while rows and size < UNIT_BYTES:
                    arrays = [
                        pa.array(values, field.type)
                        for values, field in zip(zip(*rows, strict=True), _STORED, strict=True)
                    ]
                    writer.write_table(pa.Table.from_arrays(arrays, schema=_STORED))
                    size += sum(len(data) for _, _, data in rows)
                    last = rows[-1][0]
                    rows = source.after(last)
            yield StorePart(str(store), str(path)), size
            number += 1
