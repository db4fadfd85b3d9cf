"""Noninterference (020 and 040 Bounded disclosure): what a peer may not query changes nothing.

Two stores agree on the peer's view, on runtime facts and on advertisements, and differ
anywhere else; local policy declassifies nothing. Then MaySend, MayRequest, every relation
of the peer's operand, and the limits met, with their counts, are the same.
"""

import os

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.helpers import examples
from tests.plan.interference import BROKEN_LOADS, found_out, interferes
from tests.plan.strategies import Pair, pairs

# Four tests of so many pairs each: more than two thousand in every run.
PAIRS = 550
SOAK = int(os.environ.get("LACEC_EXAMPLES", "20")) * PAIRS


@given(pairs(narrowed=False, by_group=False))
@examples(PAIRS)
def test_hidden_records_by_name(pair: Pair) -> None:
    assert not interferes(pair)


@given(pairs(narrowed=False, by_group=True))
@examples(PAIRS)
def test_hidden_records_by_group(pair: Pair) -> None:
    assert not interferes(pair)


@given(pairs(narrowed=True, by_group=False))
@examples(PAIRS)
def test_any_own_operand_under_the_same_view_by_name(pair: Pair) -> None:
    """D16b: an own operand that sees no more than the peer cannot declassify."""
    assert not interferes(pair)


@given(pairs(narrowed=True, by_group=True))
@examples(PAIRS)
def test_any_own_operand_under_the_same_view_by_group(pair: Pair) -> None:
    assert not interferes(pair)


@pytest.mark.soak
@settings(examples(SOAK))
@given(st.tuples(st.booleans(), st.booleans()).flatmap(lambda kind: pairs(*kind)))
def test_for_longer(pair: Pair) -> None:
    """Run with `pytest -m soak`; LACEC_EXAMPLES says how long."""
    assert not interferes(pair)


BROKEN = (
    *BROKEN_LOADS,
    "sizes from the raw store",
    "whether to use sizes from the raw store",
    "no view at all",
)


@pytest.mark.parametrize("how", BROKEN)
def test_a_broken_lowering_is_found_out(how: str) -> None:
    """The test above is worth something: random pairs tell each of these faults."""
    assert found_out(how, tries=4 * PAIRS) is not None
