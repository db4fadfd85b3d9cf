"""The pump: one machine, who answers it, and one channel, until the exchange has ended.

It is the same for all transports. Tasks go on at once: one reads and tells the machine what
the peer says, one writes what the machine says, one tells the time, and one lets the machine
look ahead when nothing else happens. Reading waits while
the machine is busy, and loading of records waits while the peer does not take what was sent,
so that neither side has to hold more than it asked for; but reading never waits for writing,
so that two sides that both have much to say cannot block each other.
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from time import perf_counter

from lacec.core.diagnostics import visible
from lacec.core.errors import StreamError
from lacec.runtime.exchange.in_process import system_clock
from lacec.runtime.iltp.channel import PIECE_BYTES, Channel, ChannelError
from lacec.runtime.iltp.framing.reader import StreamReader
from lacec.runtime.iltp.framing.writer import StreamWriter
from lacec.runtime.iltp.memory_budget import Share
from lacec.runtime.iltp.timeouts import Patience
from lacec.runtime.interlace import events as e
from lacec.runtime.interlace.codec import Reading
from lacec.runtime.interlace.limits import ExchangeLimits
from lacec.runtime.interlace.machine import Machine
from lacec.runtime.interlace.messages import Offer, Setup
from lacec.runtime.interlace.result import Result
from lacec.runtime.interlace.state import State

Ask = Callable[[e.Question], Awaitable[e.Answer | e.Faulty]]

TICK_SECONDS = 0.5  # how often the machine is told the time
AHEAD_SECONDS = 0.01  # for which it looks ahead before others have their turn
# What is larger is read, and told to the machine, in a thread: the others are not kept waiting.
# Of a batch each record is read for itself, and most are small.
INLINE_BYTES = 32 * 2**10
INLINE_BATCH_BYTES = 256 * 2**10
INLINE_RECORDS = 2000
LINGER_SECONDS = 5
LINGER_BYTES = 2**20


class Pump:
    """One link. `on_stored` is called when records were stored that were not there before,
    `on_rest` whenever an open exchange comes to rest. Links look ahead in turn: who does has
    `turn`."""

    def __init__(
        self,
        machine: Machine,
        ask: Ask,
        channel: Channel,
        reader: StreamReader,
        writer: StreamWriter,
        share: Share,
        turn: asyncio.Lock,
        clock: Callable[[], tuple[int, int]] = system_clock,
        on_stored: Callable[[], None] | None = None,
        on_rest: Callable[[Result], None] | None = None,
    ) -> None:
        self.machine, self.channel = machine, channel
        self.proven: str | None = None  # who the peer is, if the link counts as theirs
        self._ask, self._reader, self._writer = ask, reader, writer
        self._clock, self._on_stored, self._on_rest = clock, on_stored, on_rest
        self._share, self._turn = share, turn
        self._lock = asyncio.Lock()  # a machine takes one event at a time
        self._closed, self._ready, self._idle = asyncio.Event(), asyncio.Event(), asyncio.Event()
        self._has_rested = False
        self._result: Result | None = None
        self._outbox: deque[bytes] = deque()
        self._said, self._drained = asyncio.Event(), asyncio.Event()
        self._drained.set()
        self._unsent = 0  # bytes that the peer has not taken
        self._taking, self._half = Patience("took"), Patience("sent of half a block")
        self._has_half = False  # while at rest
        self._waits = False  # for memory: it is not the peer's fault
        self._tasks: set[asyncio.Task[None]] = set()
        self._failure: BaseException | None = None

    async def run(self, heard: Setup | None = None) -> Result:
        """Run the exchange to its end; the channel is closed then. `heard` is the setup of the
        peer, if it has been read already."""
        try:
            await self.tell(e.Start())
            if heard is not None:
                await self.tell(heard)
            reading = self._spawn(self._read())
            self._spawn(self._write())
            self._spawn(self._tick())
            self._spawn(self._look_ahead())
            await self._closed.wait()
            if self._failure is not None:
                raise self._failure
            assert self._result is not None
            reading.cancel()
            await asyncio.wait((reading,))
            await self._finish(self._result)
            return self._with_comment(self._result)
        finally:
            for task in self._tasks:
                task.cancel()
            await asyncio.gather(*self._tasks, return_exceptions=True)
            self._share.hold(0)
            await self.channel.close()

    def _with_comment(self, result: Result) -> Result:
        """If the peer went away, why, in its own words (D18a): for people alone."""
        said = (self._reader.comment or "").strip()
        if result.converged or result.aborted not in (None, "disconnected"):
            return result
        if not said.startswith("abort:"):
            return result
        detail = result.detail or "the peer went away"
        return replace(result, detail=f"{detail}; it said: {visible(said)}")

    async def tell(self, event: e.Event) -> None:
        """Give an event to the machine, and carry out what it wants."""
        async with self._lock:
            effects = self.machine.handle(e.Clock(*self._clock()))
            if _is_large(event):
                effects += await asyncio.to_thread(self.machine.handle, event)
            else:
                effects += self.machine.handle(event)
            for effect in effects:
                self._carry_out(effect)
            self._hold()
            if self.machine.reading is not None:
                self._ready.set()

    def _carry_out(self, effect: e.Effect) -> None:
        match effect:
            case e.Send(message):
                self._say(self._writer.write(message))
            case e.Closed(result):
                self._result = result
                self._closed.set()
            case e.Rested(result):
                if self._has_rested:  # where nothing ever changes, there is nothing to look to
                    self._idle.set()
                self._has_rested = True
                if self._on_rest is not None:
                    self._on_rest(result)
            case _:
                self._spawn(self._answer(effect))

    def _spawn(self, work: Awaitable[None]) -> asyncio.Task[None]:
        """Let something go on beside the rest; what nobody foresaw ends the exchange."""

        async def guarded() -> None:
            try:
                await work
            except ChannelError:
                await self.tell(e.Disconnected(whole=False))

        task = asyncio.create_task(guarded())
        self._tasks.add(task)
        task.add_done_callback(self._done)
        return task

    def _done(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            self._failure = error
            self._closed.set()

    async def _answer(self, question: e.Question) -> None:
        if isinstance(question, e.Load):
            # Answered when the peer has taken what was sent before.
            await self._drained.wait()
            await self._share.room()
        answer = await self._ask(question)
        await self.tell(answer)
        if isinstance(answer, e.Stored) and answer.new and self._on_stored is not None:
            self._on_stored()

    async def _look_ahead(self) -> None:
        """After each change of an exchange at rest, a little at a time: until something happens,
        or all is found."""
        while True:
            await self._idle.wait()
            self._idle.clear()
            ahead, more = self.machine.look_ahead(), True
            while more:
                async with self._turn, self._lock:
                    at_rest = self.machine.state is State.REST and not self._idle.is_set()
                    more = at_rest and await asyncio.to_thread(_go_on, ahead)

    # What is held (D29), and how long.

    def _hold(self) -> None:
        arrived = self.machine.link.loop.arrived_bytes
        at_rest = self.machine.state is State.REST
        self._share.hold(self._reader.held + self._unsent + arrived, at_rest)

    @property
    def _limits(self) -> ExchangeLimits:
        link = self.machine.link
        return link.epoch.agreement.limits if link.epoch.agreement else link.config.limits

    async def _tick(self) -> None:
        while True:
            await asyncio.sleep(TICK_SECONDS)
            now, tai = self._clock()
            credit = int(self.machine.link.config.own_limits.lowest_rate * TICK_SECONDS)
            if self._waits:
                self._half.move(credit, now)
            fault = self._stalled(now)
            if fault is not None:
                await self.tell(fault)
            elif self._waits:
                await self.tell(e.Progress(credit))
            else:
                await self.tell(e.Clock(now, tai))

    def _stalled(self, now: int) -> e.Faulty | None:
        """D24a, where the machine does not look: while it waits for the peer to take what it
        sent, and while an open exchange is at rest but for half a block."""
        seconds, own = self._limits.phase_timeout_seconds, self.machine.link.config.own_limits
        lost = self._taking.lost(now, seconds, own) if self._unsent else None
        if self.machine.state is not State.REST or not self._reader.pending:
            self._has_half = False
        elif not self._has_half:
            self._has_half = True
            self._half.begin(now)
        else:
            lost = lost or self._half.lost(now, seconds, own)
        return None if lost is None else e.Faulty("phase-timeout", lost)

    # Reading.

    async def _read(self) -> None:
        ended = False
        while True:
            await self._ready.wait()
            reading = self.machine.reading
            if reading is None:
                self._ready.clear()
                continue
            try:
                most = self._limits.max_fact_block_bytes
                message = await take(self._reader, reading, most)
            except StreamError as error:
                await self.tell(e.Faulty(error.reason, str(error)))
                return
            if message is not None:
                self._has_half = False
                await self.tell(message)
            elif ended:
                await self.tell(e.Disconnected(self._reader.whole))
                return
            else:
                ended = not await self._read_more()

    async def _read_more(self) -> bool:
        """Feed the reader; False at the end of the peer's direction."""
        self._hold()
        self._waits = True
        try:
            await self._share.room()
        finally:
            self._waits = False
        data = await self.channel.read()
        if not data:
            return False
        self._half.move(len(data), self._clock()[0])
        self._reader.feed(data)
        await self.tell(e.Progress(len(data)))
        return True

    # Writing.

    def _say(self, data: bytes) -> None:
        if not self._unsent:
            self._taking.begin(self._clock()[0])
        self._unsent += len(data)
        self._outbox.append(data)
        self._drained.clear()
        self._said.set()

    async def _write(self) -> None:
        """Write what is said. When nobody takes it any more, it is dropped: how the stream of
        the peer ended is for the reader to find out."""
        broken = False
        while True:
            await self._said.wait()
            while self._outbox:
                data = memoryview(self._outbox.popleft())
                for at in range(0, len(data), PIECE_BYTES):
                    piece = bytes(data[at : at + PIECE_BYTES])
                    try:
                        if not broken:
                            await self.channel.write(piece)
                    except ChannelError:
                        broken = True
                    await self._took(len(piece))
            self._said.clear()

    async def _took(self, count: int) -> None:
        self._unsent -= count
        self._taking.move(count, self._clock()[0])
        if not self._unsent:
            self._drained.set()
        await self.tell(e.Progress(count))

    async def _finish(self, result: Result) -> None:
        """Say what is left to say, end our direction, and let the peer end its own."""
        with suppress(ChannelError, TimeoutError):
            if result.aborted is not None:
                if self._unsent:
                    # In the middle of something, to one who may not listen.
                    await self.channel.close(now=True)
                    return
                self._say(self._writer.comment(f"abort: {result.aborted}"))
            async with asyncio.timeout(self._limits.phase_timeout_seconds):
                await self._drained.wait()
                await self.channel.end()
            async with asyncio.timeout(LINGER_SECONDS):
                left = LINGER_BYTES
                while left > 0 and (data := await self.channel.read()):
                    left -= len(data)


def _go_on(work: Iterator[None]) -> bool:
    """Do a little; whether there is more."""
    until = perf_counter() + AHEAD_SECONDS
    return any(perf_counter() > until for _ in work)


async def take(reader: StreamReader, reading: Reading, most: int) -> e.FromPeer | None:
    """The next message that was read, if it is there."""
    inline = INLINE_BATCH_BYTES if reading is Reading.TRANSFER else INLINE_BYTES
    if reader.pending > inline:
        return await asyncio.to_thread(reader.take, reading, most)
    return reader.take(reading, most)


def _is_large(event: e.Event) -> bool:
    """Whether the machine may need long for it."""
    match event:
        case Offer(records) | e.Described(records):
            return len(records) > INLINE_RECORDS
        case e.Evaluated(send, request):
            return len(send) + len(request) > INLINE_RECORDS
    return False
