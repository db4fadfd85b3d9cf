"""Range restriction (030 Safety, D7): every value comes from a positive atom of the body."""

from tests.helpers import Found, cases, diagnose, found, only


@cases(
    # The head.
    ("head bound", "A(P) :- Have(P).", "plain", []),
    ("head unbound", "A(P,V) :- Field(P,'Group',_,'u').", "plain", [("unbound-variable", 1, 5)]),
    ("head of constants", "A('a') :- true.", "plain", []),
    ("head bound by no atom but true", "A(P) :- true.", "plain", [("unbound-variable", 1, 3)]),
    ("head with _", "A(_) :- Have(P).", "plain", [("anonymous-in-head", 1, 3)]),
    (
        "head with _ twice",
        "A(_,P,_) :- Have(P).",
        "plain",
        [("anonymous-in-head", 1, 3), ("anonymous-in-head", 1, 7)],
    ),
    (
        "head bound in another rule only",
        "A(P) :- true.\nA(P) :- Have(P).",
        "plain",
        [("unbound-variable", 1, 3)],
    ),
    ("_ binds nothing", "A(P) :- Have(_).", "plain", [("unbound-variable", 1, 3)]),
    (
        "an unbound variable is reported once",
        "A(V,V) :- V != V.",
        "plain",
        [("unbound-variable", 1, 3)],
    ),
    (
        "each unbound variable is reported",
        "A(V,W) :- true.",
        "plain",
        [("unbound-variable", 1, 3), ("unbound-variable", 1, 5)],
    ),
    ("bound by an atom that comes later", "A(P) :- P != 'a', Have(P).", "plain", []),
    ("bound by a recursive atom", "A(P) :- Have(P).\nA(P) :- A(P).", "plain", []),
    # Negation.
    ("negated atom bound", "A(P) :- Have(P), not B(P).", "plain", []),
    ("negated atom with a wildcard", "A(P) :- Have(P), not B(P,_).", "plain", []),
    ("negated atom of wildcards only", "A() :- not Have(_).", "plain", []),
    (
        "negated atom unbound",
        "A(P) :- Have(P), not B(P,V).",
        "plain",
        [("unbound-variable", 1, 26)],
    ),
    ("a negated atom binds nothing", "A(P) :- not Have(P).", "plain", [("unbound-variable", 1, 3)]),
    (
        "a variable in two negated atoms only",
        "A() :- not B(V), not C(V).",
        "plain",
        [("unbound-variable", 1, 14)],
    ),
    # Inequality.
    ("!= bound", "A(P) :- Have(P), Have(Q), P != Q.", "plain", []),
    ("!= of constants", "A() :- 'a' != 'b'.", "plain", []),
    ("!= unbound on the left", "A(P) :- Have(P), V != P.", "plain", [("unbound-variable", 1, 18)]),
    ("!= unbound on the right", "A(P) :- Have(P), P != V.", "plain", [("unbound-variable", 1, 23)]),
    ("!= binds nothing", "A(V) :- V != 'a'.", "plain", [("unbound-variable", 1, 3)]),
    ("!= with _", "A(P) :- Have(P), P != _.", "plain", [("anonymous-in-builtin", 1, 23)]),
    # IntCompare.
    ("IntCompare bound", "A(P) :- Have(P), IntCompare(P,'<','1').", "plain", []),
    (
        "IntCompare unbound, left",
        "A() :- IntCompare(V,'<','1').",
        "plain",
        [("unbound-variable", 1, 19)],
    ),
    (
        "IntCompare unbound, right",
        "A() :- IntCompare('1','<',V).",
        "plain",
        [("unbound-variable", 1, 27)],
    ),
    (
        "IntCompare with _",
        "A() :- IntCompare(_,'<',_).",
        "plain",
        [("anonymous-in-builtin", 1, 19), ("anonymous-in-builtin", 1, 25)],
    ),
    (
        "IntCompare with _ as operator",
        "A() :- IntCompare('1',_,'2').",
        "plain",
        [("anonymous-in-builtin", 1, 23)],
    ),
    # LexCompare.
    ("LexCompare bound", "A(P) :- Have(P), LexCompare('a','<',P).", "plain", []),
    (
        "LexCompare unbound",
        "A() :- LexCompare(V,'<',W).",
        "plain",
        [("unbound-variable", 1, 19), ("unbound-variable", 1, 25)],
    ),
    (
        "LexCompare with _",
        "A() :- LexCompare(_,'<','a').",
        "plain",
        [("anonymous-in-builtin", 1, 19)],
    ),
    # TextShape.
    ("TextShape bound", "A(P) :- Have(P), Have(Q), TextShape(P,Q,'/',Q).", "plain", []),
    (
        "TextShape unbound text",
        "A() :- TextShape(V,'a','','').",
        "plain",
        [("unbound-variable", 1, 18)],
    ),
    (
        "TextShape unbound start and end",
        "A(P) :- Have(P), TextShape(P,S,'',E).",
        "plain",
        [("unbound-variable", 1, 30), ("unbound-variable", 1, 35)],
    ),
    (
        "TextShape binds nothing",
        "A(V) :- TextShape(V,'a','','').",
        "plain",
        [("unbound-variable", 1, 3)],
    ),
    (
        "TextShape with _",
        "A(P) :- Have(P), TextShape(_,'links/','','').",
        "plain",
        [("anonymous-in-builtin", 1, 28)],
    ),
    (
        "TextShape with _ for delimiters",
        "A(P) :- Have(P), TextShape(P,'',_,'').",
        "plain",
        [("anonymous-in-builtin", 1, 33)],
    ),
    # Cardinality.
    ("Cardinality with a local variable", "A() :- Cardinality(Have(Q),'<','9').", "plain", []),
    (
        "a local variable twice in one counted atom",
        "A() :- Cardinality(Field(Q,_,_,Q),'<','9').",
        "plain",
        [],
    ),
    (
        "Cardinality with a bound and a local variable",
        "A(P) :- Have(P), Cardinality(Field(P,'Name',_,V),'<','9').",
        "plain",
        [],
    ),
    ("Cardinality with wildcards", "A() :- Cardinality(Field(_,_,_,_),'>','9').", "plain", []),
    (
        "Cardinality binds nothing",
        "A(Q) :- Cardinality(Have(Q),'<','9').",
        "plain",
        [("unbound-variable", 1, 3)],
    ),
    (
        "inside and outside, tested",
        "A() :- Cardinality(Have(Q),'<','9'), Q != 'a'.",
        "plain",
        [("unbound-variable", 1, 38)],
    ),
    (
        "inside and outside, negated",
        "A() :- Cardinality(Have(Q),'<','9'), not B(Q).",
        "plain",
        [("unbound-variable", 1, 44)],
    ),
    ("inside and outside, safe", "A(Q) :- Cardinality(Have(Q),'<','9'), Have(Q).", "plain", []),
    (
        "a name in two counted atoms",
        "A() :- Cardinality(Have(Q),'<','9'), Cardinality(Peer(Q),'<','9').",
        "plain",
        [("shared-local-variable", 1, 55)],
    ),
    (
        "a name in one counted atom written twice",
        "A() :- Cardinality(Have(Q),'<','9'), Cardinality(Have(Q),'<','9').",
        "plain",
        [("shared-local-variable", 1, 55)],
    ),
    (
        "a name in three counted atoms is reported once",
        "A() :- Cardinality(Have(Q),'<','9'), Cardinality(Have(Q),'<','8'), "
        "Cardinality(Have(Q),'<','7').",
        "plain",
        [("shared-local-variable", 1, 55)],
    ),
    (
        "a name in two counted atoms, bound",
        "A() :- Have(Q), Cardinality(Have(Q),'<','9'), Cardinality(Peer(Q),'<','9').",
        "plain",
        [],
    ),
    (
        "two names in two counted atoms",
        "A() :- Cardinality(Have(Q),'<','9'), Cardinality(Peer(R),'<','9').",
        "plain",
        [],
    ),
    ("bound of a Cardinality, safe", "A(N) :- Limit(N), Cardinality(Have(_),'<',N).", "plain", []),
    (
        "bound of a Cardinality, unsafe",
        "A() :- Cardinality(Have(_),'<',N).",
        "plain",
        [("unbound-variable", 1, 32)],
    ),
    (
        "bound of a Cardinality is not a local variable",
        "A() :- Cardinality(Have(N),'<',N).",
        "plain",
        [("unbound-variable", 1, 32)],
    ),
    (
        "bound of a Cardinality is _",
        "A() :- Cardinality(Have(_),'<',_).",
        "plain",
        [("anonymous-in-builtin", 1, 32)],
    ),
    (
        "operator of a Cardinality is _",
        "A() :- Cardinality(Have(_),_,'1').",
        "plain",
        [("anonymous-in-builtin", 1, 28)],
    ),
    # Positive atoms.
    ("_ in positive atoms", "A(P) :- Field(P,_,_,_), Have(_).", "plain", []),
    ("a variable used once in a positive atom", "A() :- Have(P).", "plain", []),
)
def test_safety(source: str, facet: str, expected: Found) -> None:
    assert found(source, facet) == expected


def test_the_message_says_where_the_value_is_needed() -> None:
    needed = {
        "A(V) :- true.": "is in the head",
        "A() :- not B(V).": "is in a negated atom",
        "A() :- V != 'a'.": "is tested by !=",
        "A() :- IntCompare(V,'<','1').": "is tested by IntCompare",
        "A() :- LexCompare(V,'<','1').": "is tested by LexCompare",
        "A() :- TextShape(V,'','','').": "is tested by TextShape",
        "A() :- Cardinality(Have(_),'<',V).": "is the bound of a Cardinality",
    }
    for text, where in needed.items():
        message = f"`V` {where}, but no positive atom of the body binds it"
        assert only(text).message == message


def test_help_names_a_variable_that_is_spelt_almost_alike() -> None:
    assert only("A(Target) :- Have(Tagret).").help == "did you mean `Tagret`?"
    assert only("A(V) :- Have(P).").help == "add a positive atom that contains it, such as Have(V)"
    assert str(only("A() :- not B(V).").help).endswith("or write `_` to match anything")


def test_a_rule_read_past_a_syntax_error_is_left_alone() -> None:
    assert [d.name for d in diagnose("A(V,_) :- Have(P)")] == ["missing-full-stop"]
