"""A test that is always true, whatever the facts.

Have(P), true                           Cardinality(Link(P),'>=','0')
Field(P,'Name',_,K), TextShape(K,'','','')
"""

from collections.abc import Iterator

from lacec.core.diagnostics import Problem
from lacec.lint.constant_folding import always, compare, decimal
from lacec.lint.rule_facts import Anatomy
from lacec.syntax.ast import Always, Atom, Cardinality, Constant, Literal, Unequal


def lint_rule(anatomy: Anatomy) -> Iterator[Problem]:
    body = anatomy.rule.body
    for position, literal in enumerate(body):
        why = _why(literal, anatomy)
        if why is not None:
            yield Problem(
                "pointless-test",
                anatomy.literal_spans[position],
                f"this is always true: {why}",
                "leave it out, or say what it was to test",
                anatomy.without(position, "leave it out"),
            )


def _why(literal: Literal, anatomy: Anatomy) -> str | None:
    match literal:
        case Always() if len(anatomy.rule.body) > 1:
            return "`true` is for bodies that have nothing else"
        case Atom("TextShape", (_, Constant(""), Constant(""), Constant(""))):
            return "every text begins and ends with nothing"
        case Atom() | Unequal() if literal in anatomy.tests and always(literal, {}):
            return "it looks at no fact"
        case Cardinality(_, Constant(operator), Constant(bound)):
            number = decimal(bound)
            if number is not None and operator in (">", ">=") and compare(0, operator, number):
                return "no count is below 0"
    return None
