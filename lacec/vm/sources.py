"""Fact sources (030): where base facts come from, and how they enter a database.

A source answers `iterate`, `query` and `count` over one snapshot. Every value
that enters is checked: NFC text, and no longer than the limit.
"""

import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Protocol

import numpy as np

from lacec.core.diagnostics import quote
from lacec.core.errors import FactError
from lacec.core.limits import DEFAULT_LIMITS, Limits
from lacec.core.predicates import Predicate
from lacec.vm.database import Database
from lacec.vm.relation import Ids

Row = tuple[str, ...]


class FactSource(Protocol):
    """Facts of one snapshot. Predicates are told apart by name and arity (D11)."""

    def predicates(self) -> Iterable[Predicate]:
        """The predicates that may have facts."""

    def iterate(self, predicate: Predicate) -> Iterator[Row]:
        """Every fact of a predicate."""

    def query(self, predicate: Predicate, *values: str) -> Iterator[Row]:
        """The facts that begin with these values."""

    def count(self, predicate: Predicate) -> int:
        """How many facts a predicate has."""


class TupleSource:
    """A source over Python tuples; equal tuples are one fact."""

    def __init__(self, facts: Mapping[Predicate, Iterable[Sequence[str]]]) -> None:
        self._facts = {p: dict.fromkeys(map(tuple, rows)) for p, rows in facts.items()}
        for predicate, rows in self._facts.items():
            for length in set(map(len, rows)) - {predicate.arity}:
                raise FactError(f"{predicate} has a fact with {length} values")

    def predicates(self) -> Iterable[Predicate]:
        return self._facts

    def iterate(self, predicate: Predicate) -> Iterator[Row]:
        return iter(self._facts.get(predicate, ()))

    def query(self, predicate: Predicate, *values: str) -> Iterator[Row]:
        return (row for row in self.iterate(predicate) if row[: len(values)] == values)

    def count(self, predicate: Predicate) -> int:
        return len(self._facts.get(predicate, ()))


def source_of(facts: Mapping[str, Iterable[Sequence[str]]]) -> TupleSource:
    """A source over rows by predicate name; the length of a row is its arity."""
    found: dict[Predicate, list[Sequence[str]]] = {}
    for name, given in facts.items():
        rows = list(given)
        arities = set(map(len, rows))
        for arity in arities:
            of_arity = rows if len(arities) == 1 else [row for row in rows if len(row) == arity]
            found[Predicate(name, arity)] = of_arity
    return TupleSource(found)


class DatabaseSource:
    """A source over a database: its indexes answer queries."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def predicates(self) -> Iterable[Predicate]:
        return self._database.predicates()

    def iterate(self, predicate: Predicate) -> Iterator[Row]:
        return iter(self._database.tuples(self._database.relation(predicate)))

    def query(self, predicate: Predicate, *values: str) -> Iterator[Row]:
        ids = [self._database.symbols.find(value) for value in values]
        if -1 in ids:
            return iter(())
        part = self._database.relation(predicate).part(list(enumerate(ids)), ())
        return iter(self._database.tuples(part))

    def count(self, predicate: Predicate) -> int:
        return self._database.relation(predicate).size


def load(source: FactSource, limits: Limits = DEFAULT_LIMITS) -> Database:
    """The facts of a source, checked and encoded."""
    database = Database()
    for predicate in source.predicates():
        add_rows(database, predicate, list(source.iterate(predicate)), limits)
    return database


def add_rows(
    database: Database,
    predicate: Predicate,
    rows: Sequence[Sequence[str]],
    limits: Limits = DEFAULT_LIMITS,
) -> None:
    """Add facts of one predicate to a database, checked and encoded."""
    check_arity(predicate, limits)
    if predicate.arity == 0:
        database.add(predicate, (), int(bool(rows)))
        return
    columns = list(zip(*rows, strict=True)) or [()] * predicate.arity
    database.add(predicate, [_encode(database, column, limits) for column in columns])


def _encode(database: Database, values: Sequence[str], limits: Limits) -> Ids:
    """The ids of a column, in which values may be many and different ones few."""
    different = dict.fromkeys(values)
    check_values(list(different), limits)
    ids = database.symbols.intern_all(different)
    if len(different) == len(values):
        return ids
    of_value = dict(zip(different, ids.tolist(), strict=True))
    return np.fromiter(map(of_value.__getitem__, values), ids.dtype, len(values))


def check_arity(predicate: Predicate, limits: Limits) -> None:
    if predicate.arity > limits.arity:
        raise FactError(
            f"{predicate} has {predicate.arity} values, over the limit arity of {limits.arity}"
        )


def check_values(values: Sequence[str], limits: Limits) -> None:
    """The same as `check_value` for each, which plain short values need not meet one by one."""
    if max(map(len, values), default=0) > limits.value_bytes or not "".join(values).isascii():
        for value in dict.fromkeys(values):
            check_value(value, limits)


def check_value(value: str, limits: Limits) -> None:
    """FactError unless a value may stand in a fact (030 Values)."""
    if value.isascii():
        size = len(value)
    else:
        try:
            size = len(value.encode("utf-8"))
        except UnicodeEncodeError:
            raise FactError(f"the value {quote(value)} is not Unicode text") from None
        if not unicodedata.is_normalized("NFC", value):
            raise FactError(f"the value {quote(value)} is not in Unicode's composed form (NFC)")
    if size > limits.value_bytes:
        raise FactError(
            f"the value {quote(value)} has {size} bytes, over the limit value_bytes of "
            f"{limits.value_bytes}"
        )
