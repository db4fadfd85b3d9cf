"""The examples: the demo runs, and its selectors are what they say."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from lacec.facets import Facet
from lacec.pipeline import check_sources

EXAMPLES = Path(__file__).parent.parent / "examples"
SELECTORS = ["members.lace", "ours.lace", "receipts/receive.lace", "receipts/send.lace"]


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


def test_the_page_shows_the_policies_of_receipts_as_they_are() -> None:
    page = (EXAMPLES.parent / "docs" / "receipts.md").read_text(encoding="utf-8")
    for name in ("receive", "send"):
        policy = (EXAMPLES / "receipts" / f"{name}.lace").read_text(encoding="utf-8")
        assert f"\n```\n{policy}```\n" in page
