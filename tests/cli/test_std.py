"""lacec std: what the library has, and that every command links it as lace.toml says."""

from pathlib import Path

import pytest

from lacec.core.resources import stdlib_names
from tests.cli.run import lacec

POLICY = """\
LatestCount('1') :- true.
Candidate(P,T) :- Have(P), Field(P,'TAI',_,T).
SelectHave(P) :- AmongLatest(P).
SelectAdvertised(P,S) :- Advertised(P,S).
"""
EXPOSURE = "ExposedGroup('u') :- true.\n"
FACTS = """\
Have('S.1')
Field('S.1','TAI','0','1')
Field('S.1','Group','0','u')
Have('S.2')
Field('S.2','TAI','0','2')
Field('S.2','Group','0','u')
"""
SETTINGS = """\
[[files]]
match = "policy.lace"
with = "std:latest"
facet = "selector"

[[files]]
match = "open.lace"
with = "std:expose"
facet = "expose"
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    texts = {"policy.lace": POLICY, "open.lace": EXPOSURE, "some.facts": FACTS}
    for name, text in {**texts, "lace.toml": SETTINGS}.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


def test_list_names_every_module() -> None:
    outcome = lacec("std", "list")
    assert [line.split()[0] for line in outcome.out.splitlines()] == [
        f"std:{name}" for name in stdlib_names()
    ]
    assert [each["name"] for each in lacec("std", "list", "--json").document["modules"]] == [
        f"std:{name}" for name in stdlib_names()
    ]


@pytest.mark.parametrize("name", ["signed", "std:signed"])
def test_show_prints_the_module(name: str) -> None:
    assert "BySigner(P) :- Have(P)" in lacec("std", "show", name).out
    document = lacec("std", "show", name, "--json").document
    assert document["you_define"] == [
        {
            "predicate": "Signer/1",
            "form": "Signer(V)",
            "meaning": "records signed by the verifier V count.",
        }
    ]
    assert "BySigner/1" in [each["predicate"] for each in document["gives"]]


def test_show_says_which_name_was_meant() -> None:
    outcome = lacec("std", "show", "sined")
    assert outcome.code == 2
    assert "there is no module 'sined'; did you mean signed?" in outcome.err


# A module is linked as lace.toml says, whatever is done with it; the command line wins.


def test_compile_links_as_lace_toml_says() -> None:
    document = lacec("compile", "policy.lace", "--json").document
    assert {rule["file"] for rule in document["rules"]} == {"policy.lace", "std:latest"}


def test_compile_checks_the_facet_of_lace_toml(folder: Path) -> None:
    (folder / "policy.lace").write_text("SelectHave(P) :- Have(P).\n", encoding="utf-8")
    outcome = lacec("compile", "policy.lace", "--json")
    assert (outcome.code, outcome.document["diagnostics"][0]["name"]) == (1, "missing-export")
    assert lacec("compile", "policy.lace", "--facet", "plain").code == 0


def test_eval_links_as_lace_toml_says() -> None:
    asked = ("eval", "policy.lace", "--facts", "some.facts", "--query", "SelectHave/1")
    assert lacec(*asked).out == "SelectHave('S.2')\n"
    assert lacec(*asked, "--with", "std:signed").out == ""


def test_explain_links_as_lace_toml_says() -> None:
    outcome = lacec("explain", "policy.lace", "AmongLatest('S.2')", "--facts", "some.facts")
    assert "std:latest:" in outcome.out


def test_plans_link_both_operands_and_exposures() -> None:
    asked = ("eval", "--plan", "policy.lace", "policy.lace", "--side", "0", "--expose", "open.lace")
    outcome = lacec(*asked, "--facts", "some.facts", "--json")
    assert outcome.document == {
        "may_send": ["S.2"],
        "may_request": [],
        "can_query": ["S.1", "S.2"],
    }


def test_exchanges_link_policies_and_exposures() -> None:
    for store in ("a", "b"):
        assert lacec("store", "init", store).code == 0
    for number in (1, 2):
        lacec("record", "new", "--group", "u", "--app", "x", "--name", f"n{number}",
              "--tai", f"2026-01-0{number}T00:00:00Z", "-o", f"r{number}", source=b"x")  # fmt: skip
    lacec("store", "import", "a", "r1", "r2")
    exchange = ("run-interlace", "--left", "a", "--right", "b", "--policy", "policy.lace")
    moved = lacec(*exchange, "--expose", "open.lace", "--dry-run", "--json").document["moves"]
    assert [rule["file"] for rule in moved[0]["sent_by"]] == ["policy.lace", "policy.lace"]
    assert len(moved) == 1
