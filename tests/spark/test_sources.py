"""Sources: what is read in parts is what is read whole."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lacec.core.errors import SparkError
from lacec.records.limits import DEFAULT_RECORD_LIMITS
from lacec.records.record import Record
from lacec.spark import sources
from lacec.spark.sources import find_units
from lacec.spark.worker import FilePart, Part, TablePart, read_parts
from lacec.store.importing import Refused
from tests.helpers import examples
from tests.records import made
from tests.spark.samples import hostile_streams, write_streams, write_table
from tests.store.samples import samples
from tests.store.test_import import stream_of

LIMITS = DEFAULT_RECORD_LIMITS


def parts_of(folder: Path, *paths: Path, column: str | None = None) -> list[Part]:
    units = find_units(list(paths), folder, column, LIMITS)
    return [part for unit in units for part in unit.parts]


@given(st.integers(0, len(hostile_streams()) - 1), st.integers(1, 3000), st.integers(1, 4000))
@examples(150)
def test_a_file_in_parts_has_what_the_whole_has(
    tmp_path_factory: pytest.TempPathFactory, chosen: int, size: int, window: int
) -> None:
    """Records and refusals, offsets and all, wherever it is cut."""
    folder = tmp_path_factory.mktemp("parts")
    path = folder / "stream"
    path.write_bytes(stream_of(list(samples()[:9])) + hostile_streams()[chosen])
    whole = list(read_parts([FilePart(str(path), str(path), 0, None)], LIMITS))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sources, "UNIT_BYTES", size)
        patch.setattr(sources, "_WINDOW", window)
        parts = parts_of(folder, path)
    assert size > 1500 or len(parts) > 1
    assert list(read_parts(parts, LIMITS)) == whole


def test_units_are_of_about_one_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = write_streams(tmp_path / "records", [made.seal().data] * 40)
    monkeypatch.setattr(sources, "UNIT_BYTES", 50_000)
    units = find_units([folder], tmp_path, None, LIMITS)
    assert sum(len(unit.parts) for unit in units) == 40
    assert [len(unit.parts) for unit in units] == [10, 10, 10, 10]
    monkeypatch.setattr(sources, "MOST_UNITS", 2)
    assert len(find_units([folder], tmp_path, None, LIMITS)) == 2


def test_a_table_is_divided_at_its_row_groups(tmp_path: Path) -> None:
    values: list[bytes | None] = [record.data for record in samples()]
    table = write_table(tmp_path / "some.parquet", values, rows=10)
    parts = parts_of(tmp_path, table)
    assert [part.row for part in parts if isinstance(part, TablePart)] == [1, 11, 21]
    assert list(read_parts(parts, LIMITS)) == list(samples())


def test_a_folder_of_a_table_has_files_that_are_no_part_of_it(tmp_path: Path) -> None:
    (tmp_path / "table").mkdir()
    write_table(tmp_path / "table" / "part-0.parquet", [made.seal().data])
    for name in ("_SUCCESS", ".part-0.parquet.crc"):
        (tmp_path / "table" / name).write_bytes(b"")
    assert list(read_parts(parts_of(tmp_path, tmp_path / "table"), LIMITS)) == [made.seal()]
    # In any other folder they are files as others are, and one of nothing is refused.
    (tmp_path / "table" / "part-0.parquet").unlink()
    found = list(read_parts(parts_of(tmp_path, tmp_path / "table"), LIMITS))
    assert [each.name for each in found if isinstance(each, Refused)] == ["truncated"] * 2


def test_a_row_without_bytes_is_refused(tmp_path: Path) -> None:
    table = write_table(tmp_path / "some.parquet", [None, b"", made.blob().data])
    found = list(read_parts(parts_of(tmp_path, table), LIMITS))
    assert [(each.source, each.name) for each in found if isinstance(each, Refused)] == [
        (f"{table}, row 1", "truncated"),
        (f"{table}, row 2", "truncated"),
    ]
    assert [each for each in found if isinstance(each, Record)] == [made.blob()]


def test_the_column_of_bytes_is_the_only_one_or_named(tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    data = made.seal().data
    columns = {"a": [data], "b": [b"x"], "n": [1]}
    pq.write_table(pa.table(columns), tmp_path / "two.parquet")
    assert list(read_parts(parts_of(tmp_path, tmp_path / "two.parquet", column="a"), LIMITS)) == [
        made.seal()
    ]
    for column, said in (
        (None, "which column has the records"),
        ("n", "is int64, and must be bytes"),
        ("z", "there is no column `z`"),
    ):
        with pytest.raises(SparkError, match=said):
            parts_of(tmp_path, tmp_path / "two.parquet", column=column)


def test_a_damaged_table_is_an_error_and_a_damaged_page_a_refusal(tmp_path: Path) -> None:
    values: list[bytes | None] = [record.data for record in samples()]
    table = write_table(tmp_path / "some.parquet", values)
    sound = table.read_bytes()
    table.write_bytes(sound[:200])
    with pytest.raises(SparkError, match="cannot be read as a Parquet file"):
        parts_of(tmp_path, table)
    table.write_bytes(sound[:300] + b"\xff" * 2000 + sound[2300:])
    found = list(read_parts(parts_of(tmp_path, table), LIMITS))
    assert {each.name for each in found if isinstance(each, Refused)} & {"unreadable"}
