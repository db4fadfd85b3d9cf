"""One rule into one block: the order of its joins, what is dropped, where its tests stand.

In: a rule and where its block begins: nowhere, with the tuples of one body literal, or
with tuples of the head. Out: instructions. Columns that nothing needs any more are
dropped as early as possible; tests stand as soon as their variables are bound; counts
come last, when the fewest rows are left.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import NamedTuple

from lacec.bytecode import opcodes as op
from lacec.bytecode.code import COLUMN, CONSTANT, Instruction, Kind
from lacec.bytecode.code import Term as CodeTerm
from lacec.bytecode.order import Choice, Sizes, estimate, next_atom
from lacec.bytecode.rank import Ranking, rank_operands, ranking_of
from lacec.bytecode.rule_info import COUNT_RANK, Filter, Form, Parts, form_of, parts_of
from lacec.core.origins import FULL_VIEW, OPEN, Reading
from lacec.core.predicates import RECORD_FACTS, Predicate
from lacec.syntax.ast import (
    Atom,
    Cardinality,
    Constant,
    Literal,
    Negated,
    Rule,
    Term,
    Unequal,
    Variable,
)

TESTS = {
    "IntCompare": op.Test.INT_COMPARE,
    "LexCompare": op.Test.LEX_COMPARE,
    "TextShape": op.Test.TEXT_SHAPE,
}
# Which tuples a block of each kind begins with.
STATES = {
    Kind.DELTA: op.State.LAST,
    Kind.CHANGE: op.State.CHANGED,
    Kind.CHECK: op.State.ASKED,
}


class Subject(NamedTuple):
    """A rule that becomes blocks: its parts, how it reads, its positive atoms to choose from."""

    rule: Rule
    parts: Parts
    reading: Reading
    choices: Mapping[int, Choice]


@dataclass(slots=True)
class Tables:
    """What the blocks of a program share: its tables, sizes, readings and rules."""

    sizes: Sizes | None
    readings: dict[Predicate, Reading]
    outputs: Collection[Predicate]
    rules: dict[Predicate, list[tuple[int, Rule]]] = field(default_factory=dict)
    constants: dict[str, int] = field(default_factory=dict)
    predicates: dict[Predicate, int] = field(default_factory=dict)

    def constant(self, value: str) -> int:
        return self.constants.setdefault(value, len(self.constants))

    def reading(self, predicate: Predicate) -> Reading:
        return self.readings.get(predicate, OPEN)

    def predicate(self, predicate: Predicate) -> int:
        return self.predicates.setdefault(predicate, len(self.predicates))

    def subject(self, rule: Rule) -> Subject:
        parts, reading = parts_of(rule), self.reading(rule.predicate)
        choices = {}
        for place, needed in parts.needed.items():
            form = parts.forms[place]
            size = estimate(form.predicate, form.constants, self.sizes, reading)
            choices[place] = Choice(place, needed, size)
        return Subject(rule, parts, reading, choices)

    def ranking(self, atom: Atom, outer: Iterable[str]) -> tuple[int, Ranking] | None:
        """How to count an atom by rank; None where that is not possible."""
        if atom.predicate in self.outputs:
            return None
        rules = [rule for _, rule in self.rules.get(atom.predicate, [])]
        return ranking_of(atom, frozenset(outer), rules)


@dataclass(slots=True)
class BlockEmitter:
    """One block: the registers so far, and which column holds each variable."""

    tables: Tables
    subject: Subject
    kind: Kind
    literal: int = -1  # the body literal that a DELTA or CHANGE block begins with
    instructions: list[Instruction] = field(default_factory=list)
    registers: int = 0
    current: int = -1
    columns: Mapping[str, int] = field(default_factory=dict)
    loose: bool = False  # whether a dropped column may have left equal rows behind

    def run(self) -> tuple[Instruction, ...]:
        choices = dict(self.subject.choices)
        filters = dict(self.subject.parts.filters)
        self._begin(choices, filters)
        while choices:
            choice = next_atom(choices.values(), self.columns.keys())
            del choices[choice.place]
            self._step(choice.place, choices.values(), filters.values())
            self._filters(filters, last=not choices)
        if self.current < 0:
            self.current = self._out(op.UNIT)
            self._filters(filters, last=True)
        head = self.subject.rule.head
        terms = tuple(self._term(term) for term in head.terms)
        predicate = self.tables.predicate(self.subject.parts.head.predicate)
        self.instructions.append((op.EMIT, predicate, self.current, terms))
        return tuple(self.instructions)

    def _begin(self, choices: dict[int, Choice], filters: dict[int, Filter]) -> None:
        """With the tuples that the block is run for; a FULL block begins with any atom."""
        if self.kind == Kind.FULL:
            return
        state = STATES[self.kind]
        if self.literal in choices:
            del choices[self.literal]
            self._step(self.literal, choices.values(), filters.values(), state)
        else:
            parts = self.subject.parts
            form = parts.head if self.kind == Kind.CHECK else parts.forms[self.literal]
            self.current, self.columns = self._load(form, state), form.columns
            # Of a negated or counted atom, the columns that the rest of the rule knows.
            kept = [name for name in self.columns if name in parts.shared]
            self._keep(kept, distinct=self.kind == Kind.CHANGE or not kept)
        self._filters(filters, last=not choices)

    def _out(self, opcode: int, *operands: object) -> int:
        """An instruction whose first operand is a new register."""
        register = self.registers
        self.registers += 1
        self.instructions.append((opcode, register, *operands))
        return register

    def _term(self, term: Term) -> CodeTerm:
        if isinstance(term, Variable):
            return COLUMN, self.columns[term.name]
        assert isinstance(term, Constant)
        return CONSTANT, self.tables.constant(term.value)

    def _load(self, form: Form, state: op.State = op.State.ALL) -> int:
        """The tuples of an atom, in the columns of its form."""
        tables = self.tables
        predicate = tables.predicate(form.predicate)
        view = self.subject.reading.view if form.predicate in RECORD_FACTS else FULL_VIEW
        register = self._out(op.LOAD, predicate, view, int(state))
        if form.constants or form.equal:
            constants = tuple([(c, tables.constant(value)) for c, value in form.constants])
            register = self._out(op.SELECT, register, constants, form.equal)
        return register

    def _live(self, choices: Iterable[Choice], filters: Iterable[Filter]) -> Set[str]:
        """The variables that something still to come needs; in a CHECK block, whoever asks does."""
        parts = self.subject.parts
        if self.kind == Kind.CHECK:
            return parts.shared
        live = set(parts.head.columns)
        for choice in choices:
            live |= choice.needed
        for test in filters:
            live |= test.names
        return live

    def _step(
        self,
        place: int,
        choices: Iterable[Choice],
        filters: Iterable[Filter],
        state: op.State = op.State.ALL,
    ) -> None:
        """Bring one more positive atom in; the choices and the filters are still to come."""
        form = self.subject.parts.forms[place]
        columns = form.columns
        register = self._load(form, state)
        live = self._live(choices, filters)
        free = form.predicate.arity - len(form.constants)
        if self.current < 0:
            kept = [name for name in columns if name in live]
            self.current, self.columns = register, columns
            self._keep(kept, distinct=not kept)
            self.loose = bool(kept) and len(kept) < free
            return
        new = [name for name in columns if name in live and name not in self.columns]
        if not new:
            self._drop(live | (columns.keys() & self.columns.keys()))
            self.current = self._out(op.SEMI, self.current, register, self._keys(columns))
            return
        kept = [n for n in self.columns if n in live or n in columns]
        if self.loose or len(kept) < len(self.columns):
            self._keep(kept, distinct=True)  # equal rows would multiply with what is joined
        keys = self._keys(columns)
        old = [name for name in self.columns if name in live]
        sides = (*((0, self.columns[n]) for n in old), *((1, columns[n]) for n in new))
        self.loose = len(old) < len(self.columns) or len(columns) < free
        self.current = self._out(op.JOIN, self.current, register, keys, sides)
        self.columns = {name: i for i, name in enumerate((*old, *new))}

    def _keys(self, columns: Mapping[str, int]) -> tuple[tuple[int, int], ...]:
        """The columns that must agree with those of another register."""
        known = self.columns
        return tuple([(known[name], c) for name, c in columns.items() if name in known])

    def _drop(self, live: Set[str]) -> None:
        """Forget the columns that nothing needs; costs nothing, and makes filters cheaper."""
        kept = [name for name in self.columns if name in live]
        if len(kept) < len(self.columns):
            self._keep(kept, distinct=False)
            self.loose = True

    def _keep(self, names: Sequence[str], distinct: bool) -> None:
        """Only these columns, and with the flag each row once."""
        columns = tuple(self.columns[name] for name in names)
        self.current = self._out(op.PROJECT, self.current, columns, int(distinct))
        self.columns = {name: i for i, name in enumerate(names)}
        self.loose = self.loose and not distinct

    def _filters(self, filters: dict[int, Filter], last: bool) -> None:
        """The filters whose variables are bound by now; counts when all atoms are in."""
        bound = self.columns.keys()
        ready = [
            (test.rank, place)
            for place, test in filters.items()
            if last or (test.rank < COUNT_RANK and test.names <= bound)
        ]
        for _, place in sorted(ready):
            self._filter(place, filters.pop(place).literal)

    def _filter(self, place: int, test: Literal) -> None:
        match test:
            case Unequal(left, right):
                both = (self._term(left), self._term(right))
                self.current = self._out(op.TEST, self.current, int(op.Test.UNEQUAL), both)
            case Atom(name, arguments):
                terms = tuple(self._term(term) for term in arguments)
                self.current = self._out(op.TEST, self.current, int(TESTS[name]), terms)
            case Negated():
                register, keys = self._other(place)
                self.current = self._out(op.ANTI, self.current, register, keys)
            case Cardinality(atom, Constant(operator), bound):
                compare = int(op.COMPARES[operator])
                ranking = self.tables.ranking(atom, self.columns)
                if ranking is not None:
                    self._rank(atom, *ranking, compare, self._term(bound))
                    return
                register, keys = self._other(place)
                self.current = self._out(
                    op.COUNT, self.current, register, keys, compare, self._term(bound)
                )

    def _other(self, place: int) -> tuple[int, tuple[tuple[int, int], ...]]:
        """The tuples of a negated or counted atom, and the columns that must agree."""
        form = self.subject.parts.forms[place]
        return self._load(form), self._keys(form.columns)

    def _columns(self, atom: Atom, positions: Sequence[int]) -> int:
        """Some columns of the tuples of an atom, each row once."""
        register = self._load(form_of(atom))
        whole = len(set(positions)) == len(atom.terms)
        return self._out(op.PROJECT, register, tuple(positions), int(not whole))

    def _rank(
        self, atom: Atom, position: int, ranking: Ranking, compare: int, bound: CodeTerm
    ) -> None:
        used = rank_operands(ranking)
        low = self._columns(ranking.low, used.lows)
        high = low if used.same else self._columns(ranking.high, used.highs)
        term = atom.terms[position]
        assert isinstance(term, Variable)
        self.current = self._out(
            op.RANK,
            self.current,
            self.columns[term.name],
            self.tables.predicate(atom.predicate),
            position,
            low,
            high,
            used.ways,
            compare,
            bound,
        )
