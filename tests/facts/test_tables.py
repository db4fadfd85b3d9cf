"""CSV and Parquet: the facts that go in come out, and what is wrong is refused by name."""

import contextlib
import sys
from pathlib import Path

import numpy as np
import pyarrow
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyarrow import parquet

from lacec.core.errors import FactError, LimitError
from lacec.core.limits import Limits
from lacec.core.predicates import Predicate
from lacec.facts import tables
from lacec.facts.tables import read_csv, read_parquet, write_csv, write_parquet
from lacec.vm.database import Database
from lacec.vm.relation import Relation

LIMITS = Limits()
TEXT = st.text(alphabet=st.sampled_from("ab,\"' \n\r日é\0"), max_size=9)
ROWS = st.lists(st.tuples(TEXT, TEXT), min_size=1, max_size=9)
FACT = Predicate("Fact", 2)
folder = settings(
    deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


def facts(database: Database, predicate: Predicate = FACT) -> list[tuple[str, ...]]:
    return database.tuples(database.relation(predicate))


@given(ROWS)
@settings(deadline=None)
def test_csv_round_trip(rows: list[tuple[str, str]]) -> None:
    database = Database()
    read_csv("Fact.csv", write_csv(rows), "Fact", database, LIMITS)
    assert facts(database) == sorted(set(rows))


@given(ROWS)
@folder
def test_parquet_round_trip(tmp_path: Path, rows: list[tuple[str, str]]) -> None:
    path = tmp_path / "Fact.parquet"
    first, again = Database(), Database()
    ids = first.symbols.intern_all([value for row in rows for value in row]).reshape(-1, 2)
    first.add(FACT, list(np.ascontiguousarray(ids.T)))
    write_parquet(path, first.relation(FACT), first.symbols)
    read_parquet(path, "Fact", again, LIMITS)
    assert facts(again) == facts(first) == sorted(set(rows))


def write(path: Path, columns: dict[str, object]) -> Path:
    parquet.write_table(pyarrow.table(columns), path)
    return path


def strings(values: list[bytes]) -> object:
    """Arrow strings that nobody has checked."""
    return pyarrow.array(values, pyarrow.binary()).view(pyarrow.string())


def test_parquet_of_several_chunks(tmp_path: Path) -> None:
    chunks = pyarrow.chunked_array([["a", "b"], ["b", "c"]])
    path = write(tmp_path / "Have.parquet", {"x": chunks})
    database = Database()
    read_parquet(path, "Have", database, LIMITS)
    assert facts(database, Predicate("Have", 1)) == [("a",), ("b",), ("c",)]


@pytest.mark.parametrize("long", [0, 20, tables._LONG])
@given(st.lists(ROWS, max_size=6), st.booleans())
@settings(deadline=None, max_examples=60)
def test_chunks_of_any_length_are_one_table(
    long: int, chunks: list[list[tuple[str, str]]], encoded: bool
) -> None:
    batches = [
        pyarrow.record_batch(
            [
                array.dictionary_encode() if encoded else array
                for array in (pyarrow.array(column) for column in zip(*rows, strict=True))
            ],
            names=["x", "y"],
        )
        for rows in chunks
    ]
    schema = batches[0].schema if batches else pyarrow.schema({"x": "string", "y": "string"})
    database = Database()
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(tables, "_LONG", long)
        table = pyarrow.Table.from_batches(batches, schema)
        tables.add_table("a table", FACT, table, database, LIMITS)
    assert facts(database) == sorted({row for rows in chunks for row in rows})


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"a,b\nc\n", "row 2: 1 values, the first row has 2"),
        (b"a\n\xff\n", "row 2: this is not UTF-8"),
        ("a\ne\u0301\n".encode(), "row 2: the value `e\u0301` is not in Unicode's composed form"),
        (b"a\n" + b"x" * 1025 + b"\n", "over the limit value_bytes of 1024"),
        (b",".join([b"a"] * 9) + b"\n", "over the limit arity of 8"),
        (b'"a\n', "unexpected end of data"),
        (b"a\n\nb\n", 'row 2: no value; an empty one is written `""`'),
        (b'a,b\n"c"d,e\n', "row 2: ',' expected after"),
        (b"a,b\n,\n,,\n", "row 3: 3 values, the first row has 2"),
        ("\ufeffa\n".encode(), "row 1: the file begins with a byte order mark"),
        (b"x" * 2**20 + b"\n", "row 1: field larger than field limit"),
        (b'"' + b"x" * 2**20 + b'"\n', "row 1: field larger than field limit"),
    ],
    ids=[
        *("ragged", "not UTF-8", "not NFC", "long", "wide", "open quote"),
        *(
            "blank row",
            "text after a quote",
            "longer row",
            "mark",
            "very long",
            "very long, quoted",
        ),
    ],
)
def test_csv_that_is_refused(data: bytes, message: str) -> None:
    with pytest.raises(FactError) as caught:
        read_csv("Fact.csv", data, "Fact", Database(), LIMITS)
    assert str(caught.value).startswith("Fact.csv: ")
    assert message in str(caught.value)


def read_both_ways(data: bytes, limits: Limits = LIMITS) -> list[tuple[str, ...]] | str:
    """The facts of a CSV file or why it is refused, the same with and without the short way."""

    def outcome() -> list[tuple[str, ...]] | str:
        database = Database()
        try:
            read_csv("Fact.csv", data, "Fact", database, limits)
        except FactError as error:
            return str(error)
        return [row for predicate in database.predicates() for row in facts(database, predicate)]

    found = outcome()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tables, "_plain_values", lambda *_: None)
        assert outcome() == found
    return found


@given(
    st.one_of(
        st.binary(max_size=60),
        st.text(st.sampled_from('ab,"\n\r é\u0301\0'), max_size=60).map(str.encode),
        st.lists(st.tuples(st.text("ab é日", max_size=9), st.text("ab\0", max_size=9))).map(
            lambda rows: "".join(f"{one},{two}\n" for one, two in rows).encode()
        ),
    )
)
@settings(deadline=None, max_examples=300)
def test_any_bytes_are_facts_or_refused(data: bytes) -> None:
    read_both_ways(data)


@pytest.mark.parametrize(
    ("data", "rows"),
    [
        (b"", []),
        (b"a,b", [("a", "b")]),
        (b"a,b\na,b\nc,\n", [("a", "b"), ("c", "")]),
        (b'a,"b"\r\n"c,""d""",""\r\n', [("a", "b"), ('c,"d"', "")]),
        (b'"a\r\nb"\n', [("a\r\nb",)]),
        (b'""\n', [("",)]),
        (b"it's\\,#\n", [("it's\\", "#")]),
        ("é,日\n\0, x \n".encode(), [("\0", " x "), ("é", "日")]),
        # No value alone is wrong, though the text between them would be without its comma.
        ("e,\u0301\n".encode(), [("e", "\u0301")]),
    ],
    ids=[
        "empty",
        "no line end",
        "twice",
        "quotes",
        "breaks",
        "one empty",
        "plain",
        "wide",
        "marks",
    ],
)
def test_csv(data: bytes, rows: list[tuple[str, ...]]) -> None:
    assert read_both_ways(data) == rows


@pytest.mark.parametrize("name", ["", "not", "TextShape", "a.b", "9", "a b", "Fact\n", "é"])
def test_a_file_whose_name_is_no_predicate(tmp_path: Path, name: str) -> None:
    path = write(tmp_path / "some.parquet", {"x": ["a"]})
    with pytest.raises(FactError, match="named after a predicate"):
        read_csv("some.csv", b"a\n", name, Database(), LIMITS)
    with pytest.raises(FactError, match="named after a predicate"):
        read_parquet(path, name, Database(), LIMITS)


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"x": [1, 2]}, "the column 'x' is int64, and must be text"),
        ({"x": ["a", None]}, "has missing values"),
        ({"x": ["fine", "e\u0301"]}, "composed form"),
        ({"x": ["y" * 1025]}, "over the limit value_bytes"),
        ({str(n): ["a"] for n in range(9)}, "over the limit arity"),
        ({"x": [["a"]]}, "must be text"),
        ({"x": [b"a"]}, "the column 'x' is binary, and must be text"),
        ({}, "holds no facts"),
        ({"x": strings([b"fine", b"\xff"])}, "is not UTF-8"),
        ({"x": strings([b"\xc3", b"\xa9"])}, "is not UTF-8"),
    ],
    ids=[
        *("numbers", "null", "not NFC", "long", "wide"),
        *("lists", "bytes", "no column", "not UTF-8", "half letters"),
    ],
)
def test_parquet_that_is_refused(tmp_path: Path, columns: dict[str, object], message: str) -> None:
    path = write(tmp_path / "Fact.parquet", columns)
    with pytest.raises(FactError) as caught:
        read_parquet(path, "Fact", Database(), LIMITS)
    assert message in str(caught.value)


def test_a_file_that_is_no_parquet(tmp_path: Path) -> None:
    path = tmp_path / "Fact.parquet"
    path.write_bytes(b"PAR1 and then nothing")
    with pytest.raises(FactError, match="cannot be read"):
        read_parquet(path, "Fact", Database(), LIMITS)


@pytest.mark.parametrize(
    "column",
    [
        pyarrow.array(["é", "", "é", "x" * 30], pyarrow.large_string()),
        pyarrow.array(["é", "", "é", "x" * 30]).dictionary_encode(),
        pyarrow.chunked_array([["é"], [], ["", "é"], ["x" * 30]]),
        pyarrow.array(["never", "é", "", "x" * 30, "read"]).slice(1, 3),
    ],
    ids=["large strings", "dictionary", "chunks", "slice"],
)
@pytest.mark.parametrize("group", [1, 100])
def test_strings_of_every_kind(tmp_path: Path, column: object, group: int) -> None:
    path, database = tmp_path / "Fact.parquet", Database()
    parquet.write_table(pyarrow.table({"a": column, "b": column}), path, row_group_size=group)
    read_parquet(path, "Fact", database, LIMITS)
    assert facts(database) == [("", ""), ("x" * 30, "x" * 30), ("é", "é")]


def test_a_table_without_rows(tmp_path: Path) -> None:
    path = write(tmp_path / "Fact.parquet", {"x": pyarrow.array([], pyarrow.string())})
    database = Database()
    read_parquet(path, "Fact", database, LIMITS)
    assert facts(database, Predicate("Fact", 1)) == []


def test_marks_of_neighbours_do_not_make_a_letter(tmp_path: Path) -> None:
    path, database = write(tmp_path / "Fact.parquet", {"x": ["e", "\u0301"]}), Database()
    read_parquet(path, "Fact", database, LIMITS)
    assert facts(database, Predicate("Fact", 1)) == [("e",), ("\u0301",)]


def test_a_parquet_file_is_plain_sorted_text(tmp_path: Path) -> None:
    """Other tools see strings, and nothing of the values that the rows do not have."""
    database = Database()
    database.symbols.intern("a secret of another relation")
    for row in (("b", "é"), ("a", "z"), ("b", "a"), ("", "日")):
        database.add(FACT, [database.symbols.intern_all([value]) for value in row])
    path = tmp_path / "Fact.parquet"
    write_parquet(path, database.relation(FACT), database.symbols)
    table = parquet.read_table(path)
    assert table.schema.types == [pyarrow.string(), pyarrow.string()]
    assert [tuple(row.values()) for row in table.to_pylist()] == [
        *(("", "日"), ("a", "z"), ("b", "a"), ("b", "é"))
    ]
    assert b"secret" not in path.read_bytes()


def test_without_pyarrow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(FactError, match=r"install `lacec\[parquet\]`"):
        read_parquet(tmp_path / "Fact.parquet", "Fact", Database(), LIMITS)
    with pytest.raises(FactError, match=r"install `lacec\[parquet\]`"):
        write_parquet(tmp_path / "Fact.parquet", Relation([], 0), Database().symbols)


def test_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(FactError, match="cannot be read"):
        read_parquet(tmp_path / "Fact.parquet", "Fact", Database(), LIMITS)


@given(st.integers(0, 2**32), st.lists(st.tuples(st.integers(0, 2**16), st.integers(0, 255))))
@folder
def test_damaged_parquet_is_facts_or_refused(
    tmp_path: Path, length: int, changes: list[tuple[int, int]]
) -> None:
    path = write(
        tmp_path / "Fact.parquet", {"a": ["x", "é"] * 20, "b": [str(n) for n in range(40)]}
    )
    data = bytearray(path.read_bytes())
    for at, value in changes:
        data[at % len(data)] = value
    path.write_bytes(data if changes else data[: length % len(data)])
    with contextlib.suppress(FactError, LimitError):
        read_parquet(path, "Fact", Database(), LIMITS)


def test_too_many_rows(tmp_path: Path) -> None:
    limits = Limits(base_facts=2)
    with pytest.raises(LimitError):
        read_csv("Fact.csv", b"a\nb\nc\n", "Fact", Database(), limits)
    path = write(tmp_path / "Fact.parquet", {"x": ["a", "b", "c"]})
    with pytest.raises(LimitError):
        read_parquet(path, "Fact", Database(), limits)


def test_facts_without_values_have_no_table(tmp_path: Path) -> None:
    with pytest.raises(FactError):
        write_csv([()])
    with pytest.raises(FactError):
        write_parquet(tmp_path / "Zero.parquet", Relation([], 1), Database().symbols)
