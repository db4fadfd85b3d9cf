"""lacec fmt: white space in order, in place, and never a file lost."""

import os
from pathlib import Path

import pytest

from tests.cli.run import lacec

UNTIDY = """\


  # a comment
#:json   {"label": "all" }
Selected( P ):-Have(P),not  Blocked( P ) .



\tBlocked(P):-Field(P , 'App',_,'blocked').
"""
TIDY = """\
# a comment
#:json {"label": "all" }
Selected(P) :- Have(P), not Blocked(P).

Blocked(P) :- Field(P,'App',_,'blocked').
"""
BROKEN = "Selected( P ):-Have(P)\n"


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def write(name: str, text: str) -> Path:
    path = Path(name)
    path.write_text(text, encoding="utf-8", newline="")
    return path


def test_formats_in_place_and_says_so() -> None:
    path = write("policy.lace", UNTIDY)
    assert lacec("fmt", "policy.lace") == (0, "", "reformatted policy.lace\n")
    assert path.read_text(encoding="utf-8") == TIDY


def test_a_tidy_file_is_not_touched() -> None:
    path = write("policy.lace", TIDY)
    before = path.stat()
    assert lacec("fmt", "policy.lace") == (0, "", "")
    after = path.stat()
    assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


def test_formatting_twice_changes_nothing_more() -> None:
    write("policy.lace", UNTIDY)
    lacec("fmt", "policy.lace")
    assert lacec("fmt", "policy.lace", "--check") == (0, "", "")


def test_the_identity_stays() -> None:
    before = lacec("compile", "-", "--json", source=UNTIDY).document
    after = lacec("compile", "-", "--json", source=TIDY).document
    assert before["id"] == after["id"]
    assert [rule["annotations"] for rule in before["rules"]] == [
        rule["annotations"] for rule in after["rules"]
    ]


def test_check_changes_nothing_and_exits_with_1() -> None:
    path = write("untidy.lace", UNTIDY)
    write("tidy.lace", TIDY)
    assert lacec("fmt", "--check", "untidy.lace", "tidy.lace") == (
        1,
        "would reformat untidy.lace\n",
        "",
    )
    assert path.read_text(encoding="utf-8") == UNTIDY


def test_standard_input_goes_to_standard_output() -> None:
    assert lacec("fmt", "-", source=UNTIDY) == (0, TIDY, "")
    assert lacec("fmt", "-", source=TIDY) == (0, TIDY, "")
    assert list(Path().iterdir()) == []


def test_check_of_standard_input() -> None:
    assert lacec("fmt", "--check", "-", source=UNTIDY) == (1, "would reformat <stdin>\n", "")
    assert lacec("fmt", "--check", "-", source=TIDY) == (0, "", "")


def test_text_that_is_not_ascii_is_kept() -> None:
    source = "# für 字 💥\nGroup( 'é\\'\\\\' ) :- true.\n"
    assert lacec("fmt", "-", source=source).out == "# für 字 💥\nGroup('é\\'\\\\') :- true.\n"


def test_an_empty_source_stays_empty() -> None:
    assert lacec("fmt", "-", source="") == (0, "", "")
    assert lacec("fmt", "-", source="\n\n  \n") == (0, "", "")


def test_a_broken_file_is_reported_and_left_alone() -> None:
    broken = write("broken.lace", BROKEN)
    untidy = write("untidy.lace", UNTIDY)
    outcome = lacec("fmt", "broken.lace", "untidy.lace")
    assert (outcome.code, outcome.out) == (1, "")
    assert outcome.err.startswith("error[missing-full-stop]: ")
    assert outcome.err.endswith("reformatted untidy.lace\n")
    assert broken.read_text(encoding="utf-8") == BROKEN
    assert untidy.read_text(encoding="utf-8") == TIDY


def test_broken_standard_input_gives_no_output() -> None:
    outcome = lacec("fmt", "-", source=BROKEN)
    assert (outcome.code, outcome.out) == (1, "")
    assert outcome.err.startswith("error[missing-full-stop]: ")


def test_errors_of_meaning_do_not_stop_formatting() -> None:
    source = "Have( P ) :- not Other(V).\n"
    assert lacec("check", "-", source=source).code == 1
    assert lacec("fmt", "-", source=source) == (0, "Have(P) :- not Other(V).\n", "")


@pytest.mark.parametrize("mode", [0o600, 0o644, 0o755])
def test_the_mode_of_the_file_is_kept(mode: int) -> None:
    path = write("policy.lace", UNTIDY)
    path.chmod(mode)
    assert lacec("fmt", "policy.lace").code == 0
    assert path.stat().st_mode & 0o777 == mode


def test_nothing_is_left_beside_the_file() -> None:
    write("policy.lace", UNTIDY)
    lacec("fmt", "policy.lace")
    assert [path.name for path in Path().iterdir()] == ["policy.lace"]


def test_a_link_to_a_file_stays_a_link() -> None:
    target = write("policy.lace", UNTIDY)
    link = Path("link.lace")
    link.symlink_to("policy.lace")
    assert lacec("fmt", "link.lace").code == 0
    assert os.readlink(link) == "policy.lace"
    assert target.read_text(encoding="utf-8") == TIDY


def test_a_folder_stands_for_the_files_below_it() -> None:
    Path("policies").mkdir()
    path = write("policies/a.lace", UNTIDY)
    assert lacec("fmt", "policies").code == 0
    assert path.read_text(encoding="utf-8") == TIDY
