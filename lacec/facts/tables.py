"""Facts from and to tables: CSV, and Parquet through pyarrow.

In: a file NAME.csv or NAME.parquet, one fact of NAME a row, without a header in
CSV; the number of columns is the arity, and all values are text. Out: columns of
ids in a database, or a FactError that says which row or column is wrong. And back.

The values of a Parquet column are a buffer of bytes and offsets into it, so they
become symbols without becoming Python strings.
"""

import csv
import io
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import Any

import numpy as np

from lacec.core.diagnostics import quote
from lacec.core.errors import FactError
from lacec.core.limits import Limits
from lacec.core.predicates import Predicate
from lacec.facts.line import is_predicate_name
from lacec.vm.arrays import unique
from lacec.vm.database import Database, check_sizes
from lacec.vm.relation import Ids, Relation
from lacec.vm.sources import check_arity, check_value
from lacec.vm.symbols import Symbols
from lacec.vm.text import PADDING, Bytes, Offsets, lex_ranks, pack_slices

_BOM = "\ufeff".encode()
_COMMA, _LF = b",\n"
# Chunks of a column that have fewer bytes are short.
_LONG = 2**22


def read_csv(
    name: str, data: bytes, predicate_name: str, database: Database, limits: Limits
) -> None:
    """Add the rows of a CSV file to a database. LimitError when they are too many."""
    plain = _plain_values(data, limits)
    if plain is not None:
        buffer, starts, ends, arity = plain
        predicate = _predicate(name, predicate_name, arity, len(starts) // arity, limits)
        ids = database.symbols.intern_slices(buffer, starts, ends)
    else:
        rows = _csv_rows(name, data, 1 + max(limits.base_facts, limits.runtime_facts))
        if not rows:
            return
        arity = len(rows[0])
        predicate = _predicate(name, predicate_name, arity, len(rows), limits)
        for number, row in enumerate(rows, 1):
            for value in row:
                _check_value(f"{name}: row {number}", value, limits)
        ids = database.symbols.intern_all(chain.from_iterable(rows))
    database.add(predicate, list(np.ascontiguousarray(ids.reshape(-1, arity).T)))


def _plain_values(data: bytes, limits: Limits) -> tuple[Bytes, Offsets, Offsets, int] | None:
    """The values as slices, and how many a row has, of a file where nothing is quoted or wrong.

    No value of it becomes a Python object. None for any other file.
    """
    if not data.endswith(b"\n") or b'"' in data or b"\r" in data or data.startswith(_BOM):
        return None
    buffer = np.frombuffer(data + bytes(PADDING), np.uint8)
    ends = np.flatnonzero((buffer == _COMMA) | (buffer == _LF))
    starts = np.concatenate(([0], ends[:-1] + 1))
    is_last = buffer[ends] == _LF
    arity = int(np.argmax(is_last)) + 1
    if len(ends) % arity or not is_last[arity - 1 :: arity].all():
        return None
    if np.count_nonzero(is_last) * arity > len(ends) or (arity == 1 and (starts == ends).any()):
        return None
    return (buffer, starts, ends, arity) if _are_sound(buffer, starts, ends, limits) else None


def _csv_rows(name: str, data: bytes, most: int) -> list[list[str]]:
    """The rows of any CSV file, all with equally many values."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        number = data.count(b"\n", 0, error.start) + 1
        raise FactError(f"{name}: row {number}: this is not UTF-8") from None
    if data.startswith(_BOM):
        raise FactError(f"{name}: row 1: the file begins with a byte order mark: save it without")
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    rows: list[list[str]] = []
    try:
        for row in islice(reader, most):
            if not row:
                raise FactError(
                    f'{name}: row {len(rows) + 1}: no value; an empty one is written `""`'
                )
            if rows and len(row) != len(rows[0]):
                raise FactError(
                    f"{name}: row {len(rows) + 1}: {len(row)} values, "
                    f"the first row has {len(rows[0])}"
                )
            rows.append(row)
    except csv.Error as error:
        raise FactError(f"{name}: row {len(rows) + 1}: {error}") from None
    return rows


def write_csv(rows: Iterable[Sequence[str]]) -> bytes:
    """The rows as CSV; FactError for facts without values."""
    rows = list(rows)
    if not all(rows):
        raise FactError("facts without values cannot stand in a table")
    # Python before 3.13 does not see that a carriage return needs quotes.
    careful = any("\r" in value for row in rows for value in row)
    file = io.StringIO(newline="")
    csv.writer(
        file, lineterminator="\n", quoting=csv.QUOTE_ALL if careful else csv.QUOTE_MINIMAL
    ).writerows(rows)
    return file.getvalue().encode("utf-8")


def read_parquet(path: Path, predicate_name: str, database: Database, limits: Limits) -> None:
    """Add the rows of a Parquet file to a database. LimitError when they are too many."""
    pa, pq = _pyarrow()
    try:
        columns = pq.read_schema(path)
        _check_columns(path, columns)
        # Read as dictionaries: then only the values that differ need be looked at.
        with pq.ParquetFile(path, read_dictionary=columns.names) as file:
            arity, rows = len(columns), file.metadata.num_rows
            predicate = _predicate(str(path), predicate_name, arity, rows, limits)
            for group in range(file.num_row_groups):
                table = file.read_row_group(group)
                add_table(str(path), predicate, table, database, limits)
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        raise FactError(f"{path}: cannot be read as a Parquet file: {error}") from None


def add_table(
    where: str, predicate: Predicate, table: Any, database: Database, limits: Limits
) -> None:
    """Add the rows of an Arrow table of strings to a database."""
    ids = [
        _intern_column(f"{where}: the column {name!r}", column, database, limits)
        for name, column in zip(table.column_names, table.columns, strict=True)
    ]
    database.add(predicate, ids)


def _check_columns(path: Path, schema: Any) -> None:
    from pyarrow import types

    if not schema.names:
        raise FactError(f"{path}: a table without columns holds no facts")
    for field in schema:
        kind = field.type.value_type if types.is_dictionary(field.type) else field.type
        if str(kind) not in ("string", "large_string", "string_view"):
            raise FactError(f"{path}: the column {field.name!r} is {kind}, and must be text")


def _intern_column(where: str, column: Any, database: Database, limits: Limits) -> Ids:
    """The ids of a column of Arrow strings."""
    import pyarrow as pa

    if column.null_count:
        raise FactError(f"{where} has missing values (null)")
    pieces = [np.empty(0, np.int32)]
    for chunk in _joined(column):
        encoded = chunk if pa.types.is_dictionary(chunk.type) else chunk.dictionary_encode()
        strings = encoded.dictionary.cast(pa.large_string())
        if strings.null_count:
            raise FactError(f"{where} has missing values (null)")
        _, offsets, content = strings.buffers()
        edges = np.frombuffer(offsets, np.int64)[strings.offset :][: len(strings) + 1]
        data = np.zeros(int(edges[-1]) + PADDING, np.uint8)
        data[:-PADDING] = np.frombuffer(content, np.uint8)[: edges[-1]] if content else 0
        starts, ends = edges[:-1], edges[1:]
        _check_slices(where, data, starts, ends, limits)
        ids = database.symbols.intern_slices(data, starts, ends)
        which = encoded.indices.to_numpy(zero_copy_only=False)
        if which.min() < 0 or which.max() >= len(ids):
            raise FactError(f"{where} is damaged")
        pieces.append(ids[which])
    return np.concatenate(pieces)


def _joined(column: Any) -> Iterator[Any]:
    """The chunks of a column, short ones put together: many values at once cost less each."""
    import pyarrow as pa

    short: list[Any] = []
    size = 0
    for chunk in filter(len, column.chunks):
        if short and size + chunk.nbytes > _LONG:
            yield pa.concat_arrays(short)
            short, size = [], 0
        # Those of a dictionary hold few values, each in a dictionary of its own.
        size += _LONG if pa.types.is_dictionary(chunk.type) else chunk.nbytes
        short.append(chunk)
    if short:
        yield pa.concat_arrays(short)


def _check_slices(where: str, data: Bytes, starts: Offsets, ends: Offsets, limits: Limits) -> None:
    """FactError for a value that may not stand in a fact."""
    if _are_sound(data, starts, ends, limits):
        return
    raw = data.tobytes()
    for start, end in zip(starts.tolist(), ends.tolist(), strict=True):
        try:
            value = raw[start:end].decode("utf-8")
        except UnicodeDecodeError:
            shown = quote(raw[start:end].decode("utf-8", "replace"))
            raise FactError(f"{where}: the value {shown} is not UTF-8") from None
        _check_value(where, value, limits)


def _are_sound(data: Bytes, starts: Offsets, ends: Offsets, limits: Limits) -> bool:
    """Whether slices may stand in facts. If not, a look at each will tell."""
    if (ends - starts).max(initial=0) > limits.value_bytes:
        return False
    raw = data.tobytes()
    if raw.isascii():
        return True
    if ((data[starts] & 0xC0 == 0x80) & (ends > starts)).any():  # begins within a character
        return False
    try:
        return unicodedata.is_normalized("NFC", raw.decode("utf-8"))
    except UnicodeDecodeError:
        return False


def write_parquet(path: Path, relation: Relation, symbols: Symbols) -> None:
    """The rows of a relation as a Parquet file of string columns, in code point order."""
    _, pq = _pyarrow()
    # Without Arrow's own schema in it, every reader sees plain strings.
    pq.write_table(arrow_table(relation, symbols), path, store_schema=False)


def arrow_table(relation: Relation, symbols: Symbols) -> Any:
    """The rows of a relation as an Arrow table of columns c0, c1, …, in code point order."""
    pa, _ = _pyarrow()
    if not relation.columns:
        raise FactError("facts without values cannot stand in a table")
    used = unique(np.concatenate(relation.columns))
    slices = symbols.slices(used)
    ranks = lex_ranks(*slices)
    buffer, offsets = pack_slices(*slices)
    columns = [np.searchsorted(used, column) for column in relation.columns]
    order = np.lexsort([ranks[column] for column in reversed(columns)])
    strings = pa.LargeStringArray.from_buffers(
        len(used), pa.py_buffer(offsets), pa.py_buffer(buffer)
    )
    return pa.table(
        [strings.take(pa.array(column[order])) for column in columns],
        [f"c{number}" for number in range(len(relation.columns))],
    )


def _pyarrow() -> tuple[Any, Any]:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise FactError("Parquet files need pyarrow: install `lacec[parquet]`") from None
    return pyarrow, pyarrow.parquet


def _predicate(file: str, name: str, arity: int, rows: int, limits: Limits) -> Predicate:
    """The predicate of a table, if facts may have its name, its arity and so many rows."""
    if not is_predicate_name(name):
        raise FactError(f"{file}: the file is named after a predicate, and {quote(name)} is none")
    predicate = Predicate(name, arity)
    try:
        check_arity(predicate, limits)
    except FactError as error:
        raise FactError(f"{file}: {error}") from None
    check_sizes({predicate: rows}, limits)
    return predicate


def _check_value(where: str, value: str, limits: Limits) -> None:
    try:
        check_value(value, limits)
    except FactError as error:
        raise FactError(f"{where}: {error}") from None
