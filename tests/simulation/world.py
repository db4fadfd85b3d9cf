"""A world with one clock and one source of chance: nodes, and connections between them.

Everything that takes time is an action on one heap, and every choice comes from one seeded
generator, so that a seed tells the whole story. After every event the invariants of 050
are checked (`invariants`).
"""

import heapq
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from random import Random
from typing import Any

from lacec.core.errors import StreamError
from lacec.runtime.exchange.in_process import KnownParties
from lacec.runtime.exchange.live import LiveStore
from lacec.runtime.exchange.side import EXCHANGE_LIMITS, Policy, Side
from lacec.runtime.iltp.framing.reader import StreamReader
from lacec.runtime.iltp.framing.writer import StreamWriter
from lacec.runtime.interlace import events as e
from lacec.runtime.interlace.limits import DEFAULT_LIMITS, SECOND
from lacec.runtime.interlace.link import Config
from lacec.runtime.interlace.machine import Machine
from lacec.runtime.interlace.result import Result
from tests.simulation.invariants import Witness
from tests.simulation.policies import local_policy, modules, operand
from tests.simulation.shelf import MemoryCursors, MemoryShelf

EPOCH = 1_700_000_000 * SECOND


class World:
    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.now = 0
        self.events = 0
        self._heap: list[tuple[int, int, Callable[[], None]]] = []

    def after(self, delay: int, action: Callable[[], None]) -> None:
        self.events += 1
        heapq.heappush(self._heap, (self.now + max(0, delay), self.events, action))

    def run(self, until: int, most_events: int = 200_000) -> None:
        """Let time pass; too many events are a flood that nobody stopped."""
        last = self.events + most_events
        while self._heap and self._heap[0][0] <= until:
            self.now, _, action = heapq.heappop(self._heap)
            action()
            assert self.events < last, "too many events"
        self.now = until


@dataclass
class Pace:
    """How slow things are, in nanoseconds; bytes come in pieces of at most `piece`."""

    latency: int = SECOND // 20
    answer: int = SECOND // 50
    piece: int = 4096


@dataclass
class Node:
    """A lace: its records survive, whatever happens to its machines."""

    name: str
    source: str
    exposed: str
    verifier: str | None = None
    offset: int = 0  # of its clock
    shelf: MemoryShelf = field(default_factory=MemoryShelf)
    cursors: MemoryCursors = field(default_factory=MemoryCursors)
    ends: list["End"] = field(default_factory=list)
    live: LiveStore = field(init=False)

    def __post_init__(self) -> None:
        self.live = LiveStore(self.shelf)

    def policy(self, index: int) -> Policy:
        return Policy(operand(index, self.source), local_policy(index, self.source, self.exposed))

    def kill(self) -> None:
        """All that is in memory is gone; connections break."""
        for end in list(self.ends):
            end.vanish()
        self.live = LiveStore(self.shelf)

    def change(self, source: str) -> None:
        """Bring another selector, also to exchanges that are open."""
        self.source = source
        for end in list(self.ends):
            index = end.machine.link.config.index
            end.side.change(self.policy(index))
            end.tell(e.OperandChanged(operand(index, source).module.id))

    def wrote(self, removed: bool) -> None:
        """Something else wrote to the store."""
        for end in list(self.ends):
            end.tell(e.StoreChanged(self.shelf.last, removed))


class Pipe:
    """Bytes one way: in order, in pieces, late; cut after some of them, perhaps."""

    def __init__(self, world: World, pace: Pace, cut_after: int | None = None) -> None:
        self.world, self.pace, self.left = world, pace, cut_after
        self.target: End | None = None
        self._next = 0
        self._over = False

    def send(self, data: bytes) -> None:
        if self.left is not None:
            data, self.left = data[: self.left], max(0, self.left - len(data))
        at = 0
        while at < len(data):
            size = self.world.random.randint(1, self.pace.piece)
            self._later(partial(self._arrive, data[at : at + size]))
            at += size
        if self.left == 0:
            self.close()

    def close(self) -> None:
        if not self._over:
            self._over = True
            self._later(self._end)

    def _later(self, action: Callable[[], None]) -> None:
        """In order: no sooner than what was sent before."""
        delay = self.world.random.randint(0, self.pace.latency)
        self._next = max(self._next, self.world.now + delay)
        self.world.after(self._next - self.world.now, action)

    def _arrive(self, piece: bytes) -> None:
        if self.target is not None:
            self.target.arrive(piece)

    def _end(self) -> None:
        if self.target is not None:
            self.target.over()


class End:
    """One end of a connection: a machine, who answers it, and its stream."""

    watched_by: type[Witness] = Witness

    def __init__(
        self, world: World, node: Node, config: Config, peer: Node, pipe: Pipe, pace: Pace
    ) -> None:
        self.world, self.node, self.pipe, self.pace = world, node, pipe, pace
        self.machine = Machine(config)
        known = dict(modules())
        self.reader, self.writer = StreamReader(known, EXCHANGE_LIMITS), StreamWriter(known)
        self.side = Side(
            node.policy(config.index),
            node.shelf,
            known.get,
            KnownParties(node.verifier, peer.verifier),
            node.cursors,
            live=node.live if config.open else None,
        )
        # What is not read yet stays with the network: a machine that is busy reads nothing.
        self.backlog: deque[bytes] = deque()
        self.result: Result | None = None
        self.rests = 0
        self.witness = self.watched_by(self.machine, self.side)
        self._ended = self._gone = False
        node.ends.append(self)

    def start(self) -> None:
        self.tell(e.Start())
        self._tick()

    def _tick(self) -> None:
        if not self.machine.closed and not self._gone:
            self._clock()
            self.world.after(self.world.random.randint(1, 5) * SECOND, self._tick)

    def _clock(self) -> None:
        tai = EPOCH + self.world.now + self.node.offset
        self._handle(e.Clock(self.world.now, tai))

    def tell(self, event: e.Event) -> None:
        """Give an event to the machine, at this moment."""
        if not self._gone:
            self._clock()
            self._handle(event)
            self._read()

    def _handle(self, event: e.Event) -> None:
        self.witness.before(event)
        effects = self.machine.handle(event)
        self.witness.after(effects)
        for effect in effects:
            self.carry_out(effect)

    def carry_out(self, effect: e.Effect) -> None:
        match effect:
            case e.Send(message):
                self.say(self.writer.write(message))
            case e.Closed(result):
                self.result = result
                self.pipe.close()
                if self in self.node.ends:
                    self.node.ends.remove(self)
            case e.Rested(result):
                self.result = result
                self.rests += 1
            case _:
                delay = self.world.random.randint(0, self.pace.answer)
                self.world.after(delay, lambda: self._answer(effect))

    def say(self, data: bytes) -> None:
        self.pipe.send(data)

    def _answer(self, question: e.Question) -> None:
        if not self._gone:
            self.tell(self.witness.note(question, self.side.answer(question)))

    def arrive(self, piece: bytes) -> None:
        if not self._gone and not self.machine.closed:
            self.backlog.append(piece)
            self._handle(e.Progress(len(piece)))
            self.tell(e.Progress(0))

    def over(self) -> None:
        """The peer's stream has ended."""
        self._ended = True
        self._read()

    def _read(self) -> None:
        """Take from the stream what the machine is ready for."""
        agreement = self.machine.link.epoch.agreement
        limits = agreement.limits if agreement else DEFAULT_LIMITS
        while (reading := self.machine.reading) is not None:
            found: e.FromPeer | e.Faulty | None
            try:
                found = self.reader.take(reading, limits.max_fact_block_bytes)
            except StreamError as error:
                found = e.Faulty(error.reason, str(error))
            if found is not None:
                self._handle(found)
            elif self.backlog:
                self.reader.feed(self.backlog.popleft())
            else:
                break
        idle = self.machine.reading is not None
        if self._ended and idle and not self.machine.closed:
            self._handle(e.Disconnected(self.reader.whole))

    def vanish(self) -> None:
        """The process is gone, and with it the connection."""
        self._gone = True
        self.pipe.close()
        if self in self.node.ends:
            self.node.ends.remove(self)


@dataclass
class Connection:
    left: End
    right: End

    @property
    def ends(self) -> tuple[End, End]:
        return self.left, self.right

    @property
    def closed(self) -> bool:
        return all(end.machine.closed for end in self.ends)


def connect(
    world: World,
    left: Node,
    right: Node,
    configs: tuple[Config, Config],
    paces: tuple[Pace, Pace] | None = None,
    cuts: tuple[int | None, int | None] = (None, None),
    make_left: type[End] = End,
) -> Connection:
    """Connect two nodes; each pace is that of what the side says and answers."""
    one, other = paces or (Pace(), Pace())
    there, back = Pipe(world, one, cuts[0]), Pipe(world, other, cuts[1])
    first = make_left(world, left, configs[0], right, there, one)
    second = End(world, right, configs[1], left, back, other)
    there.target, back.target = second, first
    first.witness.peer, second.witness.peer = second.witness, first.witness
    first.start()
    second.start()
    return Connection(first, second)


def config(node: Node, index: int, **options: Any) -> Config:
    module = operand(index, node.source).module.id
    return Config(index, module, claim=node.verifier, **options)
