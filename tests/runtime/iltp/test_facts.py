"""What a transport proves, as facts that rules can read (060 Transport bindings, D26, D27)."""

import os
from pathlib import Path

import pytest

from lacec.runtime.iltp.signer_proof import Identity, Trust
from tests.runtime.iltp.ends import ALICE, BOB, MALLORY, SCHEMES, End, end, run
from tests.runtime.interlace.solo import plex

RECORDS = [plex(f"n{n}") for n in range(3)]
UNBOUND = Trust(unbound=True)


def gated(condition: str) -> str:
    """A selector that selects when a condition holds on both sides."""
    return (
        f"SelectHave(P) :- Have(P), {condition}.\n"
        f"SelectAdvertised(P,S) :- Advertised(P,S), {condition}."
    )


def moved(scheme: str, folder: Path, condition: str) -> bool:
    left, right = (end(n, RECORDS[:2] if n else (), source=gated(condition)) for n in range(2))
    results = run(scheme, folder, left, right)
    assert [result.aborted for result in results] == [None, None]
    return bool(results[0].received_hashes)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_only_wss_proves_that_the_transport_is_encrypted(scheme: str, tmp_path: Path) -> None:
    assert moved(scheme, tmp_path, "TransportEncrypted()") == (scheme == "wss")


@pytest.mark.parametrize("scheme", SCHEMES)
def test_transport_is_the_address_of_the_active_connection(scheme: str, tmp_path: Path) -> None:
    left, right = end(0), end(1)
    run(scheme, tmp_path, left, right)
    here, there = left.ended[0][0].address, right.ended[0][0].address
    match scheme:
        case "stdio":
            assert here == there == "stdio"
        case "unix":
            assert here == there == f"unix:{tmp_path}/sock", "the bound path"
        case "tcp":
            # Each side has the remote endpoint.
            assert here.startswith("tcp:127.0.0.1:")
            assert there.startswith("tcp:127.0.0.1:")
            assert here != there
        case _:
            host = "localhost" if scheme == "wss" else "127.0.0.1"
            assert here == there
            assert here.startswith(f"{scheme}:{host}:")
            assert here.endswith("/interlace"), "an absent path is written"


@pytest.mark.parametrize("scheme", SCHEMES)
def test_rules_can_read_the_transport(scheme: str, tmp_path: Path) -> None:
    assert moved(scheme, tmp_path, f"Transport(T), TextShape(T,'{scheme}','','')")


@pytest.mark.parametrize("scheme", SCHEMES)
def test_no_transport_proves_who_the_peer_is_by_itself(scheme: str, tmp_path: Path) -> None:
    assert not moved(scheme, tmp_path, "Peer(_)")


# Signer proofs.


def keyed(
    one: Identity | None, other: Identity | None, trusts: tuple[Trust, Trust] = (Trust(), Trust())
) -> tuple[End, End]:
    left = end(0, RECORDS[:1], identity=one, trust=trusts[0])
    return left, end(1, RECORDS[1:], identity=other, trust=trusts[1])


def outcome(scheme: str, folder: Path, ends: tuple[End, End]) -> tuple[object, object]:
    """What each side knows of the other: its verifier, or why it aborted."""
    one, other = run(scheme, folder, *ends)
    return one.aborted or one.peer_verifier, other.aborted or other.peer_verifier


@pytest.mark.parametrize("scheme", ["stdio", "unix", "wss"])
def test_d26_both_sides_prove_who_they_are(scheme: str, tmp_path: Path) -> None:
    ends = keyed(ALICE, BOB)
    assert outcome(scheme, tmp_path, ends) == (BOB.verifier, ALICE.verifier)
    assert ends[0].result.link_id == ends[1].result.link_id
    assert ends[0].cursors.kept
    assert {len(each.shelf.records) for each in ends} == {3}


@pytest.mark.parametrize("scheme", ["stdio", "unix", "wss"])
def test_d26_one_side_proves_who_it_is(scheme: str, tmp_path: Path) -> None:
    ends = keyed(ALICE, None)
    assert outcome(scheme, tmp_path, ends) == (None, ALICE.verifier)
    assert {len(each.shelf.records) for each in ends} == {3}


@pytest.mark.parametrize("scheme", ["tcp", "ws"])
def test_d26_without_encryption_a_proof_counts_only_by_option(scheme: str, tmp_path: Path) -> None:
    assert outcome(scheme, tmp_path, keyed(ALICE, BOB)) == (None, None)
    both = keyed(ALICE, BOB, (UNBOUND, UNBOUND))
    assert outcome(scheme, tmp_path, both) == (BOB.verifier, ALICE.verifier)


def test_d26_one_who_does_not_allow_that_refuses_the_proof(tmp_path: Path) -> None:
    ends = keyed(ALICE, BOB, (UNBOUND, Trust()))
    assert "peer-verifier-mismatch" in outcome("tcp", tmp_path, ends)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_an_option_demands_proof(scheme: str, tmp_path: Path) -> None:
    ends = keyed(None, BOB, (Trust(), Trust(demanded=True, unbound=True)))
    assert outcome(scheme, tmp_path, ends)[1] == "peer-verifier-mismatch"
    assert ends[1].result.received_hashes == ()
    assert {len(each.shelf.records) for each in ends} == {1, 2}, "nothing moved"


# Without a signature: the system, or the caller, knows the peer.


def test_d27_a_uid_stands_for_a_verifier_on_unix(tmp_path: Path) -> None:
    here = Trust(demanded=True, users={os.getuid(): ALICE.verifier})
    name_only = Identity(ALICE.verifier)
    assert outcome("unix", tmp_path, keyed(name_only, None, (Trust(), here))) == (
        None,
        ALICE.verifier,
    )


def test_d27_another_uid_proves_nothing(tmp_path: Path) -> None:
    here = Trust(users={os.getuid() + 1: ALICE.verifier})
    ends = keyed(Identity(ALICE.verifier), None, (Trust(), here))
    assert outcome("unix", tmp_path, ends)[1] == "peer-verifier-mismatch"


def test_d27_a_map_that_disagrees_with_a_valid_signature_aborts(tmp_path: Path) -> None:
    here = Trust(users={os.getuid(): MALLORY.verifier})
    ends = keyed(ALICE, None, (Trust(), here))
    assert outcome("unix", tmp_path, ends)[1] == "peer-verifier-mismatch"


def test_d27_the_caller_asserts_who_is_there_on_stdio(tmp_path: Path) -> None:
    trusts = (Trust(caller=BOB.verifier), Trust(caller=ALICE.verifier))
    names = Identity(ALICE.verifier), Identity(BOB.verifier)
    assert outcome("stdio", tmp_path, keyed(*names, trusts)) == (BOB.verifier, ALICE.verifier)


def test_d27_an_assertion_that_disagrees_aborts(tmp_path: Path) -> None:
    ends = keyed(ALICE, None, (Trust(), Trust(caller=BOB.verifier)))
    assert outcome("stdio", tmp_path, ends)[1] == "peer-verifier-mismatch"


def test_an_asserted_peer_still_has_to_say_so(tmp_path: Path) -> None:
    """D27: HelloSigner is still sent; without it there is no Peer."""
    ends = keyed(None, None, (Trust(), Trust(caller=ALICE.verifier)))
    assert outcome("stdio", tmp_path, ends) == (None, None)


@pytest.mark.parametrize("scheme", ["tcp", "ws", "wss"])
def test_a_name_without_a_key_is_never_claimed_over_a_network(scheme: str, tmp_path: Path) -> None:
    ends = keyed(Identity(ALICE.verifier), None, (UNBOUND, UNBOUND))
    assert outcome(scheme, tmp_path, ends) == (None, None)
