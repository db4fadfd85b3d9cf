"""A listing of code for people: names instead of numbers, one line an instruction.

    group 1: Path/2, recursive
      block 2, delta of atom 0
      U.vx1mr1BfoNEVjeVoQFrGgvLf0f_sqtIuP8Mp4bhDBWC links.lace:7
      Path(X,Z) :- Path(X,Y), Link(Y,Z).
          r0 = LOAD     Path/2 last
          r1 = PROJECT  r0 columns (r0.0, r0.1)
          r2 = LOAD     Link/2
          r3 = JOIN     r1 r2 keys (r1.1=r2.0) columns (r1.0, r2.1)
               EMIT     Path/2 r3 terms (r3.0, r3.1)

Any code that `decode` gives can be listed, also where it does not verify; a number
that names nothing is shown with a question mark. No text of it can steer a terminal.
"""

from collections.abc import Sequence
from typing import Any

from lacec.bytecode import opcodes as op
from lacec.bytecode.code import COLUMN, Code, Instruction, Kind
from lacec.core.diagnostics import visible
from lacec.core.origins import FULL_VIEW, Origin
from lacec.syntax.show import show_constant


def disassemble(code: Code) -> str:
    """The listing of all blocks, by group."""
    lister = _Lister(code)
    lines = [
        f"outputs: {', '.join(map(lister.predicate, code.outputs)) or 'none'}",
        *lister.views(),
    ]
    blocks: dict[int, list[int]] = {number: [] for number in range(len(code.groups))}
    for number, block in enumerate(code.blocks):
        blocks.setdefault(block.group, []).append(number)
    for number, members in blocks.items():
        lines += ["", lister.group(number)]
        for member in members:
            lines += lister.block(member)
    return "".join(visible(line) + "\n" for line in lines)


def disassemble_block(code: Code, number: int) -> str:
    """The listing of one block."""
    return "".join(visible(line) + "\n" for line in _Lister(code).block(number))


class _Lister:
    def __init__(self, code: Code) -> None:
        self.code = code
        # How the operands of one instruction are shown, by name: columns are named after them.
        self.shown: dict[str, str] = {}

    def predicate(self, number: int) -> str:
        known = number < len(self.code.predicates)
        return str(self.code.predicates[number]) if known else f"?{number}"

    def constant(self, number: int) -> str:
        known = number < len(self.code.constants)
        return show_constant(self.code.constants[number]) if known else f"?{number}"

    def group(self, number: int) -> str:
        if number >= len(self.code.groups):
            return f"group ?{number}"
        group = self.code.groups[number]
        names = ", ".join(map(self.predicate, group.predicates))
        said = [names, *(["recursive"] if group.recursive else [])]
        if group.reading.origin != Origin.LOCAL:
            said.append(f"{group.reading.origin.name.lower()} origin")
        if group.reading.view != FULL_VIEW:
            said.append(f"view {group.reading.view}")
        return f"group {number}: {', '.join(said)}"

    def views(self) -> list[str]:
        return [
            f"view {number}: {self.predicate(gate)} for {self.constant(viewer)}"
            for number, (gate, viewer) in enumerate(self.code.views, 1)
        ]

    def block(self, number: int) -> list[str]:
        block = self.code.blocks[number]
        kind = block.kind.name.lower()
        if block.kind in (Kind.DELTA, Kind.CHANGE):
            kind += f" of atom {block.atom}" + ", falling" * block.falling
        if block.variables:
            kind += f" of {', '.join(block.variables)}"
        return [
            f"  block {number}, {kind}",
            *(f"  {line}" for line in self._source(block.rule)),
            *(f"    {self._instruction(instruction)}" for instruction in block.instructions),
        ]

    def _source(self, number: int) -> list[str]:
        if number < 0:
            return ["a part that several rules share"]
        if number >= len(self.code.rules):
            return [f"rule ?{number}"]
        rule = self.code.rules[number]
        return [f"{rule.id} {rule.file}:{rule.line}", rule.text]

    def _instruction(self, instruction: Instruction) -> str:
        opcode, *values = instruction
        operands = op.OPERANDS[opcode]
        self.shown = {}
        words = self._operands(operands, values)
        target = ""
        if operands[0].parts[0].kind == "out":
            target = f"{words.pop(0)} ="
        return f"{target:>6} {op.OPCODES[opcode].name:<8} {' '.join(words)}".rstrip()

    def _operands(self, operands: Sequence[op.Operand], values: Sequence[Any]) -> list[str]:
        """How the operands are shown, without those that say nothing."""
        words = []
        for operand, value in zip(operands, values, strict=True):
            if operand.many:
                entries = ", ".join(self._entry(operand, entry) for entry in value)
                word = f"{operand.name} ({entries})" if value else ""
            else:
                word = self._part(operand.name, operand.parts[0], value)
                self.shown[operand.name] = word
            words.append(word)
        return [word for word in words if word]

    def _entry(self, operand: op.Operand, entry: Any) -> str:
        if len(operand.parts) == 1:
            return self._part(operand.name, operand.parts[0], entry)
        pairs = zip(operand.parts, entry, strict=True)
        return "=".join(self._part(operand.name, part, value) for part, value in pairs)

    def _part(self, name: str, part: op.Part, value: Any) -> str:
        match part.kind:
            case "out" | "in" | "complete":
                return f"r{value}"
            case "predicate":
                return self.predicate(value)
            case "constant":
                return self.constant(value)
            case "column":
                return f"{self.shown[part.of[0]]}.{value}"
            case "term":
                kind, number = value
                column = f"{self.shown[part.of[0]]}.{number}"
                return column if kind == COLUMN else self.constant(number)
            case "pick":
                side, column = value
                return f"{self.shown[part.of[side]]}.{column}"
            case "way":
                return _way(value)
            case "view":
                return f"view {value}" if value != FULL_VIEW else ""
            case "flag":
                return name if value else ""
        return _choice(part.kind, value)


def _way(values: Sequence[Any]) -> str:
    """One way of a RANK; low and high may be one register, so they go by their names."""
    equal, test, one, other, compare = values
    joined = "".join(f" and low.{a}=high.{b}" for a, b in equal)
    order = f"low.{one} {_choice('compare', compare)} high.{other}"
    return f"{_choice('order', test)} {order}{joined}"


def _choice(kind: str, value: int) -> str:
    for choice in op.CHOICES[kind]:
        if choice == value:
            if isinstance(choice, op.Compare | op.Test):
                return choice.symbol
            return choice.name.lower() if isinstance(choice, op.State) and choice else ""
    return f"?{value}"
