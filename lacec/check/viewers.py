"""Whom an exposure module names: an opaque label is of one exchange, and can be had (D16a)."""

from collections.abc import Iterator

from lacec.core.diagnostics import Problem, quote
from lacec.core.predicates import OPAQUE_LABEL
from lacec.syntax.ast import Atom, Cardinality, Constant, Negated, Rule, Term, Unequal


def check_rule(rule: Rule) -> Iterator[Problem]:
    for term in _terms(rule):
        if isinstance(term, Constant) and OPAQUE_LABEL.fullmatch(term.value):
            yield Problem(
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
