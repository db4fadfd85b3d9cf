"""A program in bytecode: its tables and its blocks. What the emitter makes and the machine runs."""

from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any

from lacec.core.origins import OPEN, Reading
from lacec.core.predicates import Predicate

Instruction = tuple[Any, ...]
"""An opcode number, then its operands as the table of opcodes lists them."""

Term = tuple[int, int]
"""(COLUMN, column) or (CONSTANT, number of a constant)."""
COLUMN, CONSTANT = 0, 1


class Kind(IntEnum):
    FULL = 0  # reads everything; runs once, in the first round
    DELTA = 1  # reads for one body atom what the last round added; runs in every later round
    CHANGE = 2  # reads for one body literal, of another group, what changed of its predicate
    CHECK = 3  # reads tuples of the head, and makes those that the rule derives


@dataclass(frozen=True, slots=True)
class Block:
    """The instructions of one rule in one kind; ends with its EMIT.

    Blocks of any kind but FULL begin with a LOAD of the tuples that they are run for. With
    the SELECT after it, if there is one, it says which tuples can make the block do anything.
    """

    group: int
    rule: int
    kind: Kind
    atom: int  # the body literal that a DELTA or CHANGE block begins with, or -1
    instructions: tuple[Instruction, ...] = field(repr=False)
    falling: bool = False  # of a CHANGE block: whether fewer tuples of the literal make more heads
    variables: tuple[str, ...] = ()
    """Of a CHECK block: the variable that each column of its last register holds.

    All of them that occur in two parts of the rule do; others are known from their atom alone.
    """


@dataclass(frozen=True, slots=True)
class Group:
    """Predicates that need each other. The groups are in an order that can be evaluated.

    All rules of a group come from one origin, and load record facts through one view.
    """

    predicates: tuple[int, ...]
    recursive: bool
    reading: Reading = OPEN


@dataclass(frozen=True, slots=True)
class SourceRule:
    """Where a rule's blocks come from: its U. identifier, text and place."""

    id: str
    text: str
    file: str
    line: int


@dataclass(frozen=True, slots=True)
class Code:
    constants: tuple[str, ...]
    predicates: tuple[Predicate, ...]
    groups: tuple[Group, ...]
    blocks: tuple[Block, ...] = field(repr=False)
    rules: tuple[SourceRule, ...] = field(repr=False)
    outputs: tuple[int, ...] = ()
    views: tuple[tuple[int, int], ...] = ()
    """Views from 1 on: a predicate that is given, not derived, and the constant of the viewer."""
