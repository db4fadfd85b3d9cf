"""A rule taken apart: what all its blocks need to know of it, found out once.

In: a rule. Out: its atoms as a block loads them, its filters, and the variables that its
parts share. A rule keeps its parts: it is emitted again for other facts, and on demand
has many blocks.
"""

from collections.abc import Mapping
from typing import NamedTuple

from lacec.core.predicates import BUILTIN_ARITY, Predicate
from lacec.syntax.ast import (
    Always,
    Atom,
    Cardinality,
    Constant,
    Literal,
    Negated,
    Rule,
    Unequal,
    Variable,
    variables_of,
)


class Form(NamedTuple):
    """An atom as a block loads it."""

    predicate: Predicate
    columns: Mapping[str, int]  # the first column of each variable
    constants: tuple[tuple[int, str], ...]  # a column and its value
    equal: tuple[tuple[int, int], ...]  # columns that hold the same variable


class Filter(NamedTuple):
    """A literal that only drops rows: those of a lower rank stand first."""

    literal: Literal
    rank: int
    names: frozenset[str]


class Parts(NamedTuple):
    """Of literals, by their place in the body."""

    head: Form
    forms: Mapping[int, Form]  # of the positive, negated and counted atoms
    needed: Mapping[int, frozenset[str]]  # of positive atoms: the variables that other parts have
    filters: Mapping[int, Filter]
    shared: frozenset[str]  # the variables that more than one part has


COUNT_RANK = 3


def parts_of(rule: Rule) -> Parts:
    found: Parts | None = rule.kept.get("parts")
    if found is None:
        found = rule.kept["parts"] = _take_apart(rule)
    return found


def _take_apart(rule: Rule) -> Parts:
    head = form_of(rule.head)
    forms: dict[int, Form] = {}
    filters: dict[int, Filter] = {}
    seen, shared = set(head.columns), set[str]()
    for index, literal in enumerate(rule.body):
        if isinstance(literal, Atom) and literal.name not in BUILTIN_ARITY:
            forms[index] = form_of(literal)
            names = frozenset(forms[index].columns)
        elif isinstance(literal, Always):
            continue
        else:
            names = frozenset(variables_of(literal))
            filters[index] = Filter(literal, _rank(literal), names)
            if isinstance(literal, Negated | Cardinality):
                forms[index] = form_of(literal.atom)
        shared |= seen & names
        seen |= names
    needed = {
        index: frozenset(shared.intersection(form.columns))
        for index, form in forms.items()
        if index not in filters
    }
    return Parts(head, forms, needed, filters, frozenset(shared))


def form_of(atom: Atom) -> Form:
    columns: dict[str, int] = {}
    constants = []
    equal = []
    for position, term in enumerate(atom.terms):
        if isinstance(term, Variable):
            first = columns.setdefault(term.name, position)
            if first != position:
                equal.append((first, position))
        elif isinstance(term, Constant):
            constants.append((position, term.value))
    return Form(atom.predicate, columns, tuple(constants), tuple(equal))


def _rank(literal: Literal) -> int:
    """The cheapest first, and counts last."""
    if isinstance(literal, Unequal):
        return 0
    if isinstance(literal, Atom):
        return 1
    return COUNT_RANK if isinstance(literal, Cardinality) else 2
