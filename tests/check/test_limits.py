"""The limits a lacegram meets before it runs (D11, D12)."""

from dataclasses import astuple

import pytest

from lacec.core.facets import Facet
from lacec.core.limits import DEFAULT_LIMITS, LIMIT_NAMES, Limits
from lacec.pipeline import check_sources
from tests.helpers import REST, Found, errors, found, lines, only


def _arguments(count: int) -> str:
    return ",".join(["X"] * count)


def _atoms(count: int) -> str:
    return ", ".join(["Have(P)"] * count)


def _facts(count: int) -> str:
    return "\n".join(f"A('{n}') :- true." for n in range(count))


SMALL = Limits(rules=3, selector_rules=3, arity=2, value_bytes=4, line_bytes=40, source_bytes=200)

ROWS: list[tuple[str, str, Limits, Found]] = [
    # rules
    ("4096 rules", _facts(4096), DEFAULT_LIMITS, []),
    ("4097 rules", _facts(4097), DEFAULT_LIMITS, [("too-many-rules", 4097, 1)]),
    ("as many rules as the limit", _facts(3), SMALL, []),
    ("one rule more than the limit", _facts(4), SMALL, [("too-many-rules", 4, 1)]),
    ("a rule written often counts once", "\n".join(["A() :- true."] * 5), SMALL, []),
    (
        "spacing makes no other rule",
        "A():-true.\nA() :- true.\nA( ) :- true.\n A() :- true.",
        SMALL,
        [],
    ),
    # literals
    ("256 atoms", f"A(P) :- {_atoms(256)}.", DEFAULT_LIMITS, []),
    ("257 atoms", f"A(P) :- {_atoms(257)}.", DEFAULT_LIMITS, [("too-many-atoms", 1, 1)]),
    # arity
    ("arity 8", f"A({_arguments(8)}) :- Have(X).", DEFAULT_LIMITS, []),
    ("arity 9", f"A({_arguments(9)}) :- Have(X).", DEFAULT_LIMITS, [("too-many-arguments", 1, 1)]),
    (
        "arity 9 in a body",
        f"A() :- B({_arguments(9)}).",
        DEFAULT_LIMITS,
        [("too-many-arguments", 1, 8)],
    ),
    (
        "arity 9 negated",
        f"A() :- Have(X), not B({_arguments(9)}).",
        DEFAULT_LIMITS,
        [("too-many-arguments", 1, 21)],
    ),
    (
        "arity 9 counted",
        f"A() :- Cardinality(B({_arguments(9)}),'<','1').",
        DEFAULT_LIMITS,
        [("too-many-arguments", 1, 20)],
    ),
    ("arity over a limit of 2", "A(X,X,X) :- B(X).", SMALL, [("too-many-arguments", 1, 1)]),
    ("builtins have their own arity", "A() :- IntCompare('1','<','2').", SMALL, []),
    # constants
    ("1024 bytes", f"A('{'x' * 1024}') :- true.", DEFAULT_LIMITS, []),
    ("1025 bytes", f"A('{'x' * 1025}') :- true.", DEFAULT_LIMITS, [("constant-too-long", 1, 3)]),
    ("512 characters of two bytes", f"A('{'é' * 512}') :- true.", DEFAULT_LIMITS, []),
    (
        "513 characters of two bytes",
        f"A('{'é' * 513}') :- true.",
        DEFAULT_LIMITS,
        [("constant-too-long", 1, 3)],
    ),
    ("one character of four bytes", "A('🙂') :- true.", SMALL, []),
    ("one character more", "A('🙂a') :- true.", SMALL, [("constant-too-long", 1, 3)]),
    ("escapes count once", r"A('\\\'\\\'') :- true.", SMALL, []),
    ("in a positive atom", "A() :- Have('12345').", SMALL, [("constant-too-long", 1, 13)]),
    ("in a negated atom", "A() :- not Have('12345').", SMALL, [("constant-too-long", 1, 17)]),
    (
        "in a counted atom",
        "A() :- Cardinality(B('12345'),'<','1').",
        SMALL,
        [("constant-too-long", 1, 22)],
    ),
    ("in a builtin", "A() :- IntCompare('12345','<','1').", SMALL, [("constant-too-long", 1, 19)]),
    (
        "on both sides of !=",
        "A() :- '12345' != 'abcde'.",
        SMALL,
        [("constant-too-long", 1, 8), ("constant-too-long", 1, 19)],
    ),
    # lines and sources
    ("a line of 40 bytes", "# " + "x" * 38 + "\nA() :- true.", SMALL, []),
    ("a line of 41 bytes", "A() :- true.\n# " + "x" * 39, SMALL, [("line-too-long", 2, 1)]),
    (
        "a line of 41 bytes, 39 characters",
        "A() :- true.\n#" + "é" * 2 + "x" * 36,
        SMALL,
        [("line-too-long", 2, 1)],
    ),
    (
        "a long line hides no other",
        f"A() :- true{',true' * 10}.\nB(X) :- true.",
        SMALL,
        [("line-too-long", 1, 1), ("unbound-variable", 2, 3)],
    ),
    ("a source of 200 bytes", "A() :- true.".ljust(200, "\n"), SMALL, []),
]


@pytest.mark.parametrize(
    ("source", "limits", "expected"),
    [pytest.param(source, limits, expected, id=name) for name, source, limits, expected in ROWS],
)
def test_limits(source: str, limits: Limits, expected: Found) -> None:
    assert found(source, "plain", limits) == expected


def test_a_source_over_its_limit_is_not_read() -> None:
    source = "Have(P) :- nonsense.".ljust(201, "\n")
    assert errors(source, "plain", SMALL) == ["source-too-long"]
    assert errors("é" * 101, "plain", SMALL) == ["source-too-long"]
    assert errors(b"\xff" * 201, "plain", SMALL) == ["source-too-long"]


@pytest.mark.parametrize(
    ("count", "expected"),
    [(1, []), (2, [("large-selector", 4, 1)])],
    ids=["3 rules", "4 rules"],
)
def test_a_selector_that_a_peer_may_refuse_draws_a_warning(count: int, expected: Found) -> None:
    source = REST["selector"].strip() + "\n" + _facts(count)
    limits = Limits(rules=10, selector_rules=3)
    assert found(source, "selector", limits) == expected
    assert errors(source, "selector", limits) == []


def test_the_limit_of_selectors_is_that_of_a_peer() -> None:
    """D12: 256 canonical rules."""
    exports = REST["selector"].strip() + "\n"
    assert found(exports + _facts(254), "selector") == []
    assert found(exports + _facts(255), "selector") == [("large-selector", 257, 1)]


def test_over_both_limits_of_rules_only_the_error_is_reported() -> None:
    source = REST["selector"].strip() + "\n" + _facts(10)
    limits = Limits(rules=4, selector_rules=2)
    assert found(source, "selector", limits) == [("too-many-rules", 5, 1)]


def test_rules_of_linked_sources_count_together() -> None:
    outcome = check_sources(
        [("a", _facts(2)), ("b", "B() :- true.\nC() :- true.")], Facet.PLAIN, SMALL
    )
    assert [(d.name, d.place.file, d.place.line) for d in outcome] == [("too-many-rules", "b", 2)]


@pytest.mark.parametrize(
    ("source", "limit", "value", "count"),
    [
        (_facts(5), "rules", 3, 5),
        ("A(X,X,X) :- B(X).", "arity", 2, 3),
        ("A('12345') :- true.", "value_bytes", 4, 5),
        ("A() :- true.\n#" + "x" * 49, "line_bytes", 40, 50),
    ],
)
def test_the_message_names_the_limit_its_value_and_the_count(
    source: str, limit: str, value: int, count: int
) -> None:
    message = only(source, "plain", SMALL).message
    assert f"over the limit {limit} of {value}" in message
    assert f" {count} " in message


def test_the_defaults_are_those_of_the_profile() -> None:
    assert dict(zip(LIMIT_NAMES, astuple(DEFAULT_LIMITS), strict=True)) == {
        "rules": 4096,
        "selector_rules": 256,
        "literals": 256,
        "peer_literals": 64,
        "arity": 8,
        "value_bytes": 1024,
        "line_bytes": 2**20,
        "source_bytes": 2**24,
        "diagnostics": 10_000,
        "base_facts": 2**24,
        "runtime_facts": 2**24,
        "derived_facts": 2**22,
        "iterations": 1000,
        "intermediate_rows": 2**26,
        "peer_intermediate_rows": 2**24,
        "instructions": 2**18,
        "peer_instructions": 2**15,
        "seconds": 30,
    }


def test_several_limits_are_reported_together() -> None:
    source = lines("A(X,X,X) :- B(X).", "B('12345') :- true.", "C() :- true.", "D() :- true.")
    assert found(source, "plain", SMALL) == [
        ("too-many-arguments", 1, 1),
        ("constant-too-long", 2, 3),
        ("too-many-rules", 4, 1),
    ]
