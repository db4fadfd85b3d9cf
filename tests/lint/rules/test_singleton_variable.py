"""A variable that stands once in its rule."""

from tests.helpers import Found, cases, fixed, linted, lints


@cases(
    ("once", "A(P) :- Field(P,'Name',_,K).", "plain", [("singleton-variable", 1, 26)]),
    (
        "each",
        "A() :- Field(P,_,_,K).",
        "plain",
        [("singleton-variable", 1, 14), ("singleton-variable", 1, 20)],
    ),
    ("in the head", "A(P) :- Have(P).", "plain", []),
    ("in a test", "A() :- Field(_,'Name',_,K), TextShape(K,'a/','','').", "plain", []),
    ("in a negated atom", "A() :- Peer(V), not Here(V).", "plain", []),
    ("twice in an atom", "A() :- PlexHash(P,P).", "plain", []),
    (
        "counted, as 030 writes it",
        "A(P) :- Have(P), Cardinality(Field(P,'Tag',I,V),'<','3').",
        "plain",
        [],
    ),
    ("as a bound", "A() :- Peer(N), Cardinality(Have(_),'<',N).", "plain", []),
)
def test_singleton_variable(source: str, facet: str, expected: Found) -> None:
    assert lints(source, facet) == expected


def test_the_fix_writes_a_wildcard_and_keeps_the_meaning() -> None:
    assert fixed("A(P) :- Field(P,'Name',I,K).") == "A(P) :- Field(P,'Name',_,_)."
    (found,) = linted("A(P) :- PlexHash(P,H).")
    assert found.fix is not None
    assert found.fix.keeps_meaning
