"""Rules into blocks: each rule once in full, and once for each atom that a round can change.

In: a module, the outputs asked for, and of a lowered plan how its predicates read. Out:
code, in which record facts are loaded through the view of the rule that asks. Columns
that nothing needs any more are dropped as early as possible; tests stand as soon as
their variables are bound; counts come last, when the fewest rows are left.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from lacec.bytecode import opcodes as op
from lacec.bytecode.code import COLUMN, CONSTANT, Block, Code, Group, Instruction, Kind
from lacec.bytecode.code import SourceRule as SourceOf
from lacec.bytecode.code import Term as CodeTerm
from lacec.bytecode.lift import lift
from lacec.bytecode.order import Choice, Sizes, constants_of, estimate, next_atom
from lacec.bytecode.rank import Ranking, rank_operands, ranking_of
from lacec.canonical.module import Module
from lacec.errors import LimitError
from lacec.limits import DEFAULT_LIMITS, Limits
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
from lacec.views import FULL_VIEW, OPEN, PLAIN, Origin, Reading, Resolution

TESTS = {
    "IntCompare": op.Test.INT_COMPARE,
    "LexCompare": op.Test.LEX_COMPARE,
    "TextShape": op.Test.TEXT_SHAPE,
}


def emit(
    module: Module,
    outputs: Iterable[Predicate] | None = None,
    sizes: Sizes | None = None,
    resolution: Resolution = PLAIN,
    limits: Limits = DEFAULT_LIMITS,
) -> Code:
    """The code of a module. Without outputs, every derived predicate is one.

    LimitError when rules become too much code: a rule has a block for each of its
    recursive atoms, so a short text can ask for a lot.
    """
    derived = [predicate for group in module.groups for predicate in group]
    asked = set(derived if outputs is None else outputs)
    return _Program(module, [p for p in derived if p in asked], sizes, resolution).code(limits)


class _Program:
    def __init__(
        self,
        module: Module,
        outputs: Sequence[Predicate],
        sizes: Sizes | None,
        resolution: Resolution,
    ) -> None:
        self.sizes = sizes
        self.views = resolution.views
        self.readings = dict(resolution.readings)
        self.outputs = outputs
        self.constants: dict[str, int] = {}
        self.predicates: dict[Predicate, int] = {}
        self.sources = tuple(SourceOf(r.id, r.text, r.file, r.line) for r in module.rules)
        self.rules: dict[Predicate, list[tuple[int, Rule]]] = {}
        nodes = [rule.node for rule in module.rules]
        recursive = {p for group in module.groups if is_recursive(group, nodes) for p in group}
        self.recursive = recursive
        made, rewritten = lift(nodes, recursive, resolution)
        for number, rule in enumerate(rewritten):
            self.rules.setdefault(rule.head.predicate, []).append((number, rule))
        for rule, reading in made:
            self.rules[rule.head.predicate] = [(-1, rule)]
            self.readings[rule.head.predicate] = reading
        self._place(module.groups)

    def _place(self, groups: Iterable[tuple[Predicate, ...]]) -> None:
        """Each auxiliary predicate before the first group that needs it."""
        placed: dict[tuple[Predicate, ...], None] = {}
        for group in groups:
            bodies = [rule.body for predicate in group for _, rule in self.rules[predicate]]
            for literal in (literal for body in bodies for literal in body):
                if isinstance(literal, Atom) and literal.name.startswith("+"):
                    placed[literal.predicate,] = None
            placed[group] = None
        self.groups = list(placed)

    def code(self, limits: Limits) -> Code:
        blocks: list[Block] = []
        sizes: dict[Origin, int] = {}
        groups: list[Group] = []
        for number, group in enumerate(self.groups):
            recursive = bool(self.recursive.intersection(group))
            members = tuple(self.predicate(p) for p in group)
            reading = self.reading(group[0])
            groups.append(Group(members, recursive, reading))
            origin = reading.origin
            name, most = limits.code(origin)
            for predicate in group:
                for source, rule in self.rules[predicate]:
                    for block in self._blocks(number, source, rule, frozenset(group)):
                        blocks.append(block)
                        sizes[origin] = sizes.get(origin, 0) + len(block.instructions)
                        if sizes[origin] > most:
                            what = f"instructions up to a rule of {predicate}"
                            raise LimitError(name, most, sizes[origin], what, origin)
        views = [(self.predicate(view.gate), self.constant(view.viewer)) for view in self.views]
        return Code(
            tuple(self.constants),
            tuple(self.predicates),
            tuple(groups),
            tuple(blocks),
            self.sources,
            tuple(self.predicates[p] for p in self.outputs),
            tuple(views),
        )

    def _blocks(
        self, number: int, source: int, rule: Rule, group: frozenset[Predicate]
    ) -> Iterator[Block]:
        changing = [
            index
            for index, literal in enumerate(rule.body)
            if isinstance(literal, Atom) and literal.predicate in group
        ]
        if not changing:
            instructions = _Emitter(self, rule, None).run()
            yield Block(number, source, Kind.FULL, -1, instructions)
        for index in changing:
            instructions = _Emitter(self, rule, index).run()
            yield Block(number, source, Kind.DELTA, index, instructions)

    def constant(self, value: str) -> int:
        return self.constants.setdefault(value, len(self.constants))

    def reading(self, predicate: Predicate) -> Reading:
        return self.readings.get(predicate, OPEN)

    def predicate(self, predicate: Predicate) -> int:
        return self.predicates.setdefault(predicate, len(self.predicates))

    def ranking(self, atom: Atom, outer: frozenset[str]) -> tuple[int, Ranking] | None:
        """How to count an atom by rank; None where that is not possible."""
        if atom.predicate in self.outputs:
            return None
        return ranking_of(atom, outer, [rule for _, rule in self.rules.get(atom.predicate, [])])


def is_recursive(group: Sequence[Predicate], rules: Iterable[Rule]) -> bool:
    """Whether predicates that need each other do: one alone may need itself."""
    if len(group) > 1:
        return True
    return any(
        rule.head.predicate == group[0]
        and any(isinstance(a, Atom) and a.predicate == group[0] for a in rule.body)
        for rule in rules
    )


@dataclass(slots=True)
class _Emitter:
    """One block: the registers so far, and which column holds each variable."""

    program: _Program
    rule: Rule
    delta: int | None
    instructions: list[Instruction] = field(default_factory=list)
    registers: int = 0
    current: int = -1
    columns: dict[str, int] = field(default_factory=dict)
    loose: bool = False  # whether a dropped column may have left equal rows behind

    def run(self) -> tuple[Instruction, ...]:
        body = [(i, part) for i, part in enumerate(self.rule.body) if not isinstance(part, Always)]
        atoms = {i: p for i, p in body if isinstance(p, Atom) and p.name not in BUILTIN_ARITY}
        tests: dict[int, Literal] = {i: p for i, p in body if i not in atoms}
        uses: dict[str, int] = {}
        for part in (self.rule.head, *self.rule.body):
            for name in set(variables_of(part)):
                uses[name] = uses.get(name, 0) + 1
        choices = {
            i: Choice(
                i,
                atom,
                frozenset(n for n in variables_of(atom) if uses[n] > 1),
                estimate(atom, self.program.sizes, self._reading()),
            )
            for i, atom in atoms.items()
        }
        while choices:
            first = self.current < 0
            if first and self.delta is not None:
                choice = choices[self.delta]
            else:
                choice = next_atom(choices.values(), self.columns.keys())
            del choices[choice.index]
            self._step(choice, list(choices.values()), tests)
            self._filters(tests, last=not choices)
        if self.current < 0:
            self.current = self._out(op.UNIT)
            self._filters(tests, last=True)
        head = self.rule.head
        terms = tuple(self._term(term) for term in head.terms)
        self._add(op.EMIT, self.program.predicate(head.predicate), self.current, terms)
        return tuple(self.instructions)

    def _reading(self) -> Reading:
        return self.program.reading(self.rule.head.predicate)

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
        return CONSTANT, self.program.constant(term.value)

    def _load(self, atom: Atom, state: op.State) -> tuple[int, dict[str, int]]:
        """The tuples of an atom, with the column of each of its variables."""
        predicate = self.program.predicate(atom.predicate)
        view = self._reading().view if atom.predicate in RECORD_FACTS else FULL_VIEW
        register = self._out(op.LOAD, predicate, view, int(state))
        constants = tuple((c, self.program.constant(v)) for c, v in constants_of(atom))
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
        """The variables that something still to come needs."""
        live = set(variables_of(self.rule.head))
        for choice in choices:
            live |= choice.needed
        for test in tests.values():
            live.update(variables_of(test))
        return live

    def _step(self, choice: Choice, rest: Sequence[Choice], tests: Mapping[int, Literal]) -> None:
        """Bring one more positive atom in."""
        state = op.State.LAST if choice.index == self.delta else op.State.ALL
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
                ranking = self.program.ranking(atom, frozenset(self.columns))
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
            self.program.predicate(atom.predicate),
            position,
            low,
            high,
            used.ways,
            compare,
            bound,
        )
