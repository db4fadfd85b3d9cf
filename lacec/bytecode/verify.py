"""The verifier: code that it accepts, the machine can run, whoever made it.

In: code, as the emitter makes it or as it came out of a file. Out: nothing, or a
CodeError with the block and the instruction. The tables are checked first; then
each instruction, operand by operand as the table of opcodes describes them; then
what an opcode asks for beyond that (MORE).
"""

import unicodedata
from collections.abc import Callable, Sequence
from typing import Any

from lacec.bytecode import opcodes as op
from lacec.bytecode.code import COLUMN, CONSTANT, Code, Instruction, Kind, Term
from lacec.diagnostics import quote
from lacec.errors import CodeError
from lacec.limits import DEFAULT_LIMITS, Limits
from lacec.predicates import (
    ADVERTISEMENT_FACTS,
    BASE,
    RECORD_FACTS,
    RUNTIME_FACTS,
    SCOPE_PREFIX,
)
from lacec.views import FULL_VIEW, Origin

# What the rules of an operand may read beside what they derive.
_SHARED = RECORD_FACTS.keys() | RUNTIME_FACTS.keys() | ADVERTISEMENT_FACTS.keys()


def verify(code: Code, limits: Limits = DEFAULT_LIMITS) -> None:
    """Accept code, or raise the CodeError that says why not."""
    _check_constants(code, limits)
    _check_predicates(code, limits)
    group_of = _check_groups(code)
    _check_views(code, group_of)
    checkers = [_Checker(code, group_of, number) for number in range(len(code.blocks))]
    for checker in checkers:
        checker.run()
    _check_ranks(code, group_of, checkers)
    emitted = {block.instructions[-1][1] for block in code.blocks}
    for predicate in sorted(group_of.keys() - emitted):
        raise CodeError(f"no block makes {_name(code, predicate)}, which is in a group")
    for predicate in code.outputs:
        if predicate not in group_of:
            raise CodeError(f"predicate {predicate} is an output and is not derived")
    if len(set(code.outputs)) < len(code.outputs):
        raise CodeError("a predicate is an output twice")


def _check_constants(code: Code, limits: Limits) -> None:
    for number, text in enumerate(code.constants):
        wrong = _wrong_with(text, limits)
        if wrong:
            raise CodeError(f"constant {number}, {quote(text)}, {wrong}")


def _wrong_with(text: str, limits: Limits) -> str | None:
    """Why a text can be no value (030 Values), nor stand in a rule."""
    if "\n" in text or "\r" in text:
        return "has a line break"
    try:
        size = len(text.encode("utf-8"))
    except UnicodeEncodeError:
        return "is not Unicode text"
    if size > limits.value_bytes:
        return f"is over the limit value_bytes of {limits.value_bytes}"
    if size > len(text) and not unicodedata.is_normalized("NFC", text):
        return "is not NFC"
    return None


def _check_predicates(code: Code, limits: Limits) -> None:
    seen = set()
    for number, predicate in enumerate(code.predicates):
        if predicate in seen:
            raise CodeError(f"{_name(code, number)} is in the table of predicates twice")
        if not 0 <= predicate.arity <= limits.arity:
            raise CodeError(f"{_name(code, number)} is over the limit arity of {limits.arity}")
        seen.add(predicate)


def _check_groups(code: Code) -> dict[int, int]:
    """The group of each derived predicate."""
    group_of: dict[int, int] = {}
    for number, group in enumerate(code.groups):
        if not group.predicates or (len(group.predicates) > 1 and not group.recursive):
            raise CodeError(
                f"group {number} has {len(group.predicates)} predicates and is "
                f"{'' if group.recursive else 'not '}recursive"
            )
        for predicate in group.predicates:
            if not 0 <= predicate < len(code.predicates):
                raise CodeError(f"group {number} has predicate {predicate}, which does not exist")
            if predicate in group_of:
                raise CodeError(f"{_name(code, predicate)} is in a group twice")
            if code.predicates[predicate] in BASE:
                raise CodeError(f"{_name(code, predicate)} is a base predicate, in group {number}")
            group_of[predicate] = number
    return group_of


def _check_views(code: Code, group_of: dict[int, int]) -> None:
    """A view is given from outside; a peer's rules have one."""
    for number, (gate, viewer) in enumerate(code.views, 1):
        if not _is_below(gate, len(code.predicates)) or not _is_below(viewer, len(code.constants)):
            raise CodeError(f"view {number} names what is in no table")
        predicate = code.predicates[gate]
        if gate in group_of or predicate in BASE or predicate.arity != 2:
            raise CodeError(f"{_name(code, gate)} cannot be the gate of view {number}")
    for number, group in enumerate(code.groups):
        origin, view = group.reading
        if not _is_below(view, len(code.views) + 1):
            raise CodeError(f"group {number} reads through view {view}, which does not exist")
        if (origin == Origin.PEER) and view == FULL_VIEW:
            raise CodeError(f"group {number} is of a peer, and reads through no view")
        if origin == Origin.TRUSTED and view != FULL_VIEW:
            raise CodeError(f"group {number} is of a trusted peer, and reads through a view")


def _check_ranks(code: Code, group_of: dict[int, int], checkers: "list[_Checker]") -> None:
    """What RANK counts can be made while its block runs: all that this takes is there."""
    needs: list[set[int]] = [set() for _ in code.groups]
    ranking = set()
    for checker in checkers:
        needs[checker.block.group] |= checker.loaded
        if checker.ranked:
            ranking.add(checker.block.group)
    for checker in checkers:
        there = needs[checker.block.group]
        for at, predicate in checker.ranked:
            number = group_of[predicate]
            group = code.groups[number]
            if not there.isdisjoint(group.predicates):
                continue
            if group.recursive or number in ranking or not needs[number] <= there:
                checker.at = at
                raise checker.fail(f"{_name(code, predicate)} cannot be made on the way")


def _name(code: Code, predicate: int) -> str:
    return quote(str(code.predicates[predicate]))


def _is_below(value: Any, end: int) -> bool:
    return isinstance(value, int) and 0 <= value < end


class _Checker:
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
        # Of the block so far: loads of the last round, derived predicates loaded, those ranked.
        self.last = 0
        self.loaded: set[int] = set()
        self.ranked: list[tuple[int, int]] = []

    def fail(self, message: str) -> CodeError:
        return CodeError(message, block=self.number, instruction=self.at)

    def run(self) -> None:
        block = self.block
        if not _is_below(block.group, len(self.code.groups)):
            raise self.fail(f"group {block.group} does not exist")
        if not _is_below(block.rule + 1, len(self.code.rules) + 1):
            raise self.fail(f"rule {block.rule} does not exist")
        for self.at, instruction in enumerate(block.instructions):
            self._instruction(instruction)
        if not block.instructions or block.instructions[-1][0] != op.EMIT:
            raise self.fail("a block ends with EMIT")
        self.at = None
        delta = block.kind == Kind.DELTA
        if (block.atom >= 0) != delta or block.atom < -1:
            raise self.fail(f"the atom of a {block.kind.name} block is not {block.atom}")
        if self.last != delta:
            raise self.fail(f"a {block.kind.name} block loads the last round {self.last} times")

    def _instruction(self, instruction: Instruction) -> None:
        opcode, *values = instruction or (None,)
        if not _is_below(opcode, len(op.OPCODES)):
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
        if not _is_below(value, len(self.widths)):
            raise self.fail(f"{name} is r{value}, which nothing has written")
        self.columns[name] = self.widths[value]
        self.reads_own |= self.own[value]

    def _complete(self, name: str, part: op.Part, value: Any) -> None:
        self._in(name, part, value)
        if self.own[value]:
            raise self.fail(f"{name} is r{value}, which reads the group that the block is of")

    def _predicate(self, name: str, _: op.Part, value: Any) -> None:
        if not _is_below(value, len(self.code.predicates)):
            raise self.fail(f"{name} is {value}, which is not in the table of predicates")
        self.columns[name] = self.code.predicates[value].arity

    def _constant(self, name: str, _: op.Part, value: Any) -> None:
        if not _is_below(value, len(self.code.constants)):
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
        if not _is_below(side, len(part.of)):
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
        if not _is_below(value, len(self.code.views) + 1):
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
                raise self.fail(f"{_name(self.code, predicate)} is read otherwise than this block")
            return
        known = self.code.predicates[predicate]
        # A predicate of an operand that no rule defines is empty: nobody can give it facts.
        if known not in _SHARED and not SCOPE_PREFIX.match(known.name):
            raise self.fail(f"{_name(self.code, predicate)} is no fact that an operand may read")

    def _load(self, _: int, predicate: int, view: int, state: int) -> None:
        block, group = self.block, self.group_of.get(predicate)
        self._resolve(predicate)
        record = self.code.predicates[predicate] in RECORD_FACTS
        wanted = self.code.groups[block.group].reading.view if record else FULL_VIEW
        if view != wanted:
            raise self.fail(
                f"{_name(self.code, predicate)} is loaded through view {view}, and not {wanted}"
            )
        own = group == block.group
        if group is not None:
            self.loaded.add(predicate)
            if group > block.group:
                raise self.fail(f"{_name(self.code, predicate)} is of a later group")
        if own and not (self.code.groups[block.group].recursive and block.kind == Kind.DELTA):
            raise self.fail(
                f"{_name(self.code, predicate)} is of the group of this block, which only a DELTA "
                "block of a recursive group may read"
            )
        if state == op.State.LAST:
            self.last += 1
            if not own:
                raise self.fail(f"{_name(self.code, predicate)} has no last round here")
        self.reads_own = own

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
            raise self.fail(f"{_name(self.code, predicate)} is not of an earlier group")
        assert self.at is not None
        self.ranked.append((self.at, predicate))

    def _emit(self, predicate: int, _: int, terms: Sequence[Term]) -> None:
        if self.group_of.get(predicate) != self.block.group:
            raise self.fail(f"{_name(self.code, predicate)} is not of group {self.block.group}")
        if len(terms) != self.columns["predicate"]:
            raise self.fail(f"{_name(self.code, predicate)} does not take {len(terms)} terms")
        if self.at != len(self.block.instructions) - 1:
            raise self.fail("EMIT ends its block, and more follows")


KINDS: dict[str, Callable[[_Checker, str, op.Part, Any], None]] = {
    "out": _Checker._out,
    "in": _Checker._in,
    "complete": _Checker._complete,
    "predicate": _Checker._predicate,
    "constant": _Checker._constant,
    "column": _Checker._column,
    "term": _Checker._term,
    "pick": _Checker._pick,
    "view": _Checker._view,
    "way": _Checker._way,
    **dict.fromkeys(op.CHOICES, _Checker._choice),
}
MORE: dict[int, Callable[..., None]] = {
    op.LOAD: _Checker._load,
    op.TEST: _Checker._test,
    op.COUNT: _Checker._count,
    op.RANK: _Checker._rank,
    op.EMIT: _Checker._emit,
}
