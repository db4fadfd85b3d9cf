"""lacec run-interlace --open: it stays, other processes write, and signals end it."""

import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic, sleep

import pytest

from lacec.cli.progress import PHASES
from lacec.runtime.interlace.state import State
from lacec.store.store import Store
from tests.cli.run import lacec, process_environment
from tests.runtime.interlace.solo import plex
from tests.simulation.policies import EVERYTHING, LATER

RUN = ("run-interlace", "--left", "left", "--right", "right", "--expose", "all")
OPEN = (*RUN, "--policy", "all.lace", "--open")
FIRST, SECOND = plex("first"), plex("second")
PATIENCE = 60.0


@pytest.fixture(autouse=True)
def stores(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name, records in (("left", [FIRST]), ("right", [])):
        with Store.create(name) as store:
            store.add(records)
    Path("all.lace").write_text(EVERYTHING + "\n")
    Path("later.lace").write_text(LATER + "\n")
    Path("second").write_bytes(SECOND.data)


def stored(name: str) -> set[str]:
    with Store.open(name, read_only=True) as store:
        return {hash for _, hash, _ in store.records()}


def wait_until(holds: Callable[[], bool]) -> None:
    end = monotonic() + PATIENCE
    while not holds():
        assert monotonic() < end, "it did not happen"
        sleep(0.05)


@contextmanager
def running(*arguments: str) -> Iterator[subprocess.Popen[bytes]]:
    with subprocess.Popen(
        [sys.executable, "-m", "lacec", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=process_environment(),
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def test_what_another_process_stores_moves() -> None:
    """050 Open exchanges; Ctrl-C ends it at a fixed point, with the results and 130."""
    with running(*OPEN) as process:
        wait_until(lambda: stored("right") == {FIRST.hash})
        added = subprocess.run(
            [sys.executable, "-m", "lacec", "store", "import", "right", "second"],
            env=process_environment(),
            check=False,
        )
        assert added.returncode == 0
        wait_until(lambda: stored("left") == {FIRST.hash, SECOND.hash})
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130, err
    assert b"converged" in out
    assert err.count(b"at rest") == 2, "once at the beginning, once when a record had moved"


def test_a_record_that_is_removed_comes_back() -> None:
    """A store can tell of what goes, too: the other side still offers it."""
    with running(*OPEN) as process:
        wait_until(lambda: stored("right") == {FIRST.hash})
        with Store.open("left") as left:
            left.remove([FIRST.hash])
        wait_until(lambda: stored("left") == {FIRST.hash})
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=PATIENCE)
    assert process.returncode == 0


def test_sigterm_closes_it_cleanly() -> None:
    with running(*OPEN, "--json") as process:
        wait_until(lambda: stored("right") == {FIRST.hash})
        process.send_signal(signal.SIGTERM)
        out, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, err
    assert b'"converged": true' in out


def test_signals_that_come_together_leave_the_results() -> None:
    """Both are there before the exchange can end for the first."""
    with running(*OPEN) as process:
        wait_until(lambda: stored("right") == {FIRST.hash})
        for each in (signal.SIGSTOP, signal.SIGTERM, signal.SIGINT, signal.SIGCONT):
            process.send_signal(each)
        out, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130, err
    assert b"right" in out


def test_it_ends_when_its_time_is_over() -> None:
    outcome = lacec(*OPEN, "--for", "0.3s", "--json")
    assert outcome.code == 0
    assert outcome.document["right"]["received_hashes"] == [FIRST.hash]
    assert outcome.document["left"]["converged"]


def test_ticks_move_time_on() -> None:
    """050 Ticks: what a policy selects later moves later."""
    later = (*RUN, "--policy", "later.lace")
    assert lacec(*later).code == 0
    assert stored("right") == set()
    assert lacec(*later, "--open", "--tick", "0.2s", "--for", "2s").code == 0
    assert stored("right") == {FIRST.hash}


@pytest.mark.parametrize(
    "arguments",
    [
        (*OPEN, "--dry-run"),
        (*RUN, "--policy", "all.lace", "--for", "1s"),
        (*RUN, "--policy", "all.lace", "--tick", "1s"),
        (*OPEN, "--for", "soon"),
        (*OPEN, "--for", "0s"),
        (*OPEN, "--tick", "1d"),
    ],
)
def test_a_wrong_command_line(arguments: tuple[str, ...]) -> None:
    outcome = lacec(*arguments)
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err


def test_every_state_has_a_phase() -> None:
    assert set(PHASES) == set(State)
