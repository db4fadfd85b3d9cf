"""A selector that lets the peer see the effect of records that it may not query (040).

    # with an exposure of group X alone
    SelectHave(P) :- Field(P,'Group',_,'X'), Field(Q,'Group',_,'keys'), Field(Q,'Name',_,P).

What is sent and requested then depends on group `keys`: allowed, and this side's to know. It
is told when the exposure is given; reading what the exposure lets the peer query is none.
"""

from collections.abc import Iterator

from lacec.check.program import Program
from lacec.core.diagnostics import Diagnostic
from lacec.core.facets import Facet
from lacec.core.predicates import (
    EXPOSE_EXPORTS,
    LOCAL_FACTS,
    RECORD_FACTS,
    SELECTOR_EXPORTS,
    Predicate,
)
from lacec.lint.subject import Subject
from lacec.lint.subsumption import Bindings, found_in, named
from lacec.syntax.ast import Anonymous, Atom, Literal, Rule, Term, Variable, body_atoms

HAVE = Predicate("Have", 1)


def lint_module(subject: Subject) -> Iterator[Diagnostic]:
    exposures = subject.context.exposures
    if not exposures or subject.program.facet is not Facet.SELECTOR:
        return
    told: set[tuple[int, Atom]] = set()
    for export in SELECTOR_EXPORTS:
        for rule, _, record in subject.about(export, 0):
            for atom in body_atoms(rule.rule):
                if (
                    atom.predicate not in RECORD_FACTS
                    or atom.terms[0] in record
                    or not subject.is_own(rule)
                    or (rule.line, atom) in told
                    or all(_exposed(rule.rule, atom.terms[0], each) for each in exposures)
                ):
                    continue
                told.add((rule.line, atom))
                yield rule.diagnostic(
                    "local-declassification",
                    atom.span,
                    f"`{export.name}` depends on `{atom.name}` of records that the peer may not "
                    "query, and the peer sees what it selects",
                    'expose those records, or say why it is meant: #:json {"allow":'
                    '{"local-declassification":"..."}}',
                )


def _exposed(reading: Rule, record: Term, exposure: Program) -> bool:
    """Whether a rule of the exposure lets every viewer query each such record."""
    given = [
        named(atom, f"given{n}") for n, atom in enumerate(reading.body) if isinstance(atom, Atom)
    ]
    for source in exposure.rules:
        head = source.rule.head
        if head.predicate not in EXPOSE_EXPORTS or not _for_everyone(source.rule):
            continue
        wanted: list[Literal] = [
            named(literal, str(n)) if isinstance(literal, Atom) else literal
            for n, literal in enumerate(source.rule.body)
            if not (isinstance(literal, Atom) and _needless(literal, head))
        ]
        if not wanted:
            return True
        start: Bindings = {}
        if isinstance(head.terms[1], Variable) and not isinstance(record, Anonymous):
            start[head.terms[1].name] = record
            if found_in(wanted, given, start):
                return True
    return False


def _for_everyone(rule: Rule) -> bool:
    viewer = rule.head.terms[0]
    holders = [atom for atom in body_atoms(rule) if viewer in atom.terms]
    return isinstance(viewer, Variable) and all(a.predicate in LOCAL_FACTS for a in holders)


def _needless(atom: Atom, head: Atom) -> bool:
    """What holds of every record and every viewer."""
    return atom.predicate in LOCAL_FACTS or (
        atom.predicate == HAVE and atom.terms[0] == head.terms[1]
    )
