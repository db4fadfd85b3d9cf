"""A rule as a question: with values for its head, which facts make its body true?

In: a rule, and how it reads. Out: its literals in an order in which they can be asked.
Variables are numbers, so that the machine that answers knows no syntax. Unlike a block,
which keeps only the columns that something still needs, the answer has a fact for every
positive atom: that is what a proof shows, and where a rule that fails got to.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum

from lacec.bytecode import opcodes as op
from lacec.bytecode.block import TESTS
from lacec.bytecode.order import Choice, Sizes, estimate, next_atom
from lacec.bytecode.rank import RankOperands, rank_operands, ranking_of
from lacec.bytecode.rule_info import parts_of
from lacec.core.origins import FULL_VIEW, Resolution
from lacec.core.predicates import BUILTIN_ARITY, RECORD_FACTS, Predicate
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
    variables_of,
)

GoalTerm = int | str | None
"""The number of a variable, the text of a constant, or None for `_`."""


class Ask(IntEnum):
    FACT = 0  # a fact that matches
    ABSENT = 1  # no fact that matches
    COUNT = 2  # how many facts match
    TEST = 3  # a builtin


@dataclass(frozen=True, slots=True)
class Pattern:
    """The tuples of an atom: its predicate, the view it is read through, and its terms."""

    predicate: Predicate
    view: int
    terms: tuple[GoalTerm, ...]


@dataclass(frozen=True, slots=True)
class Ranked:
    """A count by rank: the variable that is the key, the two atoms, and what RANK reads of them."""

    key: int
    low: Pattern
    high: Pattern
    operands: RankOperands


@dataclass(frozen=True, slots=True)
class Part:
    """One literal as it is asked."""

    literal: int  # its place in the body
    ask: Ask
    pattern: Pattern | None = None
    inner: bool = False  # whether the fact is one of the head's own recursive group
    test: op.Test | None = None
    terms: tuple[GoalTerm, ...] = ()
    compare: op.Compare | None = None
    bound: GoalTerm = None
    ranked: Ranked | None = None
    needed: frozenset[int] = frozenset()  # the variables that parts after this one read


@dataclass(frozen=True, slots=True)
class Goal:
    """A rule: its number in the module, its head, the names of its variables, its parts."""

    rule: int
    head: tuple[GoalTerm, ...]
    names: tuple[str, ...]
    parts: tuple[Part, ...]


@dataclass(frozen=True, slots=True)
class Rules:
    """The rules that goals are made of, and what is known of them."""

    nodes: Sequence[Rule]
    resolution: Resolution
    groups: Mapping[Predicate, frozenset[Predicate]]  # of the recursive predicates
    sizes: Sizes | None = None

    def goal(self, number: int, bound: Collection[int], written: bool) -> Goal:
        """The goal of a rule whose head has values at some positions.

        The order is the one that costs least or, when it is for people, the one in which the
        rule is written; an atom that shares no variable with those before it waits either way.
        """
        return _Maker(self, number, bound, written).make()


def _is_atom(literal: Literal) -> bool:
    """Whether a literal is a positive atom, which binds variables."""
    return isinstance(literal, Atom) and literal.name not in BUILTIN_ARITY


class _Maker:
    def __init__(self, rules: Rules, number: int, bound: Collection[int], written: bool) -> None:
        self.rules, self.number, self.written = rules, number, written
        self.rule = rules.nodes[number]
        self.slots: dict[str, int] = {}
        for part in (self.rule.head, *self.rule.body):
            for name in variables_of(part):
                self.slots.setdefault(name, len(self.slots))
        head = self.rule.head
        self.reading = rules.resolution.of(head.predicate)
        self.bound = {
            term.name
            for position, term in enumerate(head.terms)
            if position in bound and isinstance(term, Variable)
        }
        self.outer = {
            name
            for part in (head, *self.rule.body)
            if not isinstance(part, Cardinality)
            for name in variables_of(part)
        }

    def make(self) -> Goal:
        literals = list(self._order())
        parts: list[Part] = []
        later: set[int] = set()
        for index in reversed(literals):
            parts.append(self._part(index, frozenset(later)))
            later |= {self.slots[name] for name in variables_of(self.rule.body[index])}
        head = tuple(self._term(term) for term in self.rule.head.terms)
        return Goal(self.number, head, tuple(self.slots), tuple(reversed(parts)))

    def _order(self) -> Iterator[int]:
        body: dict[int, Literal] = {
            i: p for i, p in enumerate(self.rule.body) if not isinstance(p, Always)
        }
        return self._written(body) if self.written else self._cheapest(body)

    def _written(self, body: dict[int, Literal]) -> Iterator[int]:
        """Each time the first literal that is ready; where none is, the first atom."""
        bound = set(self.bound)
        while body:
            ready = [i for i, literal in body.items() if self._is_ready(literal, bound)]
            index = next(iter(ready or (i for i, p in body.items() if _is_atom(p))))
            literal = body.pop(index)
            if _is_atom(literal):
                bound.update(variables_of(literal))
            yield index

    def _is_ready(self, literal: Literal, bound: set[str]) -> bool:
        names = set(variables_of(literal))
        if _is_atom(literal):
            return not names or bool(names & bound)
        return all(name in bound or name not in self.outer for name in names)

    def _cheapest(self, body: dict[int, Literal]) -> Iterator[int]:
        """Positive atoms one by one, and every test as soon as its variables have values."""
        bound = set(self.bound)
        while body:
            tests = [i for i, p in body.items() if not _is_atom(p) and self._is_ready(p, bound)]
            for index in tests:
                del body[index]
                yield index
            atoms = [i for i, p in body.items() if _is_atom(p)]
            if atoms:
                index = self._next(atoms, bound)
                bound.update(variables_of(body.pop(index)))
                yield index

    def _next(self, atoms: Iterable[int], bound: set[str]) -> int:
        parts, sizes = parts_of(self.rule), self.rules.sizes
        choices = []
        for place in atoms:
            form = parts.forms[place]
            size = estimate(form.predicate, form.constants, sizes, self.reading)
            choices.append(Choice(place, parts.needed[place], size))
        return next_atom(choices, bound).place

    def _term(self, term: Term) -> GoalTerm:
        match term:
            case Variable(name):
                return self.slots[name]
            case Constant(value):
                return value
            case Anonymous():
                return None

    def _pattern(self, atom: Atom) -> Pattern:
        view = self.reading.view if atom.predicate in RECORD_FACTS else FULL_VIEW
        return Pattern(atom.predicate, view, tuple(self._term(term) for term in atom.terms))

    def _part(self, index: int, needed: frozenset[int]) -> Part:
        match self.rule.body[index]:
            case Unequal(left, right):
                both = (self._term(left), self._term(right))
                return Part(index, Ask.TEST, test=op.Test.UNEQUAL, terms=both, needed=needed)
            case Negated(atom):
                return Part(index, Ask.ABSENT, self._pattern(atom), needed=needed)
            case Cardinality(atom, Constant(operator), bound):
                return Part(
                    index,
                    Ask.COUNT,
                    self._pattern(atom),
                    compare=op.COMPARES[operator],
                    bound=self._term(bound),
                    ranked=self._ranked(atom),
                    needed=needed,
                )
            case Atom(name, arguments) if name in BUILTIN_ARITY:
                terms = tuple(self._term(term) for term in arguments)
                return Part(index, Ask.TEST, test=TESTS[name], terms=terms, needed=needed)
            case Atom() as atom:
                group = self.rules.groups.get(self.rule.head.predicate, frozenset())
                inner = atom.predicate in group
                return Part(index, Ask.FACT, self._pattern(atom), inner, needed=needed)
        raise AssertionError(self.rule.body[index])

    def _ranked(self, atom: Atom) -> Ranked | None:
        """As the emitter counts, so that what it left virtual need not be made here either."""
        rules = [rule for rule in self.rules.nodes if rule.head.predicate == atom.predicate]
        found = ranking_of(atom, frozenset(self.outer), rules)
        if found is None:
            return None
        position, ranking = found
        key = atom.terms[position]
        assert isinstance(key, Variable)
        reading = self.rules.resolution.of(atom.predicate)
        low, high = (
            Pattern(
                each.predicate,
                reading.view if each.predicate in RECORD_FACTS else FULL_VIEW,
                tuple(term.value if isinstance(term, Constant) else None for term in each.terms),
            )
            for each in (ranking.low, ranking.high)
        )
        return Ranked(self.slots[key.name], low, high, rank_operands(ranking))
