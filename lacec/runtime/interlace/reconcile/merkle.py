"""Merkle roots of partitions (050, D24): digests of advertisement records into one root.

In: the digests, in any order. Out: the root of a binary tree over the leaves of the
digests in sorted order, padded with empty leaves to a power of two. `root` finds it once;
a `Tree` finds it again after a change, at a small part of that cost.
"""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
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


# Runs of so many lengths are kept beside those that are all known.
_LENGTHS = 5
# Looking ahead, so many hashes are a piece, and so many pieces go to longer runs each time.
_PIECE, _PIECES = 8192, 8


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

    Runs are of one leaf at first. Longer ones, of several lengths, are kept once they have been
    nodes: the more changes there were, the more often leaves stand under nodes again that they
    stood under before. So no root takes more hashes than one that is found without a tree, and
    soon it takes far fewer.

    Who has time between two changes can look ahead: runs are found then that will be nodes after
    the next change, and some more, until all of the next length are known and take the place of
    the shortest. The root after a change takes some thousand hashes then, of a million leaves.
    """

    def __init__(self, digests: Iterable[bytes]) -> None:
        self._digests = sorted(digests)
        self._begin()

    def _begin(self) -> None:
        self._height = 0  # of the shortest runs
        # For each leaf the run from there: of 2^height leaves, of twice so many, and so on. The
        # shortest are all known.
        self._runs: list[list[bytes | None]] = [[*_leaves(self._digests)]]
        self._sought = 0  # the first leaf from which a run of the next length may be unknown
        self._levels: list[list[bytes]] = []  # the longest runs that are nodes, and what is above
        self._changed = 0  # the first leaf that may be another than in the levels
        self._ahead = False  # whether we have looked ahead since the last change
        self._lengthen()

    @property
    def _top(self) -> int:
        """The height of the longest runs."""
        return self._height + len(self._runs) - 1

    def _lengthen(self) -> None:
        """Keep longer runs too, while finding the nodes over these takes more hashes than finding
        the runs around a change. At a million leaves both together take some thousand, where the
        root takes two million."""
        while len(self._runs) <= _LENGTHS and len(self) >> 2 * self._top >= 16:
            self._runs.append([None] * len(self))
            # What stands over runs that are twice as long stood over these.
            del self._levels[:1]

    def __len__(self) -> int:
        return len(self._digests)

    def add(self, digest: bytes) -> None:
        at = bisect_left(self._digests, digest)
        self._digests.insert(at, digest)
        for runs in self._runs:
            runs.insert(at, None)
        self._renew(at, at + 1)

    def remove(self, digest: bytes) -> None:
        at = bisect_left(self._digests, digest)
        del self._digests[at]
        for runs in self._runs:
            del runs[at]
        self._renew(at, at)

    def _renew(self, at: int, end: int) -> None:
        """Forget the runs that reach a place and begin before `end`; find the shortest again."""
        for height, runs in enumerate(self._runs, self._height):
            start = max(0, at + 1 - 2**height)
            runs[start:end] = [None] * (end - start)
        start = max(0, at + 1 - 2**self._height)
        last = end + 2**self._height - 1
        level = _leaves(self._digests[start:last])
        level += [EMPTY] * (last - start - len(level))
        for height in range(self._height):
            level = _nodes(level[: -(2**height)], level[2**height :])
        self._runs[0][start:end] = level
        self._changed = min(self._changed, at)
        self._ahead = False

    def root(self) -> bytes:
        """The same as `root` finds for the digests."""
        if not self._digests:
            return EMPTY
        if self._top and len(self) >> 2 * self._top == 0:
            self._begin()  # the runs are far too long
        self._lengthen()
        step = 2**self._top
        at = self._changed // step
        level = self._level(0)
        level[at:] = self._find_from(len(self._runs) - 1, at * step)
        above = 0
        while len(level) > 1:
            at //= 2
            parents = _parents(level[2 * at :], self._top + above)
            above += 1
            level = self._level(above)
            level[at:] = parents
        self._changed = len(self)
        return level[0]

    def _level(self, above: int) -> list[bytes]:
        if above == len(self._levels):
            self._levels.append([])
        return self._levels[above]

    def _find_from(self, length: int, first: int) -> list[bytes]:
        """The runs of one of the lengths that are nodes, from a leaf on."""
        step = 2 ** (self._height + length)
        found = self._runs[length][first::step]
        if found.count(None) > len(found) // 2:
            self._find_from(length - 1, first)  # in order, which is faster than here and there
        return self._fill(length, range(first, len(self), step), found)

    def _find(self, length: int, places: Sequence[int]) -> list[bytes]:
        """Those that begin at some places, from left to right."""
        runs, end = self._runs[length], len(self)
        found = [runs[at] for at in places if at < end]
        found += [_EMPTY_TREES[self._height + length]] * (len(places) - len(found))
        return self._fill(length, places, found)

    def _fill(self, length: int, places: Sequence[int], found: list[bytes | None]) -> list[bytes]:
        """Find those that were not known at their places."""
        if None in found:
            unknown = [number for number, run in enumerate(found) if run is None]
            starts = [places[number] for number in unknown]
            half = 2 ** (self._height + length - 1)
            left = self._find(length - 1, starts)
            right = self._find(length - 1, [at + half for at in starts])
            runs = self._runs[length]
            for number, at, node in zip(unknown, starts, _nodes(left, right), strict=True):
                found[number] = runs[at] = node
        return cast(list[bytes], found)

    def look_ahead(self) -> Iterator[None]:
        """Find runs that are no nodes, in pieces of some thousand hashes: some of the next length,
        and those that will be nodes once a digest has come, or one has gone."""
        if self._ahead or not self._levels:
            return
        for _ in range(_PIECES):
            if len(self._runs) > 1 and self._know_longer():
                del self._runs[0]
                self._height += 1
                self._lengthen()
            yield
        step = 2**self._top
        for first in (step - 1, 1):
            places = range(first, len(self), step)
            while places:
                self._find(len(self._runs) - 1, places[: _PIECE // step + 1])
                places = places[_PIECE // step + 1 :]
                yield
        self._ahead = True

    def _know_longer(self) -> bool:
        """Find a piece of the runs of the next length that are no nodes, from the left, where
        fewest have been. Whether all are known."""
        runs, first = self._runs[1], self._sought
        unknown = (at for at in range(first, len(self)) if runs[at] is None)
        sought = list(islice(unknown, _PIECE))
        self._find(1, sought)
        self._sought = sought[-1] if len(sought) == _PIECE else 0
        return first == self._sought == 0
