"""Relations that are made when they are read are like any other, and are made once."""

import numpy as np

from lacec.vm.lazy import LazyRelation, SplitRelation
from lacec.vm.relation import Ids, Relation

ROWS = np.array([[1, 10, 5], [2, 10, 5], [1, 11, 6], [3, 12, 6]], np.int32)


def columns(rows: Ids) -> list[Ids]:
    return list(np.ascontiguousarray(rows.T))


def tuples(relation: Relation) -> list[tuple[int, ...]]:
    return list(zip(*(column.tolist() for column in relation.columns), strict=True))


def test_columns_are_made_when_first_read() -> None:
    made: list[str] = []

    def make() -> list[Ids]:
        made.append("columns")
        return columns(ROWS)

    relation = LazyRelation(4, make)
    assert relation.size == 4
    assert made == []
    assert tuples(relation.part([(0, 1)], [])) == [(1, 10, 5), (1, 11, 6)]
    assert relation.lookup(0, 20).counts(np.array([1, 2, 9], np.int32)).tolist() == [2, 1, 0]
    assert tuples(relation) == [tuple(row) for row in ROWS.tolist()]
    assert made == ["columns"]


def test_a_part_is_made_alone() -> None:
    made: list[object] = []

    def make() -> list[Ids]:
        made.append("columns")
        return columns(ROWS)

    def pick(value: int) -> Relation:
        made.append(value)
        return Relation(columns(ROWS[ROWS[:, 1] == value]))

    relation = SplitRelation(4, make, 1, pick)
    assert tuples(relation.part([(1, 10)], [])) == [(1, 10, 5), (2, 10, 5)]
    assert tuples(relation.part([(0, 2), (1, 10)], [])) == [(2, 10, 5)]
    assert tuples(relation.part([(1, 99)], [])) == []
    assert made == [10, 99]
    assert tuples(relation.part([(2, 6)], [])) == [(1, 11, 6), (3, 12, 6)]
    assert made == [10, 99, "columns"]
