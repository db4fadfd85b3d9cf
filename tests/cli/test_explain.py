"""lacec explain: the page of a diagnostic."""

import pytest

from lacec.diagnostics import CATALOGUE
from lacec.resources import rule_page_path
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
