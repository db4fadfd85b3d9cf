"""lacec eval: facts in, derived facts out, in every form."""

from pathlib import Path

import pytest

from tests.cli.run import lacec

POLICY = "Selected(P) :- Have(P), not Hidden(P).\nHidden(P) :- Have(P), Field(P,'Group',_,'x').\n"
FACTS = "Have('b')\nHave('a')\nHave('a')\nField('b','Group','0','x')\n"


@pytest.fixture
def policy(tmp_path: Path) -> str:
    (tmp_path / "policy.lace").write_text(POLICY)
    (tmp_path / "all.facts").write_text(FACTS)
    return str(tmp_path / "policy.lace")


def facts(policy: str) -> str:
    return str(Path(policy).with_name("all.facts"))


def test_json_has_every_derived_predicate_with_sorted_tuples(policy: str) -> None:
    outcome = lacec("eval", policy, "--facts", facts(policy), "--json")
    assert outcome.code == 0
    assert outcome.document == {"facts": {"Hidden/1": [["b"]], "Selected/1": [["a"]]}}


def test_a_derived_predicate_without_facts_is_empty(policy: str) -> None:
    outcome = lacec("eval", policy, "--json")
    assert outcome.document == {"facts": {"Hidden/1": [], "Selected/1": []}}


def test_text_is_fact_lines(policy: str) -> None:
    outcome = lacec("eval", policy, "--facts", facts(policy), "--query", "Selected/1")
    assert (outcome.code, outcome.out) == (0, "Selected('a')\n")


def test_facts_from_standard_input(policy: str) -> None:
    outcome = lacec("eval", policy, "--facts", "-", "--query", "Hidden/1", source=FACTS)
    assert outcome.out == "Hidden('b')\n"


@pytest.mark.parametrize("query", ["Selected", "Selected/2", "Have/1", "/1", "Selected/x"])
def test_a_query_that_no_rule_derives(policy: str, query: str) -> None:
    assert lacec("eval", policy, "--query", query).code == 2


def test_a_fact_of_a_derived_predicate_is_refused(policy: str, tmp_path: Path) -> None:
    path = tmp_path / "wrong.facts"
    path.write_text("Have('a')\nSelected('a')\n")
    outcome = lacec("eval", policy, "--facts", str(path), "--json")
    assert outcome.code == 1
    (found,) = outcome.document["diagnostics"]
    assert (found["name"], found["file"], found["line"]) == ("derived-fact", str(path), 2)


def test_a_bad_fact_is_refused_with_its_place(policy: str) -> None:
    outcome = lacec("eval", policy, "--facts", "-", source="Have('a')\nHave(b)\n")
    assert outcome.code == 1
    assert "<stdin>:2:" in outcome.err


def test_a_policy_with_errors_is_refused() -> None:
    outcome = lacec("eval", "-", "--json", source="A(X) :- B(Y).\n")
    assert outcome.code == 1
    assert [d["name"] for d in outcome.document["diagnostics"]] == ["unbound-variable"]


def test_a_limit_exits_with_3(policy: str) -> None:
    outcome = lacec(
        "eval", policy, "--facts", facts(policy), "--limit", "derived_facts=0", "--json"
    )
    assert outcome.code == 3
    assert outcome.document["limit"]["name"] == "derived_facts"
    assert (outcome.document["limit"]["value"], outcome.document["limit"]["count"]) == (0, 1)
    text = lacec("eval", policy, "--facts", facts(policy), "--limit", "derived_facts=0")
    assert (text.code, text.out) == (3, "")
    assert "derived_facts of 0" in text.err


@pytest.mark.parametrize("form", ["facts", "csv", "parquet"])
def test_files_out_can_be_read_in_again(policy: str, tmp_path: Path, form: str) -> None:
    folder = tmp_path / "out"
    arguments = ["eval", policy, "--facts", facts(policy), "--query", "Selected/1"]
    assert lacec(*arguments, "-o", str(folder), "--as", form).code == 0
    outcome = lacec(
        "eval",
        "-",
        "--facts",
        str(folder / f"Selected.{form}"),
        "--json",
        source="Again(P) :- Selected(P).\n",
    )
    assert outcome.document == {"facts": {"Again/1": [["a"]]}}


def test_profile_has_every_rule_that_ran(policy: str) -> None:
    outcome = lacec("eval", policy, "--facts", facts(policy), "--profile")
    assert outcome.code == 0
    assert "Selected(P) :- Have(P), not Hidden(P)." in outcome.err
    assert "Hidden(P) :- Have(P), Field(P,'Group',_,'x')." in outcome.err


def test_linked_rules_count_too(policy: str, tmp_path: Path) -> None:
    (tmp_path / "more.lace").write_text("Hidden(P) :- Have(P), Secret(P).\n")
    outcome = lacec(
        "eval",
        policy,
        "--with",
        str(tmp_path / "more.lace"),
        "--facts",
        "-",
        "--json",
        source="Have('a')\nSecret('a')\n",
    )
    assert outcome.document == {"facts": {"Hidden/1": [["a"]], "Selected/1": []}}


def test_a_value_that_no_fact_line_can_hold(policy: str, tmp_path: Path) -> None:
    (tmp_path / "Have.csv").write_text('"two\nlines"\n')
    arguments = ["eval", policy, "--facts", str(tmp_path / "Have.csv"), "--query", "Selected/1"]
    assert lacec(*arguments).code == 2
    assert lacec(*arguments, "--json").document == {"facts": {"Selected/1": [["two\nlines"]]}}


def test_warnings_are_shown_beside_the_result_but_for_what_has_facts(tmp_path: Path) -> None:
    path = tmp_path / "policy.lace"
    path.write_text("Selected(P) :- Have(P), not Hiden(P).\nHidden(P) :- Field(P,_,_,_).\n")
    outcome = lacec("eval", str(path), "--facts", "-", source=FACTS)
    assert (outcome.code, outcome.out) == (0, "Hidden('b')\nSelected('a')\nSelected('b')\n")
    assert "warning[misspelt-predicate]" in outcome.err
    outcome = lacec("eval", str(path), "--facts", "-", source=FACTS + "Hiden('a')\n")
    assert (outcome.out, outcome.err) == ("Hidden('b')\nSelected('b')\n", "")
    assert lacec("eval", str(path), "--facts", "-", "--json", source=FACTS).err == ""


def test_without_facts_it_says_how_to_give_some(policy: str) -> None:
    outcome = lacec("eval", policy)
    assert (outcome.code, outcome.out) == (0, "")
    assert outcome.err == "no facts were given: --facts FILE or --store STORE gives some\n"


def test_a_query_without_its_arity_is_shown_how_to_be_written(policy: str) -> None:
    outcome = lacec("eval", policy, "--query", "Selected")
    assert "'Selected' is not NAME/ARITY, as in Selected/1" in outcome.err
