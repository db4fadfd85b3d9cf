"""What a change does to one group of predicates: the steps of deletion and of insertion.

In: the blocks of the group, its relations, and tuples that the blocks begin with. Out:
tuples of the group, by predicate. Nothing is changed here.
"""

from collections.abc import Iterable, Mapping

from lacec.vm.live.overlay import Kept, Tuple
from lacec.vm.live.row_interpreter import RowBlock, TooMuch
from lacec.vm.live.triggers import GroupBlocks

Found = dict[int, dict[Tuple, None]]
"""Tuples by predicate."""
Beginnings = Iterable[tuple[RowBlock, list[Tuple]]]
"""Blocks, and the tuples that each begins with."""


def over_delete(
    blocks: GroupBlocks,
    state: Mapping[int, Kept],
    lost: Mapping[RowBlock, list[Tuple]],
    most: int,
) -> Found:
    """The tuples that some derivation is gone of, and those derived from them; TooMuch of them.

    The group is as it was before the change.
    """
    removed: Found = {}
    beginnings: Beginnings = lost.items()
    while True:
        last: Found = {}
        for block, rows in beginnings:
            kept, known = state[block.head], removed.get(block.head, {})
            found = last.setdefault(block.head, {})
            for row in block.run(rows, True):
                if row not in known and row not in found and row in kept:
                    found[row] = None
        if not any(last.values()):
            return removed
        for predicate, found in last.items():
            removed.setdefault(predicate, {}).update(found)
        if sum(map(len, removed.values())) > most:
            raise TooMuch
        beginnings = next_blocks(blocks, last)


def still_derived(blocks: GroupBlocks, removed: Found) -> Found:
    """The removed tuples that some rule derives from what is left."""
    return {
        predicate: {row: None for row in rows if _is_derived(blocks, predicate, row)}
        for predicate, rows in removed.items()
    }


def _is_derived(blocks: GroupBlocks, predicate: int, row: Tuple) -> bool:
    return any(
        next(block.run([row], False), None) is not None
        for block in blocks.checks[predicate]
        if block.wakes(row)
    )


def merge_made(into: Found, state: Mapping[int, Kept], beginnings: Beginnings) -> None:
    """What blocks make of the tuples they begin with, where it is new."""
    for block, rows in beginnings:
        kept, found = state[block.head], into.setdefault(block.head, {})
        for row in block.run(rows, False):
            if row not in found and row not in kept:
                found[row] = None


def next_blocks(blocks: GroupBlocks, last: Found) -> Beginnings:
    """The blocks of the next round, each with the tuples of the last that it begins with."""
    woken: dict[RowBlock, list[Tuple]] = {}
    for predicate, rows in last.items():
        trigger = blocks.deltas.get(predicate)
        if trigger is not None:
            for row in rows:
                for block in trigger.blocks(row):
                    woken.setdefault(block, []).append(row)
    return woken.items()
