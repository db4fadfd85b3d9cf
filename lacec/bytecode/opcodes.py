"""The one table of opcodes. Emitter, verifier, codec, disassembler, docs and machine follow it.

A block is a list of instructions without jumps over registers 0, 1, 2, …; each
register is written once and holds a relation. A relation has numbered columns;
its rows are a set, except where a column was dropped.

The kind of an operand says what it is and, after a colon, of which operand:

    out:left         a new register with the columns of `left`, of a predicate, or of a list
    in               a register
    complete         a register that reads nothing of the block's own group, which still grows
    predicate        a number of the table of predicates; `constant` of that of constants
    view             a number of the table of views, counted from 1; 0 for all facts
    column:left      a column of `left`
    term:left        a column of `left` or a constant, as Term in code.py
    pick:left:right  a side, 0 or 1, and a column of that side
    way:low:high     one rule of a predicate that is counted by rank, as WAY lists it
    state, compare, test, order, flag    one of the numbers that CHOICES lists

Several kinds side by side are a tuple. A star means a tuple of any number of them.
"""

from dataclasses import dataclass
from enum import IntEnum


class State(IntEnum):
    """Which tuples of a predicate a LOAD means."""

    ALL = 0  # all there are: of a recursive predicate, those up to the previous round
    LAST = 1  # those that the previous round added
    CHANGED = 2  # those that were added, or those that were removed
    ASKED = 3  # those of the head that are to be checked


class Compare(IntEnum):
    LESS = 0
    LESS_EQUAL = 1
    GREATER = 2
    GREATER_EQUAL = 3

    @property
    def symbol(self) -> str:
        return ("<", "<=", ">", ">=")[self]

    @property
    def mirrored(self) -> "Compare":
        """The comparison that holds with the two sides swapped."""
        return Compare((2, 3, 0, 1)[self])

    @property
    def strict(self) -> bool:
        return self in (Compare.LESS, Compare.GREATER)


COMPARES = {compare.symbol: compare for compare in Compare}


class Test(IntEnum):
    UNEQUAL = 0
    INT_COMPARE = 1
    LEX_COMPARE = 2
    TEXT_SHAPE = 3

    @property
    def symbol(self) -> str:
        return ("!=", "IntCompare", "LexCompare", "TextShape")[self]

    @property
    def terms(self) -> int:
        """How many terms it takes."""
        return (2, 3, 3, 4)[self]

    @property
    def fixed(self) -> int | None:
        """Which of its terms must be a constant: the operator, or the delimiters."""
        return (None, 1, 1, 2)[self]


CHOICES: dict[str, tuple[IntEnum | bool, ...]] = {
    "state": tuple(State),
    "compare": tuple(Compare),
    "test": tuple(Test),
    "order": (Test.INT_COMPARE, Test.LEX_COMPARE),
    "flag": (False, True),
}


Written = tuple[tuple[str, str], ...]
"""Operands as the table writes them: the name and the kind of each."""


@dataclass(frozen=True, slots=True)
class Part:
    """One kind, and the names of the operands that it refers to."""

    kind: str
    of: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Operand:
    """The kind of an operand taken apart."""

    name: str
    parts: tuple[Part, ...]
    many: bool


@dataclass(frozen=True, slots=True)
class Opcode:
    number: int
    name: str
    operands: Written
    synopsis: str
    meaning: str


OPCODES: tuple[Opcode, ...] = (
    Opcode(
        0,
        "UNIT",
        (("to", "out"),),
        "to = {()}",
        "The relation without columns that has its one row. A body without positive atoms starts "
        "here.",
    ),
    Opcode(
        1,
        "LOAD",
        (
            ("to", "out:predicate"),
            ("predicate", "predicate"),
            ("view", "view"),
            ("state", "state"),
        ),
        "to = predicate, through a view",
        "The tuples of a predicate: all of them; those that the previous round of its recursive "
        "group added; those that changed since the last evaluation; or those of the head that are "
        "asked about. A block that reads any but all begins with them, and reads them once. "
        "Through a view, those record facts alone whose record the viewer may query; record facts "
        "are loaded through the view of the block's group, and nothing else through any. Nothing "
        "is copied.",
    ),
    Opcode(
        2,
        "SELECT",
        (
            ("to", "out:from"),
            ("from", "in"),
            ("constants", "column:from constant*"),
            ("equal", "column:from column:from*"),
        ),
        "to = rows of from with these constants and equal columns",
        "On a loaded relation this is an index look-up, and the part is kept for the next time.",
    ),
    Opcode(
        3,
        "JOIN",
        (
            ("to", "out:columns"),
            ("left", "in"),
            ("right", "in"),
            ("keys", "column:left column:right*"),
            ("columns", "pick:left:right*"),
        ),
        "to = columns of the pairs of left and right that agree on keys",
        "The number of pairs is known before the first is built, and checked against the limit on "
        "intermediate rows. Only the columns that are still needed are made. Without keys it is "
        "the product.",
    ),
    Opcode(
        4,
        "SEMI",
        (
            ("to", "out:left"),
            ("left", "in"),
            ("right", "in"),
            ("keys", "column:left column:right*"),
        ),
        "to = rows of left that agree with some row of right",
        "A positive atom that binds nothing new.",
    ),
    Opcode(
        5,
        "ANTI",
        (
            ("to", "out:left"),
            ("left", "in"),
            ("right", "complete"),
            ("keys", "column:left column:right*"),
        ),
        "to = rows of left that agree with no row of right",
        "A negated atom.",
    ),
    Opcode(
        6,
        "TEST",
        (("to", "out:from"), ("from", "in"), ("test", "test"), ("terms", "term:from*")),
        "to = rows of from that pass the test",
        "A builtin: !=, IntCompare, LexCompare or TextShape.",
    ),
    Opcode(
        7,
        "COUNT",
        (
            ("to", "out:left"),
            ("left", "in"),
            ("right", "complete"),
            ("keys", "column:left column:right*"),
            ("compare", "compare"),
            ("bound", "term:left"),
        ),
        "to = rows of left whose number of agreeing rows of right compares with bound",
        "A cardinality test. No agreeing row counts as zero. The right side has every column of "
        "the counted atom, because every column tells facts apart.",
    ),
    Opcode(
        8,
        "RANK",
        (
            ("to", "out:left"),
            ("left", "in"),
            ("key", "column:left"),
            ("predicate", "predicate"),
            ("position", "column:predicate"),
            ("low", "complete"),
            ("high", "complete"),
            ("ways", "way:low:high*"),
            ("compare", "compare"),
            ("bound", "term:left"),
        ),
        "to = rows of left whose number of tuples of predicate compares with bound",
        "A cardinality test of a predicate that compares two columns, counted by rank and never "
        "made into tuples: `low` holds the key and `high` the counted value in column 0, and each "
        "way is one rule, the columns it joins and the two it compares. Where column 0 of low or "
        "high is not unique the predicate is made after all, and counted as COUNT does.",
    ),
    Opcode(
        9,
        "PROJECT",
        (
            ("to", "out:columns"),
            ("from", "in"),
            ("columns", "column:from*"),
            ("distinct", "flag"),
        ),
        "to = these columns of from",
        "With the flag, each row once.",
    ),
    Opcode(
        10,
        "EMIT",
        (("predicate", "predicate"), ("from", "in"), ("terms", "term:from*")),
        "predicate gets these terms of from",
        "The head of a rule. Ends its block.",
    ),
)

WAY: Written = (
    ("equal", "column:low column:high*"),
    ("test", "order"),
    ("one", "column:low"),
    ("other", "column:high"),
    ("compare", "compare"),
)


def take_apart(operands: Written) -> tuple[Operand, ...]:
    """The operands of an opcode, or of WAY, as those read them who follow the table."""
    return tuple(
        Operand(
            name,
            tuple(
                Part(kind, tuple(of))
                for kind, *of in (word.split(":") for word in text.rstrip("*").split())
            ),
            text.endswith("*"),
        )
        for name, text in operands
    )


OPERANDS = tuple(take_apart(opcode.operands) for opcode in OPCODES)
WAY_OPERANDS = take_apart(WAY)
UNIT, LOAD, SELECT, JOIN, SEMI, ANTI, TEST, COUNT, RANK, PROJECT, EMIT = range(len(OPCODES))
