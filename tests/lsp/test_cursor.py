"""What stands at a place of a line that is half typed."""

import pytest

from lacec.core.predicates import BUILTINS
from lacec.lsp.cursor import calls_at, parameters, token_at


@pytest.mark.parametrize(
    ("line", "calls"),
    [
        ("A(P) :- Field(P,|", [("Field", 1)]),
        ("A(P) :- Field(P,'a,b(',|", [("Field", 2)]),
        ("A(P) :- Have(P), |", []),
        ("A(P|", [("A", 0)]),
        ("A(P) :- Cardinality(Field(P,_|", [("Cardinality", 0), ("Field", 1)]),
        ("A(P) :- Cardinality(Have(P),|", [("Cardinality", 1)]),
        ("A(P) :- Field(P,'Si|", [("Field", 1)]),
        (") , ( |", []),
    ],
)
def test_the_calls_around_a_cursor(line: str, calls: list[tuple[str, int]]) -> None:
    at = line.index("|")
    found = calls_at(line.replace("|", ""), at)
    assert [(call.name.text, call.argument) for call in found] == calls


def test_the_token_at_a_cursor_is_the_name_rather_than_the_sign_beside_it() -> None:
    line = "Have(P), Link(P)."
    assert [getattr(token_at(line, at), "text", None) for at in (0, 4, 5, 9, 16, 99)] == [
        "Have",
        "Have",
        "P",
        "Link",
        ".",
        None,
    ]


def test_the_arguments_of_a_form_count_a_call_as_one() -> None:
    assert parameters(BUILTINS["Cardinality"]) == ["Predicate(Term,...)", "Op", "N"]
    assert parameters("TransportEncrypted()") == []
