"""The live blocks of a program, by what wakes them.

In: code, and how steps are made of instructions. Out: for each group what runs when. A block
is found by the predicate, the view and the constants of the tuple that it begins with, so
that one new fact does not go through every rule.
"""

from collections.abc import Iterable, Iterator, Mapping

from lacec.bytecode import opcodes as op
from lacec.bytecode.code import Block, Code, Kind
from lacec.core.origins import FULL_VIEW
from lacec.vm.live.live_facts import Change
from lacec.vm.live.overlay import Part, Tuple
from lacec.vm.live.row_interpreter import Make, Ranked, RowBlock, Unfit


class Trigger:
    """The blocks that begin with one predicate, seen through one view."""

    def __init__(self) -> None:
        self.parts: dict[Part, list[RowBlock]] = {}
        # By columns, by the values in them.
        self._by: dict[tuple[int, ...], dict[Tuple, list[RowBlock]]] = {}

    def add(self, block: RowBlock) -> None:
        self.parts.setdefault(block.trigger, []).append(block)
        constants, _ = block.trigger
        columns = tuple(column for column, _ in constants)
        values = tuple(value for _, value in constants)
        self._by.setdefault(columns, {}).setdefault(values, []).append(block)

    def blocks(self, row: Tuple) -> Iterator[RowBlock]:
        """The blocks that a tuple wakes."""
        for columns, by_values in self._by.items():
            for block in by_values.get(tuple([row[column] for column in columns]), ()):
                if block.wakes(row):
                    yield block


class GroupBlocks:
    """What a group has: blocks for rounds, blocks that check, and what it reads."""

    def __init__(self) -> None:
        self.deltas: dict[int, Trigger] = {}
        self.checks: dict[int, list[RowBlock]] = {}
        self.reads: set[tuple[int, int]] = set()
        # What is counted by rank, and the counts from which on the answer is another.
        self.ranks: dict[Ranked, set[int]] = {}
        self.is_live = True


class LiveBlocks:
    def __init__(self, code: Code, groups: Iterable[int], make: Make) -> None:
        self.groups = {group: GroupBlocks() for group in groups}
        # By predicate and view: the blocks of all groups.
        self.triggers: dict[int, dict[int, Trigger]] = {}
        asked = {_rule_of(block) for block in code.blocks if block.kind == Kind.CHECK}
        for block in code.blocks:
            if block.group in self.groups and block.kind in (Kind.FULL, Kind.DELTA):
                group = self.groups[block.group]
                group.reads |= {(i[2], i[3]) for i in block.instructions if i[0] == op.LOAD}
                # Code that is not live leaves its groups to the machine.
                group.is_live &= _rule_of(block) in asked
        for block in code.blocks:
            if block.group in self.groups and block.kind != Kind.FULL:
                group = self.groups[block.group]
                try:
                    if group.is_live:
                        self._add(RowBlock(block, make), group)
                except Unfit:
                    group.is_live = False

    def _add(self, block: RowBlock, group: GroupBlocks) -> None:
        for ranked, bound in block.ranks:
            group.ranks.setdefault(ranked, set()).add(bound)
        match block.block.kind:
            case Kind.CHANGE:
                views = self.triggers.setdefault(block.begins, {})
                views.setdefault(block.view, Trigger()).add(block)
            case Kind.DELTA:
                group.deltas.setdefault(block.begins, Trigger()).add(block)
            case Kind.CHECK:
                group.checks.setdefault(block.head, []).append(block)

    def past_bounds(
        self, number: int, changes: Mapping[int, Change]
    ) -> list[tuple[RowBlock, Tuple]] | None:
        """The blocks of a group that count by rank, each with the keys whose count went past
        a bound; None when nobody can tell which.
        """
        woken: list[tuple[RowBlock, Tuple]] = []
        group, is_known = self.groups[number], True
        for (predicate, ranks), bounds in group.ranks.items() if group.is_live else ():
            keys = ranks.move(changes, bounds)
            is_known &= keys is not None
            for key in keys or ():
                row = (key, key)  # of a predicate of two columns; a block reads the key alone
                blocks = self.triggers[predicate][FULL_VIEW].blocks(row)
                woken += [(block, row) for block in blocks if block.block.group == number]
        return woken if is_known else None


class Pending:
    """What a group has to look at: for each block, tuples that it lost and tuples it gained."""

    __slots__ = ("gained", "lost")

    def __init__(self) -> None:
        self.lost: dict[RowBlock, list[Tuple]] = {}
        self.gained: dict[RowBlock, list[Tuple]] = {}


def _rule_of(block: Block) -> tuple[int, int, int]:
    """The group, the rule and the head of a block."""
    return block.group, block.rule, block.instructions[-1][1]
