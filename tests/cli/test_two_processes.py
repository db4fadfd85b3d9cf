"""Two processes come to what one comes to, over every transport; and the trace of 060."""

import asyncio
import re
import shutil
from functools import partial
from pathlib import Path
from random import Random

import pytest
from syrupy.assertion import SnapshotAssertion

from lacec.records.keyfile import write_secret
from lacec.records.record import Record, build_blob
from lacec.runtime.iltp.endpoints import open_channel
from lacec.runtime.iltp.framing.address import parse_address
from lacec.store.store import Store
from tests.cli.listening import Listening, listening
from tests.cli.run import Outcome, lacec, python
from tests.cli.two import RUN, exchange
from tests.runtime.iltp.ends import ALICE, BOB, SCHEMES
from tests.runtime.iltp.middle import middleman
from tests.simulation.policies import EVERYTHING, MEMBERS, some_records

SIDES = ("left", "right")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("all.lace").write_text(EVERYTHING + "\n")
    Path("members.lace").write_text(MEMBERS + "\n")
    for side, identity in zip(SIDES, (ALICE, BOB), strict=True):
        assert identity.secret is not None
        write_secret(Path(f"{side}.key"), identity.secret)


def make_stores(*contents: list[Record]) -> None:
    for side, records in zip(SIDES, contents, strict=True):
        with Store.create(side) as store:
            store.add(records)


def stored(path: str) -> dict[str, bytes]:
    """All that is in a store, byte for byte."""
    with Store.open(path, read_only=True) as store:
        return {hash: data for _, hash, data in store.records()}


@pytest.mark.parametrize("scheme", SCHEMES)
def test_two_processes_end_with_the_stores_and_results_of_one(scheme: str) -> None:
    random = Random(scheme)
    make_stores(some_records(random, 25), some_records(random, 25))
    before = {side: stored(side) for side in SIDES}
    for side in SIDES:
        shutil.copytree(side, f"{side}-alone")
    policies = ("--policy", "members.lace", "--expose", "all", "--json")
    pair = ("--left", "left-alone", "--right", "right-alone")
    keys = ("--left-key", "left.key", "--right-key", "right.key")
    alone = lacec("run-interlace", *pair, *keys, *policies)
    links = [
        ("--store", side, "--key", f"{side}.key", "--trust-unencrypted", *policies)
        for side in SIDES
    ]
    ended = dict(zip(SIDES, exchange(scheme, *links), strict=True))
    assert {side: each.code for side, each in ended.items()} == dict.fromkeys(SIDES, 0), ended
    assert {side: each.document for side, each in ended.items()} == alone.document
    for side in SIDES:
        assert stored(side) == stored(f"{side}-alone")
        assert len(stored(side)) > len(before[side]), "something moved"


# The trace of 060, with real identifiers, canonical rule order (D5) and the closing loop (D18).

PLAIN = ("--policy", "all.lace", "--expose", "all", "--no-summaries", "--json")


def captured(listener: Listening, *arguments: str) -> tuple[Outcome, list[bytes]]:
    """What comes of a connection through somebody who writes down what each says."""
    said = [b"", b""]

    def note(way: int, data: bytes) -> bytes:
        said[way] += data
        return data

    async def connect() -> Outcome:
        onward = partial(open_channel, parse_address(listener.address))
        async with middleman(onward, change=note) as address:
            command = [*RUN, "--connect", str(address), *arguments]
            return await asyncio.to_thread(python, command)

    return asyncio.run(connect()), said


def test_the_trace_of_060(snapshot: SnapshotAssertion) -> None:
    """All bytes that two processes say, but for the time at which they say hello."""
    make_stores([build_blob(b"hello world")], [build_blob(b"data!")])
    address = ("--listen", "tcp:127.0.0.1:0", "--once")
    with listening("--store", "right", *PLAIN, *address) as listener:
        outcome, said = captured(listener, "--store", "left", *PLAIN)
        answered = listener.end()
    for ended in (outcome, answered):
        assert ended.code == 0, ended
        assert ended.document["loops"] == 3
    for name, data in zip(("A to B", "B to A"), said, strict=True):
        text, times = re.subn(rb"(?<=HelloTAI\(')\d+:\d{9}", b"1640995200:000000000", data)
        assert times == 1
        assert text.decode() == snapshot(name=name)
    assert stored("left") == stored("right")
