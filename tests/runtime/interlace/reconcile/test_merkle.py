"""Merkle roots (050 Reconciliation, D24), beside a slow and obvious tree."""

from collections import deque
from itertools import islice
from random import Random

import pytest
from blake3 import blake3
from hypothesis import given
from hypothesis import strategies as st

from lacec.runtime.interlace.reconcile import merkle
from lacec.runtime.interlace.reconcile.merkle import EMPTY, Tree, root
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


DIGESTS = [blake3(b"%d" % number).digest() for number in range(600)]

# How many digests there are, and then where in their order one comes or goes, the root is asked
# for, or how many pieces to look ahead. Sizes on both sides of powers of two have their own
# padding.
sizes = st.one_of(
    st.integers(0, 300),
    st.builds(lambda power, by: max(0, 2**power + by), st.integers(0, 8), st.integers(-2, 2)),
)
steps = st.lists(st.tuples(st.sampled_from(["add", "remove", "ask", "look"]), st.integers(0, 599)))


@given(sizes, steps)
@examples(200)
def test_a_tree_that_changes_has_the_root_of_its_digests(
    size: int, steps: list[tuple[str, int]]
) -> None:
    """050, D24: the same root as is found from nothing, whatever came and went."""
    present = sorted(DIGESTS[:size])
    tree = Tree(present)
    for step, number in [*steps, ("ask", 0)]:
        if step == "add" and DIGESTS[number] not in present:
            present.append(DIGESTS[number])
            tree.add(DIGESTS[number])
        elif step == "remove" and present:
            tree.remove(present.pop(number % len(present)))
        elif step == "ask":
            assert tree.root() == root(present)
        elif step == "look":
            for _ in islice(tree.look_ahead(), number):
                pass
        assert len(tree) == len(present)


@given(st.randoms(use_true_random=False))
@examples(10)
def test_a_tree_grows_and_shrinks_through_all_heights(random: Random) -> None:
    """D24: each record that comes to 300, or goes again, moves all leaves after its own."""
    digests = random.sample(DIGESTS, 300)
    trees = Tree([]), Tree([])
    for count, digest in enumerate(digests, 1):
        for tree in trees:
            tree.add(digest)
            assert tree.root() == root(digests[:count])
        deque(trees[1].look_ahead())
    random.shuffle(digests)
    while digests:
        gone = digests.pop()
        for tree in trees:
            tree.remove(gone)
            assert tree.root() == root(digests)
        deque(trees[1].look_ahead())


def count_hashes(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The bytes of each hash from now on."""
    hashed: list[int] = []

    def counted(data: bytes) -> blake3:
        hashed.append(len(data))
        return blake3(data)

    monkeypatch.setattr(merkle, "blake3", counted)
    return hashed


def test_a_change_takes_few_hashes(monkeypatch: pytest.MonkeyPatch) -> None:
    """At first a part of what the root itself takes, and soon a small one."""
    hashed = count_hashes(monkeypatch)
    digests = [blake3(b"%d" % number).digest() for number in range(4096)]
    tree = Tree(digests[:4000])
    tree.root()
    whole, counts = len(hashed), []
    for digest in digests[4000:4040]:
        hashed.clear()
        tree.add(digest)
        tree.root()
        counts.append(len(hashed))
    assert max(counts) <= whole / 2
    assert sum(counts[:20]) <= whole * 5 / 2
    assert max(counts[20:]) < whole / 10


@pytest.mark.parametrize("comes", [True, False])
def test_the_change_that_was_looked_ahead_to_takes_very_few(
    monkeypatch: pytest.MonkeyPatch, comes: bool
) -> None:
    """The first one already, and all that follow, while there is time between them."""
    digests = [blake3(b"%d" % number).digest() for number in range(8192)]
    tree = Tree(digests)
    tree.root()
    hashed = count_hashes(monkeypatch)
    for number in range(40):
        deque(tree.look_ahead())
        hashed.clear()
        if comes:
            tree.add(blake3(b"more %d" % number).digest())
        else:
            tree.remove(digests[number])
        tree.root()
        assert len(hashed) <= len(tree) / 8
