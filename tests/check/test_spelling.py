"""Near-misses: a predicate that nobody defines, close to one that exists."""

import pytest

from lacec.check.spelling import nearest
from tests.helpers import REST, Found, cases, diagnose, found, only


@cases(
    ("a letter swapped", "A(P) :- Feild(P,_,_,_).", "plain", [("misspelt-predicate", 1, 9)]),
    ("a letter left out", "A(P) :- Fild(P,_,_,_).", "plain", [("misspelt-predicate", 1, 9)]),
    ("a letter added", "A(P) :- Fieldd(P,_,_,_).", "plain", [("misspelt-predicate", 1, 9)]),
    ("a letter replaced", "A(P) :- Fielt(P,_,_,_).", "plain", [("misspelt-predicate", 1, 9)]),
    ("another case", "A(P) :- have(P).", "plain", [("misspelt-predicate", 1, 9)]),
    (
        "a predicate of the module",
        "Link(P) :- Have(P).\nA(P) :- Lonk(P).",
        "plain",
        [("misspelt-predicate", 2, 9)],
    ),
    (
        "defined further down",
        "A(P) :- Lonk(P).\nLink(P) :- Have(P).",
        "plain",
        [("misspelt-predicate", 1, 9)],
    ),
    (
        "a builtin",
        "A(P) :- Have(P), IntCompar(P,'<','1').",
        "plain",
        [("misspelt-predicate", 1, 18)],
    ),
    (
        "negated",
        "A(P) :- Have(P), not Hava(P).",
        "plain",
        [("misspelt-predicate", 1, 22)],
    ),
    ("counted", "A() :- Cardinality(Hawe(P),'<','1').", "plain", [("misspelt-predicate", 1, 20)]),
    (
        "every use",
        "A(P) :- Feild(P,_,_,_), Feild(P,_,_,_).",
        "plain",
        [("misspelt-predicate", 1, 9), ("misspelt-predicate", 1, 25)],
    ),
    ("a name of its own", "A(P) :- Candidate(P).", "plain", []),
    ("two letters off", "A(P) :- Fxeldd(P,_,_,_).", "plain", []),
    ("short names", "Abc(P) :- Have(P).\nA(P) :- Abd(P).", "plain", []),
    ("a head is not a use", "Feild(P) :- Have(P).", "plain", []),
    ("an export read by a plain module", "A(P) :- SelectHave(P).", "plain", []),
    ("close to what it defines itself", "Have1(P) :- Have(P).\nA(P) :- Have1(P).", "plain", []),
    # arity
    ("too few arguments", "A(P) :- Field(P,'Name',_).", "plain", [("wrong-arity", 1, 9)]),
    ("too many arguments", "A(P) :- Have(P,_).", "plain", [("wrong-arity", 1, 9)]),
    (
        "a predicate of the module, arity",
        "Link(P) :- Have(P).\nA(P) :- Link(P,_).",
        "plain",
        [("wrong-arity", 2, 9)],
    ),
    ("defined with that arity", "Have(P,Q) :- Have(P), Have(Q).\nA(P) :- Have(P,_).", "plain", []),
    ("negated, arity", "A(P) :- Have(P), not Peer(P,_).", "plain", [("wrong-arity", 1, 22)]),
    ("counted, arity", "A() :- Cardinality(Have(),'<','1').", "plain", [("wrong-arity", 1, 20)]),
    # facets
    (
        "a selector",
        "A(P) :- Advertized(P,_)." + REST["selector"],
        "selector",
        [("misspelt-predicate", 1, 9)],
    ),
    (
        "an exposure module",
        "A(P) :- _Veiwer(P)." + REST["expose"],
        "expose",
        [("misspelt-predicate", 1, 9)],
    ),
)
def test_spelling(source: str, facet: str, expected: Found) -> None:
    assert found(source, facet) == expected


def test_they_are_warnings() -> None:
    """030: a predicate without facts and rules is empty, not wrong."""
    outcome = diagnose("A(P) :- Feild(P,_,_,_), Have(P,_).")
    assert [d.severity for d in outcome] == ["warning", "warning"]


def test_the_help_names_the_predicate_that_is_close() -> None:
    diagnostic = only("A(P) :- Feild(P,_,_,_).")
    assert diagnostic.message == "nothing defines `Feild/4`, so this atom matches nothing"
    assert diagnostic.help == "did you mean `Field`?"


def test_the_help_shows_the_form_of_a_base_predicate() -> None:
    diagnostic = only("A(P) :- Field(P,'Name',_).")
    assert diagnostic.message.startswith("`Field` takes 4 arguments, here it has 3")
    assert diagnostic.help == "Field(P,Name,Index,Value): one field of the record P"


def test_the_message_lists_every_arity() -> None:
    source = "Link(P) :- Have(P).\nLink(P,P,P) :- Have(P).\nA(P) :- Link(P,P)."
    assert only(source).message.startswith("`Link` takes 1 or 3 arguments, here it has 2")


@pytest.mark.parametrize(
    ("word", "close"),
    [
        ("candidate", True),
        ("Candidat", True),
        ("Candidatee", True),
        ("Condidate", True),
        ("Cnadidate", True),
        ("Candy", False),
        ("X", False),
        ("C" * 100, False),
    ],
)
def test_nearest(word: str, close: bool) -> None:
    assert nearest(word, ["CANDIDATE"]) == ("CANDIDATE" if close else None)


def test_a_word_is_not_close_to_itself() -> None:
    assert nearest("Have", ["Have"]) is None
