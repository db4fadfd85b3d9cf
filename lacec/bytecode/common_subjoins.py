"""Equal sub-joins that several rules begin with become a predicate of their own.

    A(P) :- Have(P), Field(P,'Group',_,'u'), Field(P,'Name',_,K), Link(K).
    B(P) :- Have(P), Field(P,'Group',_,'u'), not Blocked(P).

becomes, with an auxiliary predicate that no source can name,

    +1(P) :- Have(P), Field(P,'Group',_,'u').
    A(P) :- +1(P), Field(P,'Name',_,K), Link(K).
    B(P) :- +1(P), not Blocked(P).

What is lifted are the atoms of one variable: those that say something of it alone.
Rules of different origins, or that read through different views, share nothing.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence

from lacec.bytecode.rule_info import parts_of
from lacec.core.origins import PLAIN, Reading, Resolution
from lacec.core.predicates import Predicate
from lacec.syntax.ast import Anonymous, Atom, Rule, Term, Variable

Shape = frozenset[Atom]


def lift(
    rules: Sequence[Rule], fixed: Iterable[Predicate], resolution: Resolution = PLAIN
) -> tuple[list[tuple[Rule, Reading]], list[Rule]]:
    """The auxiliary rules, each with the reading of those that share it, and the rules rewritten.

    Atoms of `fixed` predicates stay in place.
    """
    fixed = frozenset(fixed)
    uses: dict[tuple[Reading, Shape], list[tuple[int, str]]] = defaultdict(list)
    for number, rule in enumerate(rules):
        reading = resolution.of(rule.predicate)
        for variable, atoms in _clusters(rule, fixed).items():
            if len(atoms) > 1:
                shape = frozenset(_shape(atom, variable) for atom in atoms)
                uses[reading, shape].append((number, variable))
    made: list[tuple[Rule, Reading]] = []
    lifted: dict[int, list[tuple[str, Atom]]] = defaultdict(list)
    for (reading, shape), places in uses.items():
        if len(places) < 2:
            continue
        head = Atom(f"+{len(made) + 1}", (Variable("X"),))
        ordered = sorted(shape, key=repr)
        rule = Rule(head, tuple(_apart(atom, n) for n, atom in enumerate(ordered)))
        made.append((rule, reading))
        for number, variable in places:
            lifted[number].append((variable, Atom(head.name, (Variable(variable),))))
    return made, [_rewrite(rule, lifted[i], fixed) for i, rule in enumerate(rules)]


def _clusters(rule: Rule, fixed: frozenset[Predicate]) -> dict[str, list[Atom]]:
    """The positive atoms that hold one variable that anything else of the rule knows."""
    parts = parts_of(rule)
    clusters: dict[str, list[Atom]] = {}
    for place, needed in parts.needed.items():
        if len(needed) == 1 and parts.forms[place].predicate not in fixed:
            (variable,) = needed
            atom = rule.body[place]
            assert isinstance(atom, Atom)
            clusters.setdefault(variable, []).append(atom)
    return clusters


def _shape(atom: Atom, variable: str) -> Atom:
    """The atom with its variable called X and the others, which nothing else knows, by number."""
    names = {variable: Variable("X")}
    terms: list[Term] = []
    for term in atom.terms:
        if isinstance(term, Variable):
            terms.append(names.setdefault(term.name, Variable(f"Y{len(names)}")))
        else:
            terms.append(term if not isinstance(term, Anonymous) else Anonymous())
    return Atom(atom.name, tuple(terms))


def _apart(atom: Atom, number: int) -> Atom:
    """The atom with its own variables under names that no other atom of the sub-join has."""
    return Atom(
        atom.name,
        tuple(
            Variable(f"{term.name}_{number}")
            if isinstance(term, Variable) and term.name != "X"
            else term
            for term in atom.terms
        ),
    )


def _rewrite(rule: Rule, lifted: list[tuple[str, Atom]], fixed: frozenset[Predicate]) -> Rule:
    if not lifted:
        return rule
    clusters = _clusters(rule, fixed)
    gone = {id(atom) for variable, _ in lifted for atom in clusters[variable]}
    body = tuple(literal for literal in rule.body if id(literal) not in gone)
    return Rule(rule.head, (*(atom for _, atom in lifted), *body))
