"""An atom that stands in its body twice: the second says nothing.

Selected(P) :- Have(P), Link(P), Have(P).
"""

from collections.abc import Iterator

from lacec.core.diagnostics import Problem
from lacec.lint.rule_facts import Anatomy
from lacec.syntax.ast import Always, Literal


def lint_rule(anatomy: Anatomy) -> Iterator[Problem]:
    body = anatomy.rule.body
    if len(body) == 1:
        return
    seen: list[Literal] = []
    for position, literal in enumerate(body):
        if literal in seen and not isinstance(literal, Always):
            yield Problem(
                "repeated-atom",
                anatomy.literal_spans[position],
                "this stands in the body already",
                "leave it out; if another variable was meant, write that",
                anatomy.without(position, "leave it out"),
            )
        seen.append(literal)
