"""Many peers at one listener: honest ones converge, whatever others do, and through a crash."""

import asyncio
import signal
from pathlib import Path
from time import monotonic

import pytest

from lacec.store.store import Store
from tests.cli.listening import Listening
from tests.runtime.iltp.crowd import Crowd
from tests.simulation.policies import EVERYTHING

SERVE = ("--store", "store", "--policy", "all.lace", "--expose", "all", "--memory", "32M")


def peak(pid: int) -> int:
    """The most memory that a process had, in bytes."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    (line,) = (line for line in lines if line.startswith("VmHWM:"))
    return int(line.split()[1]) * 1024


REFUSED = "outcome=malformed-stream"


def run(crowd: Crowd, patience: float) -> tuple[float, int]:
    """The seconds that it took, and the most memory of the listener."""
    folder = crowd.folder
    Store.create(folder / "store").close()
    (folder / "all.lace").write_text(EVERYTHING + "\n")
    serve = (*SERVE, "--listen", f"unix:{folder}/sock")
    listeners = [Listening(*serve, cwd=folder)]
    everything = crowd.everything()

    async def meet() -> int:
        async with asyncio.timeout(patience), crowd.around(f"{folder}/sock"):
            # In the middle of it: some have some of what others brought, nobody has all.
            while sum(crowd.have()) < crowd.honest * (crowd.records + len(everything)) // 2:
                await asyncio.sleep(0.02)
            most = peak(listeners[0].process.pid)
            listeners[0].stop(signal.SIGKILL)
            assert min(crowd.have()) < len(everything), "too late to be in the middle"
            crowd.rested.clear()
            listeners.append(Listening(*serve, cwd=folder))
            await crowd.until(len(everything))
            while crowd.hostile and not any(REFUSED in line for line in listeners[1].lines):
                await asyncio.sleep(0.1)
            return max(most, peak(listeners[1].process.pid))

    start = monotonic()
    try:
        most = asyncio.run(meet())
        seconds = monotonic() - start
        ended = listeners[1].stop()
    finally:
        for listener in listeners:
            listener.stop(signal.SIGKILL)
    assert ended.code == 0, ended.err
    assert {frozenset(peer.shelf.records) for peer in crowd.ends} == {frozenset(everything)}
    with Store.open(folder / "store") as store:
        assert store.verify() == []
        assert {hash for _, hash, _ in store.records()} == everything
    if crowd.hostile:
        assert REFUSED in ended.err
    assert "failed" not in ended.err
    return seconds, most


def test_a_small_crowd_converges(tmp_path: Path) -> None:
    crowd = Crowd(tmp_path, honest=12, slow=2, breaking=3, hostile=3, records=4)
    _, most = run(crowd, patience=120)
    assert most < 200 * 2**20


@pytest.mark.soak
def test_two_hundred_peers_converge(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    crowd = Crowd(tmp_path, honest=170, slow=20, breaking=30, hostile=30, records=1)
    seconds, most = run(crowd, patience=1500)
    assert most < 400 * 2**20
    with capsys.disabled():
        print(f"\n200 peers: {seconds:.0f} s, at most {most / 2**20:.0f} MiB in the listener")
