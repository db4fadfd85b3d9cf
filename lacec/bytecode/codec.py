"""Code as bytes: the `.lbc` format, and back.

    magic   version   body   checksum (BLAKE3-256 of everything before it)

The body holds constants, predicates, groups, blocks, outputs, views and the rules that the
blocks come from, each a count and its entries. Numbers are little-endian base 128,
as short as they can be, under 2**32; text is its length in bytes and UTF-8; the
operands of an instruction follow the table of opcodes. Code has one encoding only.

The bytes may be hostile: a length is checked against what is left before anything
is read. What `decode` gives has the right form; whether it may run, `verify` says.
"""

from collections.abc import Callable
from typing import Any, TypeVar

from blake3 import blake3

from lacec.bytecode.code import Block, Code, Group, Instruction, Kind, SourceRule
from lacec.bytecode.opcodes import OPERANDS, WAY_OPERANDS, Operand, Part
from lacec.core.errors import CodeError
from lacec.core.origins import Origin, Reading
from lacec.core.predicates import Predicate

MAGIC = b"\x00lbc"
VERSION = 3
CHECKSUM_BYTES = 32
END_OF_NUMBERS = 2**32

T = TypeVar("T")


def encode(code: Code) -> bytes:
    """The bytes of code that `verify` accepts; always the same ones."""
    writer = _Writer()
    writer.out += MAGIC
    writer.number(VERSION)
    writer.code(code)
    return bytes(writer.out + blake3(writer.out).digest())


def decode(data: bytes) -> Code:
    """The code of some bytes; CodeError with the offset of what is wrong with them."""
    if not data.startswith(MAGIC):
        raise CodeError("these bytes are no lacec bytecode", offset=0)
    reader = _Reader(data, len(MAGIC), len(data))
    version = reader.number()
    if version != VERSION:
        raise CodeError(f"version {version} is unknown, this is {VERSION}", offset=len(MAGIC))
    reader.end -= CHECKSUM_BYTES
    if reader.end < reader.at:
        raise CodeError("the checksum is cut off", offset=len(data))
    if blake3(data[: reader.end]).digest() != data[reader.end :]:
        raise CodeError("the checksum is wrong", offset=reader.end)
    code = reader.code()
    if reader.at < reader.end:
        raise CodeError(f"{reader.end - reader.at} bytes too many", offset=reader.at)
    return code


class _Writer:
    def __init__(self) -> None:
        self.out = bytearray()

    def number(self, number: int) -> None:
        if not 0 <= number < END_OF_NUMBERS:
            raise CodeError(f"{number} cannot be written", offset=len(self.out))
        while number > 0x7F:
            self.out.append(number & 0x7F | 0x80)
            number >>= 7
        self.out.append(number)

    def text(self, text: str) -> None:
        data = text.encode("utf-8")
        self.number(len(data))
        self.out += data

    def code(self, code: Code) -> None:
        self.number(len(code.constants))
        for constant in code.constants:
            self.text(constant)
        self.number(len(code.predicates))
        for name, arity in code.predicates:
            self.text(name)
            self.number(arity)
        self.number(len(code.groups))
        for group in code.groups:
            self.number(group.recursive)
            self.number(group.reading.origin)
            self.number(group.reading.view)
            self._numbers(group.predicates)
        self.number(len(code.blocks))
        for block in code.blocks:
            self._block(block)
        self._numbers(code.outputs)
        self.number(len(code.views))
        for gate, viewer in code.views:
            self.number(gate)
            self.number(viewer)
        self.number(len(code.rules))
        files: dict[str, int] = {}
        for rule in code.rules:
            self.text(rule.id)
            self.text(rule.text)
            self._file(rule.file, files)
            self.number(rule.line)

    def _numbers(self, numbers: tuple[int, ...]) -> None:
        self.number(len(numbers))
        for number in numbers:
            self.number(number)

    def _file(self, file: str, files: dict[str, int]) -> None:
        """The number of a file, and its name where it is new."""
        known = file in files
        self.number(files.setdefault(file, len(files)))
        if not known:
            self.text(file)

    def _block(self, block: Block) -> None:
        self.number(block.group)
        self.number(block.rule + 1)
        self.number(block.kind)
        self.number(block.atom + 1)
        self.number(block.falling)
        self.number(len(block.variables))
        for name in block.variables:
            self.text(name)
        self.number(len(block.instructions))
        for opcode, *values in block.instructions:
            self.number(opcode)
            self._operands(OPERANDS[opcode], values)

    def _operands(self, operands: tuple[Operand, ...], values: Any) -> None:
        for operand, value in zip(operands, values, strict=True):
            if not operand.many:
                self._part(operand.parts[0], value)
                continue
            self.number(len(value))
            for entry in value:
                entries = entry if len(operand.parts) > 1 else (entry,)
                for part, number in zip(operand.parts, entries, strict=True):
                    self._part(part, number)

    def _part(self, part: Part, value: Any) -> None:
        match part.kind:
            case "term" | "pick":
                which, number = value
                self.number(number << 1 | which)
            case "way":
                self._operands(WAY_OPERANDS, value)
            case _:
                self.number(value)


class _Reader:
    def __init__(self, data: bytes, at: int, end: int) -> None:
        self.data, self.at, self.end = data, at, end
        self.files: list[str] = []
        self.known_files: set[str] = set()

    def number(self) -> int:
        start = at = self.at
        if at < self.end and self.data[at] < 0x80:
            self.at += 1
            return self.data[at]
        number = shift = 0
        while True:
            if at >= self.end:
                raise CodeError("the end comes in the middle of a number", offset=at)
            byte = self.data[at]
            at += 1
            number |= (byte & 0x7F) << shift
            if byte < 0x80:
                break
            shift += 7
            if shift > 28:
                raise CodeError("a number is too long", offset=start)
        if not byte:
            raise CodeError("a number is longer than it need be", offset=start)
        if number >= END_OF_NUMBERS:
            raise CodeError("a number is too large", offset=start)
        self.at = at
        return number

    def code(self) -> Code:
        constants = self._list(self._text)
        predicates = self._list(self._predicate, 2)
        groups = self._list(self._group, 4)
        blocks = self._list(self._block, 7)
        outputs = self._list(self.number)
        views = self._list(lambda: (self.number(), self.number()), 2)
        rules = self._list(self._rule, 4)
        return Code(constants, predicates, groups, blocks, rules, outputs, views)

    def _list(self, entry: Callable[[], T], size: int = 1) -> tuple[T, ...]:
        """Entries of at least `size` bytes each, if there is room for so many."""
        start = self.at
        count = self.number()
        if count * size > self.end - self.at:
            raise CodeError(f"{count} entries are more than what is left holds", offset=start)
        return tuple([entry() for _ in range(count)])

    def _text(self) -> str:
        start = self.at
        size = self.number()
        if size > self.end - self.at:
            raise CodeError(f"{size} bytes of text are more than there are left", offset=start)
        start = self.at
        self.at += size
        try:
            return self.data[start : self.at].decode("utf-8")
        except UnicodeDecodeError as error:
            raise CodeError("a text is not UTF-8", offset=start + error.start) from None

    def _one_of(self, end: int, what: str) -> int:
        """A number below `end`."""
        start = self.at
        number = self.number()
        if number >= end:
            raise CodeError(f"there is no {what} {number}", offset=start)
        return number

    def _predicate(self) -> Predicate:
        return Predicate(self._text(), self.number())

    def _group(self) -> Group:
        recursive = bool(self._one_of(2, "flag"))
        reading = Reading(Origin(self._one_of(len(Origin), "origin")), self.number())
        return Group(self._list(self.number), recursive, reading)

    def _rule(self) -> SourceRule:
        return SourceRule(self._text(), self._text(), self._file(), self.number())

    def _file(self) -> str:
        """A file by its number, or the next number and the name of a file not seen before."""
        number = self._one_of(len(self.files) + 1, "file")
        if number == len(self.files):
            start = self.at
            file = self._text()
            if file in self.known_files:
                raise CodeError("a file has two numbers", offset=start)
            self.files.append(file)
            self.known_files.add(file)
        return self.files[number]

    def _block(self) -> Block:
        group = self.number()
        rule = self.number() - 1
        kind = Kind(self._one_of(len(Kind), "kind of block"))
        atom = self.number() - 1
        falling = bool(self._one_of(2, "flag"))
        variables = self._list(self._text)
        instructions = self._list(self._instruction, 2)
        return Block(group, rule, kind, atom, instructions, falling, variables)

    def _instruction(self) -> Instruction:
        opcode = self._one_of(len(OPERANDS), "opcode")
        return (opcode, *self._operands(OPERANDS[opcode]))

    def _operands(self, operands: tuple[Operand, ...]) -> list[Any]:
        return [
            self._entries(operand.parts) if operand.many else self._part(operand.parts[0])
            for operand in operands
        ]

    def _entries(self, parts: tuple[Part, ...]) -> tuple[Any, ...]:
        if len(parts) == 1:
            return self._list(lambda: self._part(parts[0]))
        return self._list(lambda: tuple([self._part(part) for part in parts]), len(parts))

    def _part(self, part: Part) -> Any:
        match part.kind:
            case "term" | "pick":
                number = self.number()
                return number & 1, number >> 1
            case "way":
                return tuple(self._operands(WAY_OPERANDS))
            case _:
                return self.number()
