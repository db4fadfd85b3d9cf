"""A selector that does not care who offers the record, or who says what about it.

    SelectAdvertised(P,S) :- Advertised(P,_), Peer(S).
    SelectAdvertised(P,S) :- Advertised(P,S), AdvertisedField(P,_,'Group',_,'X').

`S` is the source that the record is requested from: what is believed should come from there.
"""

from collections.abc import Iterator

from lacec.core.diagnostics import Diagnostic, Edit, Fix
from lacec.core.facets import Facet
from lacec.core.predicates import ADVERTISEMENT_FACTS, Predicate
from lacec.lint.subject import Own, Subject
from lacec.syntax.ast import Term, Variable

EXPORT = Predicate("SelectAdvertised", 2)


def lint_module(subject: Subject) -> Iterator[Diagnostic]:
    if subject.program.facet is not Facet.SELECTOR:
        return
    for own in subject.own:
        if own[1].head == EXPORT:
            yield from _rule(own)


def _rule(own: Own) -> Iterator[Diagnostic]:
    rule, anatomy = own
    record, source = rule.rule.head.terms
    claims = [
        atom
        for atom in anatomy.positive
        if atom.predicate in ADVERTISEMENT_FACTS and atom.terms[0] == record
    ]
    # A helper that has both may well join them.
    joined = any(record in atom.terms and source in atom.terms for atom in anatomy.positive)
    if not joined:
        yield rule.diagnostic(
            "ignored-source",
            source.span,
            f"nothing says that {_shown(source)} offers {_shown(record)}",
            "join them: Advertised(P,S) holds for the source that offers the record",
        )
        return
    for atom in claims:
        if atom.terms[1] != source:
            text = _shown(source).strip("`")
            yield Diagnostic(
                "ignored-source",
                f"this is what any source says, and the record is requested from {_shown(source)}",
                rule.place(atom.terms[1].span),
                f"write {_shown(source)} here",
                fix=Fix(f"write {text}", (Edit(rule.place(atom.terms[1].span), text),)),
            )


def _shown(term: Term) -> str:
    return f"`{term.name}`" if isinstance(term, Variable) else "this constant"
