"""Random rows of records, the facts they stand for, and programs that read them."""

from collections.abc import Sequence

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.functions import lit

from lacec.core.predicates import Predicate
from lacec.records.facts import BLOB_HASH, FIELD, HAVE, PLEX_HASH, RECORD_LINK
from lacec.spark.facts import ADVERTISED, ADVERTISED_FIELD
from lacec.spark.rows import FIELD_COLUMNS, Row
from lacec.spark.tables import records_frame
from tests.vm.strategies import Facts

TAG = "Tag"  # a field that records have any number of


def rows_of(facts: Facts) -> list[Row]:
    """Rows with the values of random record facts: one Group each, and any number of Tags."""
    hashes = {row[0]: None for p in (HAVE, FIELD, RECORD_LINK) for row in facts.get(p, ())}
    found = []
    for hash in hashes:
        fields = [row for row in facts.get(FIELD, ()) if row[0] == hash]
        tags = list(dict.fromkeys((index, value) for _, n, index, value in fields if n == "Name"))
        links = [row for row in facts.get(RECORD_LINK, ()) if row[0] == hash]
        found.append(
            Row(
                hash=hash,
                type="BPS"[len(tags) % 3],
                data_length=str(len(hash)),
                group=next((value for _, name, _, value in fields if name == "Group"), None),
                app=None,
                name=tags[0][1] if tags else None,
                tai=None,
                signed_by=None,
                signature=None,
                extras=[(TAG, str(at), value) for at, (_, value) in enumerate(tags)],
                links=[(TAG, str(at), link[3], link[4]) for at, link in enumerate(links)],
                blob_hash=links[0][4] if links else None,
                plex_hash=None,
                size=len(fields),
            )
        )
    return found


def facts_of(rows: Sequence[Row]) -> Facts:
    """The record facts that rows stand for."""
    facts: Facts = {predicate: [] for predicate in (HAVE, FIELD, RECORD_LINK, BLOB_HASH)}
    for row in rows:
        facts[HAVE].append((row.hash,))
        singles = ((name, getattr(row, column)) for name, column in FIELD_COLUMNS.items())
        facts[FIELD] += [(row.hash, name, "0", v) for name, v in singles if v is not None]
        facts[FIELD] += [(row.hash, *extra) for extra in row.extras]
        facts[RECORD_LINK] += [(row.hash, *link) for link in row.links]
        if row.blob_hash is not None:
            facts[BLOB_HASH].append((row.hash, row.blob_hash))
    return facts


def over_rows(text: str) -> str:
    """Rules as they read such rows: every other name of a field is that of the Tags."""
    return text.replace("'Name'", f"'{TAG}'")


def plain(facts: Facts) -> Facts:
    """The facts that rows do not stand for."""
    told: set[Predicate] = {HAVE, FIELD, RECORD_LINK, BLOB_HASH, PLEX_HASH}
    return {predicate: rows for predicate, rows in facts.items() if predicate not in told}


def advertised_facts_of(rows: Sequence[Row], source: str) -> Facts:
    """What a source claims of such rows (050)."""
    fields = facts_of(rows)[FIELD]
    return {
        ADVERTISED: [(row.hash, source) for row in rows],
        ADVERTISED_FIELD: [(hash, source, *rest) for hash, *rest in fields],
    }


def advertised_frame(session: SparkSession, rows: Sequence[Row], source: str) -> DataFrame:
    return records_frame(session, rows).withColumn("source", lit(source))
