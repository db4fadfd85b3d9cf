"""Exchanges over connections: two processes here, beside one process and a plain copy."""

import asyncio
import multiprocessing
import shutil
import socket
import subprocess
import tempfile
import threading
from concurrent.futures import ThreadPoolExecutor
from multiprocessing.connection import Connection
from pathlib import Path
from time import perf_counter, process_time

import trustme
from rich.console import Console
from rich.table import Table

from lacec.plan.expose import LocalPolicy, expose_all
from lacec.plan.operands import author_operand
from lacec.records.signature import Secret
from lacec.runtime.exchange.cursors import FileCursors
from lacec.runtime.exchange.side import Policy
from lacec.runtime.iltp.channel import Channel
from lacec.runtime.iltp.endpoints import open_channel, serve
from lacec.runtime.iltp.framing.address import parse_address
from lacec.runtime.iltp.session import Lace, Terms
from lacec.runtime.iltp.signer_proof import Identity, Trust
from lacec.runtime.iltp.transports.tls import client_context, server_tls
from lacec.store.store import Store
from tests.bench import results
from tests.bench.exchange import GROUPS, exchange, participants
from tests.bench.store import make_records

COUNT = 20_000
SCHEMES = ("unix", "tcp", "ws", "wss")


def terms(index: int) -> Terms:
    operand = author_operand(index, [("groups", GROUPS)])
    # With keys, so that each side remembers what the other offered.
    identity = Identity.of(Secret(bytes([index + 1]) * 32))
    policy = Policy(operand, LocalPolicy((expose_all(),)))
    return Terms(policy, identity, Trust(unbound=True))


def lace(store: Store, thread: ThreadPoolExecutor) -> Lace:
    return Lace(store, FileCursors(store.folder), thread)


class Counting:
    """A channel that counts what passes, both ways."""

    def __init__(self, channel: Channel) -> None:
        self._channel, self.about, self.bytes = channel, channel.about, 0

    async def read(self) -> bytes:
        data = await self._channel.read()
        self.bytes += len(data)
        return data

    async def write(self, data: bytes) -> None:
        self.bytes += len(data)
        await self._channel.write(data)

    async def end(self) -> None:
        await self._channel.end()

    async def close(self, now: bool = False) -> None:
        await self._channel.close(now)


def listen(folder: Path, address: str, pipe: Connection) -> None:
    """The other process: says what it has taken of the processor, until it is told to stop."""

    async def run(store: Store, thread: ThreadPoolExecutor) -> None:
        tls = server_tls(folder / "chain.pem") if address.startswith("wss") else None
        listener = await serve(lace(store, thread), address, lambda _: terms(1), tls)
        pipe.send(str(listener.address))
        while await asyncio.to_thread(pipe.recv):
            pipe.send(process_time())
        await listener.stop(1)

    with ThreadPoolExecutor(1) as thread:
        store = thread.submit(Store.open, folder / "right").result()
        asyncio.run(run(store, thread))
        thread.submit(store.close).result()


def connect(folder: Path, address: str) -> tuple[float, int]:
    """The seconds of an exchange, which converges, and the bytes of both directions."""

    async def run(store: Store, thread: ThreadPoolExecutor) -> tuple[float, int]:
        wss = address.startswith("wss")
        context = client_context(folder / "authority.pem") if wss else None
        start = perf_counter()
        channel = Counting(await open_channel(parse_address(address), context))
        result = await lace(store, thread).link(channel, 0, terms(0))
        assert result.converged, result
        return perf_counter() - start, channel.bytes

    with ThreadPoolExecutor(1) as thread:
        store = thread.submit(Store.open, folder / "left").result()
        found = asyncio.run(run(store, thread))
        thread.submit(store.close).result()
        return found


def over(scheme: str, folder: Path) -> tuple[list[tuple[float, int]], float]:
    """Twice over one transport: with all to send, and with nothing. And the seconds that the
    processor worked for the first, in both processes."""

    def worked() -> float:
        near.send(True)
        there: float = near.recv()
        return process_time() + there

    Store.create(folder / "right").close()
    host = "localhost" if scheme == "wss" else "127.0.0.1"
    address = f"unix:{folder}/sock" if scheme == "unix" else f"{scheme}:{host}:0"
    near, far = multiprocessing.Pipe()
    process = multiprocessing.get_context("spawn").Process(
        target=listen, args=(folder, address, far)
    )
    process.start()
    bound = near.recv()
    start = worked()
    found = [connect(folder, bound)]
    busy = worked() - start
    found.append(connect(folder, bound))
    near.send(None)
    process.join()
    shutil.rmtree(folder / "right")
    return found, busy


def certify(folder: Path) -> None:
    authority = trustme.CA()
    authority.cert_pem.write_to_path(str(folder / "authority.pem"))
    authority.issue_cert("localhost").private_key_and_cert_chain_pem.write_to_path(
        str(folder / "chain.pem")
    )


def copy(data: bytes) -> float:
    """The seconds in which the same bytes go over loopback, as they are."""
    server = socket.create_server(("127.0.0.1", 0))

    def send() -> None:
        with socket.create_connection(server.getsockname()) as peer:
            peer.sendall(data)

    start = perf_counter()
    sending = threading.Thread(target=send)
    sending.start()
    with server, server.accept()[0] as peer:
        left = len(data)
        while left:
            left -= len(peer.recv(2**16))
    sending.join()
    return perf_counter() - start


def rsync(folder: Path) -> float | None:
    """The seconds in which rsync copies the same bytes, a file a record, where there is one."""
    if shutil.which("rsync") is None:
        return None
    start = perf_counter()
    command = ["rsync", "-a", "--whole-file", f"{folder}/files/", f"{folder}/copied/"]
    subprocess.run(command, check=True)
    return perf_counter() - start


def main(console: Console, by: int = 1) -> None:
    count = COUNT // by
    records = list(make_records(count, sealed=True))
    size = sum(len(record.data) for record in records)
    table = Table(
        f"{count:,} sealed records, {size / 2**20:.1f} MiB",
        *("seconds", "records a second", "MiB a second"),
        *("bytes on the wire per record", "nothing new: seconds", "bytes"),
    )

    kept: list[results.Row] = []

    def row(what: str, seconds: float, *more: str) -> None:
        rates = (f"{count / seconds:,.0f}", f"{size / seconds / 2**20:.1f}")
        table.add_row(what, f"{seconds:.2f}", *rates, *more)

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        certify(folder)
        with Store.create(folder / "left") as left:
            left.add(records)
            with Store.create(folder / "right") as right:
                sides = participants(left, right)
                seconds, again = exchange(sides), exchange(sides)
            shutil.rmtree(folder / "right")
            with Store.create(folder / "right") as right:
                busy = exchange(participants(left, right), process_time)
            shutil.rmtree(folder / "right")
        kept.append(("an exchange", "one process", count / busy))
        row("one process", seconds, "", f"{again:.2f}", "")
        for scheme in SCHEMES:
            ((first, sent), (second, said)), busy = over(scheme, folder)
            kept.append(("an exchange", scheme, count / busy))
            row(scheme, first, f"{sent / count:,.0f}", f"{second:.2f}", f"{said:,}")
        row("a plain copy over loopback", copy(b"".join(record.data for record in records)))
        (folder / "files").mkdir()
        for number, record in enumerate(records):
            (folder / "files" / str(number)).write_bytes(record.data)
        synced = rsync(folder)
        if synced is not None:
            row("rsync of as many files", synced)
    console.print(table)
    about = (
        f"{count:,} sealed records, in two processes but for the first; the time of both is added."
    )
    results.keep("transport", about, kept)


if __name__ == "__main__":
    main(Console())
