"""The base facts of an evaluation on Spark, as registers.

In: tables with one row a record (tables.py) and plain facts. Out: a register for each
predicate. Facts of records, and what a peer advertises of records, are told by their rows.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from lacec.core.predicates import Predicate
from lacec.records.facts import BLOB_HASH, FIELD, HAVE, PLEX_HASH, RECORD_LINK
from lacec.spark.kernels import Kernels
from lacec.spark.registers import HASH, Columns, Few, Register, Rows, Table, Told, every, relation
from lacec.spark.rows import FIELD_COLUMNS

ADVERTISED = Predicate("Advertised", 2)
ADVERTISED_FIELD = Predicate("AdvertisedField", 5)
SOURCE = "source"


def record_facts(table: Table) -> dict[Predicate, Register]:
    """The facts of the records of a table (020)."""
    own = F.col(HASH)
    links = partial(_element, (own,), ("name", "index", "data", "target"))
    return {
        HAVE: Told(table, 0, lambda _: (None, (own,))),
        FIELD: _fields(table, (own,)),
        RECORD_LINK: Told(table, 0, links, F.col("links")),
        BLOB_HASH: _single(table, (own,), "blob_hash"),
        PLEX_HASH: _single(table, (own,), "plex_hash"),
    }


def advertised_facts(table: Table) -> dict[Predicate, Register]:
    """What the rows of a table claim (050): the columns of records, and the source."""
    own = (F.col(HASH), F.col(SOURCE))
    return {
        ADVERTISED: Told(table, 0, lambda _: (None, own)),
        ADVERTISED_FIELD: _fields(table, own),
    }


def _single(table: Table, own: Columns, column: str, *between: str) -> Told:
    """A fact that a record has once, if it has it."""
    value = F.col(column)
    columns = (*own, *map(F.lit, between), value)
    return Told(table, 0, lambda _: (value.isNotNull(), columns))


def _element(own: Columns, names: tuple[str, ...], element: Column | None) -> tuple[None, Columns]:
    assert element is not None
    return None, (*own, *(element[name] for name in names))


def _fields(table: Table, own: Columns) -> Told:
    """Fields: those that a form has are columns, all others are elements of an array."""
    tell = partial(_element, own, ("name", "index", "value"))

    def named(name: str) -> Told:
        if name in FIELD_COLUMNS:
            return _single(table, own, FIELD_COLUMNS[name], name, "0")
        extras = Told(table, 0, tell, F.col("extras"))
        return extras.select([(len(own), name)], ())

    # As text, which is one call to the JVM where its parts are a hundred.
    singles = ", ".join(
        f"if(`{column}` is null, null, "
        f"named_struct('name', '{name}', 'index', '0', 'value', `{column}`))"
        for name, column in FIELD_COLUMNS.items()
    )
    every_field = F.expr(f"concat(array_compact(array({singles})), extras)")
    return Told(table, 0, tell, every_field, (len(own), named), weight=len(FIELD_COLUMNS))


def both(one: Register | None, other: Register | None, kernels: Kernels, arity: int) -> Register:
    """The facts of two registers as one set."""
    if one is None or other is None:
        return one or other or Few((), arity)
    names = [f"c{number}" for number in range(arity)]
    frames = [kernels.rows(each).named(names) for each in (one, other)]
    return relation(frames[0].unionAll(frames[1]).distinct(), arity)


@dataclass(frozen=True)
class View:
    """The records that a viewer may query (020)."""

    hashes: Callable[[], DataFrame]  # as a column c0
    conditions: Mapping[Table, Column]
    """Of tables, whether the viewer may query the record of a row."""

    def of(self, register: Register, kernels: Kernels) -> Register:
        """Those facts of a base predicate whose record the viewer may query."""
        if isinstance(register, Told):
            return _seen(register, self.conditions[register.table])
        seen = Rows(self.hashes(), (F.col("c0"),))
        return kernels.semi(register, seen, [(0, 0)])


def _seen(told: Told, condition: Column) -> Told:
    def tell(element: Column | None) -> tuple[Column | None, Columns]:
        own, columns = told.tell(element)
        return every([condition, own]), columns

    named = None
    if told.named is not None:
        column, find = told.named
        named = (column, lambda value: _seen(find(value), condition))
    return replace(told, tell=tell, named=named, weight=told.weight + 1)
