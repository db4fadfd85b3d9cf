"""Cursors on disk: kept whole, replaced whole, and worth nothing when damaged."""

from pathlib import Path

import pytest

from lacec.runtime.exchange.cursors import FileCursors
from lacec.runtime.interlace.advertisement import Advertisement, ClaimedField, Schema
from lacec.runtime.interlace.advertisements import Claims
from lacec.runtime.interlace.events import Cursor, Remember

LINK = "0" * 43
SCHEMA = Schema(frozenset(("App", "Type")))


def record(number: int) -> Advertisement:
    hash = f"P.{number:042}0.H3"
    return Advertisement(hash, "V.x.H3", (ClaimedField("App", 0, f"it's {number}\\"),))


ONE, TWO, THREE = record(1), record(2), record(3)


def new(*records: Advertisement, schema: Schema = SCHEMA) -> Remember:
    return Remember(LINK, Cursor(schema, Claims(records)))


def test_a_link_that_nobody_remembers_has_no_cursor(tmp_path: Path) -> None:
    assert FileCursors(tmp_path).recall(LINK) is None


@pytest.mark.parametrize("schema", [SCHEMA, Schema(every=True), Schema()])
def test_what_is_remembered_is_recalled(tmp_path: Path, schema: Schema) -> None:
    assert FileCursors(tmp_path).remember(new(ONE, TWO, schema=schema))
    found = FileCursors(tmp_path).recall(LINK)
    assert found == Cursor(schema, Claims((ONE, TWO)))


def test_a_cursor_of_nothing_is_a_cursor(tmp_path: Path) -> None:
    FileCursors(tmp_path).remember(new())
    assert FileCursors(tmp_path).recall(LINK) == Cursor(SCHEMA, Claims())


def test_a_cursor_takes_the_place_of_the_one_before(tmp_path: Path) -> None:
    cursors = FileCursors(tmp_path)
    cursors.remember(new(ONE, TWO))
    assert cursors.remember(new(TWO, THREE))
    found = cursors.recall(LINK)
    assert found is not None
    assert set(found.records) == {TWO.hash, THREE.hash}
    assert len(list((tmp_path / "cursors").iterdir())) == 1


@pytest.mark.parametrize("damage", [b"", b"x", b"\n", b"HelloAdvertisedField('App')\n\nx\n"])
def test_a_damaged_file_is_as_good_as_none(tmp_path: Path, damage: bytes) -> None:
    cursors = FileCursors(tmp_path)
    cursors.remember(new(ONE))
    (file,) = (tmp_path / "cursors").iterdir()
    file.write_bytes(damage)
    assert cursors.recall(LINK) is None
    assert FileCursors(tmp_path).recall(LINK) is None


def test_a_cursor_is_read_once_while_nobody_replaces_it(tmp_path: Path) -> None:
    cursors, others = FileCursors(tmp_path), FileCursors(tmp_path)
    cursors.remember(new(ONE))
    found = others.recall(LINK)
    assert found is not None
    assert others.recall(LINK) is found
    cursors.remember(new(TWO))
    again = others.recall(LINK)
    assert again is not None
    assert set(again.records) == {TWO.hash}
    kept = cursors.recall(LINK)
    assert kept is not None
    assert kept.records == again.records


def test_a_cursor_that_cannot_be_written_is_not_kept(tmp_path: Path) -> None:
    (tmp_path / "cursors").write_text("in the way\n")
    assert not FileCursors(tmp_path).remember(new(ONE))
