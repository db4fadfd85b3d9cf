"""Views as masks: the same rows as filtering by hand, picked late, kept."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from lacec.vm.relation import Relation
from lacec.vm.view import View, Viewed
from tests.helpers import examples

IDS = st.integers(0, 9)
ROWS = st.lists(st.tuples(IDS, IDS, IDS), max_size=30, unique=True)


def relation(rows: list[tuple[int, int, int]]) -> Relation:
    columns = np.array(rows, np.int32).reshape(-1, 3).T
    return Relation([np.ascontiguousarray(column) for column in columns])


def rows_of(found: Relation) -> list[tuple[int, ...]]:
    return sorted(zip(*(column.tolist() for column in found.columns), strict=True))


def view(*records: int) -> View:
    return View(np.array(records, np.int32), 10)


@given(ROWS, st.sets(IDS), IDS, st.booleans())
@examples(200)
def test_a_part_through_a_view_is_what_is_left_of_the_part(
    rows: list[tuple[int, int, int]], records: set[int], value: int, equal: bool
) -> None:
    equals = [(1, 2)] if equal else []
    found = Viewed(relation(rows), view(*records)).part([(1, value)], equals)
    expected = [
        row
        for row in rows
        if row[0] in records and row[1] == value and (not equal or row[1] == row[2])
    ]
    assert rows_of(found) == sorted(expected)
    assert found.size == len(expected)


@given(ROWS, st.sets(IDS))
@examples(100)
def test_the_whole_through_a_view(rows: list[tuple[int, int, int]], records: set[int]) -> None:
    whole = Viewed(relation(rows), view(*records))
    expected = [row for row in rows if row[0] in records]
    assert rows_of(whole) == sorted(expected)
    assert whole.size == view(*records).count(relation(rows)) == len(expected)
    members = whole.members(1, 10)
    assert set(np.flatnonzero(members).tolist()) == {row[1] for row in expected}
    assert whole.lookup(1, 10).counts(np.arange(10, dtype=np.int32)).sum() == len(expected)


def test_what_a_view_left_is_kept() -> None:
    all_rows, seen = relation([(1, 2, 3), (2, 2, 3)]), view(1)
    first = Viewed(all_rows, seen).part([(1, 2)], ())
    assert Viewed(all_rows, seen).part([(1, 2)], ()) is first
    assert Viewed(all_rows, view(1)).part([(1, 2)], ()) is not first


def test_a_view_of_everything_is_the_relation_itself() -> None:
    all_rows = relation([(1, 2, 3), (2, 2, 3)])
    assert view(1, 2).of(all_rows) is all_rows
