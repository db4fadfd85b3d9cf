"""020, record facts: one test for each rule about the facts of one record.

Views, and who may query what, are not tested here.
"""

from unicodedata import is_normalized

import pytest

import lacec
from lacec.core.limits import DEFAULT_LIMITS
from lacec.core.predicates import RECORD_FACTS, Predicate
from lacec.records.facts import record_facts
from lacec.records.record import Record
from tests.records import made

BLOB, PLEX, SEAL = made.blob(), made.plex(), made.seal()
FORMS = {"B": BLOB, "P": PLEX, "S": SEAL}


def facts(record: Record, name: str) -> list[tuple[str, ...]]:
    """The facts of a predicate, without the record that all of them begin with."""
    found = [values for predicate, values in record_facts(record) if predicate.name == name]
    assert all(values[0] == record.hash for values in found)
    return [values[1:] for values in found]


def fields(record: Record) -> list[tuple[str, ...]]:
    return facts(record, "Field")


def test_all_facts_of_a_seal_in_their_order() -> None:
    own, link = SEAL.hash, made.EXTRAS[0][1]
    assert [(predicate.name, *values) for predicate, values in record_facts(SEAL)] == [
        ("Have", own),
        ("Field", own, "Type", "0", "S"),
        ("Field", own, "Data-Length", "0", "11"),
        ("Field", own, "Group", "0", "u"),
        ("Field", own, "App", "0", "ding"),
        ("Field", own, "Name", "0", "links/one"),
        ("Field", own, "TAI", "0", made.TAI),
        ("Field", own, "Signed-By", "0", made.SECRET.verifier),
        ("Field", own, "Signature", "0", SEAL.signature),
        ("Field", own, "+Link", "0", link),
        ("Field", own, "Note", "0", "second thoughts"),
        ("Field", own, "Note", "1", "zweite Gedanken: süß"),
        ("RecordLink", own, "+Link", "0", "evidence", made.EVIDENCE.hash),
        ("BlobHash", own, BLOB.hash),
        ("PlexHash", own, PLEX.hash),
    ]


@pytest.mark.parametrize("letter", FORMS)
def test_predicates_have_the_arity_of_the_table(letter: str) -> None:
    for predicate, values in record_facts(FORMS[letter]):
        assert predicate in RECORD_FACTS
        assert len(values) == predicate.arity


@pytest.mark.parametrize("letter", FORMS)
def test_the_record_identifier_is_the_typed_hash(letter: str) -> None:
    record = FORMS[letter]
    assert record_facts(record)[0] == (Predicate("Have", 1), (record.hash,))
    assert record.hash.startswith(f"{letter}.")
    assert record.hash.endswith(".H3")


@pytest.mark.parametrize("letter", FORMS)
def test_type_is_the_letter(letter: str) -> None:
    assert ("Type", "0", letter) in fields(FORMS[letter])


def test_an_outer_record_gives_no_have_for_what_it_embeds() -> None:
    assert facts(SEAL, "Have") == [()]


@pytest.mark.parametrize("letter", ["P", "S"])
def test_plex_fields_links_and_blob_hash_are_the_seals_by_reference(letter: str) -> None:
    record = FORMS[letter]
    names = [name for name, _, _ in fields(record)]
    assert {"Group", "App", "Name", "TAI", "+Link", "Note"} <= set(names)
    assert facts(record, "RecordLink") == facts(PLEX, "RecordLink") != []
    assert facts(record, "BlobHash") == [(BLOB.hash,)]


def test_signed_by_signature_and_plex_hash_are_of_seals_only() -> None:
    for record in (BLOB, PLEX):
        assert not {"Signed-By", "Signature"} & {name for name, _, _ in fields(record)}
        assert facts(record, "PlexHash") == []
    assert facts(SEAL, "PlexHash") == [(PLEX.hash,)]


def test_a_blob_has_its_type_and_length_alone() -> None:
    assert fields(BLOB) == [("Type", "0", "B"), ("Data-Length", "0", "11")]
    assert facts(BLOB, "BlobHash") == facts(BLOB, "RecordLink") == []


@pytest.mark.parametrize("letter", FORMS)
def test_data_length_is_every_forms(letter: str) -> None:
    assert ("Data-Length", "0", "11") in fields(FORMS[letter])


def test_index_counts_the_occurrences_of_a_name() -> None:
    """From 0, in the order of the record, without leading zeros; equal values stay apart."""
    extras = [("A", "same")] * 12 + [("B", "x"), ("B", "w")]
    found = [field for field in fields(made.plex(extras)) if field[0] in "AB"]
    assert found == [
        *(("A", str(number), "same") for number in range(12)),
        ("B", "0", "x"),
        ("B", "1", "w"),
    ]


def test_a_malformed_link_is_a_field_and_no_link() -> None:
    good, bad = f"evidence {made.EVIDENCE.hash}", "evidence nowhere"
    record = made.plex([("+Link", bad), ("+Link", good), ("+Link", bad)])
    assert [field for field in fields(record) if field[0] == "+Link"] == [
        ("+Link", "0", bad),
        ("+Link", "1", good),
        ("+Link", "2", bad),
    ]
    assert facts(record, "RecordLink") == [("+Link", "1", "evidence", made.EVIDENCE.hash)]


def test_a_target_in_another_format_still_makes_a_link() -> None:
    record = made.plex([("See+Link", "old X.00.Q9")])
    assert facts(record, "RecordLink") == [("See+Link", "0", "old", "X.00.Q9")]


def test_values_are_nfc_text_within_the_limit() -> None:
    long = made.plex([("A", "x" * 1021), ("B", "ü" * 510)])
    for record in (long, *lacec.corpus(50)):
        for _, values in record_facts(record):
            for value in values:
                assert is_normalized("NFC", value)
                assert len(value.encode()) <= DEFAULT_LIMITS.value_bytes


def test_facts_can_be_evaluated() -> None:
    module = lacec.compile(
        "Seen(T) :- RecordLink(P,'+Link',_,'evidence',T), Field(P,'Group',_,'u')."
    )
    rows: dict[str, list[tuple[str, ...]]] = {}
    for predicate, values in record_facts(SEAL):
        rows.setdefault(predicate.name, []).append(values)
    assert lacec.evaluate(module, rows) == {"Seen/1": [(made.EVIDENCE.hash,)]}
