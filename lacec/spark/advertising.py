"""What executors do with a send set (050): rows into claims, digests into trees.

A claim is an advertisement record as a row: the columns of the fields that it has, its
digest, and how many bytes its lines take. This runs in executors, and so knows nothing of
Spark.
"""

from collections.abc import Iterator, Mapping
from itertools import groupby, islice
from operator import itemgetter
from typing import Any

import pyarrow as pa

from lacec.runtime.interlace.advertisement import SURELY_SHORT, advertise, digest_of, fits
from lacec.runtime.interlace.reconcile.subtrees import find_subtrees
from lacec.spark.rows import FIELD_COLUMNS, RECORD_COLUMNS

# What of the row of a record can be advertised.
ADVERTISED_COLUMNS = ("hash", *FIELD_COLUMNS.values(), "extras")
CLAIM_COLUMNS = pa.schema(
    [
        *(RECORD_COLUMNS.field(name) for name in ADVERTISED_COLUMNS),
        ("digest", pa.binary()),
        ("bytes", pa.int64()),
    ]
)

Tree = tuple[int, str]
"""Whose it is, and the prefix of its partition."""

SUBTREE_COLUMNS = pa.schema(
    [
        ("side", pa.int32()),
        ("prefix", pa.string()),
        ("height", pa.int32()),
        ("at", pa.int64()),
        ("root", pa.binary()),
    ]
)
_ROWS = 4096  # of subtrees, at a time


def describe(batches: Iterator[Any], source: str) -> Iterator[Any]:
    """Rows of the fields of a schema in; out: the claims that a source makes of them."""
    for batch in batches:
        columns = [batch.column(name).to_pylist() for name in ADVERTISED_COLUMNS]
        claims = [_claim(source, *row) for row in zip(*columns, strict=True)]
        arrays = zip(*claims, strict=True) if claims else [()] * len(CLAIM_COLUMNS)
        yield pa.RecordBatch.from_arrays(
            [pa.array(a, f.type) for a, f in zip(arrays, CLAIM_COLUMNS, strict=True)],
            schema=CLAIM_COLUMNS,
        )


def _claim(source: str, hash: str, *columns: Any) -> tuple[Any, ...]:
    """A row without the fields whose line would be too long (D22), with digest and size."""
    *values, extras = columns
    singles = [
        value if value is not None and _fits(hash, source, name, "0", value) else None
        for name, value in zip(FIELD_COLUMNS, values, strict=True)
    ]
    others = [
        each for each in extras if _fits(hash, source, each["name"], each["index"], each["value"])
    ]
    fields = [
        (name, 0, value)
        for name, value in zip(FIELD_COLUMNS, singles, strict=True)
        if value is not None
    ]
    fields += [(each["name"], int(each["index"]), each["value"]) for each in others]
    canonical = advertise(hash, source, fields).canonical
    return hash, *singles, others, digest_of(canonical), len(canonical)


def _fits(hash: str, source: str, name: str, index: str, value: str) -> bool:
    # A character has at most four bytes.
    return 4 * (len(name) + len(value)) <= SURELY_SHORT or fits(hash, source, name, index, value)


def plant(batches: Iterator[Any], firsts: Mapping[tuple[int, str, int], int]) -> Iterator[Any]:
    """Rows of side, prefix, bucket and digest in, sorted; out: the largest subtrees over them.

    `firsts` has the place of the first leaf of each bucket in its tree.
    """
    rows = (
        row
        for batch in batches
        for row in zip(*(column.to_pylist() for column in batch.columns), strict=True)
    )
    found = (
        (side, prefix, *subtree)
        for (side, prefix, bucket), run in groupby(rows, itemgetter(0, 1, 2))
        for subtree in find_subtrees(firsts[side, prefix, bucket], [row[3] for row in run])
    )
    while some := list(islice(found, _ROWS)):
        columns = zip(zip(*some, strict=True), SUBTREE_COLUMNS, strict=True)
        arrays = [pa.array(column, field.type) for column, field in columns]
        yield pa.RecordBatch.from_arrays(arrays, schema=SUBTREE_COLUMNS)
