"""Records as rows: one for each, with all its facts (020), in columns of Arrow.

In: Records. Out: batches of the columns below. A field that a record does not have is
null; extra headers and links stand in lists, in the order of the record. This runs in
executors, and so knows nothing of Spark.
"""

from collections.abc import Sequence
from itertools import accumulate, chain
from typing import Any, NamedTuple

import pyarrow as pa

from lacec.records.facts import FIELD, RECORD_LINK, record_facts
from lacec.records.record import Record
from lacec.store.importing import Refused

Extra = tuple[str, str, str]
Link = tuple[str, str, str, str]


class Row(NamedTuple):
    """What is known of one record; `size` is how many bytes it has."""

    hash: str
    type: str
    data_length: str
    group: str | None
    app: str | None
    name: str | None
    tai: str | None
    signed_by: str | None
    signature: str | None
    extras: Sequence[Extra]
    links: Sequence[Link]
    blob_hash: str | None
    plex_hash: str | None
    size: int


# The column of each field that stands at most once in a record; its Index is '0'.
FIELD_COLUMNS = {
    "Type": "type",
    "Data-Length": "data_length",
    "Group": "group",
    "App": "app",
    "Name": "name",
    "TAI": "tai",
    "Signed-By": "signed_by",
    "Signature": "signature",
}
_LISTS = {"extras": ("name", "index", "value"), "links": ("name", "index", "data", "target")}


def _type(column: str) -> Any:
    if column in _LISTS:
        return pa.list_(pa.struct([(name, pa.string()) for name in _LISTS[column]]))
    return pa.int64() if column == "size" else pa.string()


RECORD_COLUMNS = pa.schema([(column, _type(column)) for column in Row._fields])

# What was no valid record: as `lacec store import` names it.
REFUSED_COLUMNS = pa.schema(
    [(name, pa.int64() if name == "offset" else pa.string()) for name in Refused._fields]
)


def row_of(record: Record) -> Row:
    """All facts of a record as one row."""
    extras: list[Extra] = []
    links: list[Link] = []
    if record.extras:
        for predicate, values in record_facts(record):
            if predicate is FIELD and values[1] not in FIELD_COLUMNS:
                extras.append(values[1:])  # type: ignore[arg-type]
            elif predicate is RECORD_LINK:
                links.append(values[1:])  # type: ignore[arg-type]
    return Row(
        record.hash,
        record.type,
        str(record.data_length),
        record.group,
        record.app,
        record.name,
        record.tai,
        record.signed_by,
        record.signature,
        extras,
        links,
        record.blob_hash if record.type != "B" else None,
        record.plex_hash if record.type == "S" else None,
        len(record.data),
    )


def record_arrays(rows: Sequence[Row]) -> list[Any]:
    """Rows as Arrow arrays, one a column."""
    columns = zip(*rows, strict=True) if rows else ((),) * len(Row._fields)
    return [
        _list_array(column, field.type) if field.name in _LISTS else pa.array(column, field.type)
        for field, column in zip(RECORD_COLUMNS, columns, strict=True)
    ]


def _list_array(lists: Sequence[Sequence[tuple[str, ...]]], kind: Any) -> Any:
    """Lists of structs; built from their parts, which takes a tenth of the time."""
    offsets = pa.array([0, *accumulate(map(len, lists))], pa.int32())
    fields = list(kind.value_type)
    parts = list(zip(*chain.from_iterable(lists), strict=True)) or [()] * len(fields)
    arrays = [pa.array(part, pa.string()) for part in parts]
    return pa.ListArray.from_arrays(offsets, pa.StructArray.from_arrays(arrays, fields=fields))
