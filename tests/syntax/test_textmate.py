"""The grammar for editors gives each token of the lark grammar its scope, and nothing else one."""

import json
import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from lark import Lark

from lacec.core.predicates import BASE, BUILTINS
from lacec.core.resources import grammar_path, stdlib_names, stdlib_path, textmate_path
from lacec.syntax.generate import START
from lacec.syntax.parse import parse_line
from lacec.syntax.textmate import (
    BUILTIN,
    DEFINITION,
    ESCAPE,
    FACT,
    PREDICATE,
    SCOPES,
    UNTERMINATED,
    VARIABLE,
    textmate,
)
from tests.helpers import examples
from tests.strategies import annotations, comments, spaced_rules

ROOT = Path(__file__).parents[2]
WORDS = ("CAPITAL", "NAME", "PRIVATE", "CARDINALITY")


def test_the_grammar_is_not_stale() -> None:
    assert textmate_path().read_text(encoding="utf-8") == textmate(), "run `make tables`"


# An editor, as far as this grammar needs one: patterns, captures, the leftmost match, the first
# of equals; a grammar of another language is not looked into.


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


def scopes_of(line: str) -> list[list[str]]:
    """The scopes of each character of a line, outer ones first."""
    grammar = json.loads(textmate_path().read_text(encoding="utf-8"))
    assert set(grammar) == {
        "information_for_contributors",
        "name",
        "scopeName",
        "fileTypes",
        "patterns",
    }
    found: list[list[str]] = [[] for _ in line]
    _scan(grammar["patterns"], line, (0, len(line)), found)
    return found


def _scan(
    patterns: list[dict[str, Any]], line: str, span: tuple[int, int], found: list[list[str]]
) -> None:
    at, end = span
    own = [each for each in patterns if "match" in each]
    while at < end:
        matches = [(_compiled(each["match"]).search(line, at, end), each) for each in own]
        hits = [(match, each) for match, each in matches if match is not None and match[0]]
        if not hits:
            return
        match, rule = min(hits, key=lambda hit: hit[0].start())
        _add(rule.get("name"), match.span(), found)
        for group, capture in rule.get("captures", {}).items():
            _add(capture.get("name"), match.span(int(group)), found)
            _scan(capture.get("patterns", []), line, match.span(int(group)), found)
        at = match.end()


def _add(name: str | None, span: tuple[int, int], found: list[list[str]]) -> None:
    for position in range(*span):
        found[position] += [name] if name else []


# What lark says.


@cache
def _lark() -> Lark:
    return Lark(grammar_path().read_text(encoding="utf-8"), start=START, lexer="basic")


def expected(line: str) -> list[str | None]:
    """The scope of each character, from the tokens that lark cuts; None for white space."""
    scopes: list[str | None] = [None] * len(line)
    tokens = list(_lark().lex(line))
    for number, token in enumerate(tokens):
        scope = SCOPES.get(token.type)
        if token.type in WORDS:
            called = number + 1 < len(tokens) and tokens[number + 1].type == "LPAR"
            scope = _called(str(token), number == 0) if called else VARIABLE
        assert scope is not None, token.type
        assert token.start_pos is not None
        scopes[token.start_pos : token.start_pos + len(token)] = [scope] * len(token)
    return scopes


def _called(name: str, first: bool) -> str:
    if name in BUILTINS:
        return BUILTIN
    if name in {predicate.name for predicate in BASE}:
        return FACT
    return DEFINITION if first else PREDICATE


def _agree(line: str) -> None:
    assert [scopes[0] if scopes else None for scopes in scopes_of(line)] == expected(line)


LINES = sorted(
    {
        line
        for path in (*(ROOT / "examples").glob("*.lace"), *map(stdlib_path, stdlib_names()))
        for line in path.read_text(encoding="utf-8").split("\n")
        if not parse_line(line).problems
    }
)


@pytest.mark.parametrize("line", LINES)
def test_lines_of_the_examples_are_scoped_as_lark_cuts_them(line: str) -> None:
    _agree(line)


@examples(400)
@given(spaced_rules | comments | annotations)
def test_every_line_is_scoped_as_lark_cuts_it(line: str) -> None:
    _agree(line)


# What lark has no token for.


def test_escapes_inside_a_constant() -> None:
    inner = [scopes[1:] for scopes in scopes_of("A('it\\'s \\\\') :- true.")]
    assert [n for n, scopes in enumerate(inner) if scopes == [ESCAPE]] == [5, 6, 9, 10]


def test_a_constant_without_an_end_is_marked_to_the_end_of_its_line() -> None:
    line = "A(P) :- Field(P,'Name,_,_)."
    assert {tuple(scopes) for scopes in scopes_of(line)[16:]} == {(UNTERMINATED,)}


def test_what_follows_the_marker_of_an_annotation_is_json() -> None:
    grammar = json.loads(textmate())
    assert grammar["patterns"][0]["captures"]["3"] == {"patterns": [{"include": "source.json"}]}


def test_patterns_are_of_the_kind_that_editors_know() -> None:
    """Oniguruma has possessive `*+`, and look-ahead; nothing else beyond the usual is used."""
    text = textmate()
    assert not re.search(r"\(\?(?![:=!])", text)
    assert not re.search(r"\}\+", text)
