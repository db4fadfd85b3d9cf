"""A selector that looks at other fields of what it has than of what it is offered.

    SelectHave(P) :- Have(P), Field(P,'Group',_,'X').
    SelectAdvertised(P,S) :- Advertised(P,S), AdvertisedField(P,S,'App',_,'ding').

It asks for records that it does not select once it has them, and the other way around.
"""

from collections.abc import Iterator

from lacec.core.diagnostics import Diagnostic, quote
from lacec.core.facets import Facet
from lacec.core.predicates import Predicate
from lacec.lint.subject import Subject
from lacec.syntax.ast import Atom, Constant, body_atoms
from lacec.syntax.show import show_constant
from lacec.syntax.source import SourceRule

HAVE, ADVERTISED = Predicate("SelectHave", 1), Predicate("SelectAdvertised", 2)
FIELD, CLAIM = Predicate("Field", 4), Predicate("AdvertisedField", 5)
Asked = dict[str, tuple[SourceRule, Atom]]


def lint_module(subject: Subject) -> Iterator[Diagnostic]:
    program = subject.program
    if program.facet is not Facet.SELECTOR or program.unread_lines:
        return
    if HAVE not in subject.by_head or ADVERTISED not in subject.by_head:
        return
    stored, claimed = _asked(subject, HAVE, FIELD, 1), _asked(subject, ADVERTISED, CLAIM, 2)
    if stored is None or claimed is None:
        return
    for name in stored.keys() - claimed.keys():
        yield _diagnostic(
            subject,
            stored[name],
            f"`SelectHave` looks at the field {quote(name)}, `SelectAdvertised` does not",
            f"what is offered is requested without it: test AdvertisedField(P,S,{_shown(name)})",
        )
    for name in claimed.keys() - stored.keys():
        yield _diagnostic(
            subject,
            claimed[name],
            f"`SelectAdvertised` looks at the field {quote(name)}, `SelectHave` does not",
            f"what is stored is selected without it: test Field(P,{_shown(name)})",
        )


def _asked(subject: Subject, export: Predicate, fact: Predicate, column: int) -> Asked | None:
    """The fields of the record in question, each with an atom; None when some have no name."""
    found: Asked = {}
    for rule, _, record in subject.about(export, 0):
        for atom in body_atoms(rule.rule):
            if atom.predicate == fact and atom.terms[0] in record:
                name = atom.terms[column]
                if not isinstance(name, Constant):
                    return None
                found.setdefault(name.value, (rule, atom))
    return found


def _shown(name: str) -> str:
    return f"{show_constant(name)},_,_" if len(name) <= 40 else "...,_,_"


def _diagnostic(
    subject: Subject, at: tuple[SourceRule, Atom], message: str, help: str
) -> Diagnostic:
    rule, atom = at
    if not subject.is_own(rule):
        # The atom stands in a linked file: the export that leads there is here, if anywhere.
        rule = next(
            (own for own, anatomy in subject.own if anatomy.head in (HAVE, ADVERTISED)), rule
        )
        atom = rule.rule.head
    return rule.diagnostic("field-mismatch", atom.span, message, help)
