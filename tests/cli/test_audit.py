"""lacec audit: text for people, one document for scripts."""

from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion

from tests.cli.run import lacec
from tests.explain.test_audit import FACTS, MEMBERS, NOSY

AUDIT = ("audit", "own.lace", "peer.lace", "--side", "0")


@pytest.fixture(autouse=True)
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("own.lace").write_text(MEMBERS)
    Path("peer.lace").write_text(NOSY)
    Path("x.lace").write_text("AllowQueryRecord(V,P) :- _Viewer(V), Field(P,'Group',_,'X').\n")
    lines = []
    for name, rows in FACTS.items():
        for row in rows:
            values = ",".join(f"'{value}'" for value in row)
            lines.append(f"{name}({values})\n")
    Path("all.facts").write_text("".join(lines))


def test_for_people(snapshot: SnapshotAssertion) -> None:
    outcome = lacec(*AUDIT, "--expose", "x.lace", "--facts", "all.facts")
    assert outcome.code == 0
    assert outcome.out == snapshot


def test_for_scripts(snapshot: SnapshotAssertion) -> None:
    outcome = lacec(*AUDIT, "--expose", "x.lace", "--facts", "all.facts", "--json")
    assert outcome.document == snapshot


def test_without_facts_and_exposure_it_says_so_in_plain_words() -> None:
    outcome = lacec(*AUDIT)
    assert outcome.code == 0
    assert "nothing is exposed to the peer" in outcome.err
    document = lacec(*AUDIT, "--json").document
    assert (document["records"], document["can_query"], document["exposures"]) == (None, None, [])


def test_a_peer_that_names_a_record_is_sent_it_though_nothing_is_exposed() -> None:
    """So the audit may not say that nothing is sent."""
    Path("peer.lace").write_text(
        "SelectHave('x1') :- true.\nSelectAdvertised(P,S) :- Advertised(P,S).\n"
    )
    sides = ("--plan", "own.lace", "peer.lace", "--side", "0", "--facts", "all.facts")
    assert lacec("eval", *sides, "--json").document["may_send"] == ["x1"]
    for facts in ((), ("--facts", "all.facts")):
        outcome = lacec(*AUDIT, *facts)
        assert "it selects only what it names itself" in outcome.err
        assert "nothing is sent" not in outcome.err
        assert "of a record that the peer names" in outcome.out


@pytest.mark.parametrize("facts", [(), ("--facts", "all.facts")], ids=["alone", "with facts"])
def test_trust_and_narrowing_are_shown(facts: tuple[str, ...]) -> None:
    """D16b: an audit shows both."""
    outcome = lacec(*AUDIT, "--trust-peer", "--narrow", "x.lace", *facts)
    assert "\nthe peer is trusted: its selector sees every record\n" in outcome.out
    assert "\nthis side's own operand is narrowed\n" in outcome.out
    assert outcome.err == ""
    document = lacec(*AUDIT, "--trust-peer", "--narrow", "x.lace", *facts, "--json").document
    assert (document["trusted"], len(document["narrow"])) == (True, 1)
    plain = lacec(*AUDIT, *facts)
    assert "trusted" not in plain.out
    assert "narrowed" not in plain.out


def test_what_cannot_be_prevented_is_always_listed() -> None:
    document = lacec(*AUDIT, "--trust-peer", "--json").document
    assert document["declassifies"] == []
    assert document["trusted"] is True
    assert len(document["always"]) == 4


@pytest.mark.parametrize(
    "arguments",
    [
        ("audit", "own.lace", "peer.lace"),
        ("audit", "own.lace", "--side", "0"),
        (*AUDIT, "--side", "3"),
    ],
    ids=" ".join,
)
def test_a_wrong_command_line_exits_with_2(arguments: tuple[str, ...]) -> None:
    assert lacec(*arguments).code == 2


def test_wrong_operands_and_limits() -> None:
    Path("peer.lace").write_text("SelectHave(P) :- Have(P).\n")
    assert lacec(*AUDIT, "--json").code == 1
    Path("peer.lace").write_text(NOSY)
    tight = (*AUDIT, "--expose", "all", "--facts", "all.facts", "--limit", "derived_facts=1")
    assert lacec(*tight).code == 3
