"""Lines that are stuck: what each is told, where, and whether it was still read."""

import pytest
from hypothesis import given
from syrupy.assertion import SnapshotAssertion

from lacec.core.diagnostics import CATALOGUE, Problem
from lacec.syntax.automaton import Stuck, run
from lacec.syntax.lexer import Token, tokens_of
from lacec.syntax.mistakes import MISTAKES, syntax_error
from lacec.syntax.mistakes.situation import Situation
from lacec.syntax.parse import ParsedLine, parse_line
from tests.helpers import examples, found
from tests.strategies import spaced_rules

BAD_LINES = {
    # words
    "lower-case variable": "P(X) :- Have(x).",
    "lower-case word for text": "P(X) :- Field(X,group,_,_).",
    "dash in a variable": "P(X-1) :- Have(X).",
    "lower-case variable in !=": "P(X) :- Have(X), x != X.",
    "lower-case variable on the right of !=": "P(X) :- Have(X), X != y.",
    "underscore variable": "P(X) :- Field(X,'Group',_Name,'u').",
    "underscore variable in !=": "P(X) :- Have(X), _x != X.",
    "two underscores": "P(X) :- Have(__).",
    "double quotes": "P(X) :- Field(X,\"Group\",_,'u').",
    "double quotes around a quote": 'P("it\'s") :- true.',
    "double quotes never closed": 'P("a) :- true.',
    "curly quotes": "P(X) :- Q(X,“a”,‘b’).",
    "backquotes": "P(`a`) :- true.",
    "number": "P(1) :- true.",
    "negative number": "P(X) :- Q(X,-12).",
    "fraction": "P(1.5) :- true.",
    "unterminated constant": "P('a) :- true.",
    "unterminated constant after an escaped quote": r"P('a\') :- true.",
    "bad escape": r"P('a\nb') :- true.",
    "bad escape after a good one": r"P('\\\d\'') :- true.",
    "equality": "P(X) :- Q(X,Y), X = Y.",
    "double equality": "P(X) :- Q(X), X == 'a'.",
    "equality of a lower-case name": "P(X) :- Q(X), y = X.",
    "less": "P(X) :- Q(X,Y), X < Y.",
    "less or equal": "P(X) :- Q(X,Y), X <= '5'.",
    "equal or less": "P(X) :- Q(X,Y), X =< Y.",
    "unequal in another language": "P(X) :- Q(X,Y), X <> Y.",
    "arrow of another language": "P(X) <- Q(X).",
    "arrow of logic": "P(X) => Q(X).",
    "equals as arrow": "P(X) = Q(X).",
    "colon as arrow": "P(X) : Q(X).",
    "exclamation mark": "P(X) :- Q(X), !R(X).",
    "tilde": "P(X) :- Q(X), ~R(X).",
    "prolog negation": r"P(X) :- Q(X), \+ R(X).",
    "minus": "P(X) :- Q(X), - R(X).",
    "NOT": "P(X) :- Q(X), NOT R(X).",
    "Not": "P(X) :- Q(X), Not R(X).",
    "not with parentheses": "P(X) :- Q(X), not (R(X)).",
    "not with parentheses, never closed": "P(X) :- Q(X), not (R(X).",
    "semicolon": "P(X) :- Q(X); R(X).",
    "bar": "P(X) :- Q(X) | R(X).",
    "two bars": "P(X) :- Q(X) || R(X).",
    "ampersand": "P(X) :- Q(X) & R(X).",
    "two ampersands": "P(X) :- Q(X) && R(X).",
    "percent comment": "% all records",
    "slash comment": "// all records",
    "dash comment": "-- all records",
    "star comment": "/* all records */",
    "strange character": "P(X) :- Q(X)@.",
    "no-break space": "P(X) :-\u00a0Q(X).",
    "zero-width space": "P(X\u200b) :- Q(X).",
    "letter outside ASCII": "Pé(X) :- Q(X).",
    "full-width parenthesis": "P（X) :- Q(X).",
    "brackets": "P([X]) :- Q(X).",
    # shape
    "not as head": "not(X) :- Q(X).",
    "true with arguments": "P(X) :- true(X).",
    "negated keyword": "P(X) :- not not(X).",
    "Cardinality as head": "Cardinality(X) :- Q(X).",
    "Cardinality negated": "P(X) :- Q(X), not Cardinality(Q(X),'<','1').",
    "Cardinality counted": "P(X) :- Q(X), Cardinality(Cardinality(Q(X),'<','1'),'<','1').",
    "Cardinality without an operator": "P(X) :- Q(X), Cardinality(Q(X),'<').",
    "Cardinality of an atom alone": "P(X) :- Q(X), Cardinality(Q(X)).",
    "Cardinality with one argument more": "P(X) :- Q(X), Cardinality(Q(X),'<','1','2').",
    "Cardinality of a variable": "P(X) :- Q(X), Cardinality(X,'<','1').",
    "Cardinality of nothing": "P(X) :- Q(X), Cardinality().",
    "constant as head": "'a' :- Q(X).",
    "negated head": "not P(X) :- Q(X).",
    "true as head": "true :- Q(X).",
    "no head": ":- Q(X).",
    "test as head": "X != Y :- Q(X,Y).",
    "two heads": "P(X), R(X) :- Q(X).",
    "full stop alone": ".",
    "comma first": ", P(X) :- Q(X).",
    "closing parenthesis first": ") :- Q(X).",
    "parenthesis first": "(P(X) :- Q(X)).",
    "nested atom": "P(X) :- Q(R(X)).",
    "nested atom, lower-case": "P(X) :- Q(r(X)).",
    "nested private atom": "P(X) :- Q(_r(X)).",
    "no body": "P('a').",
    "no body and no full stop": "P('a')",
    "nothing after the arrow": "P('a') :- .",
    "missing full stop": "P(X) :- Q(X)",
    "missing full stop after true": "P() :- true",
    "missing full stop before a comment": "P(X) :- Q(X) # why",
    "line ends after the arrow": "P(X) :-",
    "line ends after a comma": "P(X) :- Q(X),",
    "line ends after not": "P(X) :- Q(X), not",
    "line ends after !=": "P(X) :- Q(X), X !=",
    "two rules": "P(X) :- Q(X). R(X) :- Q(X).",
    "two full stops": "P(X) :- Q(X)..",
    "comment after a rule": "P(X) :- Q(X). # why",
    "comment after a word": "P # why",
    "annotation after a rule": "P(X) :- Q(X). #:json {}",
    "no parentheses": "P(X) :- Q(X), TransportEncrypted.",
    "no parentheses, lower-case": "p :- Q(X).",
    "no parentheses after not": "P(X) :- Q(X), not Blocked.",
    "True": "P() :- True.",
    "TRUE before another atom": "P(X) :- TRUE, Q(X).",
    "comma before a parenthesis": "P(X,) :- Q(X).",
    "comma after a parenthesis": "P(,X) :- Q(X).",
    "two commas": "P(X) :- Q(X),, R(X).",
    "comma before the full stop": "P(X) :- Q(X), .",
    "comma after the arrow": "P(X) :- , Q(X).",
    "parenthesis not closed": "P(X) :- Q(X.",
    "parenthesis of the head not closed": "P(X :- Q(X).",
    "parenthesis not closed at the end": "P(X) :- Q(X",
    "parenthesis closes nothing": "P(X) :- Q(X)).",
    "parenthesis of the head closes nothing": "P(X)) :- Q(X).",
    "no comma between atoms": "P(X) :- Q(X) R(X).",
    "no comma between terms": "P(X) :- Q(X 'a').",
    "no comma before not": "P(X) :- Q(X) not R(X).",
    "not twice": "P(X) :- not not Q(X).",
    "anonymous term as an atom": "P(X) :- Q(X), _ .",
    # several in one line
    "three mistakes": 'P(x) :- Q(x,"a") R(X)',
    "more than a line may report": "P(X) :- @@@@@@@@@@ Q(X).",
}


def report(text: str) -> str:
    """A line with its problems, for people to read in the snapshot."""
    node, problems, canonical = parse_line(text)
    shown = ["".join(c if c.isprintable() else "·" for c in text)]
    for problem in problems:
        start, end = problem.span
        shown.append(" " * start + "^" * max(1, end - start))
        shown.append(f"{problem.name} {start + 1}-{max(end, start + 1) + 1}: {problem.message}")
        shown.append(f"  help: {problem.help}")
    shown.append("not read" if node is None else f"read as {canonical or node}")
    return "\n".join(shown)


@pytest.mark.parametrize("name", BAD_LINES)
def test_bad_line(name: str, snapshot: SnapshotAssertion) -> None:
    assert report(BAD_LINES[name]) == snapshot


@pytest.mark.parametrize("name", BAD_LINES)
def test_every_problem_has_a_known_name_a_help_line_and_a_place(name: str) -> None:
    text = BAD_LINES[name]
    problems = parse_line(text).problems
    assert problems
    for problem in problems:
        assert CATALOGUE[problem.name] == "error"
        assert problem.help
        assert 0 <= problem.span[0] <= problem.span[1] <= len(text)


def _answers(text: str) -> list[str]:
    """The functions that answer for a line, in turn."""
    tokens: list[Token] | None = [Token(*token) for token in tokens_of(text)]
    names: list[str] = []
    while tokens is not None and len(names) < 20:
        result = run(tokens)
        if not isinstance(result, Stuck):
            break
        situation = Situation(tokens, result.index, result.expected)
        asked = ((mistake.__name__, mistake(situation)) for mistake in MISTAKES)
        name, answer = next(
            ((name, answer) for name, answer in asked if answer is not None),
            (syntax_error.__name__, (syntax_error(situation), None)),
        )
        names.append(name)
        tokens = answer[1]
    return names


def test_the_table_reaches_every_mistake() -> None:
    reached = {name for text in BAD_LINES.values() for name in _answers(text)}
    assert reached == {mistake.__name__ for mistake in MISTAKES} | {"syntax_error"}


@examples(100)
@given(spaced_rules)
def test_a_well_formed_rule_is_no_mistake(text: str) -> None:
    assert parse_line(text).problems == ()


# The near-misses that are made most often, in full.


def _one(text: str) -> tuple[Problem, ParsedLine]:
    line = parse_line(text)
    (problem,) = line.problems
    return problem, line


def test_lower_case_variable() -> None:
    problem, line = _one("Selected(P) :- Have(p).")
    assert problem == Problem(
        "bad-variable",
        (20, 21),
        "`p` is neither a variable nor a constant",
        "write `P` for a variable, `'p'` for text",
    )
    assert line.text == "Selected(P) :- Have(P)."


def test_missing_full_stop() -> None:
    problem, line = _one("Selected(P) :- Have(P)")
    assert problem == Problem(
        "missing-full-stop",
        (22, 22),
        "this rule does not end with a full stop",
        "write `.` after the last atom",
    )
    assert line.text == "Selected(P) :- Have(P)."
    assert found("Selected(P) :- Have(P)") == [("missing-full-stop", 1, 23)]


def test_double_quotes() -> None:
    problem, line = _one("Selected(P) :- Field(P,\"Group\",_,'u').")
    assert problem == Problem(
        "wrong-quotes", (23, 30), "constants are written in single quotes", "write `'Group'`"
    )
    assert line.text == "Selected(P) :- Field(P,'Group',_,'u')."


def test_equality() -> None:
    problem, line = _one("Selected(P) :- Field(P,_,_,V), V = 'u'.")
    assert problem == Problem(
        "equality-atom",
        (33, 34),
        "`=` is not Lace Datalog",
        "use the same variable, or the constant, in both places",
    )
    assert line.node is not None


def test_mistakes_of_form_do_not_hide_mistakes_of_meaning() -> None:
    source = "Have(P) :- Field(p,\"Group\",_,'u'), IntCompare(P,'~','1')"
    assert found(source) == [
        ("base-predicate", 1, 1),
        ("bad-variable", 1, 18),
        ("wrong-quotes", 1, 20),
        ("bad-operator", 1, 49),
        ("missing-full-stop", 1, 57),
    ]


def test_a_guess_draws_no_complaint_about_its_variables() -> None:
    """What a repaired rule binds is a guess, so safety is not checked."""
    assert found("P(X) :- Q(Y)") == [("missing-full-stop", 1, 13)]
