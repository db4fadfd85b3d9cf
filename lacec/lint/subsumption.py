"""Whether one body asks for no more than another: then it holds wherever the other does.

    general   Selected(P) :- Have(P), Field(P,'Group',_,G).
    special   Selected(Q) :- Have(Q), Field(Q,'Group',_,'u'), Link(Q).

The general rule's variables are given terms of the special one so that each of its literals
is found there. The search is cut off after some steps: then the answer is no.
"""

from collections.abc import Iterator, Sequence

from lacec.core.predicates import BUILTIN_ARITY
from lacec.lint.rule_facts import Anatomy
from lacec.syntax.ast import (
    Always,
    Anonymous,
    Atom,
    Cardinality,
    Literal,
    Negated,
    Term,
    Unequal,
    Variable,
)

MOST_STEPS = 200
Bindings = dict[str, Term]


def subsumes(general: Anatomy, special: Anatomy) -> bool:
    """Whether whatever the special rule derives, the general one derives."""
    wanted, given = _prepared(general, "g"), _prepared(special, "s")
    if wanted is None or given is None:
        return False
    start: Bindings = {}
    pairs = zip(general.rule.head.terms, special.rule.head.terms, strict=True)
    if not all(_bind(one, other, start) for one, other in pairs):
        return False
    return found_in(wanted, given, start)


def found_in(wanted: Sequence[Literal], given: Sequence[Literal], start: Bindings) -> bool:
    """Whether all literals wanted are among those given, with some binding of their variables."""
    steps = 0
    stack: list[tuple[int, Bindings]] = [(0, start)]
    while stack:
        position, bindings = stack.pop()
        if position == len(wanted):
            return True
        for literal in given:
            steps += 1
            if steps > MOST_STEPS:
                return False
            tried = _matches(wanted[position], literal, bindings)
            stack.extend((position + 1, each) for each in tried)
    return False


def named(atom: Atom, mark: str) -> Atom:
    """A positive atom with a name for each `_`, so that it can match whatever stands there."""
    terms = (
        Variable(f"_{mark}_{n}") if isinstance(term, Anonymous) else term
        for n, term in enumerate(atom.terms)
    )
    return Atom(atom.name, tuple(terms))


def _prepared(anatomy: Anatomy, mark: str) -> list[Literal] | None:
    """The body with a name for each `_` of its positive atoms, and `_` for what is only counted.

    None when a counted atom has a variable of its own twice: that has no such form.
    """
    body: list[Literal] = []
    for literal in anatomy.rule.body:
        match literal:
            case Atom(name) if name not in BUILTIN_ARITY:
                body.append(named(literal, f"{mark}{len(body)}"))
            case Cardinality(atom, operator, bound):
                inside = [v.name for v in atom.variables]
                local = {name for name in inside if anatomy.times[name] == inside.count(name)}
                if any(inside.count(name) > 1 for name in local):
                    return None
                counted: tuple[Term, ...] = tuple(
                    Anonymous() if isinstance(t, Variable) and t.name in local else t
                    for t in atom.terms
                )
                body.append(Cardinality(Atom(atom.name, counted), operator, bound))
            case Always():
                pass
            case _:
                body.append(literal)
    return body


def _matches(wanted: Literal, given: Literal, bindings: Bindings) -> Iterator[Bindings]:
    """The bindings with which a literal that is given is the one wanted, or implies it."""
    match wanted, given:
        case Atom(name, terms), Atom(other, others) if name == other:
            yield from _bound(terms, others, bindings)
        case Negated(Atom(name, terms)), Negated(Atom(other, others)) if name == other:
            if len(terms) == len(others):
                pairs = [p for p in zip(terms, others, strict=True) if p[1] != Anonymous()]
                yield from _bound([p[0] for p in pairs], [p[1] for p in pairs], bindings)
        case Cardinality(Atom(name, terms), operator, bound), Cardinality(Atom(other), _, _):
            if name == other:
                here = (*terms, operator, bound)
                there = (*given.atom.terms, given.operator, given.bound)
                yield from _bound(here, there, bindings)
        case Unequal(left, right), Unequal(one, two):
            yield from _bound((left, right), (one, two), bindings)
            yield from _bound((left, right), (two, one), bindings)


def _bound(terms: Sequence[Term], others: Sequence[Term], bindings: Bindings) -> Iterator[Bindings]:
    if len(terms) == len(others):
        tried = dict(bindings)
        if all(_bind(one, other, tried) for one, other in zip(terms, others, strict=True)):
            yield tried


def _bind(term: Term, other: Term, bindings: Bindings) -> bool:
    if isinstance(term, Variable):
        if isinstance(other, Anonymous):
            return False
        return bindings.setdefault(term.name, other) == other
    return term == other
