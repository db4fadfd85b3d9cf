"""Somebody in the middle, and false certificates: each is refused (D26)."""

import asyncio
import datetime
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import trustme

from lacec.runtime.iltp.channel import ChannelError
from lacec.runtime.iltp.endpoints import open_channel, serve
from lacec.runtime.iltp.framing.address import parse_address
from lacec.runtime.iltp.signer_proof import Trust
from lacec.runtime.interlace.result import Result
from tests.runtime.iltp.ends import ALICE, BOB, MALLORY, End, certified, end, listening, trusting
from tests.runtime.iltp.middle import Change, Noting, middleman, unchanged
from tests.runtime.interlace.solo import plex

RECORDS = [plex(f"n{n}") for n in range(3)]
UNBOUND = Trust(unbound=True)


def ends(trust: Trust = UNBOUND) -> tuple[End, End]:
    left = end(0, RECORDS[:1], identity=ALICE, trust=trust)
    return left, end(1, RECORDS[1:], identity=BOB, trust=trust)


async def through(
    folder: Path, left: End, right: End, change: Change = unchanged
) -> tuple[Result, Result]:
    """A link over tcp through somebody who changes what is said."""
    async with (
        asyncio.timeout(30),
        listening("tcp", folder, right) as dial,
        middleman(dial, change=change) as address,
    ):
        channel = await open_channel(address)
        left.note(channel.about, await left.lace.link(channel, 0, left.terms))
    return left.result, right.result


def refused(folder: Path, change: Change, trust: Trust = UNBOUND) -> list[str | None]:
    left, right = ends(trust)
    results = asyncio.run(through(folder, left, right, change))
    assert not any(result.converged for result in results)
    assert [result.received_hashes for result in results] == [(), ()]
    assert {len(left.shelf.records), len(right.shelf.records)} == {1, 2}, "nothing moved"
    return [result.aborted for result in results]


def test_what_is_passed_on_unchanged_is_accepted(tmp_path: Path) -> None:
    """On tcp nothing binds a proof to the connection: that is why it needs an option."""
    results = asyncio.run(through(tmp_path, *ends()))
    assert [r.peer_verifier for r in results] == [BOB.verifier, ALICE.verifier]


# On wss the certificate does.


async def relayed(
    folder: Path, left: End, right: End, change: Change = unchanged
) -> tuple[Result, Result]:
    """Over wss through somebody with a certificate of its own that the client believes."""
    (folder / "middle").mkdir()
    tls = certified(folder / "middle", "localhost")
    async with (
        asyncio.timeout(30),
        listening("wss", folder, right) as dial,
        middleman(dial, "wss", change, tls) as address,
    ):
        channel = await open_channel(address, trusting())
        left.note(channel.about, await left.lace.link(channel, 0, left.terms))
    return left.result, right.result


def test_a_relaying_middleman_is_refused_on_wss(tmp_path: Path) -> None:
    """D26: the certificate that each side saw is part of what is signed."""
    left, right = ends(Trust())
    results = asyncio.run(relayed(tmp_path, left, right))
    assert "peer-verifier-mismatch" in [result.aborted for result in results]
    assert all(result.peer_verifier is None for result in results)
    assert {len(left.shelf.records), len(right.shelf.records)} == {1, 2}, "nothing moved"


def test_a_middleman_who_strips_all_proofs_on_wss_is_refused_where_they_are_demanded(
    tmp_path: Path,
) -> None:
    left, right = ends(Trust(demanded=True))
    results = asyncio.run(relayed(tmp_path, left, right, stripped_of_claims))
    assert "peer-verifier-mismatch" in [result.aborted for result in results]
    assert {len(left.shelf.records), len(right.shelf.records)} == {1, 2}, "nothing moved"


def stripped_of_claims(_: int, block: bytes) -> bytes:
    block = re.sub(rb"HelloSigner\('.*'\)\nSignerProof\('.*'\)\n", b"", block)
    return re.sub(rb"'V\..*?'", b"'unassigned'", block)


# On tcp and ws the rest of what is signed still holds.


def on(way: int, pattern: bytes, new: bytes | Callable[[re.Match[bytes]], bytes]) -> Change:
    """Change what stands in the blocks of one direction."""

    def change(found_way: int, block: bytes) -> bytes:
        return re.sub(pattern, new, block) if found_way == way else block

    return change


def test_a_swapped_nonce_is_refused(tmp_path: Path) -> None:
    swapped = on(1, rb"SignerNonce\('.*'\)", b"SignerNonce('" + b"0" * 43 + b"')")
    assert "peer-verifier-mismatch" in refused(tmp_path, swapped)


def test_a_nonce_sent_back_is_refused(tmp_path: Path) -> None:
    """A side's own nonce as the peer's: its own proofs cannot be turned against it."""
    seen: list[bytes] = []

    def mirrored(_: int, block: bytes) -> bytes:
        seen.extend(re.findall(rb"SignerNonce\('.*'\)", block))
        return re.sub(rb"SignerNonce\('.*'\)", seen[0], block) if seen else block

    assert "peer-verifier-mismatch" in refused(tmp_path, mirrored)


@pytest.mark.parametrize("nonce", [b"", b"0", b"0" * 42, b"x" * 86, b"-" * 43])
def test_a_nonce_is_32_bytes(nonce: bytes, tmp_path: Path) -> None:
    short = on(0, rb"SignerNonce\('.*'\)", b"SignerNonce('%s')" % nonce)
    assert "peer-verifier-mismatch" in refused(tmp_path, short)


@pytest.mark.parametrize("scheme", ["tcp", "wss"])
def test_a_replayed_proof_is_refused(scheme: str, tmp_path: Path) -> None:
    """Everything that one side said in an earlier link, said again to the same server."""

    async def replay(left: End, right: End) -> None:
        async with asyncio.timeout(30), listening(scheme, tmp_path, right) as dial:
            channel = Noting(await dial())
            left.note(channel.about, await left.lace.link(channel, 0, left.terms))
            again = await dial()
            assert again.about.binding == channel.about.binding
            for data in channel.said:
                await again.write(data)
            while await again.read():
                pass
            await again.close()

    left, right = ends()
    asyncio.run(replay(left, right))
    (_, first), (_, second) = right.ended
    assert first.peer_verifier == ALICE.verifier
    assert second.aborted == "peer-verifier-mismatch"
    assert second.received_hashes == ()


@pytest.mark.parametrize(
    ("stripped", "demanded"),
    [
        (rb"SignerProof\('.*'\)\n", False),
        (rb"HelloSigner\('.*'\)\nSignerProof\('.*'\)\n", False),
        (rb"SignerNonce\('.*'\)\n", False),
        (rb"HelloSigner\('.*'\)\n", True),
        (rb"HelloSigner\('.*'\)\nSignerProof\('.*'\)\n|SignerNonce\('.*'\)\n", True),
    ],
)
def test_a_stripped_proof_is_refused(stripped: bytes, demanded: bool, tmp_path: Path) -> None:
    trust = Trust(unbound=True, demanded=demanded)
    assert "peer-verifier-mismatch" in refused(tmp_path, on(0, stripped, b""), trust)


def test_a_claim_that_is_stripped_too_makes_another_plan(tmp_path: Path) -> None:
    """D13: the claimed verifier is part of the origin, which is part of the plan."""
    assert set(refused(tmp_path, stripped_of_claims)) & {
        "exchange-plan-mismatch",
        "peer-verifier-mismatch",
    }


def test_the_proof_of_another_is_refused(tmp_path: Path) -> None:
    """The claim is changed to somebody else's: the plan, and what is signed, change with it."""
    other = on(0, re.escape(ALICE.verifier.encode()), MALLORY.verifier.encode())
    assert set(refused(tmp_path, other)) & {"exchange-plan-mismatch", "peer-verifier-mismatch"}


# Certificates.


def refusal(folder: Path, host: str, *believed: trustme.CA, **options: Any) -> str:
    """Why a client does not connect to a server with a certificate."""

    async def try_it() -> str:
        right = end(1)
        tls = certified(folder, host, **options)
        listener = await serve(right.lace, "wss:localhost:0", lambda _: right.terms, tls)
        try:
            with pytest.raises(ChannelError) as caught:
                await open_channel(listener.address, trusting(*believed))
            return str(caught.value)
        finally:
            await listener.stop(1)

    return asyncio.run(try_it())


def test_a_certificate_for_another_host_is_refused(tmp_path: Path) -> None:
    assert "localhost" in refusal(tmp_path, "example.org")
    assert "certificate verify failed" in refusal(tmp_path, "example.org")


def test_an_expired_certificate_is_refused(tmp_path: Path) -> None:
    past = datetime.datetime(2020, 1, 1, tzinfo=datetime.UTC)
    assert "expired" in refusal(tmp_path, "localhost", not_after=past)


def test_a_certificate_that_is_not_valid_yet_is_refused(tmp_path: Path) -> None:
    soon = datetime.datetime.now(datetime.UTC) + datetime.timedelta(days=1)
    assert "not yet valid" in refusal(tmp_path, "localhost", not_before=soon)


def test_a_chain_with_a_link_missing_is_refused(tmp_path: Path) -> None:
    """What issued the server's certificate is not believed, and not shown to be issued by what
    is."""
    assert "unable to get local issuer" in refusal(tmp_path, "localhost", shown=1)


def test_a_certificate_of_an_unknown_authority_is_refused(tmp_path: Path) -> None:
    assert "certificate verify failed" in refusal(tmp_path, "localhost", trustme.CA())


def test_a_server_without_tls_is_refused_on_wss(tmp_path: Path) -> None:
    async def try_it() -> None:
        async with listening("ws", tmp_path, end(1)) as dial:
            channel = await dial()
            address = channel.about.address.replace("ws:127.0.0.1", "wss:localhost")
            await channel.close()
            with pytest.raises(ChannelError, match="cannot connect"):
                await open_channel(parse_address(address), trusting())

    asyncio.run(try_it())
