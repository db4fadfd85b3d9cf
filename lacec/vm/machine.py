"""The machine: runs the blocks of a program group by group, and the rounds of recursive groups.

Its parts: the code, the database, the views, a relation for every predicate evaluated
so far, the registers of the block that runs, the limits, the clock. Only groups that an
output needs are evaluated. A step is one instruction; before each the deadline and the
caller's wish to cancel are looked at.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import ceil
from time import monotonic, perf_counter
from typing import Any

import numpy as np

from lacec.bytecode import opcodes as op
from lacec.bytecode.code import COLUMN, CONSTANT, Block, Code, Group, Kind, Term
from lacec.core.errors import CancelledError, LimitError
from lacec.core.limits import Limits
from lacec.core.origins import Origin
from lacec.core.predicates import Predicate
from lacec.vm import kernels
from lacec.vm.builtins import Operand, clamped, compare_signs, decimals, integer, run_test
from lacec.vm.database import Database
from lacec.vm.fixpoint import Growing
from lacec.vm.rank import is_unique, rank_counts
from lacec.vm.relation import Relation
from lacec.vm.schedule import full_blocks, last_reads, needed_groups
from lacec.vm.view import View, Viewed

# What rules made is kept as it is up to this many rows, then made into a set: the memory of
# many rules for one predicate is that of its facts and of one result.
MANY_ROWS = 2**20


@dataclass(slots=True)
class Profile:
    """What one rule cost: how often a block of it ran, for how long, and what it made."""

    runs: int = 0
    seconds: float = 0.0
    rows: int = 0


class Machine:
    def __init__(
        self,
        code: Code,
        database: Database,
        limits: Limits,
        cancelled: Callable[[], bool] | None = None,
        *,
        given: Mapping[Predicate, Relation] | None = None,
        views: Sequence[View] = (),
        started: float | None = None,
    ) -> None:
        """`given` are base facts beside those of the database; `views` are those of the code."""
        if len(views) != len(code.views):
            raise ValueError(f"the code has {len(code.views)} views, and {len(views)} are given")
        self.code = code
        self.database = database
        self.limits = limits
        self.profile: dict[int, Profile] = {}
        self._cancelled = cancelled
        self._deadline = (monotonic() if started is None else started) + limits.seconds
        self._given = given or {}
        self._views = views
        self._origin = Origin.LOCAL
        self._rows = limits.rows(self._origin)
        self._constants = [database.symbols.intern(text) for text in code.constants]
        self._universe = database.universe()
        self.done: dict[int, Relation] = {}  # what is derived so far
        self.rounds: dict[int, int] = {}  # how many each recursive group took
        self.ends: dict[int, list[int]] = {}  # of its predicates, the rows after each round
        self._growing: dict[int, Growing] = {}
        self._made: dict[int, Made] = {}
        self._group_of = {p: g for g, group in enumerate(code.groups) for p in group.predicates}
        self._blocks = full_blocks(code)
        self._read_last = {
            id(block): last_reads(block) for blocks in self._blocks for block in blocks
        }
        self._steps: tuple[Callable[..., Any], ...] = tuple(
            getattr(self, f"_{opcode.name.lower()}") for opcode in op.OPCODES
        )

    def run(self) -> dict[Predicate, Relation]:
        """The relations of the outputs."""
        for group in needed_groups(self.code, self._blocks, self.code.outputs):
            self.evaluate(group)
        return {self.code.predicates[p]: self.done[p] for p in self.code.outputs}

    def tuples(self, predicate: int, view: int) -> Relation:
        """The tuples of a predicate through a view; what no output needed is made now."""
        if predicate in self._group_of and predicate not in self.done:
            for group in needed_groups(self.code, self._blocks, [predicate], self.done):
                self.evaluate(group)
            self._origin = Origin.LOCAL
        registers = [Relation((), 0)]
        self._load(registers, 0, predicate, view, op.State.ALL)
        return registers[0]

    def base(self, predicate: Predicate) -> Relation:
        """The facts of a base predicate."""
        given = self._given.get(predicate)
        return self.database.relation(predicate) if given is None else given

    def evaluate(self, number: int) -> None:
        """Evaluate a group, when all that it needs is done."""
        group = self.code.groups[number]
        self._origin = group.reading.origin
        self._rows = self.limits.rows(self._origin)
        if group.recursive:
            self.rounds[number] = self._evaluate_rounds(group, self._blocks[number])
            return
        (predicate,) = group.predicates
        made = self._run_blocks(self._blocks[number], group)[predicate]
        arity = self.code.predicates[predicate].arity
        relation = kernels.distinct(kernels.concatenate(made.pieces, arity), self._universe)
        self._check_derived(predicate, relation.size)
        self.done[predicate] = relation

    def _evaluate_rounds(self, group: Group, blocks: Sequence[Block]) -> int:
        """Rounds until one makes nothing new; each reads what the rounds before it made."""
        for predicate in group.predicates:
            arity = self.code.predicates[predicate].arity
            self._growing[predicate] = Growing(arity, self._universe)
        first = [block for block in blocks if block.kind == Kind.FULL]
        later = [block for block in blocks if block.kind == Kind.DELTA]
        running, rounds, grew = first, 0, True
        while grew:
            rounds += 1
            if rounds > self.limits.iterations:
                names = ", ".join(str(self.code.predicates[p]) for p in group.predicates)
                most = self.limits.iterations
                raise LimitError("iterations", most, rounds, f"rounds of {names}", self._origin)
            made = self._run_blocks(running, group)
            grew = False
            for predicate, growing in self._growing.items():
                grew |= growing.grow(made[predicate].pieces) > 0
                self._check_derived(predicate, growing.size)
            running = later
        for predicate, growing in self._growing.items():
            self.done[predicate] = growing.all
            self.ends[predicate] = growing.ends
        self._growing.clear()
        return rounds

    def _run_blocks(self, blocks: Sequence[Block], group: Group) -> "dict[int, Made]":
        self._made = {predicate: Made() for predicate in group.predicates}
        for block in blocks:
            start = perf_counter()
            registers: list[Any] = [None] * len(block.instructions)
            dead = self._read_last[id(block)]
            for instruction, reads in zip(block.instructions, dead, strict=True):
                self.check_time()
                self._steps[instruction[0]](registers, *instruction[1:])
                for register in reads:
                    registers[register] = None
            cost = self.profile.setdefault(block.rule, Profile())
            cost.runs += 1
            cost.seconds += perf_counter() - start
            cost.rows += registers[block.instructions[-1][2]].size
        return self._made

    def start_clock(self) -> None:
        """A question that comes after the evaluation has its own time (D12)."""
        self._deadline = monotonic() + self.limits.seconds

    def check_time(self) -> None:
        """LimitError when it is too late; CancelledError when nobody waits any more."""
        late = monotonic() - self._deadline
        if late > 0:
            most = self.limits.seconds
            count = most + ceil(late)
            raise LimitError("seconds", most, count, "seconds of evaluation", self._origin)
        if self._cancelled is not None and self._cancelled():
            raise CancelledError("the evaluation was cancelled")

    def _check_derived(self, predicate: int, size: int) -> None:
        if size > self.limits.derived_facts:
            if self.code.predicates[predicate].name.startswith("+"):
                return  # no predicate of the source, and no larger than what it is made from
            what = f"derived facts of {self.code.predicates[predicate]}"
            most = self.limits.derived_facts
            raise LimitError("derived_facts", most, size, what, self._origin)

    # The steps, one for each opcode of the table. Registers first, then the operands.

    def _unit(self, registers: list[Relation], to: int) -> None:
        registers[to] = Relation((), 1)

    def _load(
        self, registers: list[Relation], to: int, predicate: int, view: int, state: int
    ) -> None:
        growing = self._growing.get(predicate)
        if growing is not None:
            registers[to] = growing.last if state == op.State.LAST else growing.all
        elif predicate in self._group_of:
            registers[to] = self.done[predicate]
        else:
            relation = self.base(self.code.predicates[predicate])
            registers[to] = relation if not view else Viewed(relation, self._views[view - 1])

    def _select(
        self,
        registers: list[Relation],
        to: int,
        source: int,
        constants: Sequence[tuple[int, int]],
        equal: Sequence[tuple[int, int]],
    ) -> None:
        values = [(column, self._constants[constant]) for column, constant in constants]
        registers[to] = registers[source].part(values, equal)

    def _join(
        self,
        registers: list[Relation],
        to: int,
        left: int,
        right: int,
        keys: Sequence[tuple[int, int]],
        columns: Sequence[tuple[int, int]],
    ) -> None:
        a, b = registers[left], registers[right]
        name, most = self._rows
        rows = kernels.join_rows(a, b, keys, self._universe, most)
        if isinstance(rows, int):
            raise LimitError(name, most, rows, "rows of one join", self._origin)
        ones, others = rows
        registers[to] = Relation(
            [
                b.columns[column][others]
                if side
                else (a.columns[column] if ones is None else a.columns[column][ones])
                for side, column in columns
            ],
            len(others),
        )

    def _semi(
        self, registers: list[Relation], to: int, left: int, right: int, keys: kernels.Keys
    ) -> None:
        a = registers[left]
        registers[to] = a.where(kernels.matches(a, registers[right], keys, self._universe))

    def _anti(
        self, registers: list[Relation], to: int, left: int, right: int, keys: kernels.Keys
    ) -> None:
        a = registers[left]
        registers[to] = a.where(~kernels.matches(a, registers[right], keys, self._universe))

    def _operand(self, relation: Relation, term: Term) -> Operand:
        return relation.columns[term[1]] if term[0] == COLUMN else self._constants[term[1]]

    def _test(
        self, registers: list[Relation], to: int, source: int, test: int, terms: Sequence[Term]
    ) -> None:
        relation = registers[source]
        operands = [self._operand(relation, term) for term in terms]
        passed = run_test(op.Test(test), self.database.symbols, operands, relation.size)
        registers[to] = relation.where(passed)

    def _count(
        self,
        registers: list[Relation],
        to: int,
        left: int,
        right: int,
        keys: kernels.Keys,
        compare: int,
        bound: Term,
    ) -> None:
        relation = registers[left]
        counts = kernels.match_counts(relation, registers[right], keys, self._universe)
        registers[to] = self._within(relation, counts, compare, bound)

    def _within(self, relation: Relation, counts: Any, compare: int, bound: Term) -> Relation:
        """The rows whose count compares with the bound; a bound that is no decimal fails (D9)."""
        column = self._operand(relation, bound)
        if isinstance(column, int):
            value = clamped(integer(self.code.constants[bound[1]]))
            return relation.where(compare_signs(counts - value, op.Compare(compare)))
        values, big, valid = decimals(self.database.symbols, column)
        for row, number in big.items():
            values[row] = clamped(number)
        return relation.where(valid & compare_signs(counts - values, op.Compare(compare)))

    def _rank(
        self,
        registers: list[Relation],
        to: int,
        left: int,
        key: int,
        predicate: int,
        position: int,
        low: int,
        high: int,
        ways: Any,
        compare: int,
        bound: Term,
    ) -> None:
        relation, lows, highs = registers[left], registers[low], registers[high]
        if is_unique(lows) and (highs is lows or is_unique(highs)):
            enough = self._enough(op.Compare(compare), bound)
            ranks = rank_counts(self.database.symbols, lows, highs, ways, enough)
            counts = kernels.look_up(lows, 0, relation.columns[key], ranks, self._universe)
        else:
            for group in needed_groups(self.code, self._blocks, [predicate], self.done):
                held = self._made, self._origin, self._rows
                self.evaluate(group)
                self._made, self._origin, self._rows = held
            tuples = self.done[predicate]
            counts = kernels.match_counts(relation, tuples, [(key, position)], self._universe)
        registers[to] = self._within(relation, counts, compare, bound)

    def _enough(self, compare: op.Compare, bound: Term) -> int:
        """The count from which on a larger one changes no answer."""
        text = self.code.constants[bound[1]] if bound[0] == CONSTANT else None
        if text is None:
            return 2**62
        return integer(text) + (compare in (op.Compare.LESS_EQUAL, op.Compare.GREATER))

    def _project(
        self, registers: list[Relation], to: int, source: int, columns: Sequence[int], distinct: int
    ) -> None:
        relation = registers[source].keep(columns)
        registers[to] = kernels.distinct(relation, self._universe) if distinct else relation

    def _emit(
        self, registers: list[Relation], predicate: int, source: int, terms: Sequence[Term]
    ) -> None:
        relation = registers[source]
        if not relation.size:
            return
        columns = []
        for term in terms:
            operand = self._operand(relation, term)
            columns.append(
                np.full(relation.size, operand, np.int32) if isinstance(operand, int) else operand
            )
        if any(kind == COLUMN for kind, _ in terms):
            self._keep(predicate, Relation(columns, relation.size))
        else:
            self._keep(predicate, Relation([column[:1] for column in columns], 1))

    def _keep(self, predicate: int, relation: Relation) -> None:
        """What a rule made, with what the rules before it made."""
        made = self._made[predicate]
        made.pieces.append(relation)
        made.loose += relation.size
        if made.loose > max(MANY_ROWS, made.distinct):
            arity = self.code.predicates[predicate].arity
            whole = kernels.distinct(kernels.concatenate(made.pieces, arity), self._universe)
            self._check_derived(predicate, whole.size)
            self._made[predicate] = Made([whole], whole.size)


@dataclass(slots=True)
class Made:
    """What the rules made of one predicate so far: a set, then pieces with equal rows."""

    pieces: list[Relation] = field(default_factory=list)
    distinct: int = 0  # rows of the set
    loose: int = 0  # rows of the pieces after it
