"""The machine on Spark: the blocks of a program over DataFrames, group by group.

The same code as the NumPy machine runs, and the same loops: what a group makes is a register
that later groups load. What one record alone decides stays an expression over its row. A
recursive group writes a Parquet table a round, so that plans stay short; once everything
that its further rounds read fits a number of rows, the NumPy machine finishes it here.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import Any

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from lacec.bytecode import opcodes as op
from lacec.bytecode.code import COLUMN, Block, Code, Group, Kind, Term
from lacec.core.errors import LimitError
from lacec.core.limits import Limits
from lacec.core.predicates import Predicate
from lacec.spark.builtins import run_test
from lacec.spark.driver_finish import finish
from lacec.spark.facts import View
from lacec.spark.kernels import Bound, Kernels
from lacec.spark.registers import Columns, Few, Register, names_of, relation
from lacec.spark.row_exprs import told_by
from lacec.spark.scratch import Work
from lacec.vm.builtins import clamped, integer
from lacec.vm.schedule import full_blocks, needed_groups

_NOTHING = Few((), 0)


@dataclass(frozen=True)
class Settings:
    """How much the driver takes upon itself."""

    few: int = 64
    """Up to so many rows are literals in expressions."""
    budget: int = 2**22
    """A recursive group is finished here when its rounds read at most so many rows."""


@dataclass
class Growing:
    """A predicate of the recursive group that runs: what each round added to it."""

    rounds: list[DataFrame] = field(default_factory=list)
    size: int = 0
    grew: bool = False  # in the last round

    @property
    def all(self) -> DataFrame:
        return reduce(DataFrame.unionAll, self.rounds)


class SparkMachine:
    def __init__(
        self,
        kernels: Kernels,
        code: Code,
        base: Mapping[Predicate, Register],
        views: Sequence[View],
        work: Work,
        limits: Limits,
        settings: Settings,
    ) -> None:
        self.kernels, self.code, self.work = kernels, code, work
        self.limits, self.settings = limits, settings
        self.done: dict[int, Register] = {}
        self._base, self._views = base, views
        self._growing: dict[int, Growing] = {}
        self._asked: dict[int, Register] = {}
        self._group_of = {p: g for g, group in enumerate(code.groups) for p in group.predicates}
        self._blocks = full_blocks(code)
        self._uses: Counter[int] = Counter()
        self._steps: tuple[Callable[..., Any], ...] = tuple(
            getattr(self, f"_{opcode.name.lower()}") for opcode in op.OPCODES
        )

    def run(self) -> dict[Predicate, Register]:
        """The relations of the outputs."""
        groups = needed_groups(self.code, self._blocks, self.code.outputs)
        self._uses = Counter(self.code.outputs)
        for group in groups:
            for block in self._blocks[group]:
                self._uses.update(i[2] for i in block.instructions if i[0] == op.LOAD)
        for group in groups:
            self._evaluate(group)
        return {self.code.predicates[p]: self.done[p] for p in self.code.outputs}

    def check(self, block: Block, asked: Register) -> Register:
        """Which of the asked tuples the rule of a CHECK block makes, after `run`."""
        loads = [i[2] for i in block.instructions if i[0] == op.LOAD]
        for group in needed_groups(self.code, self._blocks, loads, self.done):
            self._evaluate(group)
        self._asked = {block.instructions[-1][1]: asked}
        return self._run_block(block)

    def _evaluate(self, number: int) -> None:
        group = self.code.groups[number]
        if group.recursive:
            self._evaluate_rounds(group, self._blocks[number])
            return
        (predicate,) = group.predicates
        made = [self._run_block(block) for block in self._blocks[number]]
        self.done[predicate] = self._merged(predicate, made)

    def _merged(self, predicate: int, made: Sequence[Register]) -> Register:
        """What all rules of a predicate made, as a set."""
        arity = self.code.predicates[predicate].arity
        if all(isinstance(each, Few) for each in made):
            rows = [row for each in made if isinstance(each, Few) for row in each.rows]
            return self.kernels.given(list(dict.fromkeys(rows)), arity)
        told = told_by(made, arity, self.kernels.fresh)
        if told is not None:
            return told
        frame = self._union(made, arity)
        if self._uses[predicate] > 1:
            frame = self.work.written(frame)
        return relation(frame, arity)

    def _union(self, made: Sequence[Register], arity: int) -> DataFrame:
        """Each row once."""
        if not made:
            return self.kernels.frame([], names_of(arity))
        frames = [self.kernels.rows(each).named(names_of(arity)) for each in made]
        return reduce(DataFrame.unionAll, frames).distinct()

    def _evaluate_rounds(self, group: Group, blocks: Sequence[Block]) -> None:
        """Rounds until one makes nothing new; each reads what the rounds before it made."""
        self._growing = {predicate: Growing() for predicate in group.predicates}
        names = ", ".join(str(self.code.predicates[p]) for p in group.predicates)
        later = [block for block in blocks if block.kind == Kind.DELTA]
        running, rounds = [block for block in blocks if block.kind == Kind.FULL], 0
        while True:
            rounds += 1
            if rounds > self.limits.iterations:
                most, origin = self.limits.iterations, group.reading.origin
                raise LimitError("iterations", most, rounds, f"rounds of {names}", origin)
            self._run_round(running)
            size = sum(growing.size for growing in self._growing.values())
            self.work.progress(f"round {rounds} of {names}: {size:,} facts")
            if not any(growing.grew for growing in self._growing.values()):
                break
            if finish(self, group, later, self._growing, rounds):
                return
            running = later
        for predicate, growing in self._growing.items():
            arity = self.code.predicates[predicate].arity
            self.done[predicate] = relation(growing.all, arity)
        self._growing = {}

    def _run_round(self, blocks: Sequence[Block]) -> None:
        made: dict[int, list[Register]] = {predicate: [] for predicate in self._growing}
        for block in blocks:
            made[block.instructions[-1][1]].append(self._run_block(block))
        found: dict[int, DataFrame] = {}
        for predicate, growing in self._growing.items():
            names = names_of(self.code.predicates[predicate].arity)
            fresh = self._union(made[predicate], len(names))
            if growing.size:
                known = growing.all.select(*(F.col(name).alias(f"known_{name}") for name in names))
                same = [F.col(name) == F.col(f"known_{name}") for name in names]
                condition = reduce(Column.__and__, same) if same else F.lit(True)
                fresh = fresh.join(known, condition, "left_anti")
            found[predicate] = fresh
        # All are written before any grows: a round reads what the rounds before it made.
        for predicate, fresh in found.items():
            written = self.work.written(fresh)
            growing = self._growing[predicate]
            size = written.count()
            growing.grew = size > 0
            if size or not growing.rounds:
                growing.rounds.append(written)
            growing.size += size

    def finished(self, relations: Mapping[int, Register]) -> None:
        """The group that runs is done: this is what it made."""
        self.done.update(relations)
        self._growing = {}

    def _run_block(self, block: Block) -> Register:
        """The tuples of the head that a block makes, perhaps one twice."""
        registers: list[Register] = [_NOTHING] * len(block.instructions)
        for instruction in block.instructions:
            self._steps[instruction[0]](registers, *instruction[1:])
        return registers[-1]  # nothing else is held there: EMIT makes no register

    def _constant(self, term: Term) -> str | None:
        return None if term[0] == COLUMN else self.code.constants[term[1]]

    def _operand(self, columns: Columns, term: Term) -> Column:
        text = self._constant(term)
        return columns[term[1]] if text is None else F.lit(text)

    def _bound(self, term: Term) -> Bound:
        text = self._constant(term)
        if text is None:
            return lambda columns: columns[term[1]]
        return clamped(integer(text))

    def load(self, predicate: int, view: int, state: int = op.State.ALL) -> Register:
        """The tuples of a predicate, record facts through a view."""
        arity = self.code.predicates[predicate].arity
        if state == op.State.ASKED:
            return self._asked[predicate]
        growing = self._growing.get(predicate)
        if growing is not None:
            if state == op.State.LAST:
                last = growing.rounds[-1] if growing.grew else growing.rounds[-1].limit(0)
                return relation(last, arity)
            return relation(growing.all, arity)
        if predicate in self._group_of:
            return self.done[predicate]
        found = self._base.get(self.code.predicates[predicate], Few((), arity))
        return found if not view else self._views[view - 1].of(found, self.kernels)

    # The steps, one for each opcode of the table. Registers first, then the operands.

    def _unit(self, registers: list[Register], to: int) -> None:
        registers[to] = self.kernels.unit()

    def _load(
        self, registers: list[Register], to: int, predicate: int, view: int, state: int
    ) -> None:
        registers[to] = self.load(predicate, view, state)

    def _select(
        self,
        registers: list[Register],
        to: int,
        source: int,
        constants: Sequence[tuple[int, int]],
        equal: Sequence[tuple[int, int]],
    ) -> None:
        values = [(column, self.code.constants[constant]) for column, constant in constants]
        registers[to] = self.kernels.select(registers[source], values, equal)

    def _join(
        self,
        registers: list[Register],
        to: int,
        left: int,
        right: int,
        keys: Sequence[tuple[int, int]],
        columns: Sequence[tuple[int, int]],
    ) -> None:
        registers[to] = self.kernels.join(registers[left], registers[right], keys, columns)

    def _semi(
        self,
        registers: list[Register],
        to: int,
        left: int,
        right: int,
        keys: Sequence[tuple[int, int]],
    ) -> None:
        registers[to] = self.kernels.semi(registers[left], registers[right], keys)

    def _anti(
        self,
        registers: list[Register],
        to: int,
        left: int,
        right: int,
        keys: Sequence[tuple[int, int]],
    ) -> None:
        registers[to] = self.kernels.semi(registers[left], registers[right], keys, anti=True)

    def _test(
        self, registers: list[Register], to: int, source: int, test: int, terms: Sequence[Term]
    ) -> None:
        constants = [self._constant(term) for term in terms]

        def condition(columns: Columns) -> Column:
            operands = [self._operand(columns, term) for term in terms]
            return run_test(op.Test(test), operands, constants)

        registers[to] = self.kernels.test(registers[source], condition)

    def _count(
        self,
        registers: list[Register],
        to: int,
        left: int,
        right: int,
        keys: Sequence[tuple[int, int]],
        compare: int,
        bound: Term,
    ) -> None:
        registers[to] = self.kernels.count(
            registers[left],
            registers[right],
            keys,
            op.Compare(compare),
            self._bound(bound),
        )

    def _rank(
        self,
        registers: list[Register],
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
        sign, limit = op.Compare(compare), self._bound(bound)
        found = self.kernels.rank(
            registers[left], key, registers[low], registers[high], ways, sign, limit
        )
        if found is None:
            for group in needed_groups(self.code, self._blocks, [predicate], self.done):
                self._evaluate(group)
            tuples = self.done[predicate]
            found = self.kernels.count(registers[left], tuples, [(key, position)], sign, limit)
        registers[to] = found

    def _project(
        self, registers: list[Register], to: int, source: int, columns: Sequence[int], distinct: int
    ) -> None:
        registers[to] = self.kernels.project(registers[source], columns, bool(distinct))

    def _emit(
        self, registers: list[Register], predicate: int, source: int, terms: Sequence[Term]
    ) -> None:
        """The head of a rule: columns of a register, and constants."""
        del predicate
        register = registers[source]
        if isinstance(register, Few):
            texts = [self._constant(term) for term in terms]
            found = (
                tuple(
                    row[column] if text is None else text
                    for (_, column), text in zip(terms, texts, strict=True)
                )
                for row in register.rows
            )
            registers[-1] = Few(tuple(dict.fromkeys(found)), len(terms))
            return
        rows = self.kernels.rows(register)
        columns = tuple(self._operand(rows.columns, term) for term in terms)
        places = [i for i, term in enumerate(terms) if term == (COLUMN, rows.record)]
        registers[-1] = replace(rows, columns=columns, record=places[0] if places else None)
