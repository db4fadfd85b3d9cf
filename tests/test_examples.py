"""The examples: the demo runs, and its selectors are what they say."""

import os
import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

from lacec.facets import Facet
from lacec.pipeline import check_sources

EXAMPLES = Path(__file__).parent.parent / "examples"
SELECTORS = [
    "members.lace",
    "ours.lace",
    "hostile/ours.lace",
    "hostile/theirs.lace",
    "membership/posts.lace",
    "receipts/receive.lace",
    "receipts/send.lace",
    "sharing/phone.lace",
    "sharing/server.lace",
    "window/notices.lace",
]


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


@pytest.mark.parametrize("name", SELECTORS)
def test_selectors_have_no_problems(name: str) -> None:
    assert check_sources([(name, (EXAMPLES / name).read_bytes())], Facet.SELECTOR) == ()


STORIES = sorted(path.stem for path in (EXAMPLES.parent / "docs" / "stories").glob("*.md"))


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
