"""A predicate that nothing defines."""

from lacec.core.predicates import Predicate
from tests.helpers import Found, cases, lints


@cases(
    ("used", "A(P) :- Approved(P).", "plain", [("undefined-predicate", 1, 9)]),
    ("negated", "A(P) :- Have(P), not Approved(P).", "plain", [("undefined-predicate", 1, 22)]),
    (
        "counted",
        "A() :- Cardinality(Approved(_),'<','1').",
        "plain",
        [("undefined-predicate", 1, 20)],
    ),
    (
        "once a rule",
        "A(P) :- Approved(P,P), Approved(_,P).",
        "plain",
        [("undefined-predicate", 1, 9)],
    ),
    ("defined below", "A(P) :- Approved(P).\nApproved(P) :- Have(P).", "plain", []),
    ("a base predicate", "A(P) :- Advertised(P,_).", "plain", []),
    ("a near-miss has its own name", "A(P) :- Hava(P).", "plain", [("misspelt-predicate", 1, 9)]),
    ("another arity, too", "A(P) :- Have(P,P).", "plain", [("wrong-arity", 1, 9)]),
    ("what lowering makes", "A(P) :- MaySend(P).", "plain", []),
    (
        "perhaps on a line that cannot be read",
        "A(P) :- Approved(P).\n)(",
        "plain",
        [("bad-head", 2, 1)],
    ),
)
def test_undefined_predicate(source: str, facet: str, expected: Found) -> None:
    assert lints(source, facet) == expected


def test_it_may_be_linked_or_given() -> None:
    source = "A(P) :- Approved(P)."
    assert lints(source, linked="Approved(P) :- Have(P).") == []
    assert lints(source, inputs=frozenset({Predicate("Approved", 1)})) == []


def test_a_linked_file_is_linted_on_its_own() -> None:
    assert lints("A(P) :- Have(P).", linked="B(P) :- Approved(P).") == []
