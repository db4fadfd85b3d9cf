"""Intersection (040): a record is selected when both operands select it.

MergedSelectHave(P) :- o0_SelectHave(P), o1_SelectHave(P).
MergedSelectAdvertised(P,S) :- o0_SelectAdvertised(P,S), o1_SelectAdvertised(P,S).
"""

from collections.abc import Sequence

from lacec.core.predicates import SELECTOR_EXPORTS, Predicate
from lacec.syntax.ast import Atom, Rule, Term, Variable

MERGED = "Merged"
# The variables of a generated rule, in the order of the spec's examples.
_NAMES = {1: ("P",), 2: ("P", "S")}


def intersection(scopes: Sequence[str]) -> list[tuple[Predicate, Rule]]:
    """For each exported predicate the rule that intersects it over the scopes."""
    return [
        (export, conjunction(MERGED + export.name, _NAMES[export.arity], export.name, scopes))
        for export in SELECTOR_EXPORTS
    ]


def conjunction(head: str, variables: Sequence[str], name: str, scopes: Sequence[str]) -> Rule:
    """head(V,…) :- a_name(V,…), b_name(V,…), ….  for each scope."""
    terms: tuple[Term, ...] = tuple(Variable(variable) for variable in variables)
    return Rule(Atom(head, terms), tuple(Atom(scope + name, terms) for scope in scopes))
