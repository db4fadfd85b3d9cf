"""A block as people think of it: where it starts, what it joins, filters, tests and counts.

In: code, and sizes where facts are known. Out: for each block its steps, in the
order the machine takes them, with the number of tuples each atom has.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from lacec.bytecode import opcodes as op
from lacec.bytecode.code import COLUMN, Block, Code, Instruction, Term
from lacec.bytecode.order import Sizes
from lacec.core.origins import Reading
from lacec.core.predicates import Predicate

HOW = {
    op.JOIN: "join",
    op.SEMI: "filter",
    op.ANTI: "not",
    op.COUNT: "count",
    op.RANK: "rank",
    op.TEST: "test",
}


@dataclass(frozen=True, slots=True)
class Step:
    """What is done, with what, and how many tuples that has if it is known."""

    how: str
    what: str
    size: int | None = None


@dataclass(frozen=True, slots=True)
class _Atom:
    predicate: Predicate
    constants: tuple[tuple[int, str], ...] = ()
    last: bool = False

    def __str__(self) -> str:
        values = dict(self.constants)
        terms = [f"'{values[i]}'" if i in values else "_" for i in range(self.predicate.arity)]
        return f"{self.predicate.name}({','.join(terms)})" + (" of the last round" * self.last)


def steps_of(code: Code, block: Block, sizes: Sizes | None = None) -> Iterator[Step]:
    atoms: dict[int, _Atom] = {}
    started = False
    reading = code.groups[block.group].reading
    for instruction in block.instructions:
        opcode = instruction[0]
        if opcode == op.LOAD:
            _, to, predicate, _, state = instruction
            atoms[to] = _Atom(code.predicates[predicate], (), state == op.State.LAST)
        elif opcode == op.SELECT:
            _, to, source, constants, _ = instruction
            known = tuple((column, code.constants[number]) for column, number in constants)
            atoms[to] = _Atom(atoms[source].predicate, known, atoms[source].last)
        elif opcode == op.PROJECT and not started:
            started = True
            yield _step("start", atoms[instruction[2]], sizes, reading)
        elif opcode == op.TEST:
            yield Step("test", _test(code, instruction))
        elif opcode == op.RANK:
            yield Step("rank", str(code.predicates[instruction[4]]))
        elif opcode in HOW:
            yield _step(HOW[opcode], atoms[instruction[3]], sizes, reading)


def _step(how: str, atom: _Atom, sizes: Sizes | None, reading: Reading) -> Step:
    known = sizes is not None and not atom.last
    size = sizes(atom.predicate, atom.constants, reading) if sizes and known else None
    return Step(how, str(atom), size)


def _test(code: Code, instruction: Instruction) -> str:
    _, _, _, test, terms = instruction
    shown = ",".join(_term(code, term) for term in terms)
    return f"{op.Test(test).symbol}({shown})"


def _term(code: Code, term: Term) -> str:
    return "_" if term[0] == COLUMN else f"'{code.constants[term[1]]}'"
