"""The verifier of one block.

In: code whose tables are sound, and the number of a block. Out: nothing, or a CodeError.
Each instruction is checked operand by operand as the table of opcodes describes them;
then what an opcode asks for beyond that (MORE); then what the kind of the block asks for.
"""

import re
from collections.abc import Callable, Sequence
from typing import Any

from lacec.bytecode import opcodes as op
from lacec.bytecode.code import COLUMN, CONSTANT, Code, Instruction, Kind, Term
from lacec.core.diagnostics import quote
from lacec.core.errors import CodeError
from lacec.core.origins import FULL_VIEW
from lacec.core.predicates import ADVERTISEMENT_FACTS, RECORD_FACTS, RUNTIME_FACTS, SCOPE_PREFIX

# What the rules of an operand may read beside what they derive.
_SHARED = RECORD_FACTS.keys() | RUNTIME_FACTS.keys() | ADVERTISEMENT_FACTS.keys()
# What a block of each kind begins with.
_BEGINNINGS = {
    Kind.DELTA: (op.State.LAST, "the last round"),
    Kind.CHANGE: (op.State.CHANGED, "what changed"),
    Kind.CHECK: (op.State.ASKED, "what is asked"),
}
_VARIABLE = re.compile(r"[A-Z][A-Za-z0-9_]{0,1023}")


def name_of(code: Code, predicate: int) -> str:
    return quote(str(code.predicates[predicate]))


def is_below(value: Any, end: int) -> bool:
    return isinstance(value, int) and 0 <= value < end


class BlockChecker:
    """One block: how wide each register is so far, and whether it reads the block's own group."""

    def __init__(self, code: Code, group_of: dict[int, int], number: int) -> None:
        self.code = code
        self.group_of = group_of
        self.number = number
        self.block = code.blocks[number]
        self.at: int | None = None
        self.widths: list[int] = []
        self.own: list[bool] = []
        # Of the instruction at hand: how many columns its operands have, if it reads the group.
        self.columns: dict[str, int] = {}
        self.reads_own = False
        # Of the block so far: loads of what it is run for, derived predicates loaded, those ranked.
        self.special = 0
        self.loaded: set[int] = set()
        self.ranked: list[tuple[int, int]] = []

    def fail(self, message: str) -> CodeError:
        return CodeError(message, block=self.number, instruction=self.at)

    def run(self) -> None:
        block = self.block
        if not is_below(block.group, len(self.code.groups)):
            raise self.fail(f"group {block.group} does not exist")
        if not is_below(block.rule + 1, len(self.code.rules) + 1):
            raise self.fail(f"rule {block.rule} does not exist")
        for self.at, instruction in enumerate(block.instructions):
            self._instruction(instruction)
        if not block.instructions or block.instructions[-1][0] != op.EMIT:
            raise self.fail("a block ends with EMIT")
        self.at = None
        self._kind()

    def _kind(self) -> None:
        """What the kind of the block asks for."""
        block, kind = self.block, self.block.kind
        if (block.atom >= 0) != (kind in (Kind.DELTA, Kind.CHANGE)) or block.atom < -1:
            raise self.fail(f"the atom of a {kind.name} block is not {block.atom}")
        if block.falling and kind != Kind.CHANGE:
            raise self.fail(f"a {kind.name} block is not falling")
        if kind in _BEGINNINGS:
            state, what = _BEGINNINGS[kind]
            if self.special != 1:
                raise self.fail(f"a {kind.name} block loads {what} {self.special} times")
            if block.instructions[0][0] != op.LOAD or block.instructions[0][-1] != state:
                raise self.fail(f"a {kind.name} block begins with {what}")
        self._variables()

    def _variables(self) -> None:
        """A CHECK block names the columns of its last register."""
        names, (_, made, last, _) = self.block.variables, self.block.instructions[-1]
        if self.block.kind != Kind.CHECK:
            if names:
                raise self.fail(f"a {self.block.kind.name} block has no variables")
            return
        if self.block.instructions[0][2] != made:
            raise self.fail("a CHECK block makes another predicate than it is asked about")
        if len(names) != self.widths[last] or len(set(names)) < len(names):
            raise self.fail(f"{len(names)} variables for {self.widths[last]} columns")
        for name in names:
            if not _VARIABLE.fullmatch(name):
                raise self.fail(f"{quote(name)} is no variable")

    def _instruction(self, instruction: Instruction) -> None:
        opcode, *values = instruction or (None,)
        if not is_below(opcode, len(op.OPCODES)):
            raise self.fail(f"there is no opcode {opcode}")
        operands = op.OPERANDS[opcode]
        if len(values) != len(operands):
            raise self.fail(f"{op.OPCODES[opcode].name} does not take {len(values)} operands")
        self.columns.clear()
        self.reads_own = False
        self._operands(operands, values)
        if opcode in MORE:
            MORE[opcode](self, *values)
        written = operands[0].parts[0]
        if written.kind == "out":
            self.widths.append(self.columns[written.of[0]] if written.of else 0)
            self.own.append(self.reads_own)

    def _operands(self, operands: Sequence[op.Operand], values: Sequence[Any]) -> None:
        for operand, value in zip(operands, values, strict=True):
            name, parts = operand.name, operand.parts
            first = parts[0]
            if not operand.many:
                KINDS[first.kind](self, name, first, value)
                continue
            if not isinstance(value, tuple):
                raise self.fail(f"{name} is not a list")
            self.columns[name] = len(value)
            if len(parts) == 1:
                check = KINDS[first.kind]
                for entry in value:
                    check(self, name, first, entry)
                continue
            one, other = parts
            for entry in value:
                left, right = self._pair(name, entry)
                KINDS[one.kind](self, name, one, left)
                KINDS[other.kind](self, name, other, right)

    # The kinds of operands. Each takes the name of the operand, the kind and the value.

    def _out(self, name: str, _: op.Part, value: Any) -> None:
        if value != len(self.widths):
            raise self.fail(f"{name} is r{value}, and the next register is r{len(self.widths)}")

    def _in(self, name: str, _: op.Part, value: Any) -> None:
        if not is_below(value, len(self.widths)):
            raise self.fail(f"{name} is r{value}, which nothing has written")
        self.columns[name] = self.widths[value]
        self.reads_own |= self.own[value]

    def _complete(self, name: str, part: op.Part, value: Any) -> None:
        self._in(name, part, value)
        if self.own[value]:
            raise self.fail(f"{name} is r{value}, which reads the group that the block is of")

    def _predicate(self, name: str, _: op.Part, value: Any) -> None:
        if not is_below(value, len(self.code.predicates)):
            raise self.fail(f"{name} is {value}, which is not in the table of predicates")
        self.columns[name] = self.code.predicates[value].arity

    def _constant(self, name: str, _: op.Part, value: Any) -> None:
        if not is_below(value, len(self.code.constants)):
            raise self.fail(f"{name} has {value}, which is not in the table of constants")

    def _column(self, name: str, part: op.Part, value: Any) -> None:
        self._column_of(name, part.of[0], value)

    def _column_of(self, name: str, of: str, value: Any) -> None:
        width = self.columns[of]
        if not (isinstance(value, int) and 0 <= value < width):
            raise self.fail(f"{name} has column {value} of {of}, which has {width}")

    def _term(self, name: str, part: op.Part, value: Any) -> None:
        kind, number = self._pair(name, value)
        if kind == COLUMN:
            self._column_of(name, part.of[0], number)
        elif kind == CONSTANT:
            self._constant(name, part, number)
        else:
            raise self.fail(f"{name} has a term of kind {kind}")

    def _pick(self, name: str, part: op.Part, value: Any) -> None:
        side, column = self._pair(name, value)
        if not is_below(side, len(part.of)):
            raise self.fail(f"{name} has side {side}")
        self._column_of(name, part.of[side], column)

    def _pair(self, name: str, value: Any) -> Sequence[Any]:
        if not isinstance(value, tuple) or len(value) != 2:
            raise self.fail(f"{name} has an entry that is not a pair")
        return value

    def _choice(self, name: str, part: op.Part, value: Any) -> None:
        if value not in op.CHOICES[part.kind]:
            raise self.fail(f"{name} is {value}, which is no {part.kind}")

    def _view(self, name: str, _: op.Part, value: Any) -> None:
        if not is_below(value, len(self.code.views) + 1):
            raise self.fail(f"{name} is {value}, which is not in the table of views")

    def _way(self, name: str, _: op.Part, value: Any) -> None:
        if not isinstance(value, tuple) or len(value) != len(op.WAY_OPERANDS):
            raise self.fail(f"{name} has an entry that does not have its form")
        self._operands(op.WAY_OPERANDS, value)

    # What an opcode asks for beyond its operands. Each takes them all.

    def _resolve(self, predicate: int) -> None:
        """Rules with a view of their own are closed: nothing they read may come from elsewhere."""
        reading = self.code.groups[self.block.group].reading
        if not reading.closed:
            return
        group = self.group_of.get(predicate)
        if group is not None:
            if self.code.groups[group].reading != reading:
                raise self.fail(
                    f"{name_of(self.code, predicate)} is read otherwise than this block"
                )
            return
        known = self.code.predicates[predicate]
        # A predicate of an operand that no rule defines is empty: nobody can give it facts.
        if known not in _SHARED and not SCOPE_PREFIX.match(known.name):
            raise self.fail(f"{name_of(self.code, predicate)} is no fact that an operand may read")

    def _load(self, _: int, predicate: int, view: int, state: int) -> None:
        block, group = self.block, self.group_of.get(predicate)
        self._resolve(predicate)
        record = self.code.predicates[predicate] in RECORD_FACTS
        wanted = self.code.groups[block.group].reading.view if record else FULL_VIEW
        if view != wanted:
            raise self.fail(
                f"{name_of(self.code, predicate)} is loaded through view {view}, and not {wanted}"
            )
        own = group == block.group
        if state != op.State.ALL:
            self._load_beginning(predicate, state, own)
        elif own and (block.kind == Kind.FULL or not self.code.groups[block.group].recursive):
            raise self.fail(
                f"{name_of(self.code, predicate)} is of the group of this block, which only a "
                "DELTA, CHANGE or CHECK block of a recursive group may read"
            )
        if group is not None and state != op.State.ASKED:
            self.loaded.add(predicate)
            if group > block.group:
                raise self.fail(f"{name_of(self.code, predicate)} is of a later group")
        self.reads_own = own

    def _load_beginning(self, predicate: int, state: int, own: bool) -> None:
        wanted, _ = _BEGINNINGS.get(self.block.kind, (None, ""))
        rounds = self.code.groups[self.block.group].recursive
        if own != (state != op.State.CHANGED) or (state == op.State.LAST and not rounds):
            what = {op.State.LAST: "has no last round", op.State.CHANGED: "cannot have changed"}
            said = what.get(op.State(state), "is not asked about")
            raise self.fail(f"{name_of(self.code, predicate)} {said} here")
        if state != wanted:
            name = op.State(state).name
            raise self.fail(f"a {self.block.kind.name} block loads tuples of the state {name}")
        self.special += 1

    def _test(self, _: int, __: int, test: int, terms: Sequence[Term]) -> None:
        wanted = op.Test(test)
        if len(terms) != wanted.terms:
            raise self.fail(f"{wanted.symbol} takes {wanted.terms} terms, not {len(terms)}")
        if wanted.fixed is None:
            return
        kind, number = terms[wanted.fixed]
        if kind != CONSTANT:
            raise self.fail(f"term {wanted.fixed} of {wanted.symbol} is not a constant")
        text = self.code.constants[number]
        if wanted != op.Test.TEXT_SHAPE and text not in op.COMPARES:
            raise self.fail(f"{quote(text)} is not a comparison operator")

    def _count(self, *operands: Any) -> None:
        kind, number = operands[-1]
        if kind == CONSTANT:
            text = self.code.constants[number]
            digits = text.removeprefix("-")
            if not (digits.isascii() and digits.isdigit()):
                raise self.fail(f"the bound {quote(text)} is not a decimal integer")

    def _rank(self, *operands: Any) -> None:
        self._count(*operands)
        if not (self.columns["low"] and self.columns["high"]):
            raise self.fail("low and high have a column 0")
        predicate = operands[3]
        self._resolve(predicate)
        if self.group_of.get(predicate, self.block.group) >= self.block.group:
            raise self.fail(f"{name_of(self.code, predicate)} is not of an earlier group")
        assert self.at is not None
        self.ranked.append((self.at, predicate))

    def _emit(self, predicate: int, _: int, terms: Sequence[Term]) -> None:
        if self.group_of.get(predicate) != self.block.group:
            raise self.fail(f"{name_of(self.code, predicate)} is not of group {self.block.group}")
        if len(terms) != self.columns["predicate"]:
            raise self.fail(f"{name_of(self.code, predicate)} does not take {len(terms)} terms")
        if self.at != len(self.block.instructions) - 1:
            raise self.fail("EMIT ends its block, and more follows")


KINDS: dict[str, Callable[[BlockChecker, str, op.Part, Any], None]] = {
    "out": BlockChecker._out,
    "in": BlockChecker._in,
    "complete": BlockChecker._complete,
    "predicate": BlockChecker._predicate,
    "constant": BlockChecker._constant,
    "column": BlockChecker._column,
    "term": BlockChecker._term,
    "pick": BlockChecker._pick,
    "view": BlockChecker._view,
    "way": BlockChecker._way,
    **dict.fromkeys(op.CHOICES, BlockChecker._choice),
}
MORE: dict[int, Callable[..., None]] = {
    op.LOAD: BlockChecker._load,
    op.TEST: BlockChecker._test,
    op.COUNT: BlockChecker._count,
    op.RANK: BlockChecker._rank,
    op.EMIT: BlockChecker._emit,
}
