"""Merkle roots of partitions (050, D24): digests of advertisement records into one root.

In: the digests, in any order. Out: the root of a binary tree over the leaves of the
digests in sorted order, padded with empty leaves to a power of two. `root` finds it once;
a `Tree` finds it again after a change, at a small part of that cost.
"""

from bisect import bisect_left
from collections.abc import Iterable
from itertools import islice
from typing import cast

from blake3 import blake3

LEAF_TAG = b"lace-advertisement-leaf/v1"
NODE_TAG = b"lace-advertisement-node/v1"
EMPTY = blake3(b"lace-advertisement-empty/v1").digest()

# The root of a tree of 2^n empty leaves. A partition has fewer than 2^48 records.
_EMPTY_TREES = [EMPTY]
for _ in range(48):
    _EMPTY_TREES.append(blake3(NODE_TAG + _EMPTY_TREES[-1] + _EMPTY_TREES[-1]).digest())


# A tree has longer runs until fewer than twice so many of them are its nodes. At a million leaves
# a change then takes some thousand hashes, where the root takes two million.
NODES = 2**13
# Which part of the longer runs may be unknown when they take the place of the shorter ones.
_FEW = 8


def root(digests: Iterable[bytes]) -> bytes:
    """The Merkle root; EMPTY for no digests."""
    level = _leaves(sorted(digests))
    if not level:
        return EMPTY
    height = 0
    while len(level) > 1:
        level = _parents(level, height)
        height += 1
    return level[0]


def _leaves(digests: Iterable[bytes]) -> list[bytes]:
    return [blake3(LEAF_TAG + digest).digest() for digest in digests]


def _parents(level: list[bytes], height: int) -> list[bytes]:
    """The nodes over those of a height; over the last one and an empty tree, if they are odd."""
    if len(level) % 2:
        level = [*level, _EMPTY_TREES[height]]
    return _nodes(level[::2], level[1::2])


def _nodes(left: list[bytes], right: list[bytes]) -> list[bytes]:
    return [blake3(NODE_TAG + one + two).digest() for one, two in zip(left, right, strict=True)]


class Tree:
    """The tree of a large set of digests that changes.

    A digest that comes or goes moves all leaves after it by one, so that the nodes over them
    are others. But a node depends only on the run of leaves below it, not on where the run
    stands. So the node of the run of 2^height leaves that begins at a leaf is kept for every
    leaf: a change breaks only the 2^height runs around it. Of the others every 2^height-th is
    a node of the tree, wherever they have moved, and what stands over them is found again.

    Runs are of one leaf at first. Those that are twice as long are found where they are nodes,
    and with each change some more; when nearly all are known they take the place of the shorter
    ones, until runs are long enough. So no root takes more hashes than one that is found
    without a tree, and a change soon takes far fewer.
    """

    def __init__(self, digests: Iterable[bytes], nodes: int = NODES) -> None:
        self._digests = sorted(digests)
        self._most = 2 * nodes
        self._begin()

    def _begin(self) -> None:
        self._height = 0
        self._runs = _leaves(self._digests)
        self._longer: list[bytes | None] = []  # runs twice as long, as far as they are known
        self._levels: list[list[bytes]] = []  # the runs that are nodes, and what is over them
        self._changed = 0  # the first leaf that may be another than in the levels
        self._lengthen()

    def _lengthen(self) -> None:
        """Begin to find longer runs, if there are too many nodes over these."""
        self._longer = [None] * len(self) if len(self) >> self._height >= self._most else []
        self._sought = 0  # up to there nearly all longer runs are known

    def __len__(self) -> int:
        return len(self._digests)

    def add(self, digest: bytes) -> None:
        at = bisect_left(self._digests, digest)
        self._digests.insert(at, digest)
        self._runs.insert(at, EMPTY)
        if self._longer:
            self._longer.insert(at, None)
        self._renew(at, at + 1)

    def remove(self, digest: bytes) -> None:
        at = bisect_left(self._digests, digest)
        del self._digests[at], self._runs[at]
        if self._longer:
            del self._longer[at]
        self._renew(at, at)

    def _renew(self, at: int, end: int) -> None:
        """Find the runs again that reach a place and begin before `end`."""
        start = max(0, at + 1 - 2**self._height)
        last = end + 2**self._height - 1
        level = _leaves(self._digests[start:last])
        level += [EMPTY] * (last - start - len(level))
        for height in range(self._height):
            level = _nodes(level[: -(2**height)], level[2**height :])
        self._runs[start:end] = level
        if self._longer:
            start = max(0, at + 1 - 2 ** (self._height + 1))
            self._longer[start:end] = [None] * (end - start)
        self._changed = min(self._changed, at)

    def root(self) -> bytes:
        """The same as `root` finds for the digests."""
        if not self._digests:
            return EMPTY
        self._fit()
        step = 2**self._height
        at = self._changed // step
        level = self._level(0)
        level[at:] = self._runs[at * step :: step]
        above = 0
        while len(level) > 1:
            at //= 2
            if self._longer and not above:
                parents = self._find_longer(2 * at * step, 2 * step)
            else:
                parents = _parents(level[2 * at :], self._height + above)
            above += 1
            level = self._level(above)
            level[at:] = parents
        self._changed = len(self)
        return level[0]

    def _level(self, above: int) -> list[bytes]:
        if above == len(self._levels):
            self._levels.append([])
        return self._levels[above]

    def _find_longer(self, first: int, step: int) -> list[bytes]:
        """The longer runs that begin at every so many leaves from one on."""
        found = self._longer[first::step]
        for place, run in enumerate(found):
            if run is None:
                found[place] = self._longer_at(first + place * step)
        self._longer[first::step] = found
        return cast(list[bytes], found)

    def _longer_at(self, at: int) -> bytes:
        after = at + 2**self._height
        right = self._runs[after] if after < len(self) else _EMPTY_TREES[self._height]
        return blake3(NODE_TAG + self._runs[at] + right).digest()

    def _seek_longer(self, most: int) -> None:
        """Find so many longer runs that are no nodes now, from the left, where fewest have been."""
        unknown = (at for at in range(self._sought, len(self)) if self._longer[at] is None)
        for at in islice(unknown, most):
            self._longer[at] = self._longer_at(at)
            self._sought = at

    def _fit(self) -> None:
        """Have the longer runs once few are not known, and begin again with too few nodes."""
        few = len(self) // _FEW
        if self._longer and self._levels:
            self._seek_longer(few)
        if not self._longer:
            self._lengthen()
        elif self._longer.count(None) <= few:
            self._runs = self._find_longer(0, 1)
            # What stands over runs that are twice as long stood over these.
            del self._levels[0]
            self._height += 1
            self._lengthen()
        if self._height and len(self) >> self._height < self._most // 4:
            self._begin()
