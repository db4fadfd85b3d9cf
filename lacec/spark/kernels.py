"""The opcodes on Spark: each takes registers and gives one, and nothing runs yet.

A join, semi-join or count by the hash of a record whose row is at hand is an expression over
that row. One with a few rows that the driver knows is an expression too. All others are
joins of DataFrames, of which Spark broadcasts small sides.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import count as numbers

import pyarrow as pa
from pyspark.sql import Column, DataFrame, SparkSession, Window
from pyspark.sql import functions as F

from lacec.bytecode.opcodes import Compare, Test
from lacec.spark.builtins import compare, integer_key, order_key
from lacec.spark.registers import (
    Columns,
    Few,
    Keys,
    Register,
    Row,
    Rows,
    Told,
    every,
    names_of,
    relation,
    rows_of,
    some,
)

Picks = Sequence[tuple[int, int]]
Way = tuple[Keys, int, int, int, int]
Bound = int | Callable[[Columns], Column]
"""What a count is compared with: a number, or the text of a column."""


class Kernels:
    def __init__(self, session: SparkSession, few: int) -> None:
        """Up to `few` rows are kept on the driver."""
        self.session = session
        self.few = few
        self._numbers = numbers()

    def fresh(self) -> str:
        """A name that no column has."""
        return f"x{next(self._numbers)}"

    def _fresh(self, count: int) -> list[str]:
        return [self.fresh() for _ in range(count)]

    # Forms.

    def frame(self, rows: Sequence[Row], names: Sequence[str]) -> DataFrame:
        """A DataFrame of rows that the driver knows."""
        if not names:
            table = pa.table({"unit": pa.array([1] * len(rows), pa.int32())})
        else:
            columns = zip(*rows, strict=True) if rows else [()] * len(names)
            arrays = [pa.array(column, pa.string()) for column in columns]
            table = pa.table(arrays, names=list(names))
        return self.session.createDataFrame(table)

    def given(self, rows: Sequence[Row], arity: int) -> Register:
        """A relation of rows that the driver knows."""
        if len(rows) <= self.few:
            return Few(tuple(rows), arity)
        return relation(self.frame(rows, names_of(arity)), arity)

    def rows(self, register: Register) -> Rows:
        match register:
            case Rows():
                return register
            case Told():
                return rows_of(register, self.fresh)
            case Few(rows, arity):
                names = self._fresh(arity)
                return Rows(self.frame(rows, names), tuple(map(F.col, names)))

    def unit(self) -> Register:
        return self.given([()], 0)

    # Opcodes.

    def select(
        self, source: Register, constants: Sequence[tuple[int, str]], equal: Keys
    ) -> Register:
        match source:
            case Told():
                return source.select(constants, equal)
            case Few(rows, arity):
                found = (
                    row
                    for row in rows
                    if all(row[column] == value for column, value in constants)
                    and all(row[one] == row[other] for one, other in equal)
                )
                return Few(tuple(found), arity)
            case Rows():
                columns = source.columns
                same = [columns[column] == F.lit(value) for column, value in constants]
                same += [columns[one] == columns[other] for one, other in equal]
                return source.where(every(same), len(same))

    def test(self, source: Register, condition: Callable[[Columns], Column]) -> Register:
        """The rows that pass a builtin test."""
        rows = self.rows(source)
        return rows.where(condition(rows.columns), 8)

    def project(self, source: Register, columns: Sequence[int], distinct: bool) -> Register:
        if isinstance(source, Few):
            kept = (tuple(row[column] for column in columns) for row in source.rows)
            return Few(tuple(dict.fromkeys(kept)), len(columns))
        if isinstance(source, Told) and list(columns) == [source.key]:
            return source.records()
        rows = self.rows(source)
        record = _place(rows.record, columns)
        kept_columns = tuple(rows.columns[column] for column in columns)
        kept_rows = replace(rows, columns=kept_columns, record=record)
        # Rows of one record are not many: they may stay, as long as its row is of use.
        if not distinct or record is not None:
            return kept_rows
        names = self._fresh(len(columns))
        return Rows(kept_rows.named(names).distinct(), tuple(map(F.col, names)))

    def join(self, left: Register, right: Register, keys: Keys, picks: Picks) -> Register:
        if isinstance(left, Few):
            if isinstance(right, Few):
                return self._join_few(left, right, keys, picks)
            left, right = right, left
            keys = [(other, one) for one, other in keys]
            picks = [(1 - side, column) for side, column in picks]
        rows = self.rows(left)
        record = next((i for i, pick in enumerate(picks) if pick == (0, rows.record)), None)
        if isinstance(right, Few):
            return replace(self._times_few(rows, right, keys, picks), record=record)
        if isinstance(right, Told) and _is_at_hand(rows, right, keys):
            return replace(self._told_too(rows, right, keys, picks), record=record)
        return self._join_rows(rows, self.rows(right), keys, picks)

    def _join_few(self, left: Few, right: Few, keys: Keys, picks: Picks) -> Register:
        found = [
            tuple((one, other)[side][column] for side, column in picks)
            for one in left.rows
            for other in right.rows
            if all(one[a] == other[b] for a, b in keys)
        ]
        return self.given(list(dict.fromkeys(found)), len(picks))

    def _times_few(self, rows: Rows, few: Few, keys: Keys, picks: Picks) -> Rows:
        if len(few.rows) == 1:
            columns = tuple(map(F.lit, few.rows[0]))
        elif few.rows and few.arity:
            name, names = self.fresh(), names_of(few.arity)
            structs = [
                F.struct(*(F.lit(v).alias(n) for v, n in zip(row, names, strict=True)))
                for row in few.rows
            ]
            frame = rows.applied().select("*", F.explode(F.array(*structs)).alias(name))
            rows = replace(rows, frame=frame, conditions=(), whole=False, weight=1)
            columns = tuple(F.col(name)[each] for each in names)
        else:
            rows, columns = rows.where(F.lit(False)), tuple(F.lit("") for _ in range(few.arity))
        rows = rows.where(every([rows.columns[a] == columns[b] for a, b in keys]), len(keys))
        return replace(rows, columns=_picked(rows.columns, columns, picks))

    def _told_too(self, rows: Rows, told: Told, keys: Keys, picks: Picks) -> Rows:
        """Facts of the record whose row is at hand."""
        told = told.matching(rows.columns, keys)
        if told.array is None:
            condition, columns = told.tell(None)
            rows = rows.where(condition, told.weight)
        else:
            name = self.fresh()
            frame = rows.applied().select("*", F.explode(told.elements()).alias(name))
            rows = replace(rows, frame=frame, conditions=(), whole=False, weight=1)
            columns = told.tell(F.col(name))[1]
        return replace(rows, columns=_picked(rows.columns, columns, picks))

    def _join_rows(self, left: Rows, right: Rows, keys: Keys, picks: Picks) -> Rows:
        """The row of a record stays at hand on one side, if there is one."""
        if left.table is None and right.table is not None:
            keys = [(other, one) for one, other in keys]
            picks = [(1 - side, column) for side, column in picks]
            left, right = right, left
        names = self._fresh(len(right.columns))
        columns = tuple(map(F.col, names))
        condition = every([left.columns[a] == columns[b] for a, b in keys])
        one, other = left.applied(), right.named(names)
        frame = one.crossJoin(other) if condition is None else one.join(other, condition)
        if not names:
            frame = frame.drop("unit")
        record = next((i for i, pick in enumerate(picks) if pick == (0, left.record)), None)
        return Rows(frame, _picked(left.columns, columns, picks), (), left.table, record)

    def semi(self, left: Register, right: Register, keys: Keys, anti: bool = False) -> Register:
        """The rows that agree with some row of the right side, or with none."""
        if isinstance(left, Few) and isinstance(right, Few):
            there = {tuple(row[b] for _, b in keys) for row in right.rows}
            found = (r for r in left.rows if (tuple(r[a] for a, _ in keys) in there) is not anti)
            return Few(tuple(found), left.arity)
        rows = self.rows(left)
        if isinstance(right, Few):
            found_here = some([_agrees(rows, row, keys) for row in right.rows])
            return rows.where(~found_here if anti else found_here, len(right.rows))
        if isinstance(right, Told) and _is_at_hand(rows, right, keys):
            told = right.matching(rows.columns, keys)
            return rows.where(~told.exists() if anti else told.condition(), told.weight)
        names, others = self._fresh(len(keys)), self.rows(right)
        key_rows = replace(others, columns=tuple(others.columns[b] for _, b in keys))
        frame = key_rows.named(names)
        if not keys:
            frame = frame.limit(1)
        same = [rows.columns[a] == F.col(n) for (a, _), n in zip(keys, names, strict=True)]
        condition = every(same)
        how = "left_anti" if anti else "left_semi"
        joined = rows.applied().join(frame, F.lit(True) if condition is None else condition, how)
        return replace(rows, frame=joined, conditions=(), whole=False, weight=1)

    def count(
        self,
        left: Register,
        right: Register,
        keys: Keys,
        sign: Compare,
        bound: Bound,
    ) -> Register:
        rows = self.rows(left)
        if isinstance(right, Few):
            agree = [_agrees(rows, row, keys).cast("int") for row in right.rows]
            return _within(rows, sum(agree, F.lit(0)), sign, bound)
        if isinstance(right, Told) and _is_at_hand(rows, right, keys):
            return _within(rows, right.matching(rows.columns, keys).count(), sign, bound)
        names, number, others = self._fresh(len(keys)), self.fresh(), self.rows(right)
        keyed = replace(others, columns=tuple(others.columns[b] for _, b in keys)).named(names)
        counts = keyed.groupBy(*names).agg(F.count(F.lit(1)).alias(number))
        pairs = list(zip((a for a, _ in keys), names, strict=True))
        return self._with_counts(rows, counts, pairs, number, sign, bound)

    def _with_counts(
        self,
        rows: Rows,
        counts: DataFrame,
        keys: Sequence[tuple[int, str]],
        number: str,
        sign: Compare,
        bound: Bound,
    ) -> Rows:
        """The rows whose number among counts by key compares with a bound; none is zero."""
        condition = every([rows.columns[a] == F.col(name) for a, name in keys])
        one = rows.applied()
        joined = one.crossJoin(counts) if condition is None else one.join(counts, condition, "left")
        rows = replace(rows, frame=joined, conditions=(), whole=False, weight=1)
        return _within(rows, F.coalesce(F.col(number), F.lit(0)), sign, bound)

    def rank(
        self,
        left: Register,
        key: int,
        low: Register,
        high: Register,
        ways: Sequence[Way],
        sign: Compare,
        bound: Bound,
    ) -> Register | None:
        """Counts by rank; None where the first column of low or high is not unique."""
        lows, highs = self.rows(low), self.rows(high)
        for each in (lows, highs) if highs is not lows else (lows,):
            name = self.fresh()
            keys = replace(each, columns=each.columns[:1]).named([name])
            if not keys.groupBy(name).count().where("count > 1").isEmpty():
                return None
        counted = [self._ranked(lows, highs, way) for way in ways]
        whole = counted[0]
        for more in counted[1:]:
            whole = whole.unionAll(more)
        key_name, number = self._fresh(2)
        sums = whole.groupBy(F.col("key").alias(key_name)).agg(F.sum("number").alias(number))
        return self._with_counts(self.rows(left), sums, [(key, key_name)], number, sign, bound)

    def _ranked(self, lows: Rows, highs: Rows, way: Way) -> DataFrame:
        """For each row of low how many rows of high compare with it, in one way."""
        equal, test, one, other, sign = way
        groups = [f"g{number}" for number in range(len(equal))]

        def side(rows: Rows, column: int, group: Sequence[int], counted: int) -> DataFrame:
            place = order_key(Test(test), rows.columns[column])
            named = rows.applied().select(
                rows.columns[0].alias("key"),
                place.alias("place"),
                *(rows.columns[c].alias(name) for c, name in zip(group, groups, strict=True)),
                F.lit(counted).alias("counted"),
            )
            return named.where(F.col("place").isNotNull())

        both = side(lows, one, [a for a, _ in equal], 0).unionAll(
            side(highs, other, [b for _, b in equal], 1)
        )
        within = Window.partitionBy(*groups)
        upwards = within.orderBy("place").rangeBetween(Window.unboundedPreceding, Window.currentRow)
        upto, total = F.sum("counted").over(upwards), F.sum("counted").over(within)
        same = F.sum("counted").over(Window.partitionBy(*groups, "place"))
        number = {
            Compare.LESS: total - upto,
            Compare.LESS_EQUAL: total - upto + same,
            Compare.GREATER: upto - same,
            Compare.GREATER_EQUAL: upto,
        }[Compare(sign)]
        ranked = both.select("key", "counted", number.alias("number"))
        return ranked.where("counted = 0").select("key", "number")


def _is_at_hand(rows: Rows, told: Told, keys: Keys) -> bool:
    return rows.record is not None and rows.table is told.table and (rows.record, told.key) in keys


def _place(record: int | None, columns: Sequence[int]) -> int | None:
    return columns.index(record) if record is not None and record in columns else None


def _picked(left: Columns, right: Columns, picks: Picks) -> Columns:
    return tuple((left, right)[side][column] for side, column in picks)


def _agrees(rows: Rows, row: Row, keys: Keys) -> Column:
    same = every([rows.columns[a] == F.lit(row[b]) for a, b in keys])
    return F.lit(True) if same is None else same


def _within(rows: Rows, number: Column, sign: Compare, bound: Bound) -> Rows:
    """The rows whose count compares with the bound; one that is no decimal fails (D9)."""
    if isinstance(bound, int):
        return rows.where(compare(number, sign, F.lit(bound)))
    passed = compare(integer_key(number.cast("string")), sign, integer_key(bound(rows.columns)))
    return rows.where(F.coalesce(passed, F.lit(False)), 16)
