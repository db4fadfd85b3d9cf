"""Decimals with zeros in front."""

import pytest

from tests.helpers import Found, cases, fixed, linted, lints


@cases(
    (
        "compared",
        "A(P) :- Field(P,'N',_,V), IntCompare(V,'<','007').",
        "plain",
        [("leading-zeros", 1, 44)],
    ),
    (
        "on the left",
        "A(P) :- Field(P,'N',_,V), IntCompare('00','<',V).",
        "plain",
        [("leading-zeros", 1, 38)],
    ),
    (
        "a negative zero",
        "A(P) :- Field(P,'N',_,V), IntCompare(V,'<','-0').",
        "plain",
        [("leading-zeros", 1, 44)],
    ),
    ("a bound", "A() :- Cardinality(Have(_),'<','010').", "plain", [("leading-zeros", 1, 32)]),
    ("an index", "A(P) :- Field(P,'N','00',_).", "plain", [("leading-zeros", 1, 21)]),
    (
        "an index of a claim",
        "A(P) :- AdvertisedField(P,_,'N','01',_).",
        "plain",
        [("leading-zeros", 1, 33)],
    ),
    ("zero", "A(P) :- Field(P,'N','0',V), IntCompare(V,'<','0').", "plain", []),
    ("text", "A(P) :- Field(P,'N',_,V), LexCompare(V,'<','007').", "plain", []),
    ("a value", "A(P) :- Field(P,'N',_,'007').", "plain", []),
)
def test_leading_zeros(source: str, facet: str, expected: Found) -> None:
    assert lints(source, facet) == expected


@pytest.mark.parametrize(
    ("written", "better"),
    [
        ("007", "7"),
        ("000", "0"),
        ("-007", "-7"),
        ("-00", "0"),
        ("-0", "0"),
        ("0" * 900 + "1", "1"),
    ],
)
def test_the_fix_writes_the_same_number(written: str, better: str) -> None:
    rule = "A() :- Peer(N), IntCompare(N,'>','{}')."
    assert fixed(rule.format(written)) == rule.format(better)


def test_an_index_changes_its_meaning() -> None:
    """020: an index has no leading zero, so the atom matched nothing before."""
    (found,) = linted("A(P) :- Field(P,'N','00',_).")
    assert found.fix is not None
    assert not found.fix.keeps_meaning
