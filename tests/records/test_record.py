"""Records: what is built is read again, and its parts are at hand."""

from dataclasses import fields

import pytest

from lacec.records.head import Head
from lacec.records.record import Record, check_signature, parse_record
from tests.records import made

FORMS = {"B": made.blob(), "P": made.plex(), "S": made.seal()}


@pytest.mark.parametrize("letter", FORMS)
def test_what_is_built_is_read_again(letter: str) -> None:
    record = FORMS[letter]
    assert record.type == letter
    assert record.hash.startswith(f"{letter}.")
    assert parse_record(record.data) == record
    assert bytes(record.content) == b"hello world"


def test_a_seal_has_the_fields_of_what_it_embeds() -> None:
    seal = made.seal()
    assert (seal.group, seal.app, seal.name, seal.tai) == ("u", "ding", "links/one", made.TAI)
    assert seal.extras == made.EXTRAS
    assert seal.signed_by == made.SECRET.verifier
    assert seal.data_length == len(b"hello world")


def test_embedded_records_are_records_of_their_own() -> None:
    seal, plex, blob = made.seal(), made.plex(), made.blob()
    assert seal.plex == plex
    assert seal.blob == blob
    assert (seal.plex_hash, seal.blob_hash) == (plex.hash, blob.hash)
    assert (plex.plex, plex.blob) == (plex, blob)
    assert (blob.plex, blob.blob) == (None, blob)


def test_a_record_has_the_fields_of_its_head() -> None:
    assert [field.name for field in fields(Record)] == ["data", *Head._fields]


def test_the_signature_can_be_checked_later() -> None:
    seal = parse_record(made.seal().data, verify=False)
    check_signature(seal)
    assert seal == made.seal()


def test_a_record_does_not_show_its_bytes() -> None:
    assert "hello world" not in repr(made.seal())
    assert isinstance(made.seal(), Record)
