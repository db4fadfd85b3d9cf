"""Blocks for a few rows at a time: what changed, or what is asked about.

In: a block that begins with some tuples, and those tuples. Out: the tuples of the head, one
at a time and none before it is asked for, so that whoever needs one witness pays for no
more. Rows are Python tuples here, because an operation on an array costs as much as one on
a hundred of them; a change that touches many is work for the machine instead.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import compress, islice
from operator import ge, gt, itemgetter, le, lt
from typing import Any, NamedTuple

import numpy as np

from lacec.bytecode import opcodes as op
from lacec.bytecode.code import COLUMN, CONSTANT, Block, Code, Instruction
from lacec.bytecode.code import Term as CodeTerm
from lacec.vm.builtins import decimals, integer, run_test
from lacec.vm.live.live_facts import Change
from lacec.vm.live.live_rank import Chain, Ranks
from lacec.vm.live.live_rank import Rows as RankRows
from lacec.vm.live.overlay import Kept, Part, Tuple
from lacec.vm.symbols import Symbols
from lacec.vm.view import LiveView

COMPARISONS = {
    op.Compare.LESS: lt,
    op.Compare.LESS_EQUAL: le,
    op.Compare.GREATER: gt,
    op.Compare.GREATER_EQUAL: ge,
}
_FIRST_CHUNK, _MOST_CHUNK = 8, 4096
_UNBOUNDED = 2**62

Atom = tuple[int, int, Part]
"""A predicate, a view, and what is selected."""
Rows = Iterable[Tuple]
Step = Callable[[Rows, bool], Iterator[Tuple]]
"""Rows in, rows out; the flag asks for the state before the change."""


@dataclass(slots=True)
class Source:
    """The tuples of one atom: all of its predicate that it allows, as seen through a view.

    They can be had as they are, and as they were before the change at hand.
    """

    kept: Kept
    part: Part
    view: LiveView | None
    change: Change | None = None

    def find(self, fixed: Sequence[tuple[int, int]], before: bool) -> Iterator[Tuple]:
        """The tuples with these values."""
        change = self.change if before else None
        if change is None and self.view is None:
            return self.kept.find(self.part, fixed)
        return self._find(fixed, before, change)

    def _find(
        self, fixed: Sequence[tuple[int, int]], before: bool, change: Change | None
    ) -> Iterator[Tuple]:
        view = self.view
        for row in self.kept.find(self.part, fixed):
            if (change is None or row not in change.added) and (
                view is None or view.sees(row[0], before)
            ):
                yield row
        if change is not None:
            for row in change.removed.match(self.part, fixed):
                if view is None or view.sees(row[0], before):
                    yield row

    def count(self, fixed: Sequence[tuple[int, int]], before: bool, most: int) -> int:
        """How many there are; at least `most` when there are more."""
        if self.view is None:
            count = self.kept.count(self.part, fixed, _UNBOUNDED if before else most)
            if before and self.change is not None:
                count += sum(1 for _ in self.change.removed.match(self.part, fixed))
                count -= sum(1 for _ in self.change.added.match(self.part, fixed))
            return count
        return sum(1 for _ in islice(self.find(fixed, before), most))


class Ranked(NamedTuple):
    """A predicate that is counted by rank in a group."""

    predicate: int
    ranks: Ranks


class RowBlock:
    """A block that can be run for a few tuples."""

    __slots__ = ("_picks", "_steps", "begins", "block", "head", "ranks", "trigger", "view")

    def __init__(self, block: Block, make: "Make") -> None:
        """Raises Unfit for a block that only the machine can run."""
        self.block = block
        self._steps: list[Step] = []
        _, register, self.begins, self.view, _ = block.instructions[0]
        self.trigger: Part = ((), ())
        current = register
        atoms: dict[int, Atom] = {}
        columns: dict[int, tuple[Atom, tuple[int, ...]]] = {}
        self.ranks: list[tuple[Ranked, int]] = []
        for instruction in block.instructions[1:-1]:
            opcode, to, source = instruction[0], instruction[1], instruction[2]
            if opcode == op.LOAD:
                atoms[to] = (source, instruction[3], ((), ()))
            elif opcode == op.SELECT and source in atoms:
                predicate, view, _ = atoms[source]
                atoms[to] = (predicate, view, make.part(instruction))
            elif opcode == op.PROJECT and source in atoms:
                columns[to] = (atoms[source], instruction[3])
            elif source != current:
                raise Unfit
            elif opcode == op.RANK:
                step, *ranked = make.rank(block.group, instruction, columns)
                self._steps.append(step)
                self.ranks += ranked
                current = to
            elif opcode == op.SELECT and not self._steps:
                self.trigger = make.part(instruction)
                current = to
            else:
                self._steps.append(make.step(instruction, atoms))
                current = to
        _, self.head, last, terms = block.instructions[-1]
        if last != current:
            raise Unfit
        self._picks = make.terms(terms)

    def run(self, rows: Rows, before: bool) -> Iterator[Tuple]:
        """What the rule makes of tuples that pass the trigger."""
        for step in self._steps:
            rows = step(rows, before)
        return map(self._picks, rows)

    def wakes(self, row: Tuple) -> bool:
        """Whether a tuple passes the trigger."""
        constants, equals = self.trigger
        return all(row[column] == value for column, value in constants) and all(
            row[one] == row[other] for one, other in equals
        )


class Unfit(Exception):  # noqa: N818
    """A block in a form that is not for rows."""


class TooMuch(Exception):  # noqa: N818
    """A change for which evaluating anew is cheaper."""


class Make:
    """Makes the steps of blocks, over the sources of one program."""

    def __init__(
        self,
        code: Code,
        symbols: Symbols,
        spend: Callable[[int], None],
        source: Callable[[int, int, Part], Source],
    ) -> None:
        self.code = code
        self.symbols = symbols
        self.spend = spend  # is told how many rows are looked at
        self.source = source
        self.constants = [symbols.intern(text) for text in code.constants]
        self.ranks: dict[object, Ranks] = {}

    def forget_ranks(self) -> None:
        """All facts are others now."""
        for ranks in self.ranks.values():
            ranks.forget()

    def part(self, select: Instruction) -> Part:
        _, _, _, constants, equals = select
        return tuple((column, self.constants[number]) for column, number in constants), equals

    def terms(self, terms: Sequence[CodeTerm]) -> Callable[[Tuple], Tuple]:
        if all(kind == COLUMN for kind, _ in terms):
            return picker([number for _, number in terms])
        made = [(kind == COLUMN, n if kind == COLUMN else self.constants[n]) for kind, n in terms]
        return lambda row: tuple([row[value] if column else value for column, value in made])

    def step(self, instruction: Instruction, atoms: dict[int, Atom]) -> Step:
        opcode, _, _, *operands = instruction
        if opcode == op.PROJECT:
            return project(*operands)
        if opcode == op.TEST:
            return self._test(*operands)
        if opcode not in (op.JOIN, op.SEMI, op.ANTI, op.COUNT) or operands[0] not in atoms:
            raise Unfit
        source = self.source(*atoms[operands[0]])
        spend, keys = self.spend, operands[1]
        if opcode == op.JOIN:
            width = self.code.predicates[atoms[operands[0]][0]].arity
            return join(source, spend, keys, operands[2], width)
        if opcode == op.COUNT:
            return self._count(source, keys, *operands[2:])
        return filtered(source, spend, keys, wanted=opcode == op.SEMI)

    def _test(self, test: int, terms: Sequence[CodeTerm]) -> Step:
        symbols, kind = self.symbols, op.Test(test)
        made = [(c == COLUMN, n if c == COLUMN else self.constants[n]) for c, n in terms]

        def step(rows: Rows, before: bool) -> Iterator[Tuple]:
            del before  # a text is what it is
            for chunk in chunks(rows):
                operands = [
                    np.array([row[value] for row in chunk], np.int32) if column else value
                    for column, value in made
                ]
                passed = run_test(kind, symbols, operands, len(chunk))
                yield from compress(chunk, passed.tolist())

        return step

    def _count(
        self, source: Source, keys: Sequence[tuple[int, int]], compare: int, bound: CodeTerm
    ) -> Step:
        spend, holds = self.spend, COMPARISONS[op.Compare(compare)]
        kind, place = bound
        constant = integer(self.code.constants[place]) if kind == CONSTANT else None

        def step(rows: Rows, before: bool) -> Iterator[Tuple]:
            for row in rows:
                limit = self._decimal(row[place]) if constant is None else constant
                if limit is None:
                    continue
                most = max(0, min(limit + 1, _UNBOUNDED))
                count = source.count([(b, row[a]) for a, b in keys], before, most)
                spend(1)
                if holds(count, limit):
                    yield row

        return step

    def rank(
        self, group: int, rank: Instruction, columns: dict[int, tuple[Atom, tuple[int, ...]]]
    ) -> tuple[Step, tuple[Ranked, int]]:
        """A count by rank; of the state before only that rows may have passed it."""
        _, _, _, key, predicate, position, low, high, ways, compare, (kind, place) = rank
        chain = Chain(ways)
        if kind != CONSTANT or not chain.fits:
            raise Unfit
        low_rows, high_rows = (self._rank_rows(*columns[register]) for register in (low, high))
        named = (group, predicate, position, low_rows, high_rows, ways)
        ranks = self.ranks.get(named)
        if ranks is None:
            ranks = self.ranks[named] = Ranks(self.symbols, low_rows, high_rows, chain)
        spend, holds = self.spend, COMPARISONS[op.Compare(compare)]
        limit = integer(self.code.constants[place])

        def step(rows: Rows, before: bool) -> Iterator[Tuple]:
            for row in rows:
                spend(1)
                count = limit if before else ranks.count(row[key])
                if count is None:
                    raise TooMuch
                if before or holds(count, limit):
                    yield row

        bound = limit + (compare in (op.Compare.LESS_EQUAL, op.Compare.GREATER))
        return step, (Ranked(predicate, ranks), bound)

    def _rank_rows(self, atom: Atom, columns: tuple[int, ...]) -> RankRows:
        predicate, view, part = atom
        if view:
            raise Unfit
        return RankRows(predicate, self.source(predicate, view, part).kept, part, columns)

    def _decimal(self, id: int) -> int | None:
        """A bound that is a value; None for one that is no decimal (D9)."""
        values, big, valid = decimals(self.symbols, np.array([id], np.int32))
        if not valid[0]:
            return None
        return big.get(0, int(values[0]))


def picker(columns: Sequence[int]) -> Callable[[Tuple], Tuple]:
    """Some columns of a row."""
    if not columns:
        return lambda _: ()
    if len(columns) == 1:
        (only,) = columns
        return lambda row: (row[only],)
    return itemgetter(*columns)


def project(columns: Sequence[int], distinct: int) -> Step:
    pick = picker(columns)

    def step(rows: Rows, before: bool) -> Iterator[Tuple]:
        del before
        if not distinct:
            yield from map(pick, rows)
            return
        seen = set()
        for row in map(pick, rows):
            if row not in seen:
                seen.add(row)
                yield row

    return step


def join(
    source: Source,
    spend: Callable[[int], None],
    keys: Sequence[tuple[int, int]],
    columns: Sequence[tuple[int, int]],
    width: int,
) -> Step:
    # A pair of rows is one row, the right one in front: its width is known.
    pick = picker([width + column if not side else column for side, column in columns])

    def step(rows: Rows, before: bool) -> Iterator[Tuple]:
        for row in rows:
            for other in source.find([(b, row[a]) for a, b in keys], before):
                spend(1)
                yield pick(other + row)

    return step


def filtered(
    source: Source,
    spend: Callable[[int], None],
    keys: Sequence[tuple[int, int]],
    wanted: bool,
) -> Step:
    def step(rows: Rows, before: bool) -> Iterator[Tuple]:
        for row in rows:
            spend(1)
            found = next(source.find([(b, row[a]) for a, b in keys], before), None)
            if (found is not None) == wanted:
                yield row

    return step


def chunks(rows: Rows) -> Iterator[list[Any]]:
    """Rows in lists, short ones first."""
    waiting, size = iter(rows), _FIRST_CHUNK
    while chunk := list(islice(waiting, size)):
        yield chunk
        size = min(size * 4, _MOST_CHUNK)
