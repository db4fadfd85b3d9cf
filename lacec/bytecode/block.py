"""One rule into one block: the order of its joins, what is dropped, where its tests stand.

In: a rule and where its block begins: nowhere, with the tuples of one body literal, or
with tuples of the head. Out: instructions. Columns that nothing needs any more are
dropped as early as possible; tests stand as soon as their variables are bound; counts
come last, when the fewest rows are left.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from lacec.bytecode import opcodes as op
from lacec.bytecode.code import COLUMN, CONSTANT, Instruction, Kind
from lacec.bytecode.code import Term as CodeTerm
from lacec.bytecode.order import Choice, Sizes, constants_of, estimate, next_atom
from lacec.bytecode.rank import Ranking, rank_operands, ranking_of
from lacec.predicates import BUILTIN_ARITY, RECORD_FACTS, Predicate
from lacec.syntax.ast import (
    Always,
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
from lacec.views import FULL_VIEW, OPEN, Reading

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


def atom_of(literal: Literal) -> Atom:
    """The atom of a literal that reads one: positive, negated or counted."""
    if isinstance(literal, Negated | Cardinality):
        return literal.atom
    assert isinstance(literal, Atom)
    return literal


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
    rule: Rule
    kind: Kind
    literal: int = -1  # the body literal that a DELTA or CHANGE block begins with
    instructions: list[Instruction] = field(default_factory=list)
    registers: int = 0
    current: int = -1
    columns: dict[str, int] = field(default_factory=dict)
    loose: bool = False  # whether a dropped column may have left equal rows behind
    # The variables that more than one part of the rule has, by how many do.
    uses: dict[str, int] = field(default_factory=dict)

    def run(self) -> tuple[Instruction, ...]:
        body = [(i, part) for i, part in enumerate(self.rule.body) if not isinstance(part, Always)]
        atoms = {i: p for i, p in body if isinstance(p, Atom) and p.name not in BUILTIN_ARITY}
        tests: dict[int, Literal] = {i: p for i, p in body if i not in atoms}
        for part in (self.rule.head, *self.rule.body):
            for name in set(variables_of(part)):
                self.uses[name] = self.uses.get(name, 0) + 1
        choices = {
            i: Choice(
                i,
                atom,
                frozenset(n for n in variables_of(atom) if self.uses[n] > 1),
                estimate(atom, self.tables.sizes, self._reading()),
            )
            for i, atom in atoms.items()
        }
        self._begin(choices, tests)
        while choices:
            choice = next_atom(choices.values(), self.columns.keys())
            del choices[choice.index]
            self._step(choice, list(choices.values()), tests)
            self._filters(tests, last=not choices)
        if self.current < 0:
            self.current = self._out(op.UNIT)
            self._filters(tests, last=True)
        head = self.rule.head
        terms = tuple(self._term(term) for term in head.terms)
        self._add(op.EMIT, self.tables.predicate(head.predicate), self.current, terms)
        return tuple(self.instructions)

    def _begin(self, choices: dict[int, Choice], tests: dict[int, Literal]) -> None:
        """With the tuples that the block is run for; a FULL block begins with any atom."""
        if self.kind == Kind.FULL:
            return
        if self.literal in choices:
            choice = choices.pop(self.literal)
            self._step(choice, list(choices.values()), tests, STATES[self.kind])
        else:
            atom = self.rule.head if self.kind == Kind.CHECK else atom_of(tests[self.literal])
            self.current, self.columns = self._load(atom, STATES[self.kind])
            # Of a negated or counted atom, the columns that the rest of the rule knows.
            kept = [name for name in self.columns if self.uses[name] > 1]
            self._keep(kept, distinct=self.kind == Kind.CHANGE or not kept)
        self._filters(tests, last=not choices)

    def _reading(self) -> Reading:
        return self.tables.reading(self.rule.head.predicate)

    def _add(self, *instruction: object) -> None:
        self.instructions.append(instruction)

    def _out(self, opcode: int, *operands: object) -> int:
        """An instruction whose first operand is a new register."""
        register = self.registers
        self.registers += 1
        self._add(opcode, register, *operands)
        return register

    def _term(self, term: Term) -> CodeTerm:
        if isinstance(term, Variable):
            return COLUMN, self.columns[term.name]
        assert isinstance(term, Constant)
        return CONSTANT, self.tables.constant(term.value)

    def _load(self, atom: Atom, state: op.State) -> tuple[int, dict[str, int]]:
        """The tuples of an atom, with the column of each of its variables."""
        predicate = self.tables.predicate(atom.predicate)
        view = self._reading().view if atom.predicate in RECORD_FACTS else FULL_VIEW
        register = self._out(op.LOAD, predicate, view, int(state))
        constants = tuple((c, self.tables.constant(v)) for c, v in constants_of(atom))
        columns: dict[str, int] = {}
        equal = []
        for position, term in enumerate(atom.terms):
            if isinstance(term, Variable):
                if term.name in columns:
                    equal.append((columns[term.name], position))
                else:
                    columns[term.name] = position
        if constants or equal:
            register = self._out(op.SELECT, register, constants, tuple(equal))
        return register, columns

    def _live(self, choices: Sequence[Choice], tests: Mapping[int, Literal]) -> set[str]:
        """The variables that something still to come needs; in a CHECK block, whoever asks does."""
        if self.kind == Kind.CHECK:
            return {name for name, count in self.uses.items() if count > 1}
        live = set(variables_of(self.rule.head))
        for choice in choices:
            live |= choice.needed
        for test in tests.values():
            live.update(variables_of(test))
        return live

    def _step(
        self,
        choice: Choice,
        rest: Sequence[Choice],
        tests: Mapping[int, Literal],
        state: op.State = op.State.ALL,
    ) -> None:
        """Bring one more positive atom in."""
        register, columns = self._load(choice.atom, state)
        live = self._live(rest, tests)
        free = sum(not isinstance(term, Constant) for term in choice.atom.terms)
        if self.current < 0:
            kept = [name for name in columns if name in live]
            self.current, self.columns = register, columns
            self._keep(kept, distinct=not kept)
            self.loose = bool(kept) and len(kept) < free
            return
        new = [name for name in columns if name in live and name not in self.columns]
        if not new:
            self._drop(live | {name for name in columns if name in self.columns})
            keys = tuple((self.columns[n], c) for n, c in columns.items() if n in self.columns)
            self.current = self._out(op.SEMI, self.current, register, keys)
            return
        kept = [n for n in self.columns if n in live or n in columns]
        if self.loose or len(kept) < len(self.columns):
            self._keep(kept, distinct=True)  # equal rows would multiply with what is joined
        keys = tuple((self.columns[n], c) for n, c in columns.items() if n in self.columns)
        old = [name for name in self.columns if name in live]
        sides = (*((0, self.columns[n]) for n in old), *((1, columns[n]) for n in new))
        self.loose = len(old) < len(self.columns) or len(columns) < free
        self.current = self._out(op.JOIN, self.current, register, keys, sides)
        self.columns = {name: i for i, name in enumerate((*old, *new))}

    def _drop(self, live: set[str]) -> None:
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

    def _filters(self, tests: dict[int, Literal], last: bool) -> None:
        """The tests whose variables are bound by now; counts when all atoms are in."""
        ready = sorted(
            (rank, i)
            for i, test in tests.items()
            if (rank := self._readiness(test, last)) is not None
        )
        for _, i in ready:
            self._filter(tests.pop(i))

    def _readiness(self, test: Literal, last: bool) -> int | None:
        match test:
            case Cardinality():
                return 3 if last else None
            case Unequal():
                rank = 0
            case Atom():
                rank = 1
            case _:
                rank = 2
        bound = self.columns.keys()
        return rank if last or all(name in bound for name in variables_of(test)) else None

    def _filter(self, test: Literal) -> None:
        match test:
            case Unequal(left, right):
                both = (self._term(left), self._term(right))
                self.current = self._out(op.TEST, self.current, int(op.Test.UNEQUAL), both)
            case Atom(name, arguments):
                terms = tuple(self._term(term) for term in arguments)
                self.current = self._out(op.TEST, self.current, int(TESTS[name]), terms)
            case Negated(atom):
                register, keys = self._other(atom)
                self.current = self._out(op.ANTI, self.current, register, keys)
            case Cardinality(atom, Constant(operator), bound):
                compare = int(op.COMPARES[operator])
                ranking = self.tables.ranking(atom, self.columns)
                if ranking is not None:
                    self._rank(atom, *ranking, compare, self._term(bound))
                    return
                register, keys = self._other(atom)
                self.current = self._out(
                    op.COUNT, self.current, register, keys, compare, self._term(bound)
                )

    def _other(self, atom: Atom) -> tuple[int, tuple[tuple[int, int], ...]]:
        """The tuples of a negated or counted atom, and the columns that must agree."""
        register, columns = self._load(atom, op.State.ALL)
        keys = tuple((self.columns[n], c) for n, c in columns.items() if n in self.columns)
        return register, keys

    def _columns(self, atom: Atom, positions: Sequence[int]) -> int:
        """Some columns of the tuples of an atom, each row once."""
        register, _ = self._load(atom, op.State.ALL)
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
