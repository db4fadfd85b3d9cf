"""What a register of a block holds on Spark: a relation in one of three forms.

`Few` rows are known here, on the driver, and become literals wherever they are joined.
`Told` facts are told by the row of a record: joined by the record's hash they are native
expressions over that row, and nothing is shuffled. `Rows` are any others, a DataFrame that
may still carry the row of the record that one of its columns names.

Expressions name columns, so that one fits every DataFrame that has them. Columns of a row of
a record have fixed names (tables.py), all others names that occur once.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from operator import and_, or_

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

Row = tuple[str, ...]
Columns = tuple[Column, ...]
Keys = Sequence[tuple[int, int]]
HASH = "hash"  # the column of a table that names the record


@dataclass(frozen=True, slots=True)
class Few:
    """Rows that the driver knows, none twice."""

    rows: tuple[Row, ...]
    arity: int


@dataclass(eq=False, slots=True)
class Table:
    """A DataFrame with one row for each record, which `Told` facts are told from."""

    frame: DataFrame


@dataclass(frozen=True)
class Told:
    """Facts that the row of a record tells, each once.

    `tell` gives the condition and the columns of a fact: of the only one that a row may tell,
    or of an element of `array`. The column `key` is the hash of the record.
    """

    table: Table
    key: int
    tell: Callable[[Column | None], tuple[Column | None, Columns]]
    array: Column | None = None
    named: "tuple[int, Callable[[str], Told]] | None" = None
    """A column, and the facts with a constant in it, where they are told in a simpler way."""
    weight: int = 1
    """About how many expressions it has, which every use of it repeats."""

    def select(self, constants: Sequence[tuple[int, str]], equal: Keys) -> "Told":
        for column, value in constants:
            if self.named is not None and column == self.named[0]:
                return self.named[1](value).select([c for c in constants if c[0] != column], equal)
        if not constants and not equal:
            return self

        def tell(element: Column | None) -> tuple[Column | None, Columns]:
            condition, columns = self.tell(element)
            more = [columns[column] == F.lit(value) for column, value in constants]
            more += [columns[one] == columns[other] for one, other in equal]
            return every([condition, *more]), columns

        weight = self.weight + len(constants) + len(equal)
        return replace(self, tell=tell, named=None, weight=weight)

    def matching(self, left: Columns, keys: Keys) -> "Told":
        """Those that agree with columns of the DataFrame that the row stands in."""
        others = [(one, other) for one, other in keys if other != self.key]

        def tell(element: Column | None) -> tuple[Column | None, Columns]:
            condition, columns = self.tell(element)
            same = [columns[other] == left[one] for one, other in others]
            return every([condition, *same]), columns

        return replace(self, tell=tell) if others else self

    def condition(self) -> Column | None:
        """What holds of a row that tells any, and is false or null of others.

        As plain as it can be: scans of files skip what it excludes.
        """
        return self.tell(None)[0] if self.array is None else F.exists(self.array, self._holds)

    def exists(self) -> Column:
        """Whether a row tells any; never null."""
        condition = self.condition()
        return F.lit(True) if condition is None else F.coalesce(condition, F.lit(False))

    def records(self) -> "Rows":
        """The hashes of the records that tell any."""
        rows = Rows(self.table.frame, (F.col(HASH),), (), self.table, 0, True, self.weight)
        return rows.where(self.condition(), 0)

    def count(self) -> Column:
        """How many a row tells."""
        if self.array is None:
            return self.exists().cast("int")
        return F.size(F.filter(self.array, self._holds))

    def elements(self) -> Column:
        """The array of those whose condition holds."""
        assert self.array is not None
        return F.filter(self.array, self._holds)

    def _holds(self, element: Column) -> Column:
        condition, _ = self.tell(element)
        return F.lit(True) if condition is None else F.coalesce(condition, F.lit(False))


@dataclass(frozen=True)
class Rows:
    """Rows of a DataFrame under conditions that are not applied to it yet."""

    frame: DataFrame
    columns: Columns
    conditions: Columns = ()
    table: Table | None = None
    """The table that the DataFrame has the columns of, and of which `record` is a hash."""
    record: int | None = None
    whole: bool = False
    """Whether the DataFrame is the table itself, so that it has each record once."""
    weight: int = 1

    def where(self, condition: Column | None, weight: int = 1) -> "Rows":
        if condition is None:
            return self
        conditions = (*self.conditions, condition)
        return replace(self, conditions=conditions, weight=self.weight + weight)

    def applied(self) -> DataFrame:
        condition = every(self.conditions)
        return self.frame if condition is None else self.frame.where(condition)

    def named(self, names: Sequence[str]) -> DataFrame:
        """The columns alone, under other names."""
        if not names:
            return self.applied().select(F.lit(1).alias("unit"))
        pairs = zip(self.columns, names, strict=True)
        return self.applied().select(*(column.alias(name) for column, name in pairs))


Register = Few | Told | Rows


def every(conditions: Sequence[Column | None]) -> Column | None:
    """All of them; None where there is nothing to hold."""
    found = [condition for condition in conditions if condition is not None]
    return reduce(and_, found) if found else None


def some(conditions: Sequence[Column]) -> Column:
    """Any of them."""
    return reduce(or_, conditions) if conditions else F.lit(False)


def names_of(arity: int) -> list[str]:
    """The names of the columns of a relation that stands alone."""
    return [f"c{number}" for number in range(arity)]


def relation(frame: DataFrame, arity: int) -> Rows:
    """The rows of such a relation."""
    return Rows(frame, tuple(F.col(name) for name in names_of(arity)))


def rows_of(told: Told, fresh: Callable[[], str]) -> Rows:
    """Facts that records tell as rows, which carry the rows of the records."""
    table = told.table
    if told.array is None:
        condition, columns = told.tell(None)
        rows = Rows(table.frame, columns, (), table, told.key, True, told.weight)
        return rows.where(condition, 0)
    name = fresh()
    frame = table.frame.select("*", F.explode(told.elements()).alias(name))
    return Rows(frame, told.tell(F.col(name))[1], (), table, told.key)
