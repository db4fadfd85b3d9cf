"""A recursive group finished on the driver, by the NumPy machine.

A round on Spark costs a second whatever it holds, and a group may need hundreds. So once
all that the further rounds read, and what the rounds so far made, is few enough, it is
brought here: the further rounds are run over it, and what they made goes back as a table.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from lacec.bytecode import opcodes as op
from lacec.bytecode.code import COLUMN, Block, Code, Group, Instruction, Kind
from lacec.core.errors import LimitError
from lacec.core.predicates import Predicate
from lacec.facts.tables import add_table, arrow_table
from lacec.spark.registers import Few, Register, names_of, relation
from lacec.vm.database import Database
from lacec.vm.machine import Machine
from lacec.vm.relation import Relation
from lacec.vm.sources import add_rows

if TYPE_CHECKING:
    from lacec.spark.machine import Growing, SparkMachine

# More than any group has facts or a user patience; the iterations are limited as on Spark.
_UNLIMITED = 2**62
# So many rows need no table of their own on the way back.
_MODEST = 2**14


@dataclass(frozen=True)
class Read:
    """What a block reads of another group: a predicate through a view, and of it a part."""

    predicate: int
    view: int
    constants: tuple[tuple[int, int], ...] = ()
    equal: tuple[tuple[int, int], ...] = ()


def finish(
    machine: "SparkMachine",
    group: Group,
    blocks: Sequence[Block],
    growing: "Mapping[int, Growing]",
    rounds: int,
) -> bool:
    """Whether the group is done: its further rounds were few rows, and ran here."""
    left = machine.settings.budget - sum(each.size for each in growing.values())
    if left < 0 or any(i[0] == op.RANK for block in blocks for i in block.instructions):
        return False
    code, database = _Rewritten(machine.code, group, blocks), Database()
    for read in dict.fromkeys(read for block in blocks for read in _reads(block, group)):
        given = code.given(read.predicate, read.view)
        left -= _bring(machine, _part(machine, read), given, database, left)
        if left < 0:
            return False
    for predicate, each in growing.items():
        made = relation(each.all, machine.code.predicates[predicate].arity)
        _bring(machine, made, code.seed(predicate), database, each.size)
    _run(machine, group, code, database, rounds)
    return True


def _reads(block: Block, group: Group) -> list[Read]:
    """The loads of other groups, each with the SELECT that follows it."""
    found = []
    selects = {i[2]: i for i in block.instructions if i[0] == op.SELECT}
    for instruction in block.instructions:
        if instruction[0] == op.LOAD and instruction[2] not in group.predicates:
            _, to, predicate, view, _ = instruction
            part = selects[to][3:5] if to in selects else ((), ())
            found.append(Read(predicate, view, *part))
    return found


def _part(machine: "SparkMachine", read: Read) -> Register:
    values = [(column, machine.code.constants[constant]) for column, constant in read.constants]
    return machine.kernels.select(machine.load(read.predicate, read.view), values, read.equal)


def _run(
    machine: "SparkMachine", group: Group, code: "_Rewritten", database: Database, rounds: int
) -> None:
    names = ", ".join(str(machine.code.predicates[p]) for p in group.predicates)
    machine.work.progress(f"finishing {names} here")
    limits = machine.limits
    # The first round there takes what was made here so far.
    remaining = replace(
        limits,
        derived_facts=_UNLIMITED,
        intermediate_rows=_UNLIMITED,
        peer_intermediate_rows=_UNLIMITED,
        seconds=_UNLIMITED,
        iterations=limits.iterations - rounds + 1,
    )
    finished = Machine(code.code(), database, remaining)
    try:
        made = finished.run()
    except LimitError as error:
        most, origin = limits.iterations, group.reading.origin
        if error.name != "iterations":
            raise
        raise LimitError("iterations", most, most + 1, f"rounds of {names}", origin) from None
    machine.finished(
        {p: _carried(machine, made[machine.code.predicates[p]], database) for p in group.predicates}
    )


def _bring(
    machine: "SparkMachine", register: Register, predicate: Predicate, database: Database, most: int
) -> int:
    """Rows from Spark into a database, and how many they are; over `most`, none is added."""
    if isinstance(register, Few):
        add_rows(database, predicate, register.rows, machine.limits)
        return len(register.rows)
    frame = machine.kernels.rows(register).named(names_of(predicate.arity)).limit(most + 1)
    if not predicate.arity:
        count = frame.count()
        add_rows(database, predicate, [()] * count, machine.limits)
        return count
    table = frame.toArrow()
    if table.num_rows <= most:
        add_table(str(predicate), predicate, table, database, machine.limits)
    return int(table.num_rows)


def _carried(machine: "SparkMachine", made: Relation, database: Database) -> Register:
    """A relation of the NumPy machine as one of Spark."""
    arity = len(made.columns)
    if not arity or made.size <= machine.settings.few:
        return machine.kernels.given(database.tuples(made), arity)
    frame = machine.kernels.session.createDataFrame(arrow_table(made, database.symbols))
    return relation(frame if made.size <= _MODEST else machine.work.written(frame), arity)


class _Rewritten:
    """The further rounds of a group as a program of their own.

    What it reads of other groups is given to it; a view is a predicate of its own. What the
    rounds so far made are facts of a seed, which it begins with.
    """

    def __init__(self, code: Code, group: Group, blocks: Sequence[Block]) -> None:
        self._code, self._group, self._later = code, group, blocks
        self._predicates: dict[Predicate, int] = {p: n for n, p in enumerate(code.predicates)}

    def given(self, predicate: int, view: int) -> Predicate:
        name, arity = self._code.predicates[predicate]
        return Predicate(f"{name}@{view}", arity)

    def seed(self, predicate: int) -> Predicate:
        name, arity = self._code.predicates[predicate]
        return Predicate(f"{name}@seed", arity)

    def code(self) -> Code:
        blocks = [self._seed_block(predicate) for predicate in self._group.predicates]
        for block in self._later:
            instructions = tuple(map(self._instruction, block.instructions))
            blocks.append(replace(block, group=0, instructions=instructions))
        return replace(
            self._code,
            predicates=tuple(self._predicates),
            groups=(self._group,),
            blocks=tuple(blocks),
            outputs=self._group.predicates,
            views=(),
        )

    def _number(self, predicate: Predicate) -> int:
        return self._predicates.setdefault(predicate, len(self._predicates))

    def _seed_block(self, predicate: int) -> Block:
        seed = self.seed(predicate)
        terms = tuple((COLUMN, column) for column in range(seed.arity))
        load = (op.LOAD, 0, self._number(seed), 0, int(op.State.ALL))
        return Block(0, -1, Kind.FULL, -1, (load, (op.EMIT, predicate, 0, terms)))

    def _instruction(self, instruction: Instruction) -> Instruction:
        if instruction[0] != op.LOAD or instruction[2] in self._group.predicates:
            return instruction
        _, to, predicate, view, state = instruction
        return (op.LOAD, to, self._number(self.given(predicate, view)), 0, state)
