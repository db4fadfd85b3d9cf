"""Rules and sources for properties.

`rules` are well formed and may mean nothing; `sound_rules` pass every check,
and so does any set of them. `spaced` writes a rule with white space of its own,
`dressed` writes rules as a source with comments, annotations and blank lines.
"""

import json
import string
import unicodedata
from collections.abc import Sequence
from functools import cache
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from lacec.syntax.ast import (
    Always,
    Anonymous,
    Atom,
    Cardinality,
    Constant,
    Literal,
    Negated,
    Rule,
    Term,
    Unequal,
    Variable,
)

WORD = string.ascii_letters + string.digits + "_"
RESERVED = {"not", "true", "Cardinality"}
OPERATORS = ("<", "<=", ">", ">=")

# Characters that mean something outside a constant, or that are written in a special way inside.
TRICKY = "'\\ \t.,()_#:-!=<>\"{}"


def texts(max_size: int = 8) -> SearchStrategy[str]:
    """What a constant may hold: NFC text on one line."""
    anything = st.characters(exclude_categories=["Cs"], exclude_characters="\n\r")
    character = st.sampled_from(TRICKY) | st.sampled_from("aZ09éß漢🙂") | anything
    return st.text(character, max_size=max_size).map(lambda t: unicodedata.normalize("NFC", t))


def _words(first: str, rest: str) -> SearchStrategy[str]:
    return st.builds(
        lambda head, tail: head + tail, st.sampled_from(first), st.text(rest, max_size=5)
    )


public_names = (
    _words(string.ascii_letters, WORD + "~-")
    | st.sampled_from(["notP", "not-p", "trueX", "true~", "Cardinality-", "CardinalityOf", "Not"])
).filter(lambda name: name not in RESERVED)
private_names = _words(string.ascii_letters, WORD + "~-").map(lambda name: "_" + name)
predicate_names = public_names | private_names

variable_names = _words(string.ascii_uppercase, WORD) | st.sampled_from(["X", "Y", "IntCompare"])
variables = variable_names.map(Variable)
constants = texts().map(Constant)
terms: SearchStrategy[Term] = variables | st.just(Anonymous()) | constants
operators = st.sampled_from(OPERATORS).map(Constant)


def _tuples(of: SearchStrategy[Term], most: int) -> SearchStrategy[tuple[Term, ...]]:
    return st.lists(of, max_size=most).map(tuple)


atoms = st.builds(Atom, predicate_names, _tuples(terms, 4))


def _test(name: str, *arguments: SearchStrategy[Any]) -> SearchStrategy[Atom]:
    return st.builds(Atom, st.just(name), st.tuples(*arguments))


builtins: SearchStrategy[Literal] = st.one_of(
    _test("IntCompare", terms, operators, terms),
    _test("LexCompare", terms, operators, terms),
    _test("TextShape", terms, terms, constants, terms),
    st.builds(Unequal, terms, terms),
    st.builds(Cardinality, atoms, operators | terms, terms),
    st.just(Always()),
)
literals: SearchStrategy[Literal] = atoms | atoms.map(Negated) | builtins
rules: SearchStrategy[Rule] = st.builds(
    Rule, atoms, st.lists(literals, min_size=1, max_size=4).map(tuple)
)


# Sound rules. A derived predicate is named by its level and its arity, as in `B2`: it negates and
# counts lower levels only, so that any set of such rules is stratified.
LEVELS = "ABCD"
BASE = (("Have", 1), ("Field", 4), ("RecordLink", 5), ("Peer", 1), ("TransportEncrypted", 0))


Terms = SearchStrategy[Term]
local = st.just(Anonymous())
named = st.sampled_from("PQRST").map(Variable)
numbers: Terms = st.integers().map(lambda n: Constant(str(n)))


# To make a strategy takes longer than to draw from it, so they are made once.


@cache
def _bound(among: Terms, names: str) -> Terms:
    """The terms, and variables with one of these names."""
    return among | st.sampled_from(names).map(Variable) if names else among


@cache
def _atom_over(of: Terms, levels: str) -> SearchStrategy[Atom]:
    derived = [(f"{level}{arity}", arity) for level in levels for arity in range(4)]
    return st.one_of(
        [
            st.builds(Atom, st.just(name), st.lists(of, min_size=arity, max_size=arity).map(tuple))
            for name, arity in [*BASE, *derived]
        ]
    )


@cache
def _positive(levels: str) -> SearchStrategy[list[Atom]]:
    return st.lists(_atom_over(named | local | constants, levels), max_size=3)


@cache
def _tests(names: str, below: str) -> SearchStrategy[list[Literal]]:
    """Tests of values that are bound; negated atoms are of a level below."""
    value, number = _bound(constants, names), _bound(numbers, names)
    tests: SearchStrategy[Literal] = st.one_of(
        _test("IntCompare", number, operators, number),
        _test("LexCompare", value, operators, value),
        _test("TextShape", value, value, constants, value),
        st.builds(Unequal, value, value),
        st.just(Always()),
        _atom_over(value | local, below).map(Negated),
    )
    return st.lists(tests, max_size=2)


@cache
def _counts(names: str, below: str) -> SearchStrategy[list[Cardinality]]:
    """`Local` is bound nowhere else, so it is local to the one atom that counts."""
    counted = _atom_over(_bound(constants, names) | st.just(Variable("Local")) | local, below)
    counts = st.builds(Cardinality, counted, operators, _bound(numbers, names))
    return st.lists(counts, max_size=1)


@cache
def _head(level: str, names: str) -> SearchStrategy[Atom]:
    terms = _bound(constants, names)
    return st.one_of(
        [
            st.builds(Atom, st.just(f"{level}{arity}"), st.tuples(*[terms] * arity))
            for arity in range(4)
        ]
    )


@st.composite
def sound_rules(draw: DrawFn) -> Rule:
    """A rule that draws no error, alone or together with other sound rules."""
    level = draw(st.integers(0, len(LEVELS) - 1))
    positive = draw(_positive(LEVELS[: level + 1]))
    names = "".join(sorted({variable.name for atom in positive for variable in atom.variables}))
    tests = draw(_tests(names, LEVELS[:level]))
    counts = draw(_counts(names, LEVELS[:level]))
    body: list[Literal] = [*positive, *tests, *counts]
    head = draw(_head(LEVELS[level], names))
    return Rule(head, tuple(draw(st.permutations(body or [Always()]))))


def sound_programs(min_size: int = 0, max_size: int = 5) -> SearchStrategy[list[Rule]]:
    return st.lists(sound_rules(), min_size=min_size, max_size=max_size)


# Writing.


def tokens(rule: Rule) -> list[str]:
    """The tokens of a rule, written without the help of the code under test."""
    written = [*_atom_tokens(rule.head), ":-"]
    for literal in rule.body:
        written += [*_literal_tokens(literal), ","]
    return [*written[:-1], "."]


def _literal_tokens(literal: Literal) -> list[str]:
    match literal:
        case Atom():
            return _atom_tokens(literal)
        case Negated(atom):
            return ["not", *_atom_tokens(atom)]
        case Unequal(left, right):
            return [_term(left), "!=", _term(right)]
        case Cardinality(atom, operator, bound):
            inner = [*_atom_tokens(atom), ",", _term(operator), ",", _term(bound)]
            return ["Cardinality", "(", *inner, ")"]
        case Always():
            return ["true"]


def _atom_tokens(atom: Atom) -> list[str]:
    written = [atom.name, "("]
    for position, term in enumerate(atom.terms):
        written += [",", _term(term)] if position else [_term(term)]
    return [*written, ")"]


def _term(term: Term) -> str:
    match term:
        case Variable(name):
            return name
        case Anonymous():
            return "_"
        case Constant(value):
            return "'" + "".join("\\" + c if c in "\\'" else c for c in value) + "'"


gaps = st.sampled_from(["", "", " ", "\t", "  ", " \t "])


@cache
def _many_gaps(count: int) -> SearchStrategy[list[str]]:
    return st.lists(gaps, min_size=count, max_size=count)


@st.composite
def spaced(draw: DrawFn, rule: Rule) -> str:
    """A rule with white space anywhere between its tokens, and around it."""
    written = tokens(rule)
    around = draw(_many_gaps(len(written) + 1))
    parts = [around[0]]
    for token, gap in zip(written, around[1:], strict=True):
        parts += [token, (gap or " ") if token == "not" else gap]
    return "".join(parts)


spaced_rules = rules.flatmap(spaced)

json_values: SearchStrategy[Any] = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | texts(),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(texts(), inner, max_size=2),
    max_leaves=4,
)
json_objects = st.dictionaries(st.sampled_from(["label", "why"]) | texts(), json_values, max_size=3)


def _is_nfc(text: str) -> bool:
    return unicodedata.is_normalized("NFC", text)


comments = st.builds("{}#{}".format, gaps, texts().filter(lambda text: not text.startswith(":")))
annotations = st.builds(
    "{}#:json{}{}".format,
    gaps,
    gaps,
    json_objects.map(lambda value: json.dumps(value, ensure_ascii=False)),
).filter(_is_nfc)  # an escape such as \n may compose with what follows it


some_before = st.lists(gaps | comments | annotations, max_size=2)
some_after = st.lists(gaps | comments, max_size=2)


@st.composite
def dressed(draw: DrawFn, program: Sequence[Rule]) -> str:
    """The rules, in their order, among comments, blank lines and annotations of the next rule."""
    written: list[str] = []
    for rule in program:
        written += draw(some_before)
        written.append(draw(spaced(rule)))
    written += draw(some_after)
    return "\n".join(written)


sources = sound_programs().flatmap(dressed)
