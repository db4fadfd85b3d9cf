"""The checks of single rules. What they find is kept with the rule, which equal lines share.

So a program of which one line changed costs the checks of one line.
"""

from collections.abc import Iterator
from functools import lru_cache

from lacec.check import builtins, limits, names, safety, viewers
from lacec.check.program import Program
from lacec.core.diagnostics import Diagnostic, Problem
from lacec.core.facets import Facet
from lacec.core.limits import Limits
from lacec.syntax.ast import Rule


def check_rules(program: Program) -> Iterator[Diagnostic]:
    terms = _terms(program.facet, program.limits)
    for rule in program.rules:
        asked, problems = rule.rule.kept.get("check", (None, ()))
        if asked is not terms:
            problems = tuple(_problems(rule.rule, rule.repaired, program.facet, program.limits))
            rule.rule.kept["check"] = terms, problems
        for problem in problems:
            yield problem.at(rule.source.name, rule.line)


@lru_cache(maxsize=64)
def _terms(facet: Facet, limits: Limits) -> tuple[Facet, Limits]:
    """One object for equal terms, because comparing limits takes longer than most rules do."""
    return facet, limits


def _problems(rule: Rule, repaired: bool, facet: Facet, most: Limits) -> Iterator[Problem]:
    yield from limits.check_rule(rule, facet, most)
    yield from names.check_rule(rule, facet)
    if facet is Facet.EXPOSE:
        yield from viewers.check_rule(rule)
    yield from builtins.check_rule(rule)
    if not repaired:
        yield from safety.check_rule(rule)
