"""Decimals with zeros in front: as numbers they are equal to those without, as text they are not.

IntCompare(N,'<','007')       compares with 7
Field(P,'Tag','00',T)         matches nothing: an index has no zeros in front (020)
"""

import re
from collections.abc import Iterator

from lacec.core.diagnostics import Problem, quote
from lacec.core.predicates import NAMED_FIELDS
from lacec.lint.rule_facts import Anatomy, rewritten
from lacec.syntax.ast import Atom, Constant, Term, body_atoms
from lacec.syntax.show import show_constant

ZEROS = re.compile(r"(-?)0+([0-9]+)|(-)(0)")


def lint_rule(anatomy: Anatomy) -> Iterator[Problem]:
    for test in anatomy.tests:
        if isinstance(test, Atom) and test.name == "IntCompare":
            yield from _number(test.terms[0])
            yield from _number(test.terms[2])
    for count in anatomy.counted:
        yield from _number(count.bound)
    for atom in body_atoms(anatomy.rule):
        where = NAMED_FIELDS.get(atom.predicate)
        if where is not None:
            yield from _index(atom.terms[where[1]])


def _number(term: Term) -> Iterator[Problem]:
    plain = _without_zeros(term)
    if plain is not None and isinstance(term, Constant):
        yield Problem(
            "leading-zeros",
            term.span,
            f"this is the number {plain}, with zeros or a sign that count for nothing",
            f"write {show_constant(plain)}",
            rewritten(term, plain, keeps_meaning=True),
        )


def _index(term: Term) -> Iterator[Problem]:
    plain = _without_zeros(term)
    if plain is not None and isinstance(term, Constant):
        yield Problem(
            "leading-zeros",
            term.span,
            f"no index is written {quote(term.value)}, so this atom matches nothing",
            f"an index has no zeros in front: write {show_constant(plain)}",
            rewritten(term, plain),
        )


def _without_zeros(term: Term) -> str | None:
    """The same decimal as it should be written; None when it is, or is no decimal."""
    found = ZEROS.fullmatch(term.value) if isinstance(term, Constant) else None
    if found is None:
        return None
    digits = found[2] or found[4]
    return digits if digits == "0" else (found[1] or "") + digits
