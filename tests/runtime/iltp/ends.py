"""Two ends of a link for tests: laces in memory, channels of every transport."""

import asyncio
import os
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import trustme

from lacec.records.record import Record
from lacec.records.signature import Secret
from lacec.runtime.exchange.side import Policy
from lacec.runtime.iltp.channel import About, Channel
from lacec.runtime.iltp.endpoints import open_channel, serve
from lacec.runtime.iltp.memory_budget import Memory
from lacec.runtime.iltp.session import Lace, Terms
from lacec.runtime.iltp.signer_proof import Identity
from lacec.runtime.iltp.transports import stdio
from lacec.runtime.iltp.transports.tls import ServerTls, client_context, server_tls
from lacec.runtime.interlace.result import Result
from tests.simulation.policies import EVERYTHING, local_policy, operand
from tests.simulation.shelf import MemoryCursors, MemoryShelf

SCHEMES = ("stdio", "unix", "tcp", "ws", "wss")
ALICE, BOB, MALLORY = (Identity.of(Secret(bytes([n]) * 32)) for n in (1, 2, 3))


def terms(index: int, source: str = EVERYTHING, exposed: str = "all", **options: Any) -> Terms:
    return Terms(Policy(operand(index, source), local_policy(index, source, exposed)), **options)


@cache
def authority() -> trustme.CA:
    return trustme.CA()


@cache
def _issuer() -> trustme.CA:
    """What certificates are issued by is not what is believed: between them is a chain."""
    return authority().create_child_ca()


def trusting(*authorities: trustme.CA) -> ssl.SSLContext:
    context = client_context()
    for each in authorities or (authority(),):
        each.configure_trust(context)
    return context


def certified(folder: Path, *hosts: str, shown: int = 2, **options: Any) -> ServerTls:
    """A certificate for some hosts, with its chain, as a server has it in files."""
    issued = _issuer().issue_cert(*hosts, **options)
    chain, key = folder / "chain.pem", folder / "key.pem"
    chain.write_bytes(b"".join(pem.bytes() for pem in issued.cert_chain_pems[:shown]))
    issued.private_key_pem.write_to_path(str(key))
    return server_tls(chain, key)


@dataclass
class End:
    """One side: its records, its terms, and what became of its links."""

    terms: Terms
    shelf: MemoryShelf = field(default_factory=MemoryShelf)
    cursors: MemoryCursors = field(default_factory=MemoryCursors)
    ended: list[tuple[About, Result]] = field(default_factory=list)
    memory: Memory = field(default_factory=Memory)

    def __post_init__(self) -> None:
        self.lace = Lace(self.shelf, self.cursors, memory=self.memory)

    def note(self, about: About, result: Result) -> None:
        self.ended.append((about, result))

    @property
    def result(self) -> Result:
        ((_, result),) = self.ended
        return result


def end(index: int, records: Iterable[Record] = (), **options: Any) -> End:
    made = End(terms(index, **options))
    made.shelf.add(records)
    return made


Dial = Callable[[], Awaitable[Channel]]


@asynccontextmanager
async def listening(scheme: str, folder: Path, right: End) -> AsyncIterator[Dial]:
    """Listen for one side; what is given opens channels to it."""
    host = "localhost" if scheme == "wss" else "127.0.0.1"
    address = f"unix:{folder}/sock" if scheme == "unix" else f"{scheme}:{host}:0"
    tls = certified(folder, host) if scheme == "wss" else None
    if scheme == "stdio":
        there, back = os.pipe(), os.pipe()
        peer = await stdio.open_pipes((there[0], back[1]))
        task = asyncio.create_task(_answer(right, peer))
        yield lambda: stdio.open_pipes((back[0], there[1]))
        await task
        return
    listener = await serve(right.lace, address, lambda _: right.terms, tls, right.note)
    context = trusting() if scheme == "wss" else None
    yield lambda: open_channel(listener.address, context)
    async with asyncio.timeout(20):
        while listener.links:
            await asyncio.sleep(0.01)
    await listener.stop(1)


async def _answer(right: End, channel: Channel) -> None:
    right.note(channel.about, await right.lace.welcome(channel, lambda _: right.terms))


async def link(scheme: str, folder: Path, left: End, right: End) -> tuple[Result, Result]:
    """Run one link between two ends over a transport."""
    async with asyncio.timeout(60):
        async with listening(scheme, folder, right) as dial:
            channel = await dial()
            left.note(channel.about, await left.lace.link(channel, 0, left.terms))
    return left.result, right.result


def run(scheme: str, folder: Path, left: End, right: End) -> tuple[Result, Result]:
    return asyncio.run(link(scheme, folder, left, right))
