"""Merkle roots (050 Reconciliation, D24), beside a slow and obvious tree."""

from blake3 import blake3
from hypothesis import given
from hypothesis import strategies as st

from lacec.runtime.interlace.merkle import EMPTY, root
from tests.helpers import examples


def slow_root(digests: list[bytes]) -> bytes:
    leaves = [blake3(b"lace-advertisement-leaf/v1" + d).digest() for d in sorted(digests)]
    while len(leaves) & (len(leaves) - 1) or not leaves:
        leaves.append(blake3(b"lace-advertisement-empty/v1").digest())
    if len(leaves) == 1:
        return leaves[0]

    def over(part: list[bytes]) -> bytes:
        if len(part) == 1:
            return part[0]
        half = len(part) // 2
        tag = b"lace-advertisement-node/v1"
        return blake3(tag + over(part[:half]) + over(part[half:])).digest()

    return over(leaves)


def test_the_root_of_nothing_is_empty() -> None:
    assert root([]) == EMPTY == blake3(b"lace-advertisement-empty/v1").digest()


def test_the_root_of_one_is_its_leaf() -> None:
    digest = bytes(32)
    assert root([digest]) == blake3(b"lace-advertisement-leaf/v1" + digest).digest()


@given(st.lists(st.binary(min_size=32, max_size=32), unique=True, max_size=40))
@examples(150)
def test_roots_are_those_of_the_obvious_tree(digests: list[bytes]) -> None:
    assert root(digests) == slow_root(digests)
    assert root(reversed(digests)) == root(digests)
