"""All problems of a program are found at once, and told in the order of its text."""

import pytest
from hypothesis import given

from lacec.check.program import Program
from lacec.core.diagnostics import has_errors
from lacec.core.facets import Facet
from lacec.core.limits import DEFAULT_LIMITS
from lacec.pipeline import check_sources, compile_sources
from tests.helpers import diagnose, errors, examples, found, lines, only, parsed
from tests.strategies import sources

BROKEN = lines(
    "Have(P) :- Peer(P).",
    "Link(P) :- Have(p), Field(P,'Group',_,\"u\")",
    "#:json [1]",
    "Recent(P) :- Have(P), StartTAI(S), P > S.",
    "A(P,V) :- Link(P), Feild(P,'Signed-By',_,_), IntCompare(P,'=','one').",
    "B(V) :- Peer(V), not C(V).",
    "C(V) :- Peer(V), not B(V).",
    "D('e\u0301') :- true.",
    f"E({','.join(['P'] * 9)}) :- Have(P).\r",
    "#:json {}",
)


def test_every_problem_of_a_source_is_reported_and_sorted() -> None:
    assert found(BROKEN) == [
        ("base-predicate", 1, 1),
        ("bad-variable", 2, 17),
        ("wrong-quotes", 2, 39),
        ("missing-full-stop", 2, 43),
        ("bad-annotation", 3, 1),
        ("infix-comparison", 4, 38),
        ("unbound-variable", 5, 5),
        ("misspelt-predicate", 5, 20),
        ("bad-operator", 5, 59),
        ("not-a-decimal", 5, 63),
        ("unstratified", 6, 22),
        ("not-nfc", 8, 5),
        ("too-many-arguments", 9, 1),
        ("carriage-return", 9, 33),
        ("dangling-annotation", 10, 1),
    ]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("A(V) :- true.", [("unbound-variable", "V")]),
        ("A(_) :- true.", [("anonymous-in-head", "_")]),
        ("A() :- 'a' != _.", [("anonymous-in-builtin", "_")]),
        (
            "A() :- Cardinality(Have(Qq),'<','1'), Cardinality(Peer( Qq ),'<','1').",
            [("shared-local-variable", "Qq")],
        ),
        ("Have( P ) :- Peer(P).", [("base-predicate", "Have")]),
        ("o0_X ( ) :- true.", [("reserved-name", "o0_X")]),
        ("A(P) :- Feild( P,_,_,_).", [("misspelt-predicate", "Feild")]),
        ("A(P) :- Have( P , _ ).", [("wrong-arity", "Have( P , _ )")]),
        ("A(K) :- Have(K), Prefix(K,'a').", [("removed-builtin", "Prefix")]),
        ("A() :- not TextShape().", [("builtin-misused", "TextShape")]),
        ("A() :- IntCompare( '1' ).", [("builtin-arity", "IntCompare( '1' )")]),
        ("A() :- IntCompare('1','=' ,'2').", [("bad-operator", "'='")]),
        ("A() :- IntCompare('1','<','two').", [("not-a-decimal", "'two'")]),
        ("A(X) :- Have(X), TextShape(X,'',X,'').", [("delims-not-constant", "X")]),
        ("A() :- B(), not A().", [("unstratified", "A()")]),
        ("A('é\r') :- true.", [("carriage-return", "\r")]),
        ("\ufeffA() :- true.", [("byte-order-mark", "\ufeff")]),
        ("A('xe\u0301y') :- true.", [("not-nfc", "\u0301")]),
        ("A('x\u200by') :- true.", [("invisible-character", "\u200b")]),
        (" #:yaml a\nA() :- true.", [("unknown-annotation", "#:yaml")]),
        (" #:json [1] \nA() :- true.", [("bad-annotation", "#:json [1]")]),
        ("#:json {x}\nA() :- true.", [("bad-annotation", "x")]),
        ("A() :- true.\n #:json {} ", [("dangling-annotation", "#:json {}")]),
        (
            "A( 'a','b','c','d','e','f','g','h','i' ) :- true.",
            [("too-many-arguments", "A( 'a','b','c','d','e','f','g','h','i' )")],
        ),
    ],
)
def test_the_place_covers_what_is_wrong(source: str, expected: list[tuple[str, str]]) -> None:
    rows = source.split("\n")
    assert [
        (d.name, rows[d.place.line - 1][d.place.column - 1 : d.place.end_column - 1])
        for d in diagnose(source)
    ] == expected


def test_the_place_of_bytes_that_are_not_text_is_one_byte() -> None:
    place = only(b"A('x\xff\xff') :- true.").place
    assert (place.line, place.column, place.end_line, place.end_column) == (1, 5, 1, 6)


def test_the_order_of_sources_is_kept() -> None:
    outcome = check_sources([("b", "A(X) :- true."), ("a", "B(X) :- true.\nHave(X) :- Peer(X).")])
    assert [(d.place.file, d.place.line, d.name) for d in outcome] == [
        ("b", 1, "unbound-variable"),
        ("a", 1, "unbound-variable"),
        ("a", 2, "base-predicate"),
    ]


def test_a_problem_is_reported_once() -> None:
    """One text linked twice is one file, and each of its problems has one place."""
    outcome = check_sources([("a", "A(X) :- true."), ("a", "A(X) :- true.")])
    assert [d.name for d in outcome] == ["unbound-variable"]


def test_linked_sources_are_one_program() -> None:
    assert check_sources([("a", "A(P) :- Link(P)."), ("b", "Link(P) :- Have(P).")]) == ()
    alone = check_sources([("a", "A(P) :- Lnik(P)."), ("b", "Link(P) :- Have(P).")])
    assert [(d.name, d.place.file) for d in alone] == [("misspelt-predicate", "a")]


def test_what_a_program_knows() -> None:
    one, two = parsed("A() :- true.\n?\nB() :- true."), parsed("A() :- B().")
    program = Program(Facet.PLAIN, DEFAULT_LIMITS, (one, two))
    assert [rule.text for rule in program.rules] == ["A() :- true.", "B() :- true.", "A() :- B()."]
    assert {str(p): rule.text for p, rule in program.defined.items()} == {
        "A/0": "A() :- true.",
        "B/0": "B() :- true.",
    }


@examples(60)
@given(sources)
def test_sound_sources_have_no_errors_and_a_module(text: str) -> None:
    outcome = compile_sources([("a", text)])
    assert errors(text) == []
    assert outcome.module is not None
    assert outcome.module.diagnostics == outcome.diagnostics


def test_a_module_exists_exactly_when_there_are_no_errors() -> None:
    broken = compile_sources([("a", BROKEN)])
    assert broken.module is None
    assert has_errors(broken.diagnostics)
    warned = compile_sources([("a", "A(P) :- Feild(P,_,_,_).")])
    assert warned.module is not None
    assert not has_errors(warned.diagnostics)
    assert [d.name for d in warned.module.diagnostics] == ["misspelt-predicate"]
