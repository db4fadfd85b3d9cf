"""A Merkle tree (050, D24) that is found in parts, where no one has all of its leaves.

In: runs of sorted digests, each with the place of its first leaf. Out: of each run the
roots of the largest trees that stand whole over it; and of all of these together the root
that `merkle.root` finds for all digests.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from blake3 import blake3

from lacec.runtime.interlace.reconcile.merkle import EMPTY, LEAF_TAG, NODE_TAG


class Subtree(NamedTuple):
    """The tree over the leaves from at * 2^height on, 2^height of them."""

    height: int
    at: int
    root: bytes


def find_subtrees(first: int, digests: Sequence[bytes]) -> Iterator[Subtree]:
    """The largest trees over a run of sorted digests, whose first leaf has this place."""
    level = [blake3(LEAF_TAG + digest).digest() for digest in digests]
    height = 0
    while level:
        if first % 2:
            yield Subtree(height, first, level.pop(0))
            first += 1
        if len(level) % 2:
            yield Subtree(height, first + len(level) - 1, level.pop())
        level = [_node(*pair) for pair in zip(level[::2], level[1::2], strict=True)]
        first //= 2
        height += 1


def join_subtrees(subtrees: Iterable[Subtree], leaves: int) -> bytes:
    """The root over so many leaves, from trees that stand over each of them once."""
    found: dict[int, dict[int, bytes]] = {}
    for height, at, root in subtrees:
        found.setdefault(height, {})[at] = root
    if not leaves:
        return EMPTY
    level, width, empty, height = found.get(0, {}), leaves, EMPTY, 0
    while width > 1:
        pairs = {at // 2 for at in level}
        above = {at: _node(level[2 * at], level.get(2 * at + 1, empty)) for at in pairs}
        empty, width, height = _node(empty, empty), (width + 1) // 2, height + 1
        level = above | found.get(height, {})
    return level[0]


def _node(left: bytes, right: bytes) -> bytes:
    return blake3(NODE_TAG + left + right).digest()
