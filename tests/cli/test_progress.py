"""How far an exchange is: on standard error, and only when it takes more than a moment."""

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from lacec.cli import progress
from lacec.store.store import Store
from tests.cli.run import lacec, process_environment
from tests.runtime.interlace.solo import plex
from tests.simulation.policies import EVERYTHING

RUN = ("run-interlace", "--left", "left", "--right", "right", "--policy", "all.lace")
JSON = (*RUN, "--expose", "all", "--json")


@pytest.fixture(autouse=True)
def stores(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name, records in (("left", [plex(f"n{n}") for n in range(40)]), ("right", [])):
        with Store.create(name) as store:
            store.add(records)
    Path("all.lace").write_text(EVERYTHING + "\n")


def test_an_exchange_of_a_moment_says_nothing() -> None:
    assert lacec(*JSON).err == ""


def test_elsewhere_than_on_a_terminal_lines_are_plain(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("A_MOMENT", "LOOKS", "RARELY"):
        monkeypatch.setattr(progress, name, 0.0)
    outcome = lacec(*JSON)
    lines = outcome.err.splitlines()
    assert len(outcome.document["right"]["received_hashes"]) == 40
    assert any(line.startswith("left: transfer, 0 records") for line in lines)
    assert any("right: evaluate, 40 records" in line for line in lines)
    assert "\x1b" not in outcome.err


def test_a_dry_run_says_how_far_it_is_too(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("A_MOMENT", "LOOKS", "RARELY"):
        monkeypatch.setattr(progress, name, 0.0)
    assert "right: evaluate, 40 records" in lacec(*JSON, "--dry-run").err


def test_a_terminal_shows_a_line_that_changes() -> None:
    """The document is on standard output, and nothing else."""
    program = (
        "import sys; from lacec.cli import progress, run; progress.A_MOMENT = progress.LOOKS = 0; "
    )
    master, terminal = pty.openpty()
    result = subprocess.run(
        [sys.executable, "-c", f"{program} run(sys.argv[1:])", *JSON],
        stdout=subprocess.PIPE,
        stderr=terminal,
        env=process_environment(),
        check=False,
    )
    os.close(terminal)
    shown = os.read(master, 2**20)
    os.close(master)
    assert result.returncode == 0
    assert result.stdout.startswith(b'{\n  "left"')
    assert b"bytes in" in shown
    assert b"\x1b[" in shown
