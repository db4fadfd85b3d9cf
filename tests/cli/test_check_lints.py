"""lacec check: lints, fixes, settings, watching."""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.cli.run import lacec, process_environment

SINGLETON = "A(P) :- Field(P,'Name',_,K).\n"
OFFERED = "SelectAdvertised(P,S) :- Advertised(P,S).\n"
SELECTOR = "SelectHave(P) :- Have(P).\n" + OFFERED + "B(P) :- Have(P).\n"
DECLASSIFIES = ["local-declassification"]


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def write(name: str, text: str) -> Path:
    path = Path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def names(*arguments: str) -> list[str]:
    document = lacec("check", "--json", *arguments).document
    return [found["name"] for found in document["diagnostics"]]


# Exit codes.


def test_lints_are_warnings_and_exit_with_0() -> None:
    write("a.lace", SINGLETON)
    outcome = lacec("check", "a.lace")
    assert outcome.code == 0
    assert outcome.out.startswith("warning[singleton-variable]: ")
    assert outcome.err == "1 warning in 1 file\n"


def test_strict_exits_with_1_for_warnings() -> None:
    write("a.lace", SINGLETON)
    assert lacec("check", "--strict", "a.lace").code == 1
    write("a.lace", "A(P) :- Have(P).\n")
    assert lacec("check", "--strict", "a.lace").code == 0


def test_compile_speaks_of_no_lints() -> None:
    write("a.lace", SINGLETON)
    assert lacec("compile", "a.lace", "--json").document["diagnostics"] == []


# Fixes.


def test_fix_makes_what_keeps_the_meaning_and_says_what_is_left() -> None:
    path = write("a.lace", "A(P) :- Field(P,'group',I,K), true, true.\nA(P) :- Have(P), Have(P).\n")
    outcome = lacec("check", "--fix", "a.lace")
    assert outcome.code == 0
    assert re.findall(r"warning\[(.+)\]", outcome.out) == ["unknown-field"]
    assert outcome.err == "fixed 5 problems in a.lace\n1 warning in 1 file\n"
    assert path.read_text(encoding="utf-8") == "A(P) :- Field(P,'group',_,_).\nA(P) :- Have(P).\n"


def test_fix_goes_on_until_there_is_nothing_left() -> None:
    """Two rules are equal only after both are fixed."""
    path = write("a.lace", "A(P) :- PlexHash(P,X).\nA(P) :- PlexHash(P,_), true.\n")
    lacec("check", "--fix", "a.lace")
    assert path.read_text(encoding="utf-8") == "A(P) :- PlexHash(P,_).\n"


def test_fix_touches_no_file_that_needs_none() -> None:
    path = write("a.lace", "A(P) :- Have(P).\n")
    before = path.stat()
    assert lacec("check", "--fix", "a.lace").err == "no problems in 1 file\n"
    assert (path.stat().st_ino, path.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


def test_fix_keeps_bytes_that_are_not_text() -> None:
    path = Path("a.lace")
    path.write_bytes(b"# caf\xe9\n" + SINGLETON.encode())
    lacec("check", "--fix", "a.lace")
    assert path.read_bytes() == b"# caf\xe9\nA(P) :- Field(P,'Name',_,_).\n"


def test_fix_leaves_linked_files_alone() -> None:
    write("a.lace", "A(P) :- B(P).\n")
    path = write("b.lace", "B(P) :- Field(P,'Name',_,K).\n")
    lacec("check", "--fix", "a.lace", "--with", "b.lace")
    assert path.read_text(encoding="utf-8") == "B(P) :- Field(P,'Name',_,K).\n"


@pytest.mark.parametrize("option", ["--fix", "--watch"])
def test_standard_input_can_be_neither_fixed_nor_watched(option: str) -> None:
    outcome = lacec("check", option, "-")
    assert outcome.code == 2
    assert "can be neither fixed nor watched" in outcome.err


# lace.toml.


def test_the_nearest_settings_count() -> None:
    write("lace.toml", 'facet = "selector"\n')
    write("inner/deep/a.lace", SELECTOR)
    assert names("inner/deep/a.lace") == ["unused-helper"]
    write("inner/lace.toml", "")
    assert names("inner/deep/a.lace") == []


def test_options_win_over_settings() -> None:
    write("lace.toml", 'facet = "selector"\n')
    write("a.lace", SELECTOR)
    assert names("a.lace", "--facet", "plain") == []


def test_tables_are_for_the_files_that_match() -> None:
    text = '[[files]]\nmatch = ["sel/*.lace"]\nfacet = "selector"\n'
    write("lace.toml", text)
    write("sel/a.lace", SELECTOR)
    write("a.lace", SELECTOR)
    assert names("sel/a.lace") == ["unused-helper"]
    assert names("a.lace") == []
    write("lace.toml", text + '[[files]]\nmatch = "*/a.lace"\nfacet = "plain"\n')
    assert names("sel/a.lace") == []


def test_levels() -> None:
    write("a.lace", SINGLETON)
    for level, code, said in (
        ("off", 0, "no problems"),
        ("info", 0, "1 remark"),
        ("warning", 0, "1 warning"),
        ("error", 1, "1 error"),
    ):
        write("lace.toml", f'[levels]\nsingleton-variable = "{level}"\n')
        outcome = lacec("check", "a.lace")
        assert (outcome.code, outcome.err) == (code, f"{said} in 1 file\n")


def test_a_table_changes_the_levels_that_it_names() -> None:
    top = '[levels]\nsingleton-variable = "off"\nrepeated-atom = "off"\n'
    write("lace.toml", top + '[[files]]\nmatch = "a.lace"\nlevels = {repeated-atom = "error"}\n')
    write("a.lace", "A(P) :- PlexHash(P,H), Peer(P), Peer(P).\n")
    assert names("a.lace") == ["repeated-atom"]


def test_linked_files_are_named_from_where_the_settings_are() -> None:
    write("lace.toml", 'with = ["shared/b.lace", "std:latest"]\n')
    write("shared/b.lace", "B(P) :- Have(P).\n")
    write(
        "inner/a.lace", "A(P) :- B(P), Cardinality(Newer(P,_),'<','9').\nCandidate(P,P) :- B(P).\n"
    )
    assert names("inner/a.lace") == []
    write("shared/b.lace", "B(P) :- Have(P)\n")
    found = lacec("check", "--json", "inner/a.lace").document["diagnostics"]
    assert [each["file"] for each in found] == [os.path.join("shared", "b.lace")]


def test_a_file_is_not_linked_with_itself() -> None:
    write("lace.toml", 'with = "a.lace"\n')
    write("a.lace", "A(P) :- Have(P).\n")
    assert names("a.lace") == []


def test_what_is_known_from_elsewhere() -> None:
    write("a.lace", "A(P) :- Chosen(P), Field(P,'Topic',_,_).\nB(P) :- Have(P).\n")
    assert names("a.lace") == ["undefined-predicate"]
    write("lace.toml", 'inputs = "Chosen/1"\noutputs = ["A/1"]\nfields = ["Subject"]\n')
    assert names("a.lace") == ["unknown-field", "unused-helper"]


def test_the_exposure_is_given_by_option_or_settings() -> None:
    write("a.lace", "SelectHave(P) :- Have(P), On().\nOn() :- Field(_,'App',_,'on').\n" + OFFERED)
    write("x.lace", "AllowQueryRecord(V,P) :- _Viewer(V), Field(P,'Group',_,'x').\n")
    assert names("a.lace", "--facet", "selector") == []
    assert names("a.lace", "--facet", "selector", "--expose", "x.lace") == DECLASSIFIES
    assert names("a.lace", "--facet", "selector", "--expose", "selected") == DECLASSIFIES
    assert names("a.lace", "--facet", "selector", "--expose", "all") == []
    write("lace.toml", 'facet = "selector"\nexpose = ["x.lace"]\n')
    assert names("a.lace") == DECLASSIFIES


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("facet = ", "lace.toml: "),
        ('facet = "x"', "`facet` is one of plain, selector, expose"),
        ("facets = 1", "it has no key `facets`"),
        ("with = 1", "`with` is a text or a list of texts"),
        ('inputs = ["A"]', "`inputs`: 'A' is not NAME/ARITY"),
        ("levels = 1", "`levels` is a table"),
        ('[levels]\nunbound-variable = "off"', "`unbound-variable` is not a warning"),
        ('[levels]\nnever-fires = "loud"', "the level of `never-fires` is one of off, info"),
        ("files = 1", "`files` is not a list of tables"),
        ("[[files]]\nmatch = 1", "`match` is a text or a list of texts"),
        ('[[files]]\nmatch = "other"\nfacet = "x"', "`facet` is one of"),
        ("x = " + "[" * 5000, "lace.toml: "),
        ("#" + "x" * 2**20, "it has more than 1048576 bytes"),
    ],
)
def test_wrong_settings_are_a_mistake_of_the_command_line(text: str, said: str) -> None:
    write("lace.toml", text)
    write("a.lace", SINGLETON)
    outcome = lacec("check", "a.lace")
    assert (outcome.code, outcome.out) == (2, "")
    assert said in outcome.err


def test_settings_that_are_not_text() -> None:
    Path("lace.toml").write_bytes(b"# \xff")
    write("a.lace", SINGLETON)
    assert "it is not UTF-8" in lacec("check", "a.lace").err


# Pages.


def test_explain_prints_the_page_of_a_lint() -> None:
    outcome = lacec("explain", "singleton-variable")
    assert outcome.code == 0
    assert outcome.out.startswith("# singleton-variable\n")
    assert lacec("explain", "--json", "never-fires").document["severity"] == "warning"


# Watching.


def test_watch_checks_again_when_a_file_changes() -> None:
    path = write("a.lace", SINGLETON)
    with (
        Path("said").open("wb") as said,
        subprocess.Popen(
            [sys.executable, "-m", "lacec", "check", "--watch", "a.lace"],
            stdout=subprocess.DEVNULL,
            stderr=said,
            env=process_environment(),
        ) as process,
    ):
        try:
            wait_for("1 warning in 1 file\n")
            path.write_text("A(P) :- Have(P)\n", encoding="utf-8")
            wait_for("1 error in 1 file\n")
            path.unlink()
            wait_for("cannot read a.lace: no such file or directory\n")
            path.write_text("A(P) :- Have(P).\n", encoding="utf-8")
            wait_for("no problems in 1 file\n")
            write("lace.toml", "facet = 1\n")
            wait_for("`facet` is one of plain, selector, expose\n")
            process.send_signal(signal.SIGINT)
            assert process.wait(30) == 130
        finally:
            process.kill()


def wait_for(line: str) -> None:
    """Until the last that was said is this line."""
    for _ in range(300):
        said = Path("said").read_text(encoding="utf-8")
        if said.endswith(line):
            return
        time.sleep(0.1)
    pytest.fail(f"nobody said {line!r} after {said!r}")


def test_watch_prints_text() -> None:
    write("a.lace", SINGLETON)
    assert lacec("check", "--watch", "--json", "a.lace").code == 2
