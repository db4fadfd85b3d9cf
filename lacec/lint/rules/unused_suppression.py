"""A suppression of a warning that its rule does not draw.

#:json {"allow":{"singleton-variable":"V is for the reader"}}
Selected(P) :- Have(P).
"""

from collections.abc import Iterator, Set

from lacec.core.diagnostics import Diagnostic
from lacec.lint.subject import Subject
from lacec.lint.suppressions import KEY, entries, is_good, place_of

Drawn = tuple[int, str]


def lint_suppressions(subject: Subject, drawn: Set[Drawn]) -> Iterator[Diagnostic]:
    """`drawn` has the line and the name of each warning that was suppressed."""
    for rule, _ in subject.own:
        if not rule.annotations or KEY not in rule.annotations:
            continue
        for name, reason in entries(rule):
            if (rule.line, name) not in drawn and is_good(name, reason):
                yield Diagnostic(
                    "unused-suppression",
                    f"the rule draws no `{name}`, so there is nothing to allow",
                    place_of(subject.program.sources[0], rule, name),
                    "remove it from the annotation",
                )
