"""Rows: a row has the facts of its record, all of them and no others (020)."""

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyspark.sql import SparkSession

from lacec.records.corpus import corpus
from lacec.records.facts import (
    BLOB_HASH,
    FIELD,
    HAVE,
    PLEX_HASH,
    RECORD_LINK,
    Fact,
    record_facts,
)
from lacec.records.record import Record, build_plex, build_seal
from lacec.spark.rows import FIELD_COLUMNS, RECORD_COLUMNS, Row, record_arrays, row_of
from lacec.spark.tables import SCHEMA, records_frame
from tests.helpers import examples
from tests.records.made import SECRET, blob, plex, seal
from tests.spark.samples import read_row


def facts_of(row: Row) -> list[Fact]:
    """The facts of a row, in the order of `record_facts`."""
    own, values = row.hash, row._asdict()
    facts: list[Fact] = [(HAVE, (own,))]
    facts += [
        (FIELD, (own, name, "0", values[column]))
        for name, column in FIELD_COLUMNS.items()
        if values[column] is not None
    ]
    facts += [(FIELD, (own, *extra)) for extra in row.extras]
    facts += [(RECORD_LINK, (own, *link)) for link in row.links]
    for predicate, hash in ((BLOB_HASH, row.blob_hash), (PLEX_HASH, row.plex_hash)):
        if hash is not None:
            facts.append((predicate, (own, hash)))
    return facts


def back(rows: list[Row]) -> list[Row]:
    """Rows through columns of Arrow."""
    batch = pa.RecordBatch.from_arrays(record_arrays(rows), schema=RECORD_COLUMNS)
    return [read_row(each) for each in batch.to_pylist()]


@pytest.mark.parametrize("record", [blob(), plex(), seal(), plex([]), blob(b"")])
def test_a_row_has_the_facts_of_its_record(record: Record) -> None:
    row = row_of(record)
    assert facts_of(row) == record_facts(record)
    assert row.size == len(record.data)
    assert back([row]) == [row]


def test_the_rows_of_a_corpus_have_its_facts(spark: SparkSession) -> None:
    """Through Arrow, and through Spark and back."""
    records = list(corpus(300, seed=9))
    rows = [row_of(record) for record in records]
    assert [facts_of(row) for row in back(rows)] == [record_facts(record) for record in records]
    frame = records_frame(spark, rows)
    assert frame.schema == SCHEMA
    found = [read_row(each.asDict(recursive=True)) for each in frame.collect()]
    assert sorted(found) == sorted(rows)


HASHES = [record.hash for record in corpus(4)]
EXTRAS = st.lists(
    st.tuples(
        st.sampled_from(["Note", "Topic", "+Link", "Re+Link", "É", "Zz"]),
        st.one_of(
            st.sampled_from(["x", " ", "a b", "ü 水", *(f"see {hash}" for hash in HASHES)]),
            st.sampled_from([f" {HASHES[0]}", HASHES[0], "data X.0000.Q9", "data B.0.H3"]),
        ),
    ),
    max_size=9,
)


@given(st.lists(st.tuples(EXTRAS, st.booleans()), max_size=4))
@examples(200)
def test_any_headers_become_the_same_facts(
    chosen: list[tuple[list[tuple[str, str]], bool]],
) -> None:
    records = []
    for number, (extras, sealed) in enumerate(chosen):
        record = build_plex("g", "a", f"n/{number}", "1640995200:000000000", extras, b"data")
        records.append(build_seal(record, SECRET, b"\1" * 32) if sealed else record)
    rows = back([row_of(record) for record in records])
    assert [facts_of(row) for row in rows] == [record_facts(record) for record in records]


def test_no_rows_have_all_columns(spark: SparkSession) -> None:
    assert back([]) == []
    assert records_frame(spark, []).schema == SCHEMA
    assert records_frame(spark, []).count() == 0
