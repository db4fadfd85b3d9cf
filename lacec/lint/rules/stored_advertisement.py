"""A selector that asks the store about a record which is only offered.

    SelectAdvertised(P,S) :- Advertised(P,S), Field(P,'Group',_,'X').

Facts of records are of those that are here, and those are not requested: the rule asks for
nothing. What the peer says of a record is `AdvertisedField`.
"""

from collections.abc import Iterator

from lacec.core.diagnostics import Diagnostic, Edit, Fix
from lacec.core.facets import Facet
from lacec.core.predicates import RECORD_FACTS, Predicate
from lacec.lint.subject import Subject
from lacec.syntax.ast import Atom, Variable
from lacec.syntax.show import show_atom

EXPORT, FIELD = Predicate("SelectAdvertised", 2), Predicate("Field", 4)


def lint_module(subject: Subject) -> Iterator[Diagnostic]:
    if subject.program.facet is not Facet.SELECTOR:
        return
    told: set[tuple[int, Atom]] = set()
    for rule, anatomy, record in subject.about(EXPORT, 0, positive=True):
        for atom in anatomy.positive:
            if (
                atom.predicate not in RECORD_FACTS
                or atom.terms[0] not in record
                or not subject.is_own(rule)
                or (rule.line, atom) in told
            ):
                continue
            told.add((rule.line, atom))
            fix = None
            source = rule.rule.head.terms[-1]
            if atom.predicate == FIELD and anatomy.head == EXPORT and isinstance(source, Variable):
                claim = Atom("AdvertisedField", (atom.terms[0], source, *atom.terms[1:]))
                text = show_atom(claim)
                fix = Fix(f"write {text}", (Edit(rule.place(atom.span), text),))
            yield Diagnostic(
                "stored-advertisement",
                f"`{atom.name}` is of records that are here, and this one is only offered",
                rule.place(atom.span),
                "what the peer says of a record it offers is AdvertisedField(P,S,Name,Index,Value)",
                fix=fix,
            )
