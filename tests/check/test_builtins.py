"""The builtin tests: where they may stand, how many arguments, which constants (D8, D9, 030)."""

import pytest

from tests.helpers import Found, cases, found, only


@cases(
    # D8: Prefix was removed, and = is refused.
    (
        "Prefix as a body atom",
        "A(K) :- Field(_,'Name',_,K), Prefix(K,'links/').",
        "plain",
        [("removed-builtin", 1, 30)],
    ),
    ("Prefix with any arity", "A(K) :- Have(K), Prefix(K).", "plain", [("removed-builtin", 1, 18)]),
    (
        "Prefix negated",
        "A(K) :- Have(K), not Prefix(K,'a').",
        "plain",
        [("removed-builtin", 1, 22)],
    ),
    (
        "Prefix counted",
        "A() :- Cardinality(Prefix(_,'a'),'<','1').",
        "plain",
        [("removed-builtin", 1, 20)],
    ),
    ("another name with Prefix in front", "A(K) :- Have(K), Prefixed(K).", "plain", []),
    (
        "= between variables",
        "A(X) :- Have(X), Have(Y), X = Y.",
        "plain",
        [("equality-atom", 1, 29)],
    ),
    ("= with a constant", "A(X) :- Have(X), X='a'.", "plain", [("equality-atom", 1, 19)]),
    # D8: keywords and builtins are not predicates.
    ("not as a head", "not(X) :- Have(X).", "plain", [("keyword-as-predicate", 1, 1)]),
    ("true as a head", "true() :- Have(_).", "plain", [("keyword-as-predicate", 1, 1)]),
    ("not as a body atom", "A() :- not(Have).", "plain", [("keyword-as-predicate", 1, 8)]),
    ("true with parentheses", "A() :- true().", "plain", [("keyword-as-predicate", 1, 8)]),
    ("notX is a name", "A(X) :- notX(X).\nnotX(X) :- Have(X).", "plain", []),
    (
        "IntCompare as a head",
        "IntCompare(A,B,C) :- D(A,B,C).",
        "plain",
        [("builtin-misused", 1, 1)],
    ),
    ("LexCompare as a head", "LexCompare(A) :- Have(A).", "plain", [("builtin-misused", 1, 1)]),
    ("TextShape as a head", "TextShape() :- true.", "plain", [("builtin-misused", 1, 1)]),
    ("Cardinality as a head", "Cardinality(A) :- Have(A).", "plain", [("builtin-misused", 1, 1)]),
    (
        "IntCompare negated",
        "A(X) :- Have(X), not IntCompare(X,'<','1').",
        "plain",
        [("builtin-misused", 1, 22)],
    ),
    (
        "LexCompare negated",
        "A(X) :- Have(X), not LexCompare(X,'<','a').",
        "plain",
        [("builtin-misused", 1, 22)],
    ),
    (
        "TextShape negated",
        "A(X) :- Have(X), not TextShape(X,'a','','').",
        "plain",
        [("builtin-misused", 1, 22)],
    ),
    (
        "Cardinality negated",
        "A(X) :- Have(X), not Cardinality(Have(X),'<','1').",
        "plain",
        [("builtin-misused", 1, 22)],
    ),
    (
        "TextShape counted",
        "A(X) :- Have(X), Cardinality(TextShape(X,'a','',''),'<','1').",
        "plain",
        [("builtin-misused", 1, 30)],
    ),
    (
        "Cardinality counted",
        "A(X) :- Have(X), Cardinality(Cardinality(Have(X),'<','1'),'<','1').",
        "plain",
        [("builtin-misused", 1, 30)],
    ),
    # D8: one arity.
    (
        "IntCompare of two",
        "A(X) :- Have(X), IntCompare(X,'1').",
        "plain",
        [("builtin-arity", 1, 18)],
    ),
    (
        "IntCompare of four",
        "A(X) :- Have(X), IntCompare(X,'<','1','2').",
        "plain",
        [("builtin-arity", 1, 18)],
    ),
    ("IntCompare of none", "A(X) :- Have(X), IntCompare().", "plain", [("builtin-arity", 1, 18)]),
    (
        "LexCompare of two",
        "A(X) :- Have(X), LexCompare(X,'<').",
        "plain",
        [("builtin-arity", 1, 18)],
    ),
    (
        "TextShape of three",
        "A(X) :- Have(X), TextShape(X,'','').",
        "plain",
        [("builtin-arity", 1, 18)],
    ),
    (
        "TextShape of nine is no predicate with too many arguments",
        "A(X) :- Have(X), TextShape(X,'','','','','','','','').",
        "plain",
        [("builtin-arity", 1, 18)],
    ),
    (
        "Cardinality of two",
        "A(X) :- Have(X), Cardinality(Have(X),'<').",
        "plain",
        [("builtin-arity", 1, 18)],
    ),
    (
        "Cardinality of four",
        "A(X) :- Have(X), Cardinality(Have(X),'<','1','2').",
        "plain",
        [("builtin-arity", 1, 18)],
    ),
    # 030: delimiters are a quoted constant.
    (
        "delimiters in a variable",
        "A(X) :- Have(X), TextShape(X,'a',X,'').",
        "plain",
        [("delims-not-constant", 1, 34)],
    ),
    (
        "delimiters in an unbound variable",
        "A(X) :- Have(X), TextShape(X,'a',D,'').",
        "plain",
        [("delims-not-constant", 1, 34)],
    ),
    ("delimiters in a constant", "A(X) :- Have(X), TextShape(X,X,'/.',X).", "plain", []),
)
def test_builtins(source: str, facet: str, expected: Found) -> None:
    assert found(source, facet) == expected


TESTS = {
    "IntCompare": ("A(X) :- Have(X), IntCompare(X,{},'1').", 31),
    "LexCompare": ("A(X) :- Have(X), LexCompare(X,{},'1').", 31),
    "Cardinality": ("A(X) :- Have(X), Cardinality(Have(X),{},'1').", 38),
}


@pytest.mark.parametrize("operator", ["<", "<=", ">", ">="])
@pytest.mark.parametrize("builtin", TESTS)
def test_operators(builtin: str, operator: str) -> None:
    assert found(TESTS[builtin][0].format(f"'{operator}'")) == []


@pytest.mark.parametrize("term", ["'='", "'!='", "'=='", "'=<'", "''", "' <'", "'<<'", "X", "Op"])
@pytest.mark.parametrize("builtin", TESTS)
def test_an_operator_is_one_of_four_constants(builtin: str, term: str) -> None:
    """D9, and the same for a bound variable: what is compared must be known when it is compiled."""
    text, column = TESTS[builtin]
    assert found(text.format(term)) == [("bad-operator", 1, column)]


NUMBERS = {
    "IntCompare, left": ("A(X) :- Have(X), IntCompare({},'<',X).", 29),
    "IntCompare, right": ("A(X) :- Have(X), IntCompare(X,'<',{}).", 35),
    "Cardinality": ("A(X) :- Have(X), Cardinality(Have(X),'<',{}).", 42),
}


@pytest.mark.parametrize("term", ["'0'", "'007'", "'-12'", "'-0'", f"'{'9' * 1000}'", "X"])
@pytest.mark.parametrize("where", NUMBERS)
def test_decimals(where: str, term: str) -> None:
    assert found(NUMBERS[where][0].format(term)) == []


@pytest.mark.parametrize(
    "term",
    [
        "''",
        "'-'",
        "'+1'",
        "'1.5'",
        "'1e3'",
        "' 1'",
        "'1 '",
        "'--1'",
        "'0x10'",
        "'ten'",
        "'٣'",
        "'１'",
    ],
)
@pytest.mark.parametrize("where", NUMBERS)
def test_a_constant_that_can_never_be_a_decimal(where: str, term: str) -> None:
    text, column = NUMBERS[where]
    assert found(text.format(term)) == [("not-a-decimal", 1, column)]


def test_lexcompare_takes_any_text() -> None:
    assert found("A(X) :- Have(X), LexCompare('ten','<',X), LexCompare(X,'>=','').") == []


def test_every_argument_is_checked() -> None:
    assert found("A() :- IntCompare('a','=','b').") == [
        ("not-a-decimal", 1, 19),
        ("bad-operator", 1, 23),
        ("not-a-decimal", 1, 27),
    ]


def test_messages_name_the_builtin_and_show_its_form() -> None:
    misused = only("A(X) :- Have(X), not IntCompare(X,'<','1').")
    assert misused.message == "the builtin `IntCompare` cannot be negated"
    assert misused.help == "it stands in a body, not negated, as IntCompare(A,Op,B)"
    arity = only("A(X) :- Have(X), TextShape(X).")
    assert arity.message == "`TextShape` takes 4 arguments, here it has 1"
    assert arity.help == "write TextShape(Text,Start,Delims,End)"
    removed = only("A(K) :- Have(K), Prefix(K,'a').")
    assert removed.help == "write TextShape(K,'links/','','') for a prefix"
