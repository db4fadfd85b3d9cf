"""The corpus: valid, the same for the same seed, and with something of everything."""

import tracemalloc
from collections import Counter
from itertools import islice
from typing import Any

import pytest
from blake3 import blake3

import lacec
from lacec.records.facts import record_facts
from lacec.records.record import parse_record

RECORDS = list(lacec.corpus(400, seed=7))
DIGEST = "4790348252e3d2648d229e0d6794f2845e94b4d7b095317cfdea58a3818ed33e"


def test_every_record_is_valid() -> None:
    for record in RECORDS:
        assert parse_record(record.data) == record


def test_the_same_seed_gives_the_same_bytes() -> None:
    assert [record.data for record in lacec.corpus(400, seed=7)] == [r.data for r in RECORDS]
    assert next(lacec.corpus(1, seed=8)).data != RECORDS[0].data


def test_the_bytes_are_the_same_everywhere() -> None:
    """On every machine and version of Python: examples and measurements name these hashes."""
    whole = b"".join(record.data for record in lacec.corpus(100))
    assert blake3(whole).hexdigest() == DIGEST


def test_a_longer_corpus_begins_like_a_shorter_one() -> None:
    assert list(islice(lacec.corpus(1000, seed=7), 400)) == RECORDS


def test_all_records_are_different() -> None:
    assert len({record.hash for record in RECORDS}) == 400


def test_it_has_something_of_everything() -> None:
    assert set(Counter(record.type for record in RECORDS)) == {"B", "P", "S"}
    facts = [
        (predicate.name, *values)
        for record in RECORDS
        for predicate, values in record_facts(record)
    ]
    links = [fact for fact in facts if fact[0] == "RecordLink"]
    known = {record.hash for record in RECORDS}
    assert links
    assert {fact[5] for fact in links} <= known
    fields = [fact for fact in facts if fact[0] == "Field"]
    assert any(fact[2] == "Note" and fact[3] == "2" for fact in fields)
    assert any(not fact[4].isascii() for fact in fields)
    assert sum(fact[2].endswith("+Link") for fact in fields) > len(links)
    assert {fact[4] for fact in fields if fact[2] == "Group"} == {
        "keys",
        "u",
        "team/red",
        "team/blue",
        "überall",
    }
    assert any(record.data_length == 0 for record in RECORDS[20:])


def test_members_and_blocked_keys_are_named_by_their_verifiers() -> None:
    def keys(app: str) -> set[str | None]:
        return {r.name for r in RECORDS if (r.group, r.app) == ("keys", app)}

    members, blocked = keys("member"), keys("blocked")
    assert (len(members), len(blocked)) == (8, 2)
    assert blocked < members
    writers = {r.signed_by for r in RECORDS if r.group != "keys" and r.type == "S"}
    assert writers == members


def test_a_policy_leaves_out_what_blocked_keys_signed() -> None:
    module = lacec.compile(
        "Blocked(V) :- Have(P), Field(P,'Group',_,'keys'), Field(P,'App',_,'blocked'), "
        "Field(P,'Name',_,V).\n"
        "Selected(P) :- Field(P,'Group',_,'u'), Field(P,'Signed-By',_,V), not Blocked(V)."
    )
    rows: dict[str, list[tuple[str, ...]]] = {}
    for record in RECORDS:
        for predicate, values in record_facts(record):
            rows.setdefault(predicate.name, []).append(values)
    blocked = {r.name for r in RECORDS if (r.group, r.app) == ("keys", "blocked")}
    expected = [
        (r.hash,)
        for r in RECORDS
        if r.group == "u" and r.type == "S" and r.signed_by not in blocked
    ]
    assert expected
    assert lacec.evaluate(module, rows)["Selected/1"] == sorted(expected)


@pytest.mark.parametrize(
    ("shares", "expected"),
    [
        ({"seals": 1.0, "plexes": 0.0}, {"S"}),
        ({"seals": 0.0, "plexes": 1.0}, {"P"}),
        ({"seals": 0.0, "plexes": 0.0}, {"B"}),
    ],
)
def test_the_caller_chooses_the_shares(shares: dict[str, Any], expected: set[str]) -> None:
    made = lacec.corpus(60, members=3, blocked=1, **shares)
    assert {record.type for record in islice(made, 4, None)} == expected


def test_the_caller_chooses_groups_and_members() -> None:
    made = list(lacec.corpus(300, groups=6, members=2, blocked=0))
    assert {r.group for r in made if r.group} >= {"group/4", "group/5"}
    assert len({r.signed_by for r in made if r.group not in (None, "keys")} - {None}) == 2


@pytest.mark.parametrize(
    "wrong",
    [
        {"records": -1},
        {"records": 1, "groups": 0},
        {"records": 1, "members": 0},
        {"records": 1, "blocked": 9},
        {"records": 1, "seals": 0.8},
        {"records": 1, "seals": -0.1},
        {"records": 1, "plexes": float("nan")},
    ],
)
def test_wrong_numbers_are_refused_at_once(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"corpus|shares"):
        lacec.corpus(**wrong)


def test_a_long_corpus_needs_no_memory() -> None:
    made = lacec.corpus(10**9, seals=0, plexes=0.5)
    for _ in islice(made, 1100):
        pass
    tracemalloc.start()
    try:
        for _ in islice(made, 1000):
            pass
        assert tracemalloc.get_traced_memory()[0] < 200_000
    finally:
        tracemalloc.stop()
