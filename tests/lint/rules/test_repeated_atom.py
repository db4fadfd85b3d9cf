"""An atom that stands in its body twice."""

from tests.helpers import Found, cases, fixed, lints


@cases(
    ("an atom", "A(P) :- Have(P), Peer(_), Have(P).", "plain", [("repeated-atom", 1, 27)]),
    (
        "a negated atom",
        "A(P) :- Have(P), not Peer(P), not Peer(P).",
        "plain",
        [("repeated-atom", 1, 31)],
    ),
    ("a test", "A(P) :- Have(P), P != 'a', P != 'a'.", "plain", [("repeated-atom", 1, 28)]),
    (
        "a count",
        "A(P) :- Have(P), Cardinality(Peer(_),'<','2'), Cardinality(Peer(_),'<','2').",
        "plain",
        [("repeated-atom", 1, 48)],
    ),
    ("other terms", "A(P) :- Field(P,'x',_,_), Field(P,'y',_,_).", "plain", []),
    ("negated and not", "A(P) :- Have(P), not Peer(P).", "plain", []),
)
def test_repeated_atom(source: str, facet: str, expected: Found) -> None:
    assert lints(source, facet) == expected


def test_the_fix_leaves_the_second_out() -> None:
    assert fixed("A(P) :- Have(P), Have(P) , Peer(P).") == "A(P) :- Have(P) , Peer(P)."
    assert fixed("A(P) :- Have(P), Have(P), Have(P).") == "A(P) :- Have(P)."
