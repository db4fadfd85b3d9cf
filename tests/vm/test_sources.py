"""Fact sources: iterate, query and count agree, and values are checked before they enter."""

import pytest

from lacec.core.errors import FactError
from lacec.core.predicates import Predicate
from lacec.vm.sources import DatabaseSource, TupleSource, load

EDGE = Predicate("Edge", 2)
FACTS: dict[Predicate, list[tuple[str, ...]]] = {
    EDGE: [("a", "b"), ("a", "c"), ("b", "c"), ("a", "b")],
    Predicate("On", 0): [()],
}


def test_a_database_answers_as_its_source_does() -> None:
    source = TupleSource(FACTS)
    database = DatabaseSource(load(source))
    assert sorted(database.predicates()) == sorted(source.predicates())
    for predicate in source.predicates():
        assert sorted(database.iterate(predicate)) == sorted(source.iterate(predicate))
        assert database.count(predicate) == source.count(predicate)
    for values in ((), ("a",), ("a", "c"), ("z",), ("a", "z")):
        assert sorted(database.query(EDGE, *values)) == sorted(source.query(EDGE, *values))


@pytest.mark.parametrize("value", ["e\u0301", "\ud800", "x" * 1025], ids=["NFC", "half", "long"])
def test_a_value_that_no_fact_may_have(value: str) -> None:
    with pytest.raises(FactError):
        load(TupleSource({Predicate("Have", 1): [(value,)]}))


def test_a_row_of_another_length() -> None:
    with pytest.raises(FactError):
        TupleSource({EDGE: [("a",)]})
