"""Rules that one record alone decides, as facts that its row tells.

In: what the rules of a predicate made, each a condition and columns over the rows of one
table. Out: one `Told`, so that those who load the predicate need no join; or None where a
rule needed more than the row. A condition that has grown long becomes a column of the
table, which is computed once however often it is used.
"""

from collections.abc import Callable, Sequence

from pyspark.sql import Column
from pyspark.sql import functions as F

from lacec.spark.registers import Columns, Register, Rows, Told, every, names_of, some

# A condition of more expressions than these is not repeated.
LONG = 64


def told_by(made: Sequence[Register], arity: int, fresh: Callable[[], str]) -> Told | None:
    """What rules made as facts that rows of records tell, if they do."""
    rows = [each for each in made if isinstance(each, Rows)]
    if not rows or len(rows) < len(made) or not all(each.whole for each in rows):
        return None
    table, key = rows[0].table, rows[0].record
    if table is None or key is None:
        return None
    if any(each.table is not table or each.record != key for each in rows):
        return None
    weight = sum(each.weight for each in rows)
    found = _alternatives(rows, arity)
    if isinstance(found, Column):  # an array
        if weight > LONG:
            found, weight = _column(rows[0], found, fresh), 1
        columns = names_of(arity)
        return Told(
            table,
            key,
            lambda e: (None, () if e is None else tuple(e[name] for name in columns)),
            found,
            weight=weight,
        )
    condition, own = found
    if condition is not None and weight > LONG:
        condition, weight = _column(rows[0], condition, fresh), 1
    return Told(table, key, lambda _: (condition, own), weight=weight)


def _alternatives(rows: Sequence[Rows], arity: int) -> tuple[Column | None, Columns] | Column:
    """At most one fact, by its condition and columns; or an array of the facts."""
    conditions = [every(each.conditions) for each in rows]
    if len(rows) == 1:
        return conditions[0], rows[0].columns
    if arity == 1:
        held = [each for each in conditions if each is not None]
        return (some(held) if len(held) == len(conditions) else None), rows[0].columns
    structs = []
    for each, condition in zip(rows, conditions, strict=True):
        pairs = zip(each.columns, names_of(arity), strict=True)
        struct = F.struct(*(column.alias(name) for column, name in pairs))
        structs.append(struct if condition is None else F.when(condition, struct))
    return F.array_distinct(F.array_compact(F.array(*structs)))


def _column(rows: Rows, expression: Column, fresh: Callable[[], str]) -> Column:
    """A column of the table for an expression."""
    assert rows.table is not None
    name = fresh()
    rows.table.frame = rows.table.frame.withColumn(name, expression)
    return F.col(name)
