"""peers.toml: who gets what, by verifier; and everything that may be wrong with one."""

from pathlib import Path

import pytest

from lacec.cli.peers import Peer, PeersError, read_peers
from lacec.records.keyfile import write_secret
from lacec.records.signature import Secret
from lacec.store.store import Store
from tests.cli.listening import listening
from tests.cli.run import lacec
from tests.cli.test_links import connect
from tests.cli.test_open import stored
from tests.runtime.interlace.solo import plex
from tests.simulation.policies import EVERYTHING, GROUP_U

ALICE, BOB, MALLORY = (Secret(bytes([number]) * 32) for number in (1, 2, 3))
SHARED, PRIVATE = plex("1"), plex("diary", group="x")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name, source in (("all", EVERYTHING), ("u", GROUP_U)):
        Path(f"{name}.lace").write_text(source + "\n")
    for secret, name in ((ALICE, "alice"), (BOB, "bob"), (MALLORY, "mallory")):
        write_secret(Path(f"{name}.key"), secret)
        Store.create(name).close()
    with Store.create("served") as store:
        store.add([SHARED, PRIVATE])


def write(text: str) -> Path:
    path = Path("peers.toml")
    path.write_text(text)
    return path


def problems(text: str) -> list[str]:
    with pytest.raises(PeersError) as raised:
        read_peers(write(text))
    return [problem.removeprefix("peers.toml: ") for problem in raised.value.problems]


def test_an_entry_says_as_much_as_it_wants() -> None:
    Path("policies").mkdir()
    path = Path("policies/peers.toml")
    path.write_text(
        f'[alice]\nverifier = "{ALICE.verifier}"\n'
        f'[bob]\nverifier = "{BOB.verifier}"\npolicy = "u.lace"\nexpose = ["selected", "x.lace"]\n'
        'advertise = ["Name"]\nlinks = 2\nlimits = { max_loop_iterations = 8 }\n'
    )
    assert read_peers(path) == [
        Peer("alice", ALICE.verifier),
        Peer(
            "bob",
            BOB.verifier,
            "policies/u.lace",
            ["selected", "policies/x.lace"],
            ["Name"],
            2,
            {"max_loop_iterations": 8},
        ),
    ]


def test_all_that_is_wrong_is_said_together() -> None:
    text = f"""
    links = 3
    [alice]
    verifer = "{ALICE.verifier}"
    [bob]
    verifier = "V.bob"
    expose = "all"
    links = 0
    limits = {{ max_loops = 3 }}
    [carol]
    verifier = "{ALICE.verifier}"
    policy = 3
    limits = {{ phase_timeout_seconds = true }}
    [dave]
    verifier = "{BOB.verifier}"
    [erin]
    verifier = "{BOB.verifier}"
    """
    assert problems(text) == [
        "`links` stands outside of a peer; write [name] first",
        "[alice] there is no `verifer`; did you mean verifier?",
        "[alice] verifier is missing; `lacec key show FILE` prints one",
        "[bob] verifier is no verifier; `lacec key show FILE` prints one",
        '[bob] expose is a list of texts, as in ["selected"]',
        "[bob] links is a number from 1 to 1048576",
        "[bob] limits has no `max_loops`; there are " + ", ".join(LIMITS),
        "[carol] policy is the name of a file",
        "[carol] limits has phase_timeout_seconds, a number of at least 1",
        "[erin] has the verifier of [dave]",
    ]


LIMITS = (
    "max_fact_block_bytes",
    "max_advertisement_records",
    "max_partition_summaries",
    "max_narrowing_depth",
    "max_total_transferred_bytes",
    "max_loop_iterations",
    "phase_timeout_seconds",
)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "there is no peer in it"),
        ("[alice", "this is not TOML"),
        ("[alice]\nverifier = 'a'\nverifier = 'b'", "this is not TOML"),
        ("#" * (2**20 + 1), "it has more than 1048576 bytes"),
    ],
)
def test_what_is_no_file_of_peers(text: str, said: str) -> None:
    (problem,) = problems(text)
    assert said in problem


def test_a_name_of_a_file_has_no_control_characters() -> None:
    text = f"""
    [alice]
    verifier = "{ALICE.verifier}"
    policy = "x\\u0000y"
    [bob]
    verifier = "{BOB.verifier}"
    expose = ["selected", "x\\ny"]
    """
    said = "has a control character, which stands in no name of a file"
    assert problems(text) == [f"[alice] policy {said}", f"[bob] expose {said}"]


def test_the_command_says_what_is_wrong_and_exits_1() -> None:
    write('[alice]\nverifier = "x"\n')
    serve = ("run-interlace", "--store", "served", "--listen", "tcp:127.0.0.1:0")
    outcome = lacec(*serve, "--peers", "peers.toml")
    assert outcome.code == 1
    assert "error: peers.toml: [alice] verifier is no verifier" in outcome.err
    assert "absent.toml: no such file" in lacec(*serve, "--peers", "absent.toml").err
    write(f'[alice]\nverifier = "{ALICE.verifier}"\n')
    outcome = lacec(*serve, "--peers", "peers.toml", "--json")
    assert outcome.code == 1
    assert "[alice] has no policy, and there is no --policy" in outcome.document["error"]


def test_each_gets_what_is_theirs() -> None:
    """Alice everything, Bob what is in group u, and strangers nothing at all."""
    write(
        f'[alice]\nverifier = "{ALICE.verifier}"\npolicy = "all.lace"\nexpose = ["all"]\n'
        f'[bob]\nverifier = "{BOB.verifier}"\npolicy = "u.lace"\nexpose = ["selected"]\n'
    )
    serve = ("--store", "served", "--peers", "peers.toml", "--listen", f"unix:{Path.cwd()}/sock")
    with listening(*serve) as listener:
        found = {
            name: connect(
                listener.address,
                *("--store", name, "--policy", "all.lace", "--expose", "all", "--json"),
                *("--key", f"{name}.key", "--timeout", "20s" if name != "mallory" else "1s"),
            )
            for name in ("alice", "bob", "mallory")
        }
        # Without the secret, to say that one is Alice is of no use.
        claimed = connect(
            listener.address,
            *("--store", "mallory", "--policy", "all.lace", "--expose", "all", "--json"),
            *("--verifier", ALICE.verifier, "--timeout", "2s"),
        )
        ended = listener.stop()
    assert [found[name].code for name in ("alice", "bob")] == [0, 0]
    assert stored("alice") == {SHARED.hash, PRIVATE.hash}
    assert stored("bob") == {SHARED.hash}
    assert stored("mallory") == set()
    assert found["mallory"].code == 3
    assert claimed.code != 0
    assert "outcome=turned-away" in ended.err
    assert "outcome=peer-verifier-mismatch" in ended.err


def test_a_peer_has_a_number_of_links() -> None:
    write(
        f'[alice]\nverifier = "{ALICE.verifier}"\npolicy = "all.lace"\n'
        'expose = ["all"]\nlinks = 1\n'
    )
    serve = ("--store", "served", "--peers", "peers.toml", "--listen", f"unix:{Path.cwd()}/sock")
    options = ("--policy", "all.lace", "--expose", "all", "--key", "alice.key")
    with (
        listening(*serve) as listener,
        listening("--connect", listener.address, "--store", "alice", *options, "--open") as first,
    ):
        first.wait_for("at-rest")
        second = connect(listener.address, "--store", "bob", *options, "--timeout", "1s", "--json")
        ended = listener.stop()
    assert second.code == 3
    assert stored("bob") == set()
    assert "outcome=turned-away" in ended.err
