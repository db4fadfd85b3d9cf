"""Code with one thing broken, and what the verifier says of it."""

from dataclasses import replace

from lacec.bytecode import opcodes as op
from lacec.bytecode.code import COLUMN, CONSTANT, Code, Group, Kind
from lacec.core.predicates import Predicate
from tests.bytecode.programs import (
    PROGRAMS,
    block_of,
    code_of,
    find,
    links,
    with_block,
    with_instruction,
    with_operand,
)

Case = tuple[str, Code, str]
"""The name of a case, the broken code, and a part of the message."""

GOOD = links()
LIVE = links(live=True)
ALL, LAST = int(op.State.ALL), int(op.State.LAST)
CHANGED, ASKED = int(op.State.CHANGED), int(op.State.ASKED)


def number_of(name: str) -> int:
    """The number of a predicate of GOOD."""
    return [predicate.name for predicate in GOOD.predicates].index(name)


def constant(text: str) -> tuple[int, int]:
    return CONSTANT, GOOD.constants.index(text)


def group_of(name: str) -> int:
    return [number_of(name) in group.predicates for group in GOOD.groups].index(True)


def with_constant(old: str, new: str) -> Code:
    texts = tuple(new if text == old else text for text in GOOD.constants)
    return replace(GOOD, constants=texts)


def with_group(name: str, group: Group) -> Code:
    at = group_of(name)
    return replace(GOOD, groups=(*GOOD.groups[:at], group, *GOOD.groups[at + 1 :]))


def head(name: str, **changes: object) -> Code:
    """Other values of the first block of a head."""
    return with_block(GOOD, find(GOOD, name, op.EMIT)[0], **changes)


def delta(**changes: object) -> Code:
    """Other values of the DELTA block of Path."""
    number, _ = find(GOOD, "Path", op.JOIN)
    return with_block(GOOD, number, **changes)


def live(of: Kind, name: str, **changes: object) -> Code:
    """Other values of the first block of a kind that makes a head, in live code."""
    return with_block(LIVE, block_of(LIVE, of, name), **changes)


def live_load(kind: Kind, name: str, which: int, state: int) -> Code:
    """Another state of one LOAD of such a block."""
    number = block_of(LIVE, kind, name)
    instructions = LIVE.blocks[number].instructions
    at = [place for place, each in enumerate(instructions) if each[0] == op.LOAD][which]
    return with_instruction(LIVE, number, at, (*instructions[at][:-1], state))


def check_of_another() -> Code:
    """Odd is asked about, and Even made."""
    code = code_of(PROGRAMS["mutual"], live=True)
    number = block_of(code, Kind.CHECK, "Odd")
    instructions = code.blocks[number].instructions
    _, _, *rest = instructions[-1]
    even = code.predicates.index(Predicate("Even", 1))
    return with_instruction(code, number, len(instructions) - 1, (op.EMIT, even, *rest))


def operand(name: str, opcode: int, key: str, value: object, which: int = 0) -> Code:
    return with_operand(GOOD, name, opcode, key, value, which)


def instead(name: str, opcode: int, *instructions: tuple[object, ...]) -> Code:
    return with_instruction(GOOD, *find(GOOD, name, opcode), *instructions)


TABLES: list[Case] = [
    ("line break", with_constant("100", "1\n"), "has a line break"),
    ("surrogate", with_constant("yes", "\ud800"), "is not Unicode text"),
    ("not NFC", with_constant("yes", "e\u0301"), "is not NFC"),
    ("long", with_constant("yes", "y" * 1025), "over the limit value_bytes of 1024"),
    (
        "predicate twice",
        replace(GOOD, predicates=(*GOOD.predicates, Predicate("Path", 2))),
        "`Path/2` is in the table of predicates twice",
    ),
    (
        "arity",
        replace(GOOD, predicates=(*GOOD.predicates, Predicate("Wide", 2**31))),
        "`Wide/2147483648` is over the limit arity of 8",
    ),
    ("empty group", replace(GOOD, groups=(*GOOD.groups, Group((), True))), "has 0 predicates"),
    (
        "two and not recursive",
        with_group("Path", Group((number_of("Path"), number_of("Field")), False)),
        "has 2 predicates and is not recursive",
    ),
    (
        "unknown in a group",
        with_group("Path", Group((99,), True)),
        "predicate 99, which does not exist",
    ),
    (
        "in two groups",
        replace(GOOD, groups=(*GOOD.groups, Group((number_of("Path"),), True))),
        "`Path/2` is in a group twice",
    ),
    (
        "base predicate in a group",
        replace(GOOD, groups=(*GOOD.groups, Group((number_of("Have"),), False))),
        "`Have/1` is a base predicate",
    ),
    (
        "in a group without blocks",
        replace(
            GOOD,
            groups=(*GOOD.groups, Group((len(GOOD.predicates),), False)),
            predicates=(*GOOD.predicates, Predicate("Never", 1)),
        ),
        "no block makes `Never/1`",
    ),
    (
        "output not derived",
        replace(GOOD, outputs=(number_of("Field"),)),
        f"predicate {number_of('Field')} is an output and is not derived",
    ),
    (
        "last round of a group without rounds",
        with_group("Path", Group((number_of("Path"),), False)),
        "`Path/2` has no last round here",
    ),
    ("output unknown", replace(GOOD, outputs=(99,)), "predicate 99 is an output"),
    (
        "output twice",
        replace(GOOD, outputs=(number_of("Path"),) * 2),
        "a predicate is an output twice",
    ),
]


BLOCKS: list[Case] = [
    ("group", head("Big", group=99), "group 99 does not exist"),
    ("negative group", head("Big", group=-1), "group -1 does not exist"),
    ("rule", head("Big", rule=99), "rule 99 does not exist"),
    ("negative rule", head("Big", rule=-2), "rule -2 does not exist"),
    ("empty", head("Big", instructions=()), "a block ends with EMIT"),
    ("no EMIT", instead("Big", op.EMIT), "a block ends with EMIT"),
    ("FULL with an atom", head("Big", atom=0), "the atom of a FULL block is not 0"),
    ("DELTA without an atom", delta(atom=-1), "the atom of a DELTA block is not -1"),
    ("DELTA that is called FULL", delta(kind=Kind.FULL, atom=-1), "loads tuples of the state LAST"),
    (
        "DELTA without the last round",
        operand("Path", op.LOAD, "state", ALL, 1),
        "a DELTA block loads the last round 0 times",
    ),
    (
        "FULL that is called DELTA",
        head("Path", kind=Kind.DELTA, atom=0),
        "a DELTA block loads the last round 0 times",
    ),
    (
        "last round twice",
        with_operand(
            operand("Path", op.LOAD, "predicate", number_of("Path"), 2), "Path", 1, "state", LAST, 2
        ),
        "a DELTA block loads the last round 2 times",
    ),
]

LIVE_BLOCKS: list[Case] = [
    ("CHANGE without an atom", live(Kind.CHANGE, "Path", atom=-1), "of a CHANGE block is not -1"),
    ("CHECK with an atom", live(Kind.CHECK, "Path", atom=0), "the atom of a CHECK block is not 0"),
    ("falling CHECK", live(Kind.CHECK, "Path", falling=True), "a CHECK block is not falling"),
    (
        "CHANGE without what changed",
        live_load(Kind.CHANGE, "Path", 0, ALL),
        "a CHANGE block loads what changed 0 times",
    ),
    (
        "CHECK without what is asked",
        live_load(Kind.CHECK, "Path", 1, ASKED),
        "`Link/2` is not asked about here",
    ),
    (
        "what changed of the group itself",
        live_load(Kind.CHECK, "Path", 0, CHANGED),
        "`Path/2` cannot have changed here",
    ),
    (
        "the last round in a CHECK block",
        live_load(Kind.CHECK, "Path", 0, LAST),
        "a CHECK block loads tuples of the state LAST",
    ),
    (
        "what changed in a CHECK block",
        live_load(Kind.CHECK, "Path", 1, CHANGED),
        "a CHECK block loads tuples of the state CHANGED",
    ),
    (
        "what changed twice",
        live_load(Kind.CHANGE, "Free", 1, CHANGED),
        "a CHANGE block loads what changed 2 times",
    ),
    (
        "CHANGE that is called FULL",
        live(Kind.CHANGE, "Big", kind=Kind.FULL, atom=-1),
        "a FULL block loads tuples of the state CHANGED",
    ),
    (
        "variables of a CHANGE block",
        live(Kind.CHANGE, "Big", variables=("P",)),
        "a CHANGE block has no variables",
    ),
    ("too few variables", live(Kind.CHECK, "Path", variables=("X",)), "1 variables for 2 columns"),
    ("a variable twice", live(Kind.CHECK, "Path", variables=("X", "X")), "2 variables for 2"),
    ("no variable", live(Kind.CHECK, "Path", variables=("X", "\x1b")), "is no variable"),
    ("CHECK of another predicate", check_of_another(), "makes another predicate than it is asked"),
]

INSTRUCTIONS: list[Case] = [
    ("opcode", instead("Big", op.COUNT, (11, 2)), "there is no opcode 11"),
    ("no opcode", instead("Big", op.COUNT, ()), "there is no opcode None"),
    ("negative opcode", instead("Big", op.COUNT, (-1, 2)), "there is no opcode -1"),
    ("few operands", instead("Big", op.COUNT, (op.LOAD, 2)), "LOAD does not take 1 operands"),
    ("many operands", instead("Ever", op.UNIT, (op.UNIT, 0, 0)), "UNIT does not take 2 operands"),
    ("register twice", operand("Big", op.COUNT, "to", 0), "to is r0, and the next register is r3"),
    ("register left out", operand("Big", op.COUNT, "to", 4), "the next register is r3"),
    ("register before use", operand("Big", op.COUNT, "right", 3), "r3, which nothing has written"),
    ("negative register", operand("Big", op.COUNT, "left", -1), "r-1, which nothing has written"),
    ("register is a text", operand("Big", op.COUNT, "left", "r1"), "which nothing has written"),
    ("predicate", operand("Big", op.LOAD, "predicate", 99), "not in the table of predicates"),
    ("negative predicate", operand("Big", op.LOAD, "predicate", -1), "table of predicates"),
    ("state", operand("Big", op.LOAD, "state", 4), "state is 4, which is no state"),
    ("constant", operand("Link", op.SELECT, "constants", ((1, 99),)), "table of constants"),
    (
        "column of SELECT",
        operand("Link", op.SELECT, "constants", ((4, 0),)),
        "constants has column 4 of from, which has 4",
    ),
    ("equal column", operand("Free", op.SELECT, "equal", ((0, 2),)), "column 2 of from"),
    ("list", operand("Big", op.COUNT, "keys", 7), "keys is not a list"),
    ("pair", operand("Big", op.COUNT, "keys", ((0,),)), "keys has an entry that is not a pair"),
    ("key of left", operand("Path", op.JOIN, "keys", ((2, 0),)), "column 2 of left, which has 2"),
    ("key of right", operand("Path", op.JOIN, "keys", ((0, 2),)), "column 2 of right, which has 2"),
    ("negative key", operand("Path", op.JOIN, "keys", ((-1, 0),)), "column -1 of left"),
    ("side", operand("Path", op.JOIN, "columns", ((2, 0),)), "columns has side 2"),
    ("left side", operand("Path", op.JOIN, "columns", ((0, 2),)), "column 2 of left"),
    ("right side", operand("Path", op.JOIN, "columns", ((1, 2),)), "column 2 of right"),
    ("width of JOIN", operand("Path", op.JOIN, "columns", ((0, 0),)), "column 1 of from"),
    ("width of PROJECT", operand("Path", op.PROJECT, "columns", (0,)), "column 1 of from"),
    ("column of PROJECT", operand("Big", op.PROJECT, "columns", (1,)), "column 1 of from"),
    ("key of ANTI", operand("Free", op.ANTI, "keys", ((0, 2),)), "column 2 of right"),
    ("flag", operand("Big", op.PROJECT, "distinct", 2), "distinct is 2, which is no flag"),
    ("test", operand("Free", op.TEST, "test", 4), "test is 4, which is no test"),
    ("kind of term", operand("Free", op.TEST, "terms", ((2, 0),) * 2), "a term of kind 2"),
    ("column of term", operand("Free", op.TEST, "terms", ((0, 1),) * 2), "column 1 of from"),
    ("constant of term", operand("Free", op.TEST, "terms", ((1, 99),) * 2), "table of constants"),
    ("terms of !=", operand("Free", op.TEST, "terms", ((0, 0),)), "!= takes 2 terms, not 1"),
    ("terms of LexCompare", operand("Free", op.TEST, "terms", (), 1), "LexCompare takes 3 terms"),
    ("terms of TextShape", operand("Link", op.TEST, "terms", ()), "TextShape takes 4 terms"),
    (
        "operator is a column",
        operand("Free", op.TEST, "terms", ((COLUMN, 0),) * 3, 1),
        "term 1 of LexCompare is not a constant",
    ),
    (
        "operator is no operator",
        operand("Free", op.TEST, "terms", (constant("a"),) * 3, 1),
        "`a` is not a comparison operator",
    ),
    (
        "delimiters are a column",
        operand("Link", op.TEST, "terms", ((COLUMN, 0),) * 4),
        "term 2 of TextShape is not a constant",
    ),
    ("compare", operand("Big", op.COUNT, "compare", 4), "compare is 4, which is no compare"),
    ("bound", operand("Big", op.COUNT, "bound", constant("a")), "`a` is not a decimal integer"),
    ("bound column", operand("Big", op.COUNT, "bound", (COLUMN, 1)), "column 1 of left"),
    ("bound of RANK", with_constant("100", "1_0"), "`1_0` is not a decimal integer"),
    ("key of RANK", operand("Latest", op.RANK, "key", 1), "key has column 1 of left"),
    ("position", operand("Latest", op.RANK, "position", 2), "position has column 2 of predicate"),
    ("way", operand("Latest", op.RANK, "ways", ((),)), "an entry that does not have its form"),
    (
        "way of another test",
        operand("Latest", op.RANK, "ways", (((), int(op.Test.UNEQUAL), 0, 0, 0),)),
        "test is 0, which is no order",
    ),
    ("way of low", operand("Latest", op.RANK, "ways", (((), 2, 2, 0, 0),)), "column 2 of low"),
    ("way of high", operand("Latest", op.RANK, "ways", (((), 2, 0, 2, 0),)), "column 2 of high"),
    ("way joins", operand("Latest", op.RANK, "ways", ((((0, 2),), 2, 0, 0, 0),)), "equal has col"),
    ("way compares", operand("Latest", op.RANK, "ways", (((), 2, 0, 0, 9),)), "is no compare"),
    (
        "low without columns",
        with_operand(
            operand("Latest", op.RANK, "ways", ()), "Latest", op.PROJECT, "columns", (), 1
        ),
        "low and high have a column 0",
    ),
    (
        "rank of a base predicate",
        operand("Latest", op.RANK, "predicate", number_of("Field")),
        "`Field/4` is not of an earlier group",
    ),
    (
        "rank of the group itself",
        operand("Latest", op.RANK, "predicate", number_of("Latest")),
        "`Latest/1` is not of an earlier group",
    ),
    (
        "rank of what is not there",
        operand("Latest", op.RANK, "predicate", number_of("Free")),
        "`Free/1` cannot be made on the way",
    ),
    (
        "EMIT of another group",
        operand("Big", op.EMIT, "predicate", number_of("Latest")),
        f"`Latest/1` is not of group {group_of('Big')}",
    ),
    (
        "EMIT of a base predicate",
        operand("Big", op.EMIT, "predicate", number_of("Have")),
        "`Have/1` is not of group",
    ),
    ("few terms", operand("Path", op.EMIT, "terms", ((0, 0),)), "does not take 1 terms"),
    ("many terms", operand("Big", op.EMIT, "terms", ((0, 0),) * 2), "does not take 2 terms"),
    (
        "EMIT in the middle",
        instead(
            "Ever", op.EMIT, *[GOOD.blocks[find(GOOD, "Ever", op.EMIT)[0]].instructions[-1]] * 2
        ),
        "EMIT ends its block, and more follows",
    ),
    (
        "LOAD of a later group",
        operand("Link", op.LOAD, "predicate", number_of("Path")),
        "`Path/2` is of a later group",
    ),
    (
        "LOAD of the group itself",
        operand("Big", op.LOAD, "predicate", number_of("Big")),
        "`Big/1` is of the group of this block",
    ),
    (
        "FULL block of a recursive group",
        operand("Path", op.LOAD, "predicate", number_of("Path")),
        "`Path/2` is of the group of this block",
    ),
    (
        "last round of an earlier group",
        operand("Path", op.LOAD, "state", LAST),
        "`Link/2` has no last round here",
    ),
    (
        "last round of a base predicate",
        operand("Big", op.LOAD, "state", LAST),
        "`Have/1` has no last round here",
    ),
    (
        "negation of the group itself",
        instead("Path", op.JOIN, (op.ANTI, 3, 1, 1, ())),
        "right is r1, which reads the group that the block is of",
    ),
    (
        "count of the group itself",
        instead("Path", op.JOIN, (op.COUNT, 3, 1, 1, (), 0, constant("100"))),
        "right is r1, which reads the group that the block is of",
    ),
    (
        "rank over the group itself",
        instead(
            "Path",
            op.JOIN,
            (op.RANK, 3, 1, 0, number_of("Link"), 0, 2, 1, (), 0, constant("100")),
        ),
        "high is r1, which reads the group that the block is of",
    ),
    (
        "rank of a recursive group",
        operand("Latest", op.RANK, "predicate", number_of("Path")),
        "`Path/2` cannot be made on the way",
    ),
]
