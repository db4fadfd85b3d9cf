"""Canonical text and the R. and U. identifiers (030, D5, D6)."""

import unicodedata

import pytest
from blake3 import blake3
from hypothesis import given
from hypothesis import strategies as st

from lacec.canonical.identifiers import lacegram_id, rule_id
from lacec.core.errors import CompileError
from lacec.core.facets import Facet
from lacec.pipeline import compile_module
from lacec.syntax.ast import Rule
from lacec.syntax.show import show_constant, show_rule
from tests.helpers import compiled, examples, lines
from tests.records.slow_b64a import slow_encode
from tests.strategies import dressed, sound_programs, sources, texts


def _r(canonical: str) -> str:
    return "R." + slow_encode(blake3(canonical.encode()).digest())


def _u(line: str) -> str:
    return "U." + slow_encode(blake3(b"lace-rule/v1" + line.encode()).digest())


# Identifiers.


def test_the_identifiers_of_an_example() -> None:
    """Written out, so that they can never change unseen."""
    module = compiled("Selected(P) :- Have(P).")
    assert module.id == "R.E4tYug0NbR9iBJKONL7yVazvNa5Hplc5pE7G22K3ZaW"
    assert [rule.id for rule in module.rules] == ["U.d4UsMo~5i5e_jz5_RwTcpQ9vc63DkJSCXjFeeBKm4sh"]


def test_the_identifier_of_no_rules_is_that_of_no_bytes() -> None:
    assert compiled("# nothing").id == _r("")
    assert compiled("").canonical == ""


@examples(60)
@given(sources)
def test_identifiers_are_digests_of_canonical_text(text: str) -> None:
    module = compiled(text)
    assert module.id == _r(module.canonical)
    assert [rule.id for rule in module.rules] == [_u(rule.text) for rule in module.rules]


@examples(50)
@given(texts(30))
def test_both_functions_hash_the_bytes_of_the_text(text: str) -> None:
    assert (lacegram_id(text), rule_id(text)) == (_r(text), _u(text))


def test_a_rule_and_the_lacegram_of_that_rule_have_different_digests() -> None:
    module = compiled("Selected(P) :- Have(P).")
    assert module.id[2:] != module.rules[0].id[2:]
    assert (len(module.id), len(module.rules[0].id)) == (2 + 43, 2 + 43)


def test_the_facet_takes_no_part() -> None:
    text = "SelectHave(P) :- Have(P).\nSelectAdvertised(P,S) :- Advertised(P,S)."
    assert compiled(text).id == compiled(text, "selector").id


# Canonical text (D5).


@pytest.mark.parametrize(
    ("source", "canonical"),
    [
        pytest.param(source, canonical, id=name)
        for name, source, canonical in [
            (
                "spacing",
                " A( X ,'a b' )\t:-Have(X),not  B( X,_ ) ,X!='c',true .  ",
                "A(X,'a b') :- Have(X), not B(X,_), X != 'c', true.",
            ),
            (
                "Cardinality",
                "A():-Cardinality( B( _,X ) ,'<' , '9' ).",
                "A() :- Cardinality(B(_,X),'<','9').",
            ),
            ("no LF at the end", "A() :- true.\n", "A() :- true."),
            (
                "lines joined by LF",
                "A() :- true.\n\n\nB() :- true.\n",
                "A() :- true.\nB() :- true.",
            ),
            (
                "comments and annotations left out",
                '# c\n#:json {"a":1}\nA() :- true.\n  # d',
                "A() :- true.",
            ),
            ("rules sorted", "B() :- true.\nA() :- true.", "A() :- true.\nB() :- true."),
            (
                "duplicates dropped",
                "A() :- true.\nB() :- true.\nA():-true.",
                "A() :- true.\nB() :- true.",
            ),
            (
                "order of atoms kept",
                "A() :- Peer(X), Have(X).\nA() :- Have(X), Peer(X).",
                "A() :- Have(X), Peer(X).\nA() :- Peer(X), Have(X).",
            ),
            (
                "names of variables kept",
                "A(Y) :- Have(Y).\nA(X) :- Have(X).",
                "A(X) :- Have(X).\nA(Y) :- Have(Y).",
            ),
            ("repeated atoms kept", "A(X) :- Have(X), Have(X).", "A(X) :- Have(X), Have(X)."),
            ("true kept", "A(X) :- Have(X), true.", "A(X) :- Have(X), true."),
            (
                "bytes decide: capitals, underscore, small letters",
                "a() :- true.\n_a() :- true.\nZ() :- true.\nB() :- true.",
                "B() :- true.\nZ() :- true.\n_a() :- true.\na() :- true.",
            ),
            (
                "bytes decide: a name and a longer one",
                "A1() :- true.\nA() :- true.\nA-() :- true.\nA~() :- true.",
                "A() :- true.\nA-() :- true.\nA1() :- true.\nA~() :- true.",
            ),
            (
                "bytes decide: digits of numbers",
                "A('10') :- true.\nA('9') :- true.",
                "A('10') :- true.\nA('9') :- true.",
            ),
            (
                "bytes decide: other scripts by UTF-8, not by alphabet or UTF-16",
                "A('🙂') :- true.\nA('\uffe5') :- true.\nA('é') :- true.\nA('z') :- true.",
                "A('z') :- true.\nA('é') :- true.\nA('\uffe5') :- true.\nA('🙂') :- true.",
            ),
            ("white space in constants kept", "A(' \t ') :- true.", "A(' \t ') :- true."),
        ]
    ],
)
def test_canonical_text(source: str, canonical: str) -> None:
    assert compiled(source).canonical == canonical


def test_only_quotes_and_backslashes_are_escaped() -> None:
    text = r"""A('\\ \' " é _ # .') :- true."""
    assert compiled(text).canonical == text


@examples(80)
@given(sources)
def test_the_form_of_canonical_text(text: str) -> None:
    module = compiled(text)
    rows = module.canonical.encode().split(b"\n") if module.canonical else []
    assert rows == sorted(set(rows))
    assert [row.decode() for row in rows] == [rule.text for rule in module.rules]
    assert unicodedata.is_normalized("NFC", module.canonical)
    assert all(row.endswith(b".") and not row.startswith(b"#") for row in rows)


# What changes an identifier, and what does not.


@examples(80)
@given(st.data())
def test_order_spacing_comments_annotations_and_duplicates_change_nothing(
    data: st.DataObject,
) -> None:
    program = data.draw(sound_programs(min_size=1, max_size=4))
    plain = compiled("\n".join(show_rule(rule) for rule in program))
    again = data.draw(st.lists(st.sampled_from(program), max_size=2))
    shuffled = data.draw(st.permutations([*program, *again]))
    other = compiled(data.draw(dressed(shuffled)))
    assert (other.id, other.canonical) == (plain.id, plain.canonical)
    assert [rule.id for rule in other.rules] == [rule.id for rule in plain.rules]


@examples(50)
@given(sound_programs(min_size=1, max_size=4), st.data())
def test_one_constant_changes_the_identifiers(program: list[Rule], data: st.DataObject) -> None:
    """Two facts that differ in one constant, among the same other rules."""
    values = data.draw(st.lists(texts(), min_size=2, max_size=2, unique=True))
    rest = [show_rule(rule) for rule in program]
    one, two = (
        compiled(lines(*rest, f"Fact({show_constant(value)}) :- true.")) for value in values
    )
    assert one.id != two.id
    shared = {rule.id for rule in one.rules} & {rule.id for rule in two.rules}
    assert len(shared) == len(one.rules) - 1


@pytest.mark.parametrize(
    "other",
    [
        "A(X) :- Field(X,'Group',_,'v').",
        "A(X) :- Field(X,'Group',_,'U').",
        "A(X) :- Field(X,'Group','_','u').",
        "A(Y) :- Field(Y,'Group',_,'u').",
        "a(X) :- Field(X,'Group',_,'u').",
        "A(X) :- Field(X,'Group',_,'u'), true.",
        "A(X) :- Field(X,'Group',_,' u').",
        "A(X) :- Field(X,'Group',X,'u').",
    ],
)
def test_another_rule_has_another_identifier(other: str) -> None:
    rule = "A(X) :- Field(X,'Group',_,'u')."
    assert compiled(other).id != compiled(rule).id
    assert compiled(other).rules[0].id != compiled(rule).rules[0].id


# What is known of each rule (D6).


def test_a_rule_keeps_the_place_where_it_was_first_written() -> None:
    inputs = [("a", "\nB() :- true."), ("b", "A() :- true.\nB():-true.")]
    module = compile_module(inputs, Facet.PLAIN)
    assert [(r.text, r.file, r.line) for r in module.rules] == [
        ("A() :- true.", "b", 1),
        ("B() :- true.", "a", 2),
    ]


def test_annotations_are_keyed_by_rule_identifier() -> None:
    module = compiled('#:json {"label":"b"}\nB() :- true.\nA() :- true.')
    assert {key: dict(value) for key, value in module.annotations.items()} == {
        _u("B() :- true."): {"label": "b"}
    }


def test_a_program_with_errors_has_no_identity() -> None:
    with pytest.raises(CompileError):
        compiled("A(X) :- true.")
