"""lacec explain: the page of a diagnostic, and how a program is evaluated."""

from pathlib import Path

import pytest

from lacec.core.diagnostics import CATALOGUE
from lacec.core.resources import rule_page_path
from tests.cli.run import lacec


@pytest.mark.parametrize("name", ["bad-head", "empty-source", "unstratified"])
def test_prints_the_page(name: str) -> None:
    page = rule_page_path(name).read_text(encoding="utf-8")
    assert lacec("explain", name) == (0, page, "")


def test_every_diagnostic_can_be_explained() -> None:
    for name in CATALOGUE:
        assert lacec("explain", name).out.startswith(f"# {name}\n")


def test_json_has_the_page_and_the_severity() -> None:
    outcome = lacec("explain", "empty-source", "--json")
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.document == {
        "name": "empty-source",
        "severity": "warning",
        "page": rule_page_path("empty-source").read_text(encoding="utf-8"),
    }


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ("bad-hed", "bad-head"),
        ("bad-haed", "bad-head"),
        ("badd-head", "bad-head"),
        ("Bad-Head", "bad-head"),
        ("unbound_variable", "unbound-variable"),
    ],
)
def test_a_misspelt_name_is_corrected(given: str, meant: str) -> None:
    outcome = lacec("explain", given)
    assert (outcome.code, outcome.out) == (2, "")
    assert f"there is no diagnostic {given!r}; did you mean {meant}?" in outcome.err


def test_a_name_like_no_other_lists_the_names() -> None:
    outcome = lacec("explain", "quux")
    assert outcome.code == 2
    assert "there is no diagnostic 'quux'; the names are not-utf8, byte-order-mark, " in " ".join(
        outcome.err.replace("│", " ").split()
    )


@pytest.mark.parametrize("name", ["../rules/bad-head", "README", "bad-head.md", ""])
def test_only_names_of_diagnostics_have_pages(name: str) -> None:
    outcome = lacec("explain", name)
    assert (outcome.code, outcome.out) == (2, "")


def test_a_program_has_strata_dependencies_orders_and_bytecode(tmp_path: Path) -> None:
    policy = tmp_path / "policy.lace"
    policy.write_text("A(P) :- Have(P), Field(P,'Group',_,'u').\nB(P) :- Have(P), not A(P).\n")
    facts = tmp_path / "some.facts"
    facts.write_text("Have('1')\nHave('2')\nField('1','Group','0','u')\n")
    document = lacec("explain", str(policy), "--facts", str(facts), "--json").document
    assert document["strata"] == [["A/1"], ["B/1"]]
    assert {"head": "B/1", "needs": "A/1", "kind": "negates"} in document["dependencies"]
    first = next(rule for rule in document["rules"] if rule["text"].startswith("A(P)"))
    assert first["order"] == [
        {"how": "start", "what": "Field(_,'Group',_,'u')", "size": 1},
        {"how": "filter", "what": "Have(_)", "size": 2},
    ]
    assert first["bytecode"].splitlines()[-1].split()[:2] == ["EMIT", "A/1"]
    text = lacec("explain", str(policy))
    assert text.code == 0
    assert "stratum 1" in text.out
    assert "negates A/1" in text.out


def test_a_program_with_errors_is_refused(tmp_path: Path) -> None:
    policy = tmp_path / "policy.lace"
    policy.write_text("A(X) :- B(Y).\n")
    assert lacec("explain", str(policy)).code == 1


def test_a_file_that_is_not_there_is_no_misspelt_diagnostic() -> None:
    outcome = lacec("explain", "policies/swop.lace")
    assert (outcome.code, outcome.out) == (2, "")
    assert "cannot read policies/swop.lace: no such file or directory" in outcome.err
    assert "diagnostic" not in outcome.err
