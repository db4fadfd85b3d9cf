"""A lace and its links: one store, and any number of exchanges with it over channels.

    lace = Lace(store, executor=thread)
    result = await connect(lace, "tcp:example.com", terms)
    listener = await serve(lace, "unix:/run/lace.sock", lambda verifier: terms)

The side that connects is operand 0 and speaks first; the side that listens hears the setup
of a peer before it speaks, so that it can choose its terms by who the peer claims to be.
The claim is proven by the end of hello, before anything is evaluated, or the link ends.
"""

import asyncio
from collections.abc import Awaitable, Callable
from concurrent.futures import Executor
from contextlib import suppress
from dataclasses import dataclass, field, replace
from time import monotonic_ns
from typing import TypeVar

from lacec.core.errors import StreamError
from lacec.core.limits import Limits
from lacec.plan.operands import Operand
from lacec.runtime.exchange.executor import Answering, Aside, in_thread
from lacec.runtime.exchange.in_process import system_clock
from lacec.runtime.exchange.live import LiveStore
from lacec.runtime.exchange.side import EXCHANGE_LIMITS, Cursors, Policy, Side
from lacec.runtime.iltp.channel import Channel, ChannelError
from lacec.runtime.iltp.framing.reader import StreamReader
from lacec.runtime.iltp.framing.writer import StreamWriter
from lacec.runtime.iltp.memory_budget import Memory, Share
from lacec.runtime.iltp.pump import Pump, take
from lacec.runtime.iltp.signer_proof import ConnectionProver, Identity, Trust, claim, make_nonce
from lacec.runtime.iltp.timeouts import Patience
from lacec.runtime.interlace import events as e
from lacec.runtime.interlace.advertisement import NO_FIELDS, Schema
from lacec.runtime.interlace.codec import Reading
from lacec.runtime.interlace.limits import (
    DEFAULT_BUDGET,
    DEFAULT_LIMITS,
    DEFAULT_OWN_LIMITS,
    SECOND,
    Budget,
    ExchangeLimits,
    OwnLimits,
)
from lacec.runtime.interlace.link import Config
from lacec.runtime.interlace.machine import Machine
from lacec.runtime.interlace.messages import UNASSIGNED, Setup
from lacec.runtime.interlace.reasons import Abort
from lacec.runtime.interlace.result import Result
from lacec.store.protocol import Shelf

_T = TypeVar("_T")


@dataclass(frozen=True)
class Terms:
    """How this side takes part in a link. The index of the operand is the link's."""

    policy: Policy
    identity: Identity | None = None
    trust: Trust = field(default_factory=Trust)
    fields: Schema = NO_FIELDS
    limits: ExchangeLimits = DEFAULT_LIMITS
    own_limits: OwnLimits = DEFAULT_OWN_LIMITS
    budget: Budget = DEFAULT_BUDGET
    evaluation: Limits = EXCHANGE_LIMITS
    partitions: bool = True
    open: bool = False
    tick_interval: int = 10 * SECOND
    comments: bool = False  # in the stream, for people


# The terms for a peer that claims a verifier, or none; no terms: it is turned away.
Welcome = Callable[[str | None], Terms | None]


class Lace:
    """One store, and its links.

    `executor` answers what the machines ask, so that the loop stays live meanwhile; it has
    one thread if the store belongs to one, and the store is opened there. Without one, the
    answers are given at once. `aside` is for links that need long, so that others need not.
    """

    def __init__(
        self,
        shelf: Shelf,
        cursors: Cursors | None = None,
        executor: Executor | None = None,
        memory: Memory | None = None,
        clock: Callable[[], tuple[int, int]] = system_clock,
        aside: Aside | None = None,
    ) -> None:
        self._shelf, self._cursors, self._executor = shelf, cursors, executor
        self._aside = aside
        self.memory = memory or Memory()
        self._clock = clock
        self._live = LiveStore(shelf)  # what open links share
        self.links: set[Pump] = set()
        self._turn = asyncio.Lock()  # to look ahead
        self._telling: asyncio.Task[None] | None = None
        self._removed = self._again = False

    async def link(
        self,
        channel: Channel,
        index: int,
        terms: Terms,
        on_rest: Callable[[Result], None] | None = None,
        heard: "Heard | None" = None,
        welcome: Welcome | None = None,
    ) -> Result:
        """Run one exchange over a channel to its end. `welcome` is asked again, if given, when
        the peer has proven who it is."""
        about, trust = channel.about, terms.trust
        module = terms.policy.operand.module
        policy = replace(terms.policy, operand=Operand(index, module))
        heard = heard or Heard(self.memory.share(), terms.evaluation, terms.comments)
        own = heard.own[module.id] = module.canonical.encode("utf-8")
        config = Config(
            index,
            module.id,
            claim=claim(about, terms.identity, trust),
            nonce=make_nonce(about, trust),
            demand_proof=trust.demanded,
            fields=terms.fields,
            limits=terms.limits,
            own_limits=terms.own_limits,
            budget=terms.budget,
            partitions=terms.partitions,
            open=terms.open,
            tick_interval=terms.tick_interval,
            transport=about.address,
            encrypted=about.encrypted,
        )
        prover = ConnectionProver(about, terms.identity, trust)

        def make_side(
            shelf: Shelf, live: LiveStore, limits: Limits, cancelled: Callable[[], bool]
        ) -> Side:
            return Side(
                policy,
                shelf,
                lambda wanted: own if wanted == module.id else heard.modules.get(wanted),
                prover,
                self._cursors,
                limits,
                live=live if terms.open else None,
                cancelled=cancelled,
            )

        answering = Answering(make_side, self._live, terms.evaluation, self._executor, self._aside)
        pump: Pump = Pump(
            Machine(config),
            lambda question: self._ask(answering, pump, welcome, question),
            channel,
            heard.reader,
            heard.writer,
            heard.share,
            self._turn,
            self._clock,
            self.changed,
            on_rest,
        )
        self.links.add(pump)
        try:
            result = await pump.run(heard.setup)
            return replace(result, exceeded=answering.exceeded)
        finally:
            self.links.discard(pump)
            answering.close()

    async def welcome(
        self,
        channel: Channel,
        welcome: Welcome,
        limits: Limits = EXCHANGE_LIMITS,
        patience: float = DEFAULT_LIMITS.phase_timeout_seconds,
        on_rest: Callable[[Result], None] | None = None,
    ) -> Result:
        """Run the exchange of a peer that has connected: hear it first, then choose terms."""
        heard = Heard(self.memory.share(), limits)
        try:
            await heard.hear(channel, patience)
            if heard.setup is None:
                await channel.close()
                return Result(detail="the peer went away before it said anything")
            origin = heard.setup.origin
            terms = welcome(None if origin == UNASSIGNED else origin)
            if terms is None:
                raise Abort("turned-away")
            heard.writer.comments = terms.comments
            result = await self.link(channel, 1, terms, on_rest, heard, welcome)
            return replace(result, heard=True)
        except (StreamError, ChannelError, Abort) as error:
            return await _turn_away(channel, heard.writer, error)
        finally:
            heard.share.hold(0)

    async def _ask(
        self, answering: Answering, pump: Pump, welcome: Welcome | None, question: e.Question
    ) -> e.Answer | e.Faulty:
        answer = await answering.answer(question)
        proven = isinstance(answer, e.ProofChecked) and answer.valid
        if proven and isinstance(question, e.CheckProof):
            pump.proven = None
            if welcome is not None and welcome(question.signer) is None:
                return e.Faulty("turned-away")
            pump.proven = question.signer
        return answer

    # Open exchanges.

    def changed(self, removed: bool = False) -> None:
        """Tell open links that the store has changed."""
        self._removed |= removed
        self._again = True
        if self._telling is None:
            self._telling = asyncio.create_task(self._tell_of_changes())

    async def _tell_of_changes(self) -> None:
        try:
            while self._again:
                self._again, removed, self._removed = False, self._removed, False
                last = await in_thread(self._executor, _last, self._shelf)
                await self.tell(e.StoreChanged(last, removed))
        finally:
            self._telling = None

    async def tell(self, event: e.Event) -> None:
        """Give an event to the machines of all links."""
        for pump in tuple(self.links):
            await pump.tell(event)

    async def finish(self, grace: float) -> None:
        """Close open links at their next fixed point, and all that are left after a while."""
        for event, patience in ((e.Finish(), grace), (e.Cancel(), grace)):
            await self.tell(event)
            with suppress(TimeoutError):
                async with asyncio.timeout(patience):
                    while self.links:
                        await asyncio.sleep(0.02)


def _last(shelf: Shelf) -> int:
    return shelf.snapshot().last


class Heard:
    """Both directions of a link from their beginning, and what was heard before it began."""

    def __init__(self, share: Share, limits: Limits, comments: bool = False) -> None:
        self.share = share
        self.own: dict[str, bytes] = {}  # modules of this side, and of the peer
        self.modules: dict[str, bytes] = {}
        self.reader = StreamReader(self.modules, limits)
        self.writer = StreamWriter(self.own, comments)
        self.setup: Setup | None = None

    async def hear(self, channel: Channel, seconds: float) -> None:
        """Say that this is a stream, and read until the setup of the peer is there, or the
        peer has gone without one. It is waited for as D24a says; to wait for memory is not
        its fault."""
        await _timed(channel.write(self.writer.begin()), seconds)
        most, waited, patience = DEFAULT_LIMITS.max_fact_block_bytes, 0, Patience("sent")
        while (message := await take(self.reader, Reading.SETUP, most)) is None:
            self.share.hold(self.reader.held)
            await self.share.room()
            data, took = await _timed(channel.read(), seconds)
            waited += took
            patience.move(len(data), waited)
            if lost := patience.lost(waited, seconds, DEFAULT_OWN_LIMITS):
                raise Abort("phase-timeout", lost)
            if not data and self.reader.whole:
                return
            if not data:
                raise ChannelError("the peer went away in the middle of something")
            self.reader.feed(data)
        assert isinstance(message, Setup)
        self.setup = message


async def _timed(work: Awaitable[_T], seconds: float) -> tuple[_T, int]:
    """What comes of it within a time, and after how many nanoseconds."""
    began = monotonic_ns()
    try:
        async with asyncio.timeout(seconds):
            return await work, monotonic_ns() - began
    except TimeoutError:
        raise Abort("phase-timeout", f"no setup, and nothing more for {seconds} s") from None


async def _turn_away(channel: Channel, writer: StreamWriter, error: Exception) -> Result:
    """End a link that has not begun."""
    match error:
        case StreamError():
            result = Result(aborted=error.reason, detail=str(error))
        case Abort():
            result = Result(aborted=error.reason, detail=error.detail)
        case _:
            result = Result(aborted="disconnected", detail=str(error))
    with suppress(ChannelError):
        await channel.write(writer.comment(f"abort: {result.aborted}"))
        await channel.end()
    await channel.close()
    return result
