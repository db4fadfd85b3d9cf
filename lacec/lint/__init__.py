"""Lints: what is legal and seldom meant. One rule a file, each with its page in docs/rules.

In: a program, what is known about its use, and what the checks found. Out: all of that and
the lints, as the program's annotations and its `lace.toml` want them. What a lint of
single rules finds is kept with them; one of the whole module reads the indexes of its subject.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import chain

from lacec.check.program import Program
from lacec.core.diagnostics import CATALOGUE, Diagnostic, Problem
from lacec.lint.rule_facts import Anatomy
from lacec.lint.rules import (
    bad_suppression,
    builtin_look_alike,
    disconnected_body,
    duplicate_rule,
    field_mismatch,
    ignored_source,
    leading_zeros,
    local_declassification,
    never_fires,
    pointless_test,
    quadratic_count,
    repeated_atom,
    shadowed_name,
    singleton_variable,
    stored_advertisement,
    subsumed_rule,
    suspicious_anchor,
    time_without_tick,
    undefined_predicate,
    unknown_field,
    unused_helper,
)
from lacec.lint.rules.unused_suppression import lint_suppressions
from lacec.lint.subject import Context, Subject
from lacec.lint.suppressions import allowed

OF_A_RULE: tuple[Callable[[Anatomy], Iterator[Problem]], ...] = (
    singleton_variable.lint_rule,
    never_fires.lint_rule,
    pointless_test.lint_rule,
    repeated_atom.lint_rule,
    suspicious_anchor.lint_rule,
    leading_zeros.lint_rule,
)
OF_A_MODULE: tuple[Callable[[Subject], Iterator[Diagnostic]], ...] = (
    undefined_predicate.lint_module,
    builtin_look_alike.lint_module,
    unused_helper.lint_module,
    shadowed_name.lint_module,
    unknown_field.lint_module,
    field_mismatch.lint_module,
    ignored_source.lint_module,
    stored_advertisement.lint_module,
    disconnected_body.lint_module,
    quadratic_count.lint_module,
    never_fires.lint_module,
    duplicate_rule.lint_module,
    subsumed_rule.lint_module,
    time_without_tick.lint_module,
    local_declassification.lint_module,
    bad_suppression.lint_module,
)


def lint(
    program: Program, found: Iterable[Diagnostic], context: Context | None = None
) -> Iterator[Diagnostic]:
    """What the checks found and the lints of the first source, in no order."""
    if len(program.rules) > program.limits.rules:
        program = replace(program, sources=())  # an error says so; what is hostile ends here
    subject = Subject(program, context or Context())
    found = list(found)
    # On a line with an error a lint would speak of what is going to change.
    broken = {
        (place.file, place.line)
        for each in found
        if each.severity == "error"
        for place in (each.place, *(related.place for related in each.related))
    }
    lints = chain(_of_rules(subject), (each for lint in OF_A_MODULE for each in lint(subject)))
    told = (each for each in lints if (each.place.file, each.place.line) not in broken)
    allow = allowed(program)
    drawn: set[tuple[int, str]] = set()
    for each in chain(found, told):
        line = (each.place.file, each.place.line)
        if each.name in allow.get(line, ()):
            drawn.add((each.place.line, each.name))
        else:
            yield from _at_its_level(each, subject.context)
    for each in lint_suppressions(subject, drawn):
        yield from _at_its_level(each, subject.context)


def _of_rules(subject: Subject) -> Iterator[Diagnostic]:
    for rule, anatomy in subject.own:
        problems: tuple[Problem, ...] | None = rule.rule.kept.get("lint")
        if problems is None:
            problems = tuple(problem for lint in OF_A_RULE for problem in lint(anatomy))
            rule.rule.kept["lint"] = problems
        for problem in problems:
            yield problem.at(rule.source.name, rule.line)


def _at_its_level(diagnostic: Diagnostic, context: Context) -> Iterator[Diagnostic]:
    level = context.levels.get(diagnostic.name)
    if level is None or CATALOGUE[diagnostic.name] == "error":
        yield diagnostic
    elif level != "off":
        yield replace(diagnostic, level=level)
