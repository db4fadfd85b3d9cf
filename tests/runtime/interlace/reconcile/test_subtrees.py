"""Merkle trees in parts: however the leaves are cut into runs, the root is the same."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from lacec.runtime.interlace.reconcile.merkle import EMPTY, root
from lacec.runtime.interlace.reconcile.subtrees import Subtree, find_subtrees, join_subtrees
from tests.helpers import examples

digests = st.sets(st.binary(min_size=32, max_size=32), max_size=70)


@given(digests, st.lists(st.integers(0, 70), max_size=8))
@examples(200)
def test_050_a_root_in_parts_is_the_root(some: set[bytes], cuts: list[int]) -> None:
    ordered = sorted(some)
    places = [0, *sorted(min(cut, len(ordered)) for cut in cuts), len(ordered)]
    runs = pairwise(places)
    found = [tree for first, end in runs for tree in find_subtrees(first, ordered[first:end])]
    assert join_subtrees(found, len(ordered)) == root(some)


def test_the_trees_of_a_run_are_few_and_as_large_as_can_be() -> None:
    found = list(find_subtrees(3, [bytes([n]) * 32 for n in range(10)]))
    assert [(tree.height, tree.at) for tree in found] == [(0, 3), (0, 12), (2, 1), (2, 2)]
    assert found[0] == Subtree(0, 3, found[0].root)


def test_the_tree_of_no_leaves_is_empty() -> None:
    assert join_subtrees([], 0) == EMPTY
