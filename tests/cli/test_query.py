"""lacec query: an ad-hoc body over facts."""

from pathlib import Path

import pytest

from tests.cli.run import lacec

FACTS = "Edge('a','b')\nEdge('b','c')\nNode('c')\n"


def test_named_variables_are_the_columns_in_order() -> None:
    outcome = lacec("query", "Edge(X,Y), Edge(Y,Z)", "--facts", "-", "--json", source=FACTS)
    assert outcome.document == {"columns": ["X", "Y", "Z"], "rows": [["a", "b", "c"]]}


def test_wildcards_and_local_names_are_no_columns() -> None:
    body = "Edge(X,_), not Node(X), Cardinality(Edge(X,Other),'>','0')"
    outcome = lacec("query", body, "--facts", "-", "--json", source=FACTS)
    assert outcome.document == {"columns": ["X"], "rows": [["a"], ["b"]]}


@pytest.mark.parametrize(("body", "answer"), [("Node('c')", "yes"), ("Node('a')", "no")])
def test_a_question_without_variables(body: str, answer: str) -> None:
    assert lacec("query", body, "--facts", "-", source=FACTS).out.split() == [answer]


def test_rules_may_be_linked(tmp_path: Path) -> None:
    path = tmp_path / "path.lace"
    path.write_text("Path(X,Y) :- Edge(X,Y).\nPath(X,Z) :- Path(X,Y), Edge(Y,Z).\n")
    outcome = lacec("query", "Path('a',Y)", "--with", str(path), "--facts", "-", source=FACTS)
    assert outcome.out == "Y\nb\nc\n"


def test_rules_come_with_what_lace_toml_links_to_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("lace.toml").write_text("with = ['base.lace', 'std:latest']\n")
    Path("base.lace").write_text("Step(X,Y) :- Edge(X,Y).\n")
    Path("path.lace").write_text("Path(X,Y) :- Step(X,Y).\nPath(X,Z) :- Path(X,Y), Step(Y,Z).\n")
    for linked in (("path.lace",), ("path.lace", "./base.lace", "std:latest", "path.lace")):
        options = [word for name in linked for word in ("--with", name)]
        outcome = lacec("query", "Path('a',Y)", *options, "--facts", "-", source=FACTS)
        assert (outcome.out, outcome.err) == ("Y\nb\nc\n", "")


def test_a_mistake_is_shown_in_the_body() -> None:
    outcome = lacec("query", "Edge(X,Y), X = Y", "--json")
    assert outcome.code == 1
    (found,) = outcome.document["diagnostics"]
    assert (found["name"], found["file"], found["line"]) == ("equality-atom", "<query>", 1)
    assert (found["column"], found["end_column"]) == (14, 15)


def test_a_full_stop_is_harmless() -> None:
    assert lacec("query", "Node(X).", "--facts", "-", source=FACTS).out == "X\nc\n"


def test_no_control_character_reaches_the_terminal() -> None:
    outcome = lacec("query", "Node(X)", "--facts", "-", source="Node('\x1b[31m')\n")
    assert "\x1b" not in outcome.out + outcome.err


def test_a_misspelt_predicate_is_told_unless_there_are_facts_of_it() -> None:
    """An atom that nothing defines matches nothing (030), which is seldom meant."""
    outcome = lacec("query", "Feild(P,'Group',_,G)", "--facts", "-", source=FACTS)
    assert (outcome.code, outcome.out) == (0, "P\tG\n")
    assert "warning[misspelt-predicate]" in outcome.err
    assert " --> <query>:1:1\n" in outcome.err
    facts = "Feild('a','Group','0','x')\n"
    outcome = lacec("query", "Feild(P,'Group',_,G)", "--facts", "-", source=facts)
    assert (outcome.out, outcome.err) == ("P\tG\na\tx\n", "")


def test_without_facts_it_says_how_to_give_some() -> None:
    outcome = lacec("query", "Node(X)")
    assert (outcome.code, outcome.out) == (0, "X\n")
    assert outcome.err == "no facts were given: --facts FILE or --store STORE gives some\n"
    assert lacec("query", "Node(X)", "--facts", "-", source="").err == ""
    assert lacec("query", "LexCompare('a','<','b')").err == ""
