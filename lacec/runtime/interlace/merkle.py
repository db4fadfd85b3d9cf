"""Merkle roots of partitions (050, D24): digests of advertisement records into one root.

In: the digests, in any order. Out: the root of a binary tree over the leaves of the
digests in sorted order, padded with empty leaves to a power of two.
"""

from collections.abc import Iterable

from blake3 import blake3

LEAF_TAG = b"lace-advertisement-leaf/v1"
NODE_TAG = b"lace-advertisement-node/v1"
EMPTY = blake3(b"lace-advertisement-empty/v1").digest()

# The root of a tree of 2^n empty leaves. A partition has fewer than 2^48 records.
_EMPTY_TREES = [EMPTY]
for _ in range(48):
    _EMPTY_TREES.append(blake3(NODE_TAG + _EMPTY_TREES[-1] + _EMPTY_TREES[-1]).digest())


def root(digests: Iterable[bytes]) -> bytes:
    """The Merkle root; EMPTY for no digests."""
    level = [blake3(LEAF_TAG + digest).digest() for digest in sorted(digests)]
    if not level:
        return EMPTY
    height = 0
    while len(level) > 1:
        if len(level) % 2:
            level.append(_EMPTY_TREES[height])
        pairs = zip(level[::2], level[1::2], strict=True)
        level = [blake3(NODE_TAG + left + right).digest() for left, right in pairs]
        height += 1
    return level[0]
