"""A crowd for one listener: honest peers, slow ones, ones on a line that breaks, and hostile ones.

The listener is a process of its own, as people run it; the crowd is in this one.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from random import Random

from lacec.records.record import Record, build_plex
from lacec.runtime.iltp.framing.address import Address
from lacec.runtime.iltp.framing.rules import PIECE, PREFACE
from lacec.runtime.interlace import events as e
from lacec.runtime.interlace.result import Result
from lacec.runtime.serve.reconnect import Dialler, Retrying
from tests.runtime.iltp.ends import End, end
from tests.simulation.policies import EVERYTHING, operand

RETRYING = Retrying(patience=600, first=0.05, longest=1.0)
SLOW_BYTES, SLOW_SECONDS = 4096, 0.05
CUTS = 3  # how often a line breaks before it holds
LARGE = 20_000


def own_records(number: int, count: int) -> list[Record]:
    """What one peer brings: one large record, others small."""
    return [
        build_plex("u", "ding", f"{number}/{n}", "1700000000:000000000", [], b"x" * size)
        for n, size in enumerate((LARGE, *(0,) * (count - 1)))
    ]


@dataclass
class Line:
    """Between a peer and the listener: what passes, and for how long."""

    target: str
    pass_on: Callable[[asyncio.StreamReader, asyncio.StreamWriter], Coroutine[None, None, None]]
    tasks: set[asyncio.Task[None] | None] = field(default_factory=set)

    async def take(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        self.tasks.add(task)
        with suppress(asyncio.CancelledError):
            await self._take(reader, writer)
        self.tasks.discard(task)

    async def _take(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        far: asyncio.StreamWriter | None = None
        with suppress(OSError):
            near, far = await asyncio.open_unix_connection(self.target)
            there = asyncio.create_task(self._pass(reader, far))
            back = asyncio.create_task(self._pass(near, writer))
            try:
                await asyncio.wait((there, back), return_when=asyncio.FIRST_EXCEPTION)
            finally:
                for task in (there, back):
                    task.cancel()
                await asyncio.gather(there, back, return_exceptions=True)
        for each in (writer, far):
            if each is not None:
                each.transport.abort()

    async def _pass(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await self.pass_on(reader, writer)
        writer.write_eof()


async def slowly(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while data := await reader.read(SLOW_BYTES):
        writer.write(data)
        await writer.drain()
        await asyncio.sleep(SLOW_SECONDS)


@dataclass
class Breaking:
    """Breaks after some bytes, in the middle of whatever that is; some times."""

    random: Random
    left: int = CUTS

    async def __call__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        holds = self.left <= 0
        room = self.random.randint(200, LARGE)
        while data := await reader.read(1024):
            if not holds and len(data) > room:
                self.left -= 1
                writer.write(data[:room])
                raise ConnectionAbortedError
            room -= len(data)
            writer.write(data)
            await writer.drain()


def attacks() -> tuple[bytes, ...]:
    """What hostile peers say; most of them then say nothing more, and stay."""
    module = operand(0, EVERYTHING).module
    resource = PIECE + f"{module.id} lacegram\n{module.canonical}\n\n".encode()
    setup = f"ExchangeOperand('0','{module.id}','unassigned','selector')\n\n".encode()
    return (
        b"",
        b"GET / HTTP/1.1\r\n\r\n",
        PREFACE,
        PREFACE + b"\n",
        PREFACE + b"A" * 70_000,
        PREFACE + resource[:-20],
        PREFACE
        + PIECE
        + f"{module.id} lacegram\n".encode()
        + b"SelectHave(P) :- Have(P).\n" * 9000,
        PREFACE + resource + setup[:-1],
        PREFACE + resource + setup + b"HelloTAI('x')\n\n",
        PREFACE + resource + setup + "🖧: B.x\nData-Length: 99999999999\n\n".encode(),
        PREFACE + resource + setup + b"# one\n# two\n",
    )


async def hostile(path: str, random: Random) -> None:
    """Says something wrong, waits, and comes again."""
    said = attacks()
    while True:
        with suppress(OSError):
            reader, writer = await asyncio.open_unix_connection(path)
            try:
                writer.write(random.choice(said) + random.randbytes(random.choice((0, 0, 300))))
                async with asyncio.timeout(random.uniform(0.5, 5)):
                    while await reader.read(4096):
                        pass
            except TimeoutError:
                pass
            finally:
                writer.transport.abort()
        await asyncio.sleep(random.uniform(0.2, 1))


@dataclass
class Crowd:
    """Honest peers, who bring records and are to have all; hostile ones, who bring trouble."""

    folder: Path
    honest: int
    slow: int
    breaking: int
    hostile: int
    records: int
    ends: list[End] = field(default_factory=list)
    rested: dict[int, int] = field(default_factory=dict)  # records at the last fixed point

    def everything(self) -> set[str]:
        brought = (own_records(n, self.records) for n in range(self.honest))
        return {record.hash for records in brought for record in records}

    @asynccontextmanager
    async def around(self, path: str) -> AsyncIterator[list[Dialler]]:
        """Let all of them come to a listener; the diallers of honest ones are given."""
        servers, lines, diallers, random = [], [], [], Random(1)
        tasks = [asyncio.create_task(hostile(path, Random(n))) for n in range(self.hostile)]
        for number in range(self.honest):
            address = path
            if number < self.slow + self.breaking:
                address = f"{self.folder}/line{number}"
                pass_on = slowly if number < self.slow else Breaking(random)
                lines.append(Line(path, pass_on))
                servers.append(await asyncio.start_unix_server(lines[-1].take, address))
            peer = end(0, own_records(number, self.records), open=True)
            self.ends.append(peer)
            target = Address("unix", path=address)
            on_rest = partial(self._on_rest, number)
            dialler = Dialler(peer.lace, target, peer.terms, None, RETRYING, on_rest=on_rest)
            diallers.append(dialler)
        running = [asyncio.create_task(dialler.run()) for dialler in diallers]
        try:
            yield diallers
            for dialler in diallers:
                await dialler.stop(e.Finish())
            await asyncio.wait(running, timeout=30)
        finally:
            passing = [task for line in lines for task in line.tasks if task is not None]
            for task in (*tasks, *running, *passing):
                task.cancel()
            await asyncio.gather(*tasks, *running, *passing, return_exceptions=True)
            for server in servers:
                server.close()

    def _on_rest(self, number: int, result: Result) -> None:
        """A fixed point: the peer and the listener have converged, for now."""
        assert result.converged
        self.rested[number] = len(self.ends[number].shelf.records)

    def have(self) -> Iterable[int]:
        """How many records each honest peer has."""
        return [len(peer.shelf.records) for peer in self.ends]

    async def until(self, count: int) -> None:
        """Wait until each honest peer has converged with so many records."""
        while len(self.rested) < self.honest or min(self.rested.values()) < count:
            await asyncio.sleep(0.1)
