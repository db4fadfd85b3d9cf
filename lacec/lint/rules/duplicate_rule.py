"""A rule that is there already, letter for letter or with other names for its variables.

Selected(P) :- Have(P).
Selected(Q) :- Have(Q).
"""

from collections.abc import Iterator

from lacec.core.diagnostics import Diagnostic, Edit, Fix, Place, Related
from lacec.lint.subject import Own, Subject
from lacec.syntax.source import SourceRule


def lint_module(subject: Subject) -> Iterator[Diagnostic]:
    for rules in subject.by_head.values():
        if len(rules) < 2:
            continue
        first: dict[str, SourceRule] = {}
        # A rule of a linked file was there before.
        for rule, anatomy in sorted(rules, key=lambda each: subject.is_own(each[0])):
            if rule.repaired or anatomy.is_large:
                continue
            other = first.setdefault(anatomy.shape, rule)
            if other is not rule and subject.is_own(rule):
                yield _diagnostic((rule, anatomy), other)


def _diagnostic(own: Own, other: SourceRule) -> Diagnostic:
    rule, _ = own
    same = rule.text == other.text
    fix = None
    if not rule.annotations:
        whole = Place(rule.source.name, rule.line, 1, rule.line + 1, 1)
        fix = Fix("remove the rule", (Edit(whole, ""),), True)
    return Diagnostic(
        "duplicate-rule",
        "this rule is there already" + ("" if same else ", with other names for its variables"),
        rule.place(rule.rule.head.span),
        "remove one of them",
        (Related("the same rule", other.place(other.rule.head.span)),),
        fix,
    )
