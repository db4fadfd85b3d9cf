"""lacec run-interlace --record, and lacec replay."""

from pathlib import Path

import pytest

from lacec.store.store import Store
from tests.cli.run import lacec
from tests.runtime.interlace.solo import plex
from tests.simulation.policies import COMPLEMENT, EVERYTHING

RUN = ("run-interlace", "--left", "left", "--right", "right", "--expose", "all")
RECORDS = [plex("links/1"), plex("links/2")]


@pytest.fixture(autouse=True)
def stores(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name, records in (("left", RECORDS), ("right", [])):
        with Store.create(name) as store:
            store.add(records)
    Path("all.lace").write_text(EVERYTHING + "\n")
    Path("other.lace").write_text(COMPLEMENT + "\n")


def record(policy: str = "all.lace") -> Path:
    lacec(*RUN, "--policy", policy, "--record", "exchange.iltp")
    return Path("exchange.iltp")


def test_an_exchange_is_recorded_and_replayed() -> None:
    """Without its stores."""
    run = lacec(*RUN, "--policy", "all.lace", "--record", "exchange.iltp", "--json").document
    for name in ("left", "right"):
        Path(name).rename(f"{name}.gone")
    outcome = lacec("replay", "exchange.iltp")
    assert (outcome.code, outcome.err) == (0, "")
    size = sum(len(each.data) for each in RECORDS)
    assert f"left → right  transfer  2 records, {size} bytes\n" in outcome.out
    assert outcome.out.endswith("the same: 32 messages\n")
    document = lacec("replay", "exchange.iltp", "--json").document
    assert document["same"]
    assert {name: document[name] for name in ("left", "right")} == run
    assert [each["phase"] for each in document["messages"]][:4] == ["setup"] * 2 + ["hello"] * 2


def test_the_recording_comes_through_standard_input() -> None:
    data = record().read_bytes()
    assert lacec("replay", "-", source=data).code == 0


def test_an_exchange_that_aborts_is_replayed_too() -> None:
    """The replay is the same, though the exchange did not converge."""
    record()
    outcome = lacec("replay", str(record("other.lace")), "--json")
    assert outcome.code == 0
    assert outcome.document["left"]["aborted"] == "loop-limit-exceeded"


def test_a_replay_says_at_which_message_it_diverges() -> None:
    path = record()
    data = path.read_bytes().replace(b"HelloRecordFormat('H3')", b"HelloRecordFormat('H4')", 1)
    path.write_bytes(data)
    outcome = lacec("replay", str(path))
    assert outcome.code == 1
    assert "diverges at message 3, byte" in outcome.out
    diverges = lacec("replay", str(path), "--json").document["diverges"]
    assert diverges["message"] == 3
    assert data[diverges["offset"] :].startswith(b"Recorded('1','hears','hello')")


def test_a_recording_that_ends_early() -> None:
    path = record()
    path.write_bytes(path.read_bytes().partition(b"# left ends")[0])
    outcome = lacec("replay", str(path))
    assert outcome.code == 1
    assert "the recording ends before the exchange does" in outcome.out


def test_what_is_no_recording_is_refused() -> None:
    path = record()
    path.write_bytes(path.read_bytes()[:-100])
    outcome = lacec("replay", str(path))
    assert (outcome.code, outcome.out) == (1, "")
    assert "byte " in outcome.err
    outcome = lacec("replay", "all.lace", "--json")
    assert outcome.code == 1
    assert outcome.document["error"]["offset"] == 0


@pytest.mark.parametrize(
    "arguments",
    [
        ("replay", "none"),
        (*RUN, "--policy", "all.lace", "--record", "none/exchange.iltp"),
        (*RUN, "--policy", "all.lace", "--record", "exchange.iltp", "--dry-run"),
    ],
)
def test_a_wrong_command_line(arguments: tuple[str, ...]) -> None:
    outcome = lacec(*arguments)
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err
