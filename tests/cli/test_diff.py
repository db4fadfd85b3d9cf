"""lacec diff: which records come and go, by which rules, and why the other policy differs."""

from pathlib import Path
from typing import Any

import pytest

from tests.cli.run import lacec

OLD = """\
Blocked('V.m') :- true.
SelectHave(P) :- Have(P), Field(P,'Signed-By',_,V), not Blocked(V).
SelectHave(P) :- Have(P), Field(P,'Group',_,'old').
SelectAdvertised(P,S) :- Advertised(P,S).
"""
NEW = """\
SelectHave(P) :- Have(P), Field(P,'Signed-By',_,_).
SelectHave(P) :- Have(P), Field(P,'Group',_,'new').
SelectAdvertised(P,S) :- AdvertisedField(P,S,'Group',_,'new').
"""
FACTS = """\
Have('a')
Field('a','Signed-By','0','V.m')
Field('a','Group','0','new')
Have('b')
Field('b','Group','0','old')
Have('c')
Field('c','Signed-By','0','V.a')
Field('c','Group','0','old')
Advertised('d','V.x')
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name, text in {"old.lace": OLD, "new.lace": NEW, "some.facts": FACTS}.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


def diff(*arguments: str) -> dict[str, Any]:
    outcome = lacec("diff", *arguments, "--facts", "some.facts", "--json")
    assert (outcome.code, outcome.err) == (0, "")
    return outcome.document


def test_what_comes_and_goes_has_the_rules_that_decide_it() -> None:
    found = diff("old.lace", "new.lace")
    assert (found["came"], found["went"]) == (1, 2)
    told = [
        (each["fact"], each["change"], [(rule["file"], rule["line"]) for rule in each["rules"]])
        for each in found["changes"]
    ]
    assert told == [
        ("SelectHave('a')", "came", [("new.lace", 2), ("new.lace", 1)]),
        ("SelectHave('b')", "went", [("old.lace", 3)]),
        ("SelectAdvertised('d','V.x')", "went", [("old.lace", 4)]),
    ]


def test_the_other_policy_says_why_not() -> None:
    found = diff("old.lace", "new.lace")
    came, went, _ = found["changes"]
    blocked = [rule for rule in came["why_not"]["goals"][0]["rules"] if rule["kind"] == "present"]
    assert blocked[0]["facts"] == ["Blocked('V.m')"]
    assert {rule["rule"]["file"] for rule in went["why_not"]["goals"][0]["rules"]} == {"new.lace"}


def test_each_rule_has_the_number_of_records_it_decides() -> None:
    """The same words as on Spark: came, went, and rules with policy and records."""
    found = diff("old.lace", "new.lace")
    counts = {(r["policy"], r["file"], r["line"]): r["records"] for r in found["rules"]}
    assert counts == {
        ("new", "new.lace", 1): 1,
        ("new", "new.lace", 2): 1,
        ("new", "new.lace", 3): 0,
        ("old", "old.lace", 2): 0,
        ("old", "old.lace", 3): 1,
        ("old", "old.lace", 4): 1,
    }
    keys = ["policy", "id", "file", "line", "text", "records"]
    assert all(list(rule) == keys for rule in found["rules"])


def test_text_shows_signs_counts_and_reasons() -> None:
    given = ("--facts", "some.facts", "--query", "SelectHave/1")
    outcome = lacec("diff", "old.lace", "new.lace", *given)
    assert outcome.code == 0
    lines = outcome.out.split("\n")
    assert lines[0] == "1 came, 1 went"
    assert "-1  old.lace:3  SelectHave(P) :- Have(P), Field(P,'Group',_,'old')." in lines
    assert "+ SelectHave('a')" in lines
    assert "- SelectHave('b')" in lines


def test_the_same_policy_changes_nothing() -> None:
    found = diff("old.lace", "old.lace")
    assert (found["came"], found["went"], found["changes"]) == (0, 0, [])


def test_records_of_a_store_are_compared() -> None:
    for group in ("old", "new"):
        lacec(
            *("record", "new", "--group", group, "--app", "a", "--name", "n", "-o", group),
            *("--tai", "2026-01-01T00:00:00Z"),
            source=b"x",
        )
    lacec("store", "init", "s")
    lacec("store", "import", "s", "old", "new")
    found = lacec("diff", "old.lace", "new.lace", "--store", "s", "--json").document
    assert (found["came"], found["went"]) == (1, 1)


def test_what_one_policy_does_not_derive_it_has_none_of(folder: Path) -> None:
    (folder / "less.lace").write_text("Selected(P) :- Have(P).\n", encoding="utf-8")
    (folder / "more.lace").write_text(
        "Selected(P) :- Have(P).\nSelectHave(P) :- Field(P,'Group',_,'new').\n", encoding="utf-8"
    )
    found = diff("less.lace", "more.lace")
    assert [(each["fact"], each["change"]) for each in found["changes"]] == [
        ("SelectHave('a')", "came")
    ]
    assert diff("more.lace", "less.lace")["went"] == 1
    found = diff("old.lace", "new.lace", "--query", "Blocked/1")
    assert [each["fact"] for each in found["changes"]] == ["Blocked('V.m')"]


def test_a_peer_makes_it_a_matter_of_what_is_sent_and_requested() -> None:
    found = diff("old.lace", "new.lace", "--peer", "old.lace", "--expose", "all")
    told = [(each["fact"], each["change"]) for each in found["changes"]]
    assert told == [("MaySend('b')", "went"), ("MayRequest('d')", "went")]
    sources = {(rule["from"], rule["line"]) for rule in found["changes"][0]["rules"]}
    assert sources == {("own", 3), ("peer", 3)}


def test_a_peer_that_is_proven_is_who_exposures_speak_of(folder: Path) -> None:
    """The same options as other commands have for one side of a plan."""
    rule = "AllowQueryRecord('V.x',P) :- Have(P).\n"
    (folder / "friend.lace").write_text(rule, encoding="utf-8")
    given = ("old.lace", "new.lace", "--peer", "old.lace", "--expose", "friend.lace")

    def sent(*more: str) -> list[str]:
        facts = [each["fact"] for each in diff(*given, *more)["changes"]]
        return [fact for fact in facts if fact.startswith("MaySend")]

    assert sent() == []
    assert sent("--verifier1", "V.x") == ["MaySend('b')"]
    assert sent("--verifier0", "V.x") == []
    assert sent("--verifier0", "V.x", "--side", "1") == ["MaySend('b')"]
    proven = ("--verifier0", "V.y", "--verifier1", "V.x", "--origins", "verifier")
    assert sent(*proven) == ["MaySend('b')"]
    assert sent("--trust-peer") == ["MaySend('b')"]
    (folder / "none.lace").write_text("AllowQueryRecord(V,P) :- _Viewer(V), Field(P,'no',_,_).\n")
    assert sent("--verifier1", "V.x", "--narrow", "none.lace") == []


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--query", "Other/1"), "no rule of either policy derives Other/1"),
        (("--query", "Blocked"), "'Blocked' is not NAME/ARITY"),
        (("--expose", "all"), "needs --peer"),
        (("--side", "0"), "needs --peer"),
        (("--verifier1", "V.x"), "needs --peer"),
        (("--origins", "verifier"), "needs --peer"),
        (("--trust-peer",), "needs --peer"),
        (("--peer", "old.lace", "--query", "A/1"), "cannot stand beside --peer"),
        (("--peer", "old.lace", "--lowering", "other"), "other"),
    ],
)
def test_what_cannot_be_compared_is_told(arguments: tuple[str, ...], said: str) -> None:
    outcome = lacec("diff", "old.lace", "new.lace", *arguments, "--facts", "some.facts")
    assert (outcome.code, outcome.out) == (2, "")
    assert said in outcome.err


def test_without_a_selection_it_asks_for_a_predicate(folder: Path) -> None:
    (folder / "plain.lace").write_text("Other(P) :- Have(P).\n", encoding="utf-8")
    outcome = lacec("diff", "plain.lace", "plain.lace", "--facts", "some.facts")
    assert outcome.code == 2
    assert "say --query; they derive Other/1" in outcome.err


def test_mistakes_in_either_policy_are_refused(folder: Path) -> None:
    (folder / "new.lace").write_text("SelectHave(P) :- true.\n", encoding="utf-8")
    outcome = lacec("diff", "old.lace", "new.lace", "--facts", "some.facts", "--json")
    assert outcome.code == 1
    assert [each["name"] for each in outcome.document["diagnostics"]] == ["unbound-variable"]
