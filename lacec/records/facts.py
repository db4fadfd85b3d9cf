"""The facts of one record (020).

In: a Record. Out: its facts, always in this order: Have; a Field for Type, Data-Length,
Group, App, Name, TAI, Signed-By, Signature, then for each extra header in the order of
the record; RecordLink in that order too; BlobHash; PlexHash. What a form does not have is
left out; what it embeds is its own, by reference. Values are NFC text of at most 1024
bytes, because the lines of a record are.
"""

from lacec.core.predicates import Predicate
from lacec.records.links import LINK_SUFFIX, read_link
from lacec.records.record import Record

Fact = tuple[Predicate, tuple[str, ...]]

HAVE = Predicate("Have", 1)
FIELD = Predicate("Field", 4)
RECORD_LINK = Predicate("RecordLink", 5)
BLOB_HASH = Predicate("BlobHash", 2)
PLEX_HASH = Predicate("PlexHash", 2)


def record_facts(record: Record) -> list[Fact]:
    """Every fact of a record."""
    own = record.hash
    facts: list[Fact] = [
        (HAVE, (own,)),
        (FIELD, (own, "Type", "0", record.type)),
        (FIELD, (own, "Data-Length", "0", str(record.data_length))),
    ]
    links: list[Fact] = []
    for name, value in (
        ("Group", record.group),
        ("App", record.app),
        ("Name", record.name),
        ("TAI", record.tai),
        ("Signed-By", record.signed_by),
        ("Signature", record.signature),
    ):
        if value is not None:
            facts.append((FIELD, (own, name, "0", value)))
    last, count = "", 0
    for name, value in record.extras:
        # Headers of one name stand together, because they are sorted.
        last, count = (name, count + 1) if name == last else (name, 0)
        index = str(count)
        facts.append((FIELD, (own, name, index, value)))
        if name.endswith(LINK_SUFFIX):
            link = read_link(name, value)
            if link is not None:
                links.append((RECORD_LINK, (own, name, index, *link)))
    facts += links
    if record.type != "B":
        facts.append((BLOB_HASH, (own, record.blob_hash)))
    if record.type == "S" and record.plex_hash is not None:
        facts.append((PLEX_HASH, (own, record.plex_hash)))
    return facts
