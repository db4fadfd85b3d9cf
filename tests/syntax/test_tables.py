"""The saved tables are those of the grammar, and read exactly the lines that lark reads with it."""

import os
import subprocess
import sys
from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lark import Lark
from lark.exceptions import UnexpectedInput

from lacec.core.resources import grammar_path
from lacec.syntax.ast import Annotation, Comment, Rule
from lacec.syntax.generate import START, TABLES, generate
from lacec.syntax.parse import parse_line
from tests.helpers import examples
from tests.strategies import annotations, comments, spaced_rules

MAKES = {
    "rule": Rule,
    "comment": Comment,
    "annotation": Annotation,
    "blank": Comment,
}


@cache
def _lark() -> Lark:
    # The basic lexer cuts tokens without looking at the parser, so keywords are always keywords.
    return Lark(grammar_path().read_text(encoding="utf-8"), start=START, lexer="basic")


def _read_by_lark(text: str) -> str | None:
    """The kind of a line; None when it is refused."""
    try:
        return str(_lark().parse(text).data)
    except UnexpectedInput:
        return None


def _read_by_us(text: str) -> type | None:
    node, problems, _ = parse_line(text)
    return None if problems else type(node)


def test_tables_are_those_of_the_grammar() -> None:
    grammar = grammar_path().read_text(encoding="utf-8")
    assert TABLES.read_text(encoding="utf-8") == generate(grammar), "run `make tables`"


@pytest.mark.parametrize("seed", ["1", "2"])
def test_tables_do_not_depend_on_the_order_of_sets(seed: str) -> None:
    program = (
        "import sys; from lacec.syntax.generate import generate, grammar_path;"
        "sys.stdout.buffer.write(generate(grammar_path().read_text('utf-8')).encode())"
    )
    made = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "PYTHONHASHSEED": seed},
        capture_output=True,
        check=True,
    )
    assert made.stdout.decode() == TABLES.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "#",
        "#:json {}",
        "#:jsonx",
        "P() :- true.",
        "P(X) :- Cardinality(Q(X),'<','1').",
        "P(X) :- not not Q(X).",
        "not(X) :- Q(X).",
        "true() :- Q(X).",
        "Cardinality(X) :- Q(X).",
        "P(X) :- true(X).",
        "P(X) :- X.",
        "P(X) :- X != .",
        "P(X) :- Q(X)",
        "P(X) :- Q(X). # text",
        "P('\\x') :- true.",
    ],
)
def test_lark_reads_the_same_lines(text: str) -> None:
    _agree(text)


def _agree(text: str) -> None:
    kind = _read_by_lark(text)
    assert _read_by_us(text) is (None if kind is None else MAKES[kind])


well_formed = spaced_rules | comments | annotations | st.sampled_from(["", " ", "\t"])


@examples(150)
@given(well_formed)
def test_lark_reads_every_well_formed_line_too(text: str) -> None:
    assert _read_by_lark(text) is not None
    _agree(text)


PIECES = [
    "not",
    "true",
    "Cardinality",
    ":-",
    "!=",
    "#:json",
    *"PXpx_'\\(),.:-!= \t#~09\"é<;{\u00a0",
]


@st.composite
def mutated(draw: st.DrawFn) -> str:
    """A well-formed line with some characters left out, put in or replaced."""
    text = list(draw(well_formed))
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, len(text)))
        removed = draw(st.integers(0, 2))
        text[at : at + removed] = draw(st.sampled_from(PIECES) | st.just(""))
    return "".join(text)


@examples(600)
@given(mutated())
def test_lark_refuses_the_same_lines(text: str) -> None:
    _agree(text)
