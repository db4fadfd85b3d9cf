"""A rule that another makes needless."""

from tests.helpers import Found, cases, lints


@cases(
    (
        "asks for more",
        "A(P) :- Have(P).\nA(P) :- Have(P), Peer(P).",
        "plain",
        [("subsumed-rule", 2, 1)],
    ),
    (
        "in any order",
        "A(P) :- Have(P), Peer(P).\nA(P) :- Have(P).",
        "plain",
        [("subsumed-rule", 1, 1)],
    ),
    (
        "the same in another order",
        "A(P) :- Have(P), Peer(P).\nA(P) :- Peer(P), Have(P).",
        "plain",
        [("subsumed-rule", 2, 1)],
    ),
    (
        "a constant for a variable",
        "A(P) :- Field(P,N,_,N).\nA(Q) :- Field(Q,'x',_,'x').",
        "plain",
        [("subsumed-rule", 2, 1)],
    ),
    (
        "two constants for a variable",
        "A(P) :- Field(P,N,_,N).\nA(Q) :- Field(Q,'x',_,'y').",
        "plain",
        [],
    ),
    (
        "a wildcard",
        "A(P) :- Field(P,_,_,_).\nA(P) :- Field(P,'x',_,_).",
        "plain",
        [("subsumed-rule", 2, 1)],
    ),
    (
        "two wildcards are two",
        "A(P) :- Field(P,N,_,N).\nA(P) :- Field(P,_,_,_).",
        "plain",
        [("subsumed-rule", 1, 1)],
    ),
    (
        "a constant in the head",
        "A(P) :- Have(P).\nA('x') :- Have('x').",
        "plain",
        [("subsumed-rule", 2, 1)],
    ),
    ("another constant", "A('y') :- Have('x').\nA('x') :- Have('x').", "plain", []),
    (
        "asks for less that is not",
        "A(P) :- Have(P), not Peer(P).\nA(P) :- Have(P), not Peer(_).",
        "plain",
        [("subsumed-rule", 2, 1)],
    ),
    (
        "the other way around",
        "A(P) :- Have(P), not PlexHash(P,_).\nA(P) :- Have(P), not PlexHash(P,P).",
        "plain",
        [("subsumed-rule", 1, 1)],
    ),
    (
        "a test",
        "A(P) :- Peer(P), P != 'x'.\nA(P) :- Peer(P), Have(P), 'x' != P.",
        "plain",
        [("subsumed-rule", 2, 1)],
    ),
    (
        "another test",
        "A(P) :- Peer(P), P != 'x'.\nA(P) :- Peer(P), Have(P), P != 'y'.",
        "plain",
        [],
    ),
    (
        "a count",
        "A(P) :- Peer(P), Cardinality(PlexHash(P,X),'<','2').\n"
        "A(P) :- Have(P), Peer(P), Cardinality(PlexHash(P,_),'<','2').",
        "plain",
        [("subsumed-rule", 2, 1)],
    ),
    (
        "a count of what is bound",
        "A(P) :- Peer(P), Cardinality(PlexHash(P,X),'<','2').\n"
        "A(P) :- Peer(P), Have(X), Here(X), Cardinality(PlexHash(P,X),'<','2').",
        "plain",
        [],
    ),
    (
        "two variables may be one",
        "A(P) :- PlexHash(P,Q), Have(Q).\nA(P) :- PlexHash(P,P), Have(P).",
        "plain",
        [("subsumed-rule", 2, 1)],
    ),
    ("itself", "A(P) :- A(P), Have(P).", "plain", [("subsumed-rule", 1, 1)]),
    ("other predicates", "A(P) :- Have(P).\nB(P) :- Have(P), Peer(P).", "plain", []),
)
def test_subsumed_rule(source: str, facet: str, expected: Found) -> None:
    assert lints(source, facet) == expected


def test_many_rules_of_one_form_take_no_time_squared() -> None:
    rules = "\n".join(
        f"A(P) :- Field(P,'Group',_,'g{n}'), Field(P,'App',_,'a{n}')." for n in range(4000)
    )
    assert lints(rules) == []


def test_the_search_is_bounded() -> None:
    chain = ", ".join(f"PlexHash(P{n},P{n + 1})" for n in range(30))
    fan = ", ".join(f"PlexHash(P0,Q{n})" for n in range(30)) + ", PlexHash(P0,P1), Have(P1)"
    found = lints(f"A(P0) :- {chain}, Have(P30).\nA(P0) :- {fan}.")
    assert "subsumed-rule" not in {name for name, _, _ in found}
