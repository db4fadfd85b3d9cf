"""Counts of a comparison: the pattern of "fewer than 100 are newer", counted by rank.

    Newer(P,Q) :- Candidate(P,T), Candidate(Q,T), LexCompare(Q,'>',P).
    Newer(P,Q) :- Candidate(P,TP), Candidate(Q,TQ), LexCompare(TQ,'>',TP).
    Latest(P) :- Candidate(P,_), Cardinality(Newer(P,Q),'<','100').

Newer has a tuple for every pair of candidates; counting needs none of them, when
each P has one T. In: a counted atom and the rules of its predicate. Out: how to
count it, or None when the rules do not have this form.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from lacec.bytecode.opcodes import COMPARES, Compare, Test
from lacec.core.predicates import BUILTIN_ARITY
from lacec.syntax.ast import Anonymous, Atom, Constant, Rule, Variable

KINDS = {"IntCompare": Test.INT_COMPARE, "LexCompare": Test.LEX_COMPARE}


@dataclass(frozen=True, slots=True)
class Way:
    """One rule: pairs of positions joined, and the two positions compared (low OP high)."""

    equal: frozenset[tuple[int, int]]
    test: Test
    low: int
    high: int
    compare: Compare


@dataclass(frozen=True, slots=True)
class Ranking:
    """The two atoms that all rules share, where key and counted value stand in them, the ways."""

    low: Atom
    key: int
    high: Atom
    counted: int
    ways: tuple[Way, ...]


def ranking_of(
    atom: Atom, outer: frozenset[str], rules: Sequence[Rule]
) -> tuple[int, Ranking] | None:
    """How to count an atom by rank, and the position of its key; None where it cannot be."""
    if len(atom.terms) != 2:
        return None
    for position in (0, 1):
        term = atom.terms[position]
        if (
            isinstance(term, Variable)
            and term.name in outer
            and is_local(atom, 1 - position, outer)
        ):
            found = find_ranking(position, rules)
            return None if found is None else (position, found)
    return None


def find_ranking(position: int, rules: Sequence[Rule]) -> Ranking | None:
    """How to count a predicate of two arguments by the one at `position`."""
    found: Ranking | None = None
    for rule in rules:
        ranking = _ranking(position, rule)
        if ranking is None:
            return None
        if found is None:
            found = ranking
        elif _forms(found) != _forms(ranking):
            return None
        else:
            ways = (*found.ways, *ranking.ways)
            found = Ranking(found.low, found.key, found.high, found.counted, ways)
    if found is None or not _disjoint(found.ways):
        return None
    return found


def _ranking(position: int, rule: Rule) -> Ranking | None:
    """The form of one rule: two atoms, one comparison between them, nothing else."""
    atoms = [a for a in rule.body if isinstance(a, Atom) and a.name not in BUILTIN_ARITY]
    tests = [a for a in rule.body if isinstance(a, Atom) and a.name in KINDS]
    key, counted = rule.head.terms[position], rule.head.terms[1 - position]
    if len(atoms) != 2 or len(tests) != 1 or len(rule.body) != 3 or key == counted:
        return None
    if not isinstance(key, Variable) or not isinstance(counted, Variable):
        return None
    holders = [[n for n, atom in enumerate(atoms) if v in atom.terms] for v in (key, counted)]
    if holders not in ([[0], [1]], [[1], [0]]) or any(_repeats(atom) for atom in atoms):
        return None
    low, high = atoms[holders[0][0]], atoms[holders[1][0]]
    way = _way(tests[0], low, high)
    if way is None:
        return None
    return Ranking(low, low.terms.index(key), high, high.terms.index(counted), (way,))


def _way(test: Atom, low: Atom, high: Atom) -> Way | None:
    left, operator, right = test.terms
    assert isinstance(operator, Constant)
    compare = COMPARES[operator.value]
    if left in high.terms and right in low.terms:
        left, right, compare = right, left, compare.mirrored
    if not (isinstance(left, Variable) and isinstance(right, Variable)):
        return None
    if left not in low.terms or right not in high.terms:
        return None
    equal = frozenset(
        (i, high.terms.index(term))
        for i, term in enumerate(low.terms)
        if isinstance(term, Variable) and term in high.terms
    )
    return Way(equal, KINDS[test.name], low.terms.index(left), high.terms.index(right), compare)


def _repeats(atom: Atom) -> bool:
    names = [term.name for term in atom.terms if isinstance(term, Variable)]
    return len(names) != len(set(names))


def _forms(ranking: Ranking) -> object:
    """What must be the same in all rules: predicates, constants, key and counted positions."""
    return (
        same_form(ranking.low),
        same_form(ranking.high),
        ranking.key,
        ranking.counted,
    )


def same_form(atom: Atom) -> object:
    """Equal for atoms that load the same tuples: variables without repetition are all alike."""
    return atom.name, tuple(t if isinstance(t, Constant) else None for t in atom.terms)


def _disjoint(ways: tuple[Way, ...]) -> bool:
    """Whether no pair is counted in two ways, given one row for each key and counted value."""
    return all(_contradict(one, other) for i, one in enumerate(ways) for other in ways[i + 1 :])


def _contradict(one: Way, other: Way) -> bool:
    pairs = (one.low, one.high), (other.low, other.high)
    if pairs[0] in other.equal and one.compare.strict:
        return True
    if pairs[1] in one.equal and other.compare.strict:
        return True
    opposite = {one.compare, other.compare} == {Compare.LESS, Compare.GREATER}
    return pairs[0] == pairs[1] and one.test == other.test and opposite


@dataclass(frozen=True, slots=True)
class RankOperands:
    """What RANK reads: columns of the two atoms, the unique one first, and the ways in them."""

    lows: tuple[int, ...]
    highs: tuple[int, ...]
    same: bool  # whether both atoms have the same tuples
    ways: tuple[tuple[tuple[tuple[int, int], ...], int, int, int, int], ...]


def rank_operands(ranking: Ranking) -> RankOperands:
    ways = ranking.ways
    lows = _used(ranking.key, [p for way in ways for p in (way.low, *(a for a, _ in way.equal))])
    highs = _used(
        ranking.counted, [p for way in ways for p in (way.high, *(b for _, b in way.equal))]
    )
    return RankOperands(
        lows,
        highs,
        same_form(ranking.low) == same_form(ranking.high) and lows == highs,
        tuple(
            (
                tuple(sorted((lows.index(a), highs.index(b)) for a, b in way.equal)),
                int(way.test),
                lows.index(way.low),
                highs.index(way.high),
                int(way.compare),
            )
            for way in ways
        ),
    )


def _used(first: int, used: Sequence[int]) -> tuple[int, ...]:
    """The positions that RANK needs of an atom: the unique one first."""
    rest = {position for position in used if position != first}
    return (first, *sorted(rest))


def is_local(atom: Atom, position: int, outer: frozenset[str]) -> bool:
    term = atom.terms[position]
    return isinstance(term, Anonymous) or (isinstance(term, Variable) and term.name not in outer)
