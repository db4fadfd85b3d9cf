"""A test that is always true."""

from tests.helpers import Found, cases, fixed, lints


@cases(
    ("true beside others", "A(P) :- true, Have(P).", "plain", [("pointless-test", 1, 9)]),
    ("true alone", "A('x') :- true.", "plain", []),
    ("two constants", "A(P) :- Have(P), 'a' != 'b'.", "plain", [("pointless-test", 1, 18)]),
    (
        "two numbers",
        "A(P) :- Have(P), IntCompare('1','<','2').",
        "plain",
        [("pointless-test", 1, 18)],
    ),
    ("itself", "A(P) :- Have(P), LexCompare(P,'<=',P).", "plain", [("pointless-test", 1, 18)]),
    (
        "itself as a number, which it may not be",
        "A(P) :- Have(P), IntCompare(P,'<=',P).",
        "plain",
        [],
    ),
    (
        "a shape of nothing",
        "A(P) :- Have(P), TextShape(P,'','','').",
        "plain",
        [("pointless-test", 1, 18)],
    ),
    (
        "at least none",
        "A(P) :- Have(P), Cardinality(Peer(_),'>=','0').",
        "plain",
        [("pointless-test", 1, 18)],
    ),
    (
        "more than less than none",
        "A(P) :- Have(P), Cardinality(Peer(_),'>','-1').",
        "plain",
        [("pointless-test", 1, 18)],
    ),
    ("more than none", "A(P) :- Have(P), Cardinality(Peer(_),'>','0').", "plain", []),
)
def test_pointless_test(source: str, facet: str, expected: Found) -> None:
    assert lints(source, facet) == expected


def test_the_fix_leaves_it_out() -> None:
    assert fixed("A(P) :- true, Have(P).") == "A(P) :- Have(P)."
    assert fixed("A(P) :- Have(P), true.") == "A(P) :- Have(P)."
    assert fixed("A('x') :- 'a' != 'b'.") == "A('x') :- true."
