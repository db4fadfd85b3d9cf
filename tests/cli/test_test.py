"""lacec test: which files it finds, what it prints, how it ends."""

from pathlib import Path
from xml.etree import ElementTree

import pytest

from lacec.cli.commands import test as command
from lacec.core.resources import ROOT
from tests.cli.run import lacec

PASSES = "[[test]]\nname = \"it is\"\nfacts = \"Have('S.1')\"\nis.selected = ['S.1']\n"
FAILS = PASSES.replace("it is", "it is not").replace("['S.1']", "['S.2']")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a").mkdir()
    for name in ("p", "a/q"):
        (tmp_path / f"{name}.lace").write_text("Selected(P) :- Have(P).\n", encoding="utf-8")
    (tmp_path / "p.test.toml").write_text(PASSES, encoding="utf-8")
    return tmp_path


def test_tests_are_found_by_file_policy_and_folder(folder: Path) -> None:
    (folder / "a" / "q.test.toml").write_text(PASSES, encoding="utf-8")
    (folder / ".hidden").mkdir()
    (folder / ".hidden" / "x.test.toml").write_text("wrong", encoding="utf-8")
    assert command.find_tests(["."]) == ["p.test.toml", "a/q.test.toml"]
    assert command.find_tests(["p.lace", "./p.test.toml", "a/../p.lace"]) == ["p.test.toml"]


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("a", "there are no tests below a; write the tests of NAME.lace into NAME.test.toml"),
        ("a/q.lace", "there is no a/q.test.toml; write the tests of NAME.lace"),
        ("q.toml", "q.toml is neither a folder, a policy nor a *.test.toml file"),
    ],
)
def test_without_tests_it_says_what_to_do(path: str, said: str) -> None:
    outcome = lacec("test", path)
    assert (outcome.code, outcome.out) == (2, "")
    assert said in outcome.err


def test_all_pass() -> None:
    outcome = lacec("test")
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out == "p.lace  1 of 1 rule derived something\n1 passed, 0 failed\n"


def test_files_run_in_processes_of_their_own_and_in_order(folder: Path) -> None:
    (folder / "a" / "q.test.toml").write_text(FAILS, encoding="utf-8")
    outcome = lacec("test", "--jobs", "2", "--json")
    assert outcome.code == 1
    assert [file["file"] for file in outcome.document["files"]] == ["p.test.toml", "a/q.test.toml"]
    assert (outcome.document["passed"], outcome.document["failed"]) == (1, 1)


def test_json_has_every_difference_with_its_reason(folder: Path) -> None:
    (folder / "p.test.toml").write_text(FAILS, encoding="utf-8")
    outcome = lacec("test", "--json")
    assert (outcome.code, outcome.err) == (1, "")
    (file,) = outcome.document["files"]
    (failure,) = file["tests"][0]["failures"]
    assert (failure["how"], failure["what"], failure["line"]) == ("is", "selected", 4)
    (missing,) = failure["missing"]
    assert missing["fact"] == "Selected('S.2')"
    assert missing["why_not"]["goals"][0]["rules"][0]["text"] == "Have('S.2')"
    (extra,) = failure["unexpected"]
    assert extra["why"]["steps"][0]["rule"]["line"] == 1
    assert outcome.document["coverage"] == [{"file": "p.lace", "rules": 1, "never": []}]


def test_strict_wants_every_rule_to_derive_something(folder: Path) -> None:
    with (folder / "p.lace").open("a") as file:
        file.write("Other(P) :- Field(P,_,_,_).\n")
    assert lacec("test").code == 0
    outcome = lacec("test", "--strict")
    assert outcome.code == 1
    assert "p.lace:2  never: Other(P) :- Field(P,_,_,_).\n" in outcome.out


def test_junit_xml_has_a_case_for_each_test(folder: Path) -> None:
    (folder / "p.test.toml").write_text(PASSES + FAILS, encoding="utf-8")
    (folder / "a" / "q.test.toml").write_text("wrong", encoding="utf-8")
    assert lacec("test", "--jobs", "1", "--junit", "out.xml").code == 1
    first, second = ElementTree.parse("out.xml").getroot()
    assert (first.get("tests"), first.get("failures"), first.get("errors")) == ("2", "1", "0")
    assert (second.get("tests"), second.get("errors")) == ("1", "1")
    failure = first[1].find("failure")
    assert failure is not None
    assert "- Selected('S.2')  is missing" in (failure.text or "")


def test_junit_xml_that_cannot_be_written_is_told() -> None:
    outcome = lacec("test", "--junit", "no/out.xml")
    assert outcome.code == 2
    assert "cannot write no/out.xml" in outcome.err


def test_a_file_that_cannot_be_run_does_not_stop_others(folder: Path) -> None:
    (folder / "a" / "q.test.toml").write_text("wrong", encoding="utf-8")
    outcome = lacec("test", "--jobs", "1")
    assert outcome.code == 1
    assert "error[bad-test]: this is not TOML" in outcome.out
    assert "1 passed, 0 failed, 1 file cannot be run\n" in outcome.out


def test_a_file_that_cannot_be_read_does_not_stop_others(folder: Path) -> None:
    (folder / "a" / "q.test.toml").symlink_to("nowhere")
    outcome = lacec("test", "--jobs", "1", "--json")
    assert (outcome.code, outcome.err) == (1, "")
    (problem,) = outcome.document["diagnostics"]
    assert problem["message"] == "cannot read a/q.test.toml: no such file or directory"
    assert outcome.document["passed"] == 1


def test_limits_hold_for_tests_and_for_exchanges_of_tests(folder: Path) -> None:
    (folder / "p.lace").write_text(
        "SelectHave(P) :- Have(P).\nSelectAdvertised(P,S) :- Advertised(P,S).\n", encoding="utf-8"
    )
    exchange = """\
[records]
a = { group = "u", app = "a", name = "n" }
[[exchange]]
name = "it moves"
left = { stored = ["a"], expose = ["all"] }
right = {}
is.to_right = ["$a"]
"""
    (folder / "p.test.toml").write_text(PASSES + exchange, encoding="utf-8")
    assert lacec("test", "--limit", "base_facts=100").code == 0
    outcome = lacec("test", "--limit", "base_facts=0", "--json")
    assert outcome.code == 1
    for test in outcome.document["files"][0]["tests"]:
        assert "base facts" in test["error"]
    unknown = lacec("test", "--limit", "max_loop_iterations=3")
    assert (unknown.code, unknown.out) == (2, "")


def test_watch_tests_again_when_a_policy_changes(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rounds: list[None] = []

    def pause() -> None:
        rounds.append(None)
        if len(rounds) == 1:
            (folder / "p.lace").write_text("Selected(P) :- Field(P,_,_,_).\n", encoding="utf-8")
        if len(rounds) == 3:
            raise KeyboardInterrupt

    monkeypatch.setattr("lacec.cli.watch.pause", pause)
    outcome = lacec("test", "--watch")
    assert outcome.out.count("passed") == 2
    assert "1 passed, 0 failed" in outcome.out
    assert "0 passed, 1 failed" in outcome.out


def test_watch_prints_text_alone() -> None:
    outcome = lacec("test", "--watch", "--json")
    assert (outcome.code, outcome.out) == (2, "")


def test_the_standard_library_passes_its_tests_and_they_reach_every_rule() -> None:
    outcome = lacec("test", str(ROOT / "stdlib"), "--jobs", "1", "--strict")
    assert outcome.code == 0, outcome.out
    modules = {path.stem for path in (ROOT / "stdlib").glob("*.lace")}
    tests = (ROOT / "stdlib").glob("*.test.toml")
    assert {path.name.removesuffix(".test.toml") for path in tests} == modules
