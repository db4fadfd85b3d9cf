"""Nodes into canonical text (D5), and back."""

import pytest
from hypothesis import given

from lacec.syntax.ast import Rule
from lacec.syntax.show import show_constant, show_rule
from tests.helpers import compiled, examples, rule
from tests.strategies import rules, sources, tokens


@pytest.mark.parametrize(
    ("written", "canonical"),
    [
        ("P():-true.", "P() :- true."),
        ("P( X , Y ) :- Q( X ),R( Y ).", "P(X,Y) :- Q(X), R(Y)."),
        ("P(X):-Q(X),not  R(X),X!='a'.", "P(X) :- Q(X), not R(X), X != 'a'."),
        ("P(X):-Q(X),not\t_r(X).", "P(X) :- Q(X), not _r(X)."),
        ("P(_):-_!=_.", "P(_) :- _ != _."),
        (
            "P(X) :- Q(X), Cardinality( R( X , Y ) , '<' , '3' ).",
            "P(X) :- Q(X), Cardinality(R(X,Y),'<','3').",
        ),
        (r"P(' \' \\ ') :- true.", r"P(' \' \\ ') :- true."),
        ("P('a , b')  :-  true  .", "P('a , b') :- true."),
    ],
)
def test_canonical_text(written: str, canonical: str) -> None:
    assert show_rule(rule(written)) == canonical


@pytest.mark.parametrize(
    ("value", "written"),
    [("", "''"), ("'", r"'\''"), ("\\", r"'\\'"), ("\\'", r"'\\\''"), ("é", "'é'")],
)
def test_only_the_backslash_and_the_quote_are_escaped(value: str, written: str) -> None:
    assert show_constant(value) == written


@examples(200)
@given(rules)
def test_what_is_printed_reads_as_what_was_printed(node: Rule) -> None:
    assert rule(show_rule(node)) == node


@examples(100)
@given(rules)
def test_canonical_text_has_the_tokens_of_the_rule_and_single_spaces(node: Rule) -> None:
    spaced = {":-": " :- ", "!=": " != ", "not": "not "}
    depth, expected = 0, []
    for token in tokens(node):
        depth += (token == "(") - (token == ")")
        expected.append(", " if token == "," and not depth else spaced.get(token, token))
    assert show_rule(node) == "".join(expected)


@examples(60)
@given(sources)
def test_canonical_text_is_its_own_canonical_text(text: str) -> None:
    once = compiled(text)
    again = compiled(once.canonical)
    assert (again.canonical, again.id) == (once.canonical, once.id)
    assert [r.id for r in again.rules] == [r.id for r in once.rules]
