"""lacec run-interlace: two stores in one process."""

from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion

from lacec.records.keyfile import write_secret
from lacec.records.record import Record
from lacec.records.signature import Secret
from lacec.store.store import Store
from tests.cli.run import Outcome, lacec
from tests.runtime.interlace.solo import plex
from tests.simulation.policies import COMPLEMENT, EVERYTHING, GROUP_U

MINE, THEIRS, PRIVATE = plex("links/1"), plex("links/2"), plex("diary", group="x")
RUN = ("run-interlace", "--left", "left", "--right", "right")


@pytest.fixture(autouse=True)
def stores(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name, records in (("left", [MINE, PRIVATE]), ("right", [THEIRS])):
        with Store.create(name) as store:
            store.add(records)
    Path("u.lace").write_text(GROUP_U + "\n")
    Path("all.lace").write_text(EVERYTHING + "\n")
    Path("other.lace").write_text(COMPLEMENT + "\n")
    for number, name in enumerate(("alice.key", "bob.key"), 1):
        write_secret(Path(name), Secret(bytes([number]) * 32))


def stored(name: str) -> set[str]:
    with Store.open(name) as store:
        return {hash for _, hash, _ in store.records()}


def hashes(*records: Record) -> set[str]:
    return {record.hash for record in records}


def run(*arguments: str) -> Outcome:
    return lacec(*RUN, *arguments)


def test_what_both_select_moves(snapshot: SnapshotAssertion) -> None:
    outcome = run("--policy", "u.lace", "--expose", "selected")
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out == snapshot
    assert stored("left") == hashes(MINE, PRIVATE, THEIRS)
    assert stored("right") == hashes(MINE, THEIRS)


def test_the_document_has_a_result_of_each_side() -> None:
    outcome = run("--policy", "u.lace", "--expose", "selected", "--json")
    document = outcome.document
    assert outcome.code == 0
    assert list(document) == ["left", "right"]
    assert document["left"]["received_hashes"] == [THEIRS.hash]
    assert document["right"]["received_hashes"] == [MINE.hash]
    assert document["left"]["exchange_plan_id"] == document["right"]["exchange_plan_id"]
    assert list(document["left"]) == [
        "link_id",
        "exchange_plan_id",
        "peer_verifier",
        "received_hashes",
        "rejected_hashes",
        "not_available_hashes",
        "bytes_received",
        "bytes_sent",
        "cursor_updated",
        "converged",
        "loops",
        "aborted",
    ]


def test_nothing_exposed_is_said_in_plain_words() -> None:
    outcome = run("--policy", "all.lace")
    assert outcome.code == 0
    assert "the left side exposes nothing" in outcome.err
    assert "nothing is sent from left to right" in outcome.err
    assert stored("right") == hashes(THEIRS)
    one_way = run("--policy", "all.lace", "--right-expose", "all")
    assert "the right side" not in one_way.err
    assert stored("left") == hashes(MINE, PRIVATE, THEIRS)
    assert stored("right") == hashes(THEIRS)


def test_each_side_may_have_a_selector_of_its_own() -> None:
    run("--left-policy", "all.lace", "--right-policy", "u.lace", "--expose", "all")
    assert stored("right") == hashes(MINE, THEIRS)


def test_a_dry_run_says_what_moves_and_why(snapshot: SnapshotAssertion) -> None:
    policies = ("--left-policy", "all.lace", "--right-policy", "u.lace", "--expose", "all")
    outcome = run(*policies, "--dry-run")
    assert outcome.code == 0
    assert outcome.out == snapshot
    assert stored("left") == hashes(MINE, PRIVATE)
    moves = run(*policies, "--dry-run", "--json").document["moves"]
    assert [(move["from"], move["to"], move["hash"]) for move in moves] == [
        ("right", "left", THEIRS.hash),
        ("left", "right", MINE.hash),
    ]
    assert moves[0]["sent_by"][1]["file"] == "u.lace"
    run(*policies)
    assert stored("left") == hashes(MINE, PRIVATE, THEIRS)


def test_keys_of_both_sides_make_a_link() -> None:
    keys = ("--left-key", "alice.key", "--right-key", "bob.key")
    document = run("--policy", "all.lace", "--expose", "all", *keys, "--json").document
    alice, bob = Secret(b"\1" * 32).verifier, Secret(b"\2" * 32).verifier
    assert document["left"]["peer_verifier"] == bob
    assert document["right"]["peer_verifier"] == alice
    assert document["left"]["link_id"] == document["right"]["link_id"]
    assert document["left"]["cursor_updated"]


def test_get_list_and_put_need_no_selector_on_the_left() -> None:
    rest = ("--right-policy", "all.lace", "--expose", "all")
    assert run("--put", PRIVATE.hash, *rest).code == 0
    assert stored("right") == hashes(THEIRS, PRIVATE)
    assert run("--get", "//u//ding//links/2", *rest).code == 0
    assert stored("left") == hashes(MINE, PRIVATE, THEIRS)
    assert run("--list", "//u", *rest).code == 0
    assert stored("right") == hashes(MINE, PRIVATE, THEIRS)


def test_more_fields_are_advertised_by_option() -> None:
    assert run("--policy", "all.lace", "--expose", "all", "--advertise", "all").code == 0


def test_an_exchange_that_comes_to_no_rest_ends_at_a_limit() -> None:
    run("--policy", "all.lace", "--expose", "all")
    outcome = run("--policy", "other.lace", "--expose", "all")
    assert outcome.code == 3
    assert "loop-limit-exceeded" in outcome.out
    document = run("--policy", "other.lace", "--expose", "all", "--json").document
    assert document["left"]["aborted"] == "loop-limit-exceeded"
    assert not document["left"]["converged"]


@pytest.mark.parametrize("limit", ["derived_facts=1", "peer_intermediate_rows=1"])
@pytest.mark.parametrize("how", [(), ("--dry-run",)])
def test_an_evaluation_that_exceeds_a_limit(limit: str, how: tuple[str, ...]) -> None:
    """The exit code is 3, in a dry run as in a real one; the other side is told no more (D18a)."""
    products = "SelectHave(P) :- Field(P,_,_,A), Field(Q,_,_,B), LexCompare(A,'<',B).\n"
    Path("products.lace").write_text(products + "SelectAdvertised(P,S) :- Advertised(P,S).\n")
    arguments = ("--policy", "products.lace", "--expose", "all", "--limit", limit, *how)
    outcome = run(*arguments)
    assert outcome.code == 3
    assert "evaluation-failed" in outcome.out
    assert f"--limit {limit.partition('=')[0]}=VALUE" in outcome.err
    outcome = run(*arguments, "--json")
    assert outcome.code == 3
    assert "evaluation-failed" in {outcome.document[side]["aborted"] for side in ("left", "right")}


def test_a_selector_with_mistakes_is_refused() -> None:
    Path("bad.lace").write_text("SelectHave(P) :- Have(Q).\n")
    outcome = run("--left-policy", "bad.lace", "--right-policy", "u.lace", "--json")
    assert outcome.code == 1
    assert {d["name"] for d in outcome.document["diagnostics"]} >= {"unbound-variable"}


def test_a_store_that_is_none_is_refused() -> None:
    outcome = lacec("run-interlace", "--left", "left", "--right", "x", "--policy", "u.lace")
    assert outcome.code == 1


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("--left-policy", "u.lace"),
        ("--policy", "u.lace", "--get", "//u", "--put", MINE.hash),
        ("--policy", "u.lace", "--get", "//u"),
        ("--policy", "u.lace", "--list", "//u//ding//links/1"),
        ("--policy", "u.lace", "--get", "links"),
        ("--policy", "u.lace", "--put", "links"),
        ("--policy", "u.lace", "--lowering", "odd"),
        ("--policy", "u.lace", "--right", "left"),
        ("--policy", "-", "--expose", "-"),
        ("--policy", "none.lace"),
        ("--policy", "u.lace", "--left-key", "u.lace"),
    ],
)
def test_a_wrong_command_line(arguments: tuple[str, ...]) -> None:
    outcome = run(*arguments)
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err
