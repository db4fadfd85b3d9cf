"""lacec run-interlace --listen and --connect: two processes, each with its store."""

import json
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from lacec.records.keyfile import write_secret
from lacec.records.record import Record
from lacec.records.signature import Secret
from lacec.runtime.iltp.framing.rules import PREFACE
from lacec.store.store import Store
from tests.cli.listening import listening
from tests.cli.run import Outcome, lacec, process_environment, python
from tests.cli.test_open import stored, wait_until
from tests.runtime.iltp.ends import authority, certified
from tests.runtime.iltp.test_pump import SETUP
from tests.runtime.interlace.solo import plex
from tests.simulation.policies import COMPLEMENT, EVERYTHING, GROUP_U

MINE, THEIRS, PRIVATE, LATE = plex("1"), plex("2"), plex("diary", group="x"), plex("late")
ALICE, BOB = (Secret(bytes([number]) * 32) for number in (1, 2))
ALL = ("--policy", "all.lace", "--expose", "all")
LEFT, RIGHT = ("--store", "left", *ALL), ("--store", "right", *ALL)
TCP = ("--listen", "tcp:127.0.0.1:0")


@pytest.fixture(autouse=True)
def stores(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name, records in (("left", [MINE, PRIVATE]), ("right", [THEIRS])):
        with Store.create(name) as store:
            store.add(records)
    for name, source in (("all", EVERYTHING), ("u", GROUP_U), ("never", COMPLEMENT)):
        Path(f"{name}.lace").write_text(source + "\n")
    for secret, name in ((ALICE, "alice.key"), (BOB, "bob.key")):
        write_secret(Path(name), secret)


def hashes(*records: Record) -> set[str]:
    return {record.hash for record in records}


def connect(address: str, *arguments: str) -> Outcome:
    return python(["-m", "lacec", "run-interlace", "--connect", address, *arguments])


def test_a_listener_serves_one_after_another_and_ends_on_sigterm() -> None:
    with listening(*RIGHT, *TCP) as listener:
        first = connect(listener.address, *LEFT, "--json")
        second = connect(listener.address, *LEFT)
        listener.wait_for("ended", 2)
        ended = listener.stop()
    assert first.code == second.code == 0, first.err
    assert first.document["received_hashes"] == [THEIRS.hash]
    assert first.document["converged"] is True
    assert "converged after 2 loops" in second.out
    assert stored("left") == stored("right") == hashes(MINE, THEIRS, PRIVATE)
    assert (ended.code, ended.out) == (0, "")
    assert "stopped  links=2  received=2" in ended.err


def test_once_prints_the_result_alone() -> None:
    with listening(*RIGHT, "--listen", f"unix:{Path.cwd()}/sock", "--once", "--json") as listener:
        result = connect(listener.address, *LEFT, "--json")
        ended = listener.end()
    assert (result.code, ended.code) == (0, 0)
    assert set(ended.document["received_hashes"]) == hashes(MINE, PRIVATE)
    assert ended.document["exchange_plan_id"] == result.document["exchange_plan_id"]
    assert list(ended.document) == list(result.document)
    assert not Path("sock").exists()


def test_once_is_not_over_with_somebody_who_speaks_something_else() -> None:
    """Who never says who it is was not the one."""
    with listening(*RIGHT, *TCP, "--once", "--json") as listener:
        _, host, port = listener.address.split(":")
        with socket.create_connection((host, int(port))) as peer:
            peer.sendall(b"GET / HTTP/1.1\r\n\r\n")
            assert peer.recv(4096).startswith(PREFACE)
        assert "outcome=malformed-stream" in listener.wait_for("ended")[0]
        result = connect(listener.address, *LEFT)
        ended = listener.end()
    assert (result.code, ended.code) == (0, 0)
    assert ended.document["converged"] is True


def test_a_listener_on_stdio_has_one_peer_whatever_it_speaks() -> None:
    command = ["-m", "lacec", "run-interlace", "--listen", "stdio", *RIGHT]
    ended = subprocess.run(
        [sys.executable, *command],
        check=False,
        input=b"GET / HTTP/1.1\r\n\r\n",
        capture_output=True,
        env=process_environment(),
    )
    assert ended.returncode == 1
    assert b"outcome=malformed-stream" in ended.stderr


FAILING = """
from lacec.runtime.serve.admission import Guests
from lacec.runtime.exchange.side import Side

def fail(*_):
    raise RuntimeError("unforeseen")

{}.{} = fail
from lacec.__main__ import main
main()
"""


def test_once_ends_when_its_link_fails_in_a_way_nobody_foresaw() -> None:
    failing = FAILING.format("Guests", "welcome")
    there, back = os.pipe(), os.pipe()
    with subprocess.Popen(
        [sys.executable, "-c", failing, "run-interlace", "--listen", "stdio", *RIGHT],
        stdin=there[0],
        stdout=back[1],
        stderr=subprocess.PIPE,
        env=process_environment(),
    ) as child:
        os.write(there[1], SETUP)
        said = child.communicate(timeout=60)[1]
    for pipe in (*there, *back):
        os.close(pipe)
    assert child.returncode == 1, said
    assert b"outcome=internal-error" in said


@pytest.mark.parametrize("open", [(), ("--open",)])
def test_who_connects_and_fails_in_a_way_nobody_foresaw_says_so_in_a_line(
    open: tuple[str, ...],
) -> None:
    failing = FAILING.format("Side", "answer")
    with listening(*RIGHT, *TCP) as listener:
        command = ("run-interlace", "--connect", listener.address, *LEFT, "--json", *open)
        ended = python(["-c", failing, *command])
        listener.wait_for("ended")
    assert ended.code == 1, ended.err
    assert ended.document["aborted"] == "internal-error"
    (line,) = ended.err.splitlines()
    assert line.startswith("failed  message=")
    assert line.endswith('error="RuntimeError: unforeseen"')


def test_the_phase_timeout_counts_from_the_beginning() -> None:
    """D24a: also for who has not said who it is."""
    with listening(*RIGHT, *TCP, "--limit", "phase_timeout_seconds=1") as listener:
        _, host, port = listener.address.split(":")
        with socket.create_connection((host, int(port)), timeout=20) as peer:
            while peer.recv(4096):
                pass
        (line,) = listener.wait_for("ended")
    assert "outcome=phase-timeout" in line


def test_wss_with_a_chain_of_ones_own(tmp_path: Path) -> None:
    certified(tmp_path, "localhost")
    tls = ("--tls-cert", "chain.pem", "--tls-key", "key.pem")
    authority().cert_pem.write_to_path("authority.pem")
    with listening(*RIGHT, "--listen", "wss:localhost:0", *tls) as listener:
        believed = connect(listener.address, *LEFT, "--tls-ca", "authority.pem", "--json")
        doubted = connect(listener.address, *LEFT, "--json")
        listener.stop()
    assert believed.code == 0, believed.err
    assert doubted.code == 1, "and it was not tried again"
    assert doubted.document["aborted"] == "peer-verifier-mismatch"
    assert "retrying" not in doubted.err


def test_a_key_proves_and_proof_may_be_required() -> None:
    keys = ("--key", "bob.key", "--require-proof", "--json", "--once")
    with listening(*RIGHT, "--listen", f"unix:{Path.cwd()}/sock", *keys) as listener:
        result = connect(listener.address, *LEFT, "--key", "alice.key", "--json")
        ended = listener.end()
    assert result.document["peer_verifier"] == BOB.verifier
    assert ended.document["peer_verifier"] == ALICE.verifier
    assert ended.document["cursor_updated"] is True
    with listening(*RIGHT, "--listen", f"unix:{Path.cwd()}/sock", *keys) as listener:
        nobody = connect(listener.address, *LEFT, "--json", "--timeout", "2s")
        ended = listener.end()
    assert ended.code == 1
    assert ended.document["aborted"] == "peer-verifier-mismatch"
    assert nobody.document["received_hashes"] == []


def test_users_of_the_machine_are_known_by_a_map() -> None:
    """D27: no secret is needed where the system knows who it is."""
    users = ("--user", f"{os.getuid()}={ALICE.verifier}", "--require-proof", "--once", "--json")
    with listening(*RIGHT, "--listen", f"unix:{Path.cwd()}/sock", *users) as listener:
        connect(listener.address, *LEFT, "--verifier", ALICE.verifier)
        ended = listener.end()
    assert ended.document["peer_verifier"] == ALICE.verifier


def test_who_is_not_there_yet_is_tried_again() -> None:
    address = f"unix:{Path.cwd()}/sock"
    with listening("--connect", address, *LEFT) as early:
        early.wait_for("retrying")
        with listening(*RIGHT, "--listen", address):
            assert early.end().code == 0
    assert stored("left") == stored("right")


def test_patience_ends() -> None:
    outcome = connect("tcp:127.0.0.1:1", *LEFT, "--timeout", "0.5s", "--json")
    assert outcome.code == 3, "a limit was exceeded"
    assert outcome.document["aborted"] == "disconnected"
    assert "connection refused" in outcome.err


def test_an_exchange_that_never_rests_ends_in_time() -> None:
    """Both have the same, and offer what the other does not: all of it, then nothing, then all."""
    for name in ("left", "right"):
        with Store.open(name) as store:
            store.add([MINE, THEIRS, PRIVATE])
    never = ("--policy", "never.lace", "--expose", "all")
    limits = ("--limit", "max_loop_iterations=1000000")
    with listening("--store", "right", *never, *TCP, *limits) as listener:
        outcome = connect(
            listener.address, "--store", "left", *never, *limits, "--timeout", "2s", "--json"
        )
        listener.stop()
    assert outcome.code == 3, outcome.err
    assert outcome.document["aborted"] == "cancelled"
    assert outcome.document["converged"] is False


def test_open_links_carry_what_is_new_and_end_on_ctrl_c() -> None:
    with (
        listening(*RIGHT, *TCP) as listener,
        listening("--connect", listener.address, *LEFT, "--open", "--json") as open,
    ):
        wait_until(lambda: stored("left") == hashes(MINE, THEIRS, PRIVATE))
        with Store.open("right") as store:
            store.add([LATE])
        wait_until(lambda: LATE.hash in stored("left"))
        ended = open.stop(signal.SIGINT)
        listener.wait_for("ended")
        stopped = listener.stop(signal.SIGINT)
    assert ended.code == 130
    assert ended.document["converged"] is True
    assert LATE.hash in ended.document["received_hashes"]
    assert stopped.code == 130
    assert "outcome=converged" in stopped.err


def test_a_listener_that_stops_finishes_first() -> None:
    """An open link is closed at its fixed point, and who connected to stay tries again."""
    with (
        listening(*RIGHT, "--listen", f"unix:{Path.cwd()}/sock") as listener,
        listening("--connect", listener.address, *LEFT, "--open") as open,
    ):
        open.wait_for("at-rest")
        ended = listener.stop()
        open.wait_for("retrying")
        with listening(*RIGHT, "--listen", f"unix:{Path.cwd()}/sock") as again:
            again.wait_for("connected")
        assert open.stop().code in (0, 1)
    assert ended.code == 0
    assert "outcome=converged" in ended.err


def test_the_log_may_be_json() -> None:
    with listening(*RIGHT, *TCP, "--log-format", "json", "--json") as listener:
        connect(listener.address, *LEFT)
        listener.wait_for("ended")
        ended = listener.stop()
    assert [event["event"] for event in listener.events] == [
        "listening",
        "connected",
        "ended",
        "stopped",
    ]
    assert listener.events[2]["outcome"] == "converged"
    assert listener.events[2]["received"] == 2
    assert ended.document["links"] == {"converged": 1}
    assert ended.document["received"] == 2


@pytest.mark.parametrize("format", ["json", "text"])
def test_a_log_of_json_has_nothing_else_in_it(monkeypatch: pytest.MonkeyPatch, format: str) -> None:
    """What is said of exposures is an event too, and how far it is nobody reads."""
    monkeypatch.setattr("lacec.cli.progress.RARELY", 0)
    monkeypatch.setattr("lacec.cli.live.A_MOMENT", 0)
    side = ("--store", "left", "--policy", "all.lace", "--log-format", format, "--timeout", "1s")
    with socket.create_server(("127.0.0.1", 0)) as silent:
        where = f"tcp:127.0.0.1:{silent.getsockname()[1]}"
        lines = lacec("run-interlace", "--connect", where, *side).err.splitlines()
    exposure, *others = lines
    if format == "json":
        assert json.loads(exposure)["event"] == "exposure"
        assert others == []
    else:
        assert exposure.startswith("exposure  message=")
        assert others[0].endswith("0 records and 0 bytes in")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "give two stores"),
        (("--left", "left", *TCP), "cannot stand beside --connect or --listen"),
        (("--dry-run", *RIGHT, *TCP), "cannot stand beside"),
        (("--record", "x", *RIGHT, *TCP), "a recording has both sides"),
        (("--left", "left", "--right", "right", *ALL, "--no-summaries"), "needs --connect"),
        (("--left", "left", "--right", "right", *ALL, "--once"), "needs --listen"),
        (("--left", "left", "--right", "right", *ALL, "--key", "a"), "needs --connect or --listen"),
        ((*LEFT, "--connect", "tcp:x", "--metrics", "1"), "needs --listen"),
        ((*RIGHT, *TCP, "--get", "//u//ding//1"), "needs --connect"),
        ((*RIGHT, *TCP, "--timeout", "3s"), "needs --connect or --once"),
        ((*RIGHT, "--listen", "http://x"), "an address begins with one of"),
        ((*RIGHT, "--listen", "stdio:"), "write stdio alone"),
        ((*RIGHT, "--listen", "wss:localhost"), "takes a certificate"),
        ((*RIGHT, *TCP, "--tls-cert", "x"), "only wss has certificates"),
        ((*LEFT, "--connect", "tcp:x", "--tls-ca", "x"), "only wss has certificates"),
        ((*LEFT, "--connect", "wss:x", "--tls-ca", "absent"), "cannot read the authorities"),
        (("--store", "right", *TCP), "this side has no selector"),
        (("--policy", "all.lace", *TCP), "say which store"),
        ((*RIGHT, *TCP, "--memory", "12"), "is no size of at least 1M"),
        ((*RIGHT, *TCP, "--links", "0"), "serves at least one"),
        ((*RIGHT, *TCP, "--metrics", "x:y"), "a port is a decimal number"),
        ((*RIGHT, *TCP, "--peer", "alice"), "is no verifier"),
        ((*RIGHT, *TCP, "--user", "nobody-here=V"), "there is no user"),
        ((*RIGHT, *TCP, "--key", "alice.key", "--verifier", "V"), "give one of both"),
        ((*RIGHT, *TCP, "--limit", "max_fact_block_bytes=1"), "is at least 8192"),
    ],
)
def test_a_wrong_command_line_is_explained(arguments: tuple[str, ...], said: str) -> None:
    outcome = lacec("run-interlace", *arguments)
    assert outcome.code == 2
    assert said in outcome.err


def test_an_address_that_is_taken_exits_1() -> None:
    with listening(*RIGHT, *TCP) as listener:
        second = lacec("run-interlace", *LEFT, "--listen", listener.address)
    assert second.code == 1
    assert "cannot listen at" in second.err
