"""A slow, obvious evaluator: 030 and D7 to D12 read aloud, over nodes and sets of text.

In: rules and base facts as sets of tuples. Out: the facts of every derived
predicate, and how many rounds each recursive group took. It is the measure for
the real engine, and shares no code with `lacec.bytecode` or `lacec.vm`.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from lacec.core.predicates import Predicate
from lacec.syntax.ast import (
    Always,
    Anonymous,
    Atom,
    Cardinality,
    Constant,
    Literal,
    Negated,
    Rule,
    Term,
    Unequal,
    Variable,
    body_atoms,
)

Row = tuple[str, ...]
Facts = dict[Predicate, set[Row]]
Binding = dict[str, str]

BUILTIN_TESTS = ("IntCompare", "LexCompare", "TextShape")
DECIMAL = re.compile(r"-?[0-9]+")


class TooMuchWorkError(Exception):
    """A program that this evaluator is too slow for."""


@dataclass(frozen=True)
class Result:
    """The facts of the derived predicates, and the rounds of each recursive group.

    `first` has the round in which each fact of a recursive group was first made.
    """

    facts: Facts
    rounds: dict[frozenset[Predicate], int]
    first: dict[tuple[Predicate, Row], int]


def evaluate(
    rules: Sequence[Rule], base: Mapping[Predicate, Iterable[Row]], most_steps: int = 10**9
) -> Result:
    """Everything that follows from the rules, group by group."""
    facts: Facts = {predicate: set(rows) for predicate, rows in base.items()}
    derived = {rule.head.predicate for rule in rules}
    for predicate in derived:
        facts[predicate] = set()
    rounds: dict[frozenset[Predicate], int] = {}
    first: dict[tuple[Predicate, Row], int] = {}
    work = Work(facts, most_steps)
    needs = needed_predicates(rules)
    for group in groups_in_order(derived, needs):
        own = [rule for rule in rules if rule.head.predicate in group]
        if any(predicate in needs[predicate] for predicate in group):
            rounds[group] = run_rounds(own, work, first)
        else:
            for rule in own:
                facts[rule.head.predicate].update(derive(rule, work))
    return Result({predicate: facts[predicate] for predicate in derived}, rounds, first)


# The order of evaluation: a predicate after all that it needs.


def needed_predicates(rules: Sequence[Rule]) -> dict[Predicate, set[Predicate]]:
    """For each derived predicate all predicates that it needs, directly or through others."""
    needs: dict[Predicate, set[Predicate]] = {rule.head.predicate: set() for rule in rules}
    for rule in rules:
        for atom in body_atoms(rule):
            if atom.name not in BUILTIN_TESTS:
                needs[rule.head.predicate].add(atom.predicate)
    changed = True
    while changed:
        changed = False
        for own in needs.values():
            through = set().union(*(needs.get(other, set()) for other in own))
            if not through <= own:
                own.update(through)
                changed = True
    return needs


def groups_in_order(
    derived: set[Predicate], needs: Mapping[Predicate, set[Predicate]]
) -> Iterator[frozenset[Predicate]]:
    """Groups of predicates that need each other; a group comes after those it needs."""
    waiting = set(derived)
    while waiting:
        for predicate in sorted(waiting):
            mutual = {o for o in needs[predicate] if o in derived and predicate in needs[o]}
            group = frozenset({predicate} | mutual)
            if not (needs[predicate] & waiting) - group:
                yield group
                waiting -= group
                break


# Rounds: all rules read what the rounds before have made.


class Work:
    """The facts so far, and how many facts may still be looked at."""

    def __init__(self, facts: Facts, most_steps: int) -> None:
        self.facts = facts
        self.steps_left = most_steps

    def of(self, predicate: Predicate) -> set[Row]:
        """A predicate with no base facts and no rules has an empty extension."""
        found = self.facts.get(predicate, set())
        self.steps_left -= len(found) + 1
        if self.steps_left < 0:
            raise TooMuchWorkError
        return found


def run_rounds(rules: Sequence[Rule], work: Work, first: dict[tuple[Predicate, Row], int]) -> int:
    """Rounds until one finds nothing new; how many there were, with that last one."""
    rounds = 0
    while True:
        rounds += 1
        made = [(rule.head.predicate, set(derive(rule, work))) for rule in rules]
        new = False
        for predicate, rows in made:
            new |= not rows <= work.facts[predicate]
            work.facts[predicate] |= rows
            for row in rows:
                first.setdefault((predicate, row), rounds)
        if not new:
            return rounds


def derive(rule: Rule, work: Work) -> Iterator[Row]:
    """The head under every binding that makes the whole body true."""
    positive = [part for part in rule.body if is_positive(part)]
    others = [part for part in rule.body if not is_positive(part)]
    for binding in bindings(positive, {}, work):
        if all(holds(part, binding, work) for part in others):
            yield tuple(value(term, binding) for term in rule.head.terms)


def is_positive(part: Literal) -> bool:
    return isinstance(part, Atom) and part.name not in BUILTIN_TESTS


def bindings(atoms: Sequence[Literal], binding: Binding, work: Work) -> Iterator[Binding]:
    """Every way to match all atoms: nested loops over the facts."""
    if not atoms:
        yield binding
        return
    first = atoms[0]
    assert isinstance(first, Atom)
    for extended in matches(first, work.of(first.predicate), binding):
        yield from bindings(atoms[1:], extended, work)


def matches(atom: Atom, facts: Iterable[Row], binding: Binding) -> Iterator[Binding]:
    """The binding under which the atom is a fact, for each fact that has one."""
    known = [(place, text) for place, text in substituted(atom, binding) if text is not None]
    free = [
        (place, term.name)
        for place, term in enumerate(atom.terms)
        if isinstance(term, Variable) and term.name not in binding
    ]
    for fact in facts:
        for place, text in known:
            if fact[place] != text:
                break
        else:
            extended = dict(binding)
            if all(extended.setdefault(name, fact[place]) == fact[place] for place, name in free):
                yield extended


def substituted(atom: Atom, binding: Binding) -> Iterator[tuple[int, str | None]]:
    """The text of each term, as far as a binding has it."""
    for place, term in enumerate(atom.terms):
        match term:
            case Anonymous():
                yield place, None
            case Constant(text):
                yield place, text
            case Variable(name):
                yield place, binding.get(name)


def match_fact(atom: Atom, fact: Row, binding: Binding) -> Binding | None:
    """The binding under which an atom is this fact; None if there is none."""
    assert len(atom.terms) == len(fact)
    return next(matches(atom, [fact], binding), None)


def value(term: Term, binding: Binding) -> str:
    """The text of a term after substitution."""
    if isinstance(term, Constant):
        return term.value
    assert isinstance(term, Variable)
    return binding[term.name]


# The tests of a body.


def holds(part: Literal, binding: Binding, work: Work) -> bool:
    match part:
        case Always():
            return True
        case Negated(atom):
            return count_facts(atom, binding, work) == 0
        case Unequal(left, right):
            return value(left, binding) != value(right, binding)
        case Cardinality(atom, operator, bound):
            count = count_facts(atom, binding, work)
            return int_compare(str(count), value(operator, binding), value(bound, binding))
        case Atom(name, terms):
            arguments = [value(term, binding) for term in terms]
            if name == "IntCompare":
                return int_compare(*arguments)
            if name == "LexCompare":
                return lex_compare(*arguments)
            return text_shape(*arguments)


def count_facts(atom: Atom, binding: Binding, work: Work) -> int:
    """How many distinct facts match one atom under the outer binding."""
    return sum(1 for _ in matches(atom, work.of(atom.predicate), binding))


def compare_order(order: int, operator: str) -> bool:
    """Whether an order (below zero: less) satisfies an operator."""
    return {"<": order < 0, "<=": order <= 0, ">": order > 0, ">=": order >= 0}[operator]


def int_compare(a: str, operator: str, b: str) -> bool:
    """Numeric comparison; an operand that is not a decimal makes the test false (D9)."""
    if not (DECIMAL.fullmatch(a) and DECIMAL.fullmatch(b)):
        return False
    return compare_order(int(a) - int(b), operator)


def lex_compare(a: str, operator: str, b: str) -> bool:
    """Bytewise lexicographic comparison over UTF-8 bytes."""
    one, two = a.encode("utf-8"), b.encode("utf-8")
    return compare_order((one > two) - (one < two), operator)


def text_shape(text: str, start: str, delims: str, end: str) -> bool:
    if not delims:
        # True iff there exists a middle string such that Text = Start + middle + End.
        middles = (text[i:j] for i in range(len(text) + 1) for j in range(i, len(text) + 1))
        return any(text == start + middle + end for middle in middles)
    # D10: Text starts with Start;
    if not text.startswith(start):
        return False
    after_start = text[len(start) :]
    # the first scalar value after Start that is in Delims exists;
    places = [i for i, scalar in enumerate(after_start) if scalar in set(delims)]
    if not places:
        return False
    segment, after = after_start[: places[0]], after_start[places[0] + 1 :]
    # the skipped segment is not empty; the text after that delimiter equals End.
    return segment != "" and after == end
