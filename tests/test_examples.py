"""The examples: the demo runs, and policies pass their checks and their tests."""

import os
import re
import runpy
import subprocess
import sys
from pathlib import Path
from unittest.mock import ANY

import pytest

from tests.cli.run import lacec

EXAMPLES = Path(__file__).parent.parent / "examples"
STORIES = sorted(path.stem for path in (EXAMPLES.parent / "docs" / "stories").glob("*.md"))
FOLDERS = sorted(path.name for path in EXAMPLES.iterdir() if path.is_dir())


def test_the_demo_runs() -> None:
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    result = subprocess.run(
        ["sh", str(EXAMPLES / "demo.sh")],
        env={**os.environ, "PATH": path, "NO_COLOR": "1"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
    )
    assert (result.returncode, result.stderr) == (0, b"")
    shown = result.stdout.decode()
    assert "left → right  the record would move" in shown
    assert "right → left  the record would not be sent" in shown
    assert shown.count("converged after") == 2
    assert re.search(r"\nthe same: [0-9]+ messages\n\n$", shown)
    readme = (EXAMPLES.parent / "README.md").read_text(encoding="utf-8")
    part = re.search(r"^```demo\n((?s:.*?))^```$", readme, re.MULTILINE)
    assert part is not None
    assert part[1] in shown, "the README shows a part of it"


@pytest.mark.parametrize("name", [*FOLDERS, "members.lace", "ours.lace"])
def test_policies_have_no_problems(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(EXAMPLES)
    assert lacec("check", "--strict", name) == (0, "", ANY)


def test_every_story_passes_its_tests_and_they_use_every_rule(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(EXAMPLES)
    tested = lacec("test", "--strict", "--json")
    assert tested.code == 0, tested.out
    assert {file["file"].partition("/")[0] for file in tested.document["files"]} >= set(STORIES)


@pytest.mark.parametrize("story", STORIES)
def test_a_story_shows_its_policies_as_they_are(story: str) -> None:
    page = (EXAMPLES.parent / "docs" / "stories" / f"{story}.md").read_text(encoding="utf-8")
    policies = list((EXAMPLES / story).glob("*.lace"))
    assert policies
    for path in policies:
        assert f"\n```lace\n{path.read_text(encoding='utf-8')}```\n" in page, path.name


def test_the_records_of_the_stories_are_those_that_the_script_writes() -> None:
    written = dict(runpy.run_path(str(EXAMPLES / "stories.py"))["files"]())
    assert written.keys() == set(EXAMPLES.glob("*/*.records"))
    for path, data in written.items():
        assert path.read_bytes() == data, path.name
