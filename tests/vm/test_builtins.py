"""The builtin tests, sets of numbers and counts by rank, against plain Python."""

from collections.abc import Callable, Sequence
from itertools import product

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from lacec.bytecode import opcodes as op
from lacec.vm import arrays, builtins, rank
from lacec.vm.layers import Layer
from lacec.vm.relation import Ids, Relation
from lacec.vm.symbols import Symbols
from tests import slow

OPERATORS = ("<", "<=", ">", ">=")
numbers = st.one_of(
    st.integers(-12, 12).map(str),
    st.integers(-(10**20), 10**20).map(str),
    st.sampled_from((10**17, 10**18, 10**19, 2**62, 2**63, 2**64)).flatmap(
        lambda n: st.integers(n - 1, n + 1).flatmap(lambda m: st.sampled_from((str(m), str(-m))))
    ),
    st.builds("{}{}{}".format, st.sampled_from(("", "-")), st.just("0" * 20), st.integers(0, 9)),
)
# Text that is nearly a number, and is none.
almost = st.one_of(
    st.sampled_from(("", "-", "--1", "+1", "1-", " 1", "1 ", "1.0", "1e3", "0x1", "1_0", "½")),
    st.sampled_from(("٣", "³", "１", "1\0", "\0", "-\0", "9" * 18 + "x", "9" * 25 + "٣", "-" * 20)),
)
texts = st.text("ab/\0é日本👩", max_size=12)
values = st.one_of(numbers, almost, texts)
many = settings(max_examples=250, deadline=None)


def table_of(*columns: Sequence[str], layered: bool = False) -> tuple[Symbols, list[Ids]]:
    """Symbols with the values of some columns, among others, and the ids of the columns.

    With layers, each half of a column stands on a layer of the halves before it.
    """
    table, layers = Symbols(), list[Layer]()
    table.intern_all(["before", ""])
    ids = []
    for column in columns:
        half = len(column) // 2 if layered else 0
        one = table.intern_all(column[:half])
        if layered:
            layers.append(table.frozen())
            table = Symbols(layers)
        ids.append(np.concatenate((one, table.intern_all(column[half:]))))
    table.intern("after")
    return table, ids


def check(
    test: op.Test, rows: Sequence[Sequence[str]], fixed: set[int], holds: Callable[..., bool]
) -> None:
    """A test with these rows; arguments in `fixed` are constants, with the value of one row."""
    chosen = rows[len(rows) // 2]
    rows = [[chosen[a] if a in fixed else row[a] for a in range(len(row))] for row in rows]
    for layered in (False, True):
        table, columns = table_of(*zip(*rows, strict=True), layered=layered)
        operands = [int(ids[0]) if a in fixed else ids for a, ids in enumerate(columns)]
        found = builtins.run_test(test, table, operands, len(rows))
        assert found.tolist() == [holds(*row) for row in rows]


some = st.sets(st.integers(0, 3))


@given(st.lists(st.tuples(values, values), min_size=1), some)
@many
def test_unequal(rows: list[tuple[str, str]], fixed: set[int]) -> None:
    check(op.Test.UNEQUAL, rows, fixed, lambda a, b: a != b)


@given(
    st.lists(st.tuples(st.one_of(numbers, values), st.one_of(numbers, values)), min_size=1),
    st.sampled_from(OPERATORS),
    some,
)
@example([("007", "7"), ("-0", "0"), ("9" * 19, "9" * 18), ("-" + "9" * 19, "1")], "<=", set())
@many
def test_int_compare(rows: list[tuple[str, str]], operator: str, fixed: set[int]) -> None:
    triples = [(left, operator, right) for left, right in rows]
    check(op.Test.INT_COMPARE, triples, {1, *fixed}, slow.int_compare)


@given(st.lists(st.tuples(values, values), min_size=1), st.sampled_from(OPERATORS), some)
@example([("a", "a\0"), ("\uffff", "👩"), ("é", "z"), ("", "")], "<", set())
@many
def test_lex_compare(rows: list[tuple[str, str]], operator: str, fixed: set[int]) -> None:
    triples = [(left, operator, right) for left, right in rows]
    check(op.Test.LEX_COMPARE, triples, {1, *fixed}, slow.lex_compare)


def rows_of_shapes(rows: Sequence[tuple[str, str, str, str]], delims: str) -> list[list[str]]:
    """Texts put together from a beginning, a middle, a mark and an end; and others' parts."""
    shaped = []
    for start, middle, mark, end in rows:
        shaped.append([start + middle + mark + end, start, delims, end])
        shaped.append([start, start + mark, delims, end])
        shaped.append([start + end[1:], start, delims, end])
    return shaped


shape_parts = st.text("ab/.\0é日👩", max_size=3)


@given(
    st.lists(st.tuples(shape_parts, shape_parts, shape_parts, shape_parts), min_size=1, max_size=8),
    st.sampled_from(("", "/", "./", "//", "é", "日/", "👩", "\0", "a")),
    some,
)
@example([("a", "", "\0", "")], "", {1, 3})
@example([("aa", "a", "", "")], "", {1, 3})
@many
def test_text_shape(rows: list[tuple[str, str, str, str]], delims: str, fixed: set[int]) -> None:
    check(op.Test.TEXT_SHAPE, rows_of_shapes(rows, delims), {2, *fixed}, slow.text_shape)


@pytest.mark.parametrize("length", [7, 8, 9, 15, 16, 17])
@pytest.mark.parametrize("fixed", [{1, 2, 3}, {2}])
def test_text_shape_with_long_beginnings_and_ends(length: int, fixed: set[int]) -> None:
    start, end = "s" * length, "e" * length
    texts = [start + end, start + "m/" + end, start, end, start[1:] + end, start + end[1:] + "x"]
    for delims in ("", "/", "é/"):
        rows = [(text, start, delims, end) for text in (*texts, start + "é" + end, start + "\0")]
        check(op.Test.TEXT_SHAPE, rows, fixed, slow.text_shape)


@given(st.lists(st.one_of(numbers, values)))
@many
def test_decimals(column: list[str]) -> None:
    table, (ids,) = table_of(column)
    found, big, valid = builtins.decimals(table, ids)
    assert valid.tolist() == [slow.DECIMAL.fullmatch(text) is not None for text in column]
    for row, text in enumerate(column):
        if valid[row]:
            assert big.get(row, int(found[row])) == int(text)
        else:
            assert row not in big


@given(st.integers(-3, 3), st.sampled_from(OPERATORS))
def test_compare_signs(sign: int, operator: str) -> None:
    found = builtins.compare_signs(np.array([sign], np.int64), op.COMPARES[operator])
    assert found.tolist() == [slow.compare_order(sign, operator)]


def test_a_text_does_not_begin_with_itself_and_nul() -> None:
    rows = [("a", "a\0", "", ""), ("a\0", "a\0", "", ""), ("", "\0", "", "")]
    for chosen in rows:
        check(op.Test.TEXT_SHAPE, [chosen], {1, 2, 3}, slow.text_shape)
    check(op.Test.TEXT_SHAPE, rows, {2}, slow.text_shape)


def test_tests_of_no_rows() -> None:
    table, (ids,) = table_of([])
    less, delims = table.intern("<"), table.intern("/")
    assert builtins.run_test(op.Test.UNEQUAL, table, [ids, ids], 0).tolist() == []
    assert builtins.run_test(op.Test.INT_COMPARE, table, [ids, less, ids], 0).tolist() == []
    assert builtins.run_test(op.Test.LEX_COMPARE, table, [ids, less, 0], 0).tolist() == []
    assert builtins.run_test(op.Test.TEXT_SHAPE, table, [ids, 0, delims, ids], 0).tolist() == []


# Sets of numbers.

dtypes = st.sampled_from((np.int32, np.int64, np.uint64))
small = st.lists(st.integers(0, 20))


@given(small, small, dtypes)
@many
def test_arrays(ones: list[int], others: list[int], dtype: type[np.int64]) -> None:
    a, b = np.array(ones, dtype), np.array(others, dtype)
    assert arrays.unique(a).tolist() == sorted(set(ones))
    found, inverse = arrays.unique_inverse(a)
    assert found.tolist() == sorted(set(ones))
    assert found[inverse].tolist() == ones
    rows = arrays.unique_rows(a)
    assert sorted(a[rows].tolist()) == sorted(set(ones))
    assert arrays.members(a, b).tolist() == [one in others for one in ones]
    assert a.tolist() == ones


def test_large_numbers() -> None:
    high = np.array([2**64 - 1, 0, 2**63, 2**64 - 1], np.uint64)
    assert arrays.unique(high).tolist() == [0, 2**63, 2**64 - 1]
    assert arrays.members(high, high[:1]).tolist() == [True, False, False, True]


# Counts by rank.


row = st.tuples(st.one_of(numbers, texts), st.one_of(numbers, texts), st.sampled_from("xyz"))
tables = st.lists(row, max_size=12, unique_by=lambda row: row[0])
ways = st.lists(
    st.tuples(
        st.sets(st.tuples(st.integers(0, 2), st.integers(0, 2)), max_size=2).map(sorted),
        st.sampled_from((op.Test.INT_COMPARE, op.Test.LEX_COMPARE)),
        st.integers(0, 2),
        st.integers(0, 2),
        st.sampled_from(list(op.Compare)),
    ),
    min_size=1,
    max_size=3,
)
HOLDS = {op.Test.INT_COMPARE: slow.int_compare, op.Test.LEX_COMPARE: slow.lex_compare}


@given(tables, tables, ways, st.integers(-1, 30), st.booleans())
@many
def test_rank_counts(
    lows: list[tuple[str, str, str]],
    highs: list[tuple[str, str, str]],
    ways: list[tuple[list[tuple[int, int]], op.Test, int, int, op.Compare]],
    enough: int,
    same: bool,
) -> None:
    """Each way counts the pairs it joins; a row that has enough may be counted short."""
    highs = lows if same else highs
    columns = [[row[c] for row in rows] for rows in (lows, highs) for c in range(3)]
    table, ids = table_of(*columns)
    low = Relation(ids[:3])
    high = low if same else Relation(ids[3:])
    plain = [(equal, int(test), one, two, int(compare)) for equal, test, one, two, compare in ways]
    found = rank.rank_counts(table, low, high, plain, enough).tolist()
    for row, count in zip(lows, found, strict=True):
        true = sum(
            all(row[a] == other[b] for a, b in equal)
            and HOLDS[test](row[one], compare.symbol, other[two])
            for (equal, test, one, two, compare), other in product(ways, highs)
        )
        assert count == true or enough <= count < true


@given(st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("xyz"))))
def test_is_unique(rows: list[tuple[str, str]]) -> None:
    _, ids = table_of([row[0] for row in rows], [row[1] for row in rows])
    assert rank.is_unique(Relation(ids)) == (len({row[0] for row in rows}) == len(rows))
