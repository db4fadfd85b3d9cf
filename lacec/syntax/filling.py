"""Literals with values in the place of variables, to show what a rule met.

Edge(X,Y) where X is 'a'   Edge('a',Y)
"""

from collections.abc import Mapping

from lacec.syntax.ast import (
    Atom,
    Cardinality,
    Constant,
    Literal,
    Negated,
    Term,
    Unequal,
    Variable,
)


def fill(
    literal: Literal, binding: Mapping[str, str], names: Mapping[str, str] | None = None
) -> Literal:
    """A literal with the values of its variables, or with other names; the rest stay."""

    def term(one: Term) -> Term:
        if isinstance(one, Variable) and one.name in binding:
            return Constant(binding[one.name])
        if isinstance(one, Variable) and names and one.name in names:
            return Variable(names[one.name])
        return one

    def atom(one: Atom) -> Atom:
        return Atom(one.name, tuple(term(each) for each in one.terms))

    match literal:
        case Atom():
            return atom(literal)
        case Negated(inner):
            return Negated(atom(inner))
        case Unequal(left, right):
            return Unequal(term(left), term(right))
        case Cardinality(inner, operator, bound):
            return Cardinality(atom(inner), operator, term(bound))
    return literal
