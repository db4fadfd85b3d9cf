"""A predicate that this file and a linked one both define: linking joins their rules.

# mine.lace, linked with shared.lace, which has rules for Member/1 too
Member('V.alice') :- true.
"""

from collections.abc import Iterator

from lacec.core.diagnostics import Diagnostic, Related, visible
from lacec.core.predicates import Predicate
from lacec.lint.subject import Subject
from lacec.syntax.source import SourceRule


def lint_module(subject: Subject) -> Iterator[Diagnostic]:
    if not subject.linked:
        return
    there: dict[Predicate, SourceRule] = {}
    for other in subject.linked:
        there.setdefault(other.rule.head.predicate, other)
    told: set[Predicate] = set()
    for rule, anatomy in subject.own:
        linked = there.get(anatomy.head)
        if linked is None or anatomy.head in told:
            continue
        told.add(anatomy.head)
        yield Diagnostic(
            "shadowed-name",
            f"{visible(linked.source.name)} defines `{anatomy.head}` too, and its rules join these",
            rule.place(rule.rule.head.name_span),
            "choose another name, unless both files are to add to it",
            (Related("the other definition", linked.place(linked.rule.head.name_span)),),
        )
