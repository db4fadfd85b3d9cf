"""Unsaved text over the disk, and what is read again when."""

import os
from pathlib import Path

from lacec.core.predicates import Predicate
from lacec.lsp.workspace import Desk
from lacec.pipeline import lint_sources
from lacec.syntax import parse as parsing
from tests.bench.language import policy

ONE = "Selected(P) :- Have(P).\n"


def test_nothing_is_done_while_nothing_changes(tmp_path: Path) -> None:
    desk = Desk()
    path = str(tmp_path / "a.lace")
    desk.put(path, ONE)
    first = desk.analysis(path)
    assert desk.analysis(path) is first
    desk.put(path, ONE + "\n")
    assert desk.analysis(path) is not first


def test_a_changed_line_does_not_parse_the_file_again(tmp_path: Path) -> None:
    desk = Desk()
    path = str(tmp_path / "a.lace")
    lines = policy(64).split("\n")
    desk.put(path, "\n".join(lines))
    desk.analysis(path)
    before = parsing._parse_cached.cache_info().misses
    lines[9] = lines[9].replace("'g1'", "'another group'")
    desk.put(path, "\n".join(lines))
    analysis = desk.analysis(path)
    assert parsing._parse_cached.cache_info().misses == before + 1
    assert analysis.diagnostics == lint_sources([(path, "\n".join(lines))])


def test_what_is_given_up_half_way_is_not_known(tmp_path: Path) -> None:
    desk = Desk()
    path = str(tmp_path / "a.lace")
    desk.put(path, ONE)
    steps = desk.steps(path)
    next(steps)
    steps.close()
    assert desk.linked_to(path) == []
    assert desk.analysis(path).source.source.lines[0] == ONE.strip()


def test_files_and_settings_on_the_disk_are_read_again_when_they_change(tmp_path: Path) -> None:
    desk = Desk([str(tmp_path)])
    mine, shared = tmp_path / "mine.lace", tmp_path / "shared.lace"
    settings = tmp_path / "lace.toml"
    mine.write_text("Selected(P) :- Have(P), Member(P).\n", encoding="utf-8")
    shared.write_text("Member(P) :- Have(P).\n", encoding="utf-8")
    assert [each.name for each in desk.analysis(str(mine)).diagnostics] == ["undefined-predicate"]
    settings.write_text('with = "shared.lace"\n', encoding="utf-8")
    assert desk.analysis(str(mine)).diagnostics == ()
    shared.write_text("Other(P) :- Have(P).\n", encoding="utf-8")
    os.utime(shared, (1, 1))
    assert [each.name for each in desk.analysis(str(mine)).diagnostics] == ["undefined-predicate"]
    settings.write_text("wi", encoding="utf-8")
    assert "lace.toml" in (desk.analysis(str(mine)).trouble or "")
    assert desk.files() == [str(mine), str(shared)]


def test_a_name_is_shared_along_linked_files_and_no_further(tmp_path: Path) -> None:
    desk = Desk([str(tmp_path)])
    for name, text in {
        "lace.toml": '[[files]]\nmatch = "[ab].lace"\nwith = "shared.lace"\n',
        "a.lace": "A(P) :- Member(P).\n",
        "b.lace": "B(P) :- Member(P).\n",
        "shared.lace": "Member(P) :- Have(P).\n",
        "alone.lace": "Member(P) :- Have(P).\n",
    }.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    found = desk.occurrences(str(tmp_path / "a.lace"), Predicate("Member", 1))
    names = [(Path(place.file).name, defines) for place, defines in found.items()]
    assert sorted(names) == [("a.lace", False), ("b.lace", False), ("shared.lace", True)]
