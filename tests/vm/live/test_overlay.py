"""Relations that change: the same as a set of tuples, whatever is below and how much is on top."""

from collections.abc import Callable
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lacec.vm.lazy import SplitRelation
from lacec.vm.live import overlay
from lacec.vm.live.overlay import EVERYTHING, Few, Kept, Part, Tuple, relation_of, tuples_of
from lacec.vm.relation import Relation
from tests.helpers import examples

ARITIES = st.integers(0, 3)


def whole(rows: list[Tuple], arity: int) -> Relation:
    return relation_of(rows, arity)


def split(rows: list[Tuple], arity: int) -> Relation:
    """By its first column, as a store keeps fields by their name; whole where there is none."""
    relation = relation_of(rows, arity)
    if not arity:
        return relation
    return SplitRelation(
        relation.size,
        lambda: relation.columns,
        0,
        lambda value: relation_of([row for row in rows if row[0] == value], arity),
    )


def some_rows(random: Random, arity: int, count: int) -> list[Tuple]:
    values = random.choice((2, 5, 40))
    return [tuple(random.randrange(values) for _ in range(arity)) for _ in range(count)]


def some_part(random: Random, arity: int) -> tuple[Part, list[tuple[int, int]]]:
    """Constants, equal columns, and values that are bound beside them."""
    columns = random.sample(range(arity), random.randint(0, arity))
    constants = tuple((column, random.randrange(5)) for column in columns[:1])
    fixed = [(column, random.randrange(50)) for column in columns[1:]]
    equals = ((0, arity - 1),) if arity > 1 and random.random() < 0.3 else ()
    return (constants if random.random() < 0.5 else (), equals), fixed


def is_in(row: Tuple, part: Part, fixed: list[tuple[int, int]]) -> bool:
    constants, equals = part
    return all(row[c] == v for c, v in (*constants, *fixed)) and all(
        row[a] == row[b] for a, b in equals
    )


def check_finds(changing: Kept, expected: set[Tuple], random: Random) -> None:
    part, fixed = some_part(random, changing.arity)
    wanted = sorted(row for row in expected if is_in(row, part, fixed))
    assert sorted(changing.find(part, fixed)) == wanted
    most = random.randrange(1, 4)
    assert min(changing.count(part, fixed, most), most) == min(len(wanted), most)
    snapshot = changing.snapshot()
    assert snapshot.size == len(expected)
    inside = sorted(row for row in expected if is_in(row, part, []))
    assert sorted(tuples_of(snapshot.part(*part))) == inside


@pytest.mark.parametrize("make", [whole, split])
@given(ARITIES, st.integers(0, 2**32), st.sampled_from([0, 3, overlay.MANY]))
@examples(120)
def test_it_is_the_set_that_it_should_be(
    make: Callable[[list[Tuple], int], Relation], arity: int, seed: int, many: int
) -> None:
    random = Random(seed)
    expected = set(some_rows(random, arity, random.choice((0, 3, 100))))
    changing = Kept(make(sorted(expected), arity), arity, lambda: 60)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(overlay, "MANY", many)
        patch.setattr(overlay, "SHORT", random.choice((0, overlay.SHORT)))
        for row in some_rows(random, arity, 40):
            assert (row in changing) == (row in expected)
            if random.random() < 0.5:
                assert changing.add(row) == (row not in expected)
                expected.add(row)
            else:
                assert changing.discard(row) == (row in expected)
                expected.discard(row)
            assert changing.size == len(expected)
            check_finds(changing, expected, random)
            changing.settle()
            assert len(changing.added) + len(changing.removed) <= max(many, len(expected) // 16 + 1)
    assert sorted(tuples_of(changing.relation())) == sorted(expected)


def test_a_value_that_is_newer_than_the_indexes_is_found() -> None:
    """Indexes below cover the ids that there were; new ones come on top."""
    changing = Kept(relation_of([(1, 2), (2, 3)], 2), 2, lambda: 4)
    assert list(changing.find(EVERYTHING, [(0, 1)])) == [(1, 2)]
    assert list(changing.find(EVERYTHING, [(0, 999)])) == []
    changing.add((999, 2))
    assert list(changing.find(EVERYTHING, [(0, 999)])) == [(999, 2)]
    assert (999, 3) not in changing


def test_what_is_below_keeps_its_indexes() -> None:
    below = relation_of([(n, n % 7) for n in range(1_000)], 2)
    changing = Kept(below, 2, lambda: 2_000)
    for n in range(1_000, 1_050):
        changing.add((n, 0))
        changing.discard((n - 1_000, (n - 1_000) % 7))
    assert changing.below is below
    assert changing.size == 1_000


def test_few_tuples_by_column() -> None:
    few = Few([(1, 2), (1, 3)])
    assert list(few.match((((0, 1),), ()), [(1, 3)])) == [(1, 3)]
    few.add((1, 1))
    assert list(few.match((((0, 1),), ((0, 1),)), [])) == [(1, 1)]
    assert few.discard((1, 3))
    assert not few.discard((1, 3))
    assert list(few.match(EVERYTHING, [(1, 3)])) == []
