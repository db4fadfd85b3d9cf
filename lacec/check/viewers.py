"""Whom an exposure module names: an opaque label is of one exchange, and can be had (D16a)."""

from collections.abc import Iterator

from lacec.check.program import Program
from lacec.diagnostics import Diagnostic, quote
from lacec.facets import Facet
from lacec.predicates import OPAQUE_LABEL
from lacec.syntax.ast import Atom, Cardinality, Constant, Negated, Rule, Term, Unequal


def check_viewers(program: Program) -> Iterator[Diagnostic]:
    if program.facet is not Facet.EXPOSE:
        return
    for rule in program.rules:
        for term in _terms(rule.rule):
            if isinstance(term, Constant) and OPAQUE_LABEL.fullmatch(term.value):
                yield rule.diagnostic(
                    "opaque-viewer",
                    term.span,
                    f"{quote(term.value)} is the label of one exchange, not of somebody",
                    "a peer can try selectors until it has this label: name a verifier, or expose "
                    "to whoever the peer is with _Viewer(V)",
                )


def _terms(rule: Rule) -> Iterator[Term]:
    yield from rule.head.terms
    for literal in rule.body:
        match literal:
            case Atom(_, terms) | Negated(Atom(_, terms)) | Cardinality(Atom(_, terms)):
                yield from terms
            case Unequal(left, right):
                yield from (left, right)
