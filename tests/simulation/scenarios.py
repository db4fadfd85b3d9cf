"""Stories that a seed tells: two nodes, what goes wrong, and what must hold in the end."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from random import Random
from typing import Any

from lacec.runtime.interlace import events as e
from lacec.runtime.interlace.limits import SECOND, Budget, ExchangeLimits, OwnLimits
from tests.simulation.policies import MONOTONE, OTHERS, authors, library, some_records
from tests.simulation.villains import TRICKS, Villain
from tests.simulation.world import Connection, Node, Pace, World, config, connect

HOUR = 3600 * SECOND
EXPOSED = ("all", "all", "selected", "selected", "group", "nothing")


@dataclass
class Story:
    """What a disaster may change before the exchange begins, or while it runs."""

    world: World
    left: Node
    right: Node
    options: list[dict[str, Any]] = field(default_factory=lambda: [{}, {}])
    paces: tuple[Pace, Pace] = field(default_factory=lambda: (Pace(), Pace()))
    cuts: tuple[int | None, int | None] = (None, None)
    removed: set[str] = field(default_factory=set)
    connections: list[Connection] = field(default_factory=list)
    # How an exchange between honest sides may end early; each disaster adds its own.
    excuses: set[str | None] = field(default_factory=lambda: {None, "loop-limit-exceeded"})

    @property
    def random(self) -> Random:
        return self.world.random

    @property
    def nodes(self) -> tuple[Node, Node]:
        return self.left, self.right

    def connect(self, left: Node, right: Node, **more: Any) -> Connection:
        one, other = self.options if left is self.left else reversed(self.options)
        configs = (config(left, 0, **one, **more), config(right, 1, **other, **more))
        found = connect(self.world, left, right, configs, self.paces, self.cuts)
        self.connections.append(found)
        return found

    def soon(self, most: int, action: Callable[[], None]) -> None:
        self.world.after(self.random.randint(0, most), action)


def make_nodes(random: Random, sources: tuple[str, ...]) -> tuple[Node, Node]:
    nodes = []
    for name in ("left", "right"):
        node = Node(name, random.choice(sources), random.choice(EXPOSED))
        node.shelf.add(some_records(random))
        nodes.append(node)
    if random.random() < 0.4:
        for node, author in zip(nodes, authors(), strict=False):
            node.verifier = author.verifier
    return nodes[0], nodes[1]


# Disasters.


def cut(story: Story) -> None:
    """The connection ends after any byte."""
    story.excuses |= {"disconnected", "phase-timeout"}
    place = story.random.randint(0, 6000)
    story.cuts = (place, None) if story.random.random() < 0.5 else (None, place)


def kill(story: Story) -> None:
    """A process dies, and with it all that is in memory."""
    story.excuses.add("disconnected")
    story.soon(2 * SECOND, story.random.choice(story.nodes).kill)


def full_disk(story: Story) -> None:
    story.excuses.add("store-failed")
    story.random.choice(story.nodes).shelf.broken_adds = story.random.randint(1, 3)


def slow(story: Story) -> None:
    """Everything takes long, sometimes too long."""
    story.excuses.add("phase-timeout")
    latency = story.random.choice([SECOND, 10 * SECOND, 50 * SECOND])
    pace = Pace(latency, story.random.randint(0, 20) * SECOND, story.random.choice([1, 64, 4096]))
    story.paces = (pace, Pace()) if story.random.random() < 0.5 else (pace, pace)


def skewed_clocks(story: Story) -> None:
    for node in story.nodes:
        node.offset = story.random.randint(-5, 5) * SECOND * story.random.choice([1, 100])


def jumping_clock(story: Story) -> None:
    story.excuses.add("malformed-fact-block")  # a TickReady too far ahead
    node = story.random.choice(story.nodes)

    def jump() -> None:
        node.offset += story.random.choice([-60, -1, 1, 60, 86_400]) * SECOND

    for _ in range(3):
        story.soon(60 * SECOND, jump)


def other_writers(story: Story) -> None:
    """Somebody else writes to the stores, and removes from them."""

    def write() -> None:
        node = story.random.choice(story.nodes)
        if node.shelf.broken_adds:
            return
        remove = story.random.random() < 0.3 and bool(node.shelf.records)
        if remove:
            hash = story.random.choice(sorted(node.shelf.records))
            node.shelf.remove(hash)
            story.removed.add(hash)
        else:
            node.shelf.add([story.random.choice(library())])
        node.wrote(remove)

    for _ in range(story.random.randint(1, 5)):
        story.soon(story.random.choice([1, 30, 200]) * SECOND, write)


def crowd(story: Story) -> None:
    """More connections at the same time, from either side."""

    def again() -> None:
        pair = story.nodes if story.random.random() < 0.5 else story.nodes[::-1]
        story.connect(*pair)

    for _ in range(story.random.randint(1, 2)):
        story.soon(3 * SECOND, again)


def small_limits(story: Story) -> None:
    story.excuses |= {
        "listing-limit-exceeded",
        "summary-limit-exceeded",
        "oversized-fact-block",
    }
    for options in story.options:
        options["limits"] = ExchangeLimits(
            max_fact_block_bytes=story.random.choice([8192, 2**20]),
            max_advertisement_records=story.random.choice([8, 64, 1000]),
            max_partition_summaries=story.random.choice([100, 1000]),
            max_narrowing_depth=story.random.choice([1, 2, 12]),
        )
        options["budget"] = Budget(story.random.randint(1, 4), story.random.choice([1, 500, 10**6]))
        options["own_limits"] = OwnLimits(
            requests=story.random.randint(1, 5),
            stored_at_once=story.random.randint(1, 3),
            loaded_at_once=story.random.randint(1, 3),
        )


def stay_open(story: Story) -> None:
    """An open exchange, with records, ticks and other operands while it lasts."""
    for options in story.options:
        options["open"] = True
        options["tick_interval"] = story.random.choice([5, 10, 60]) * SECOND
    if story.random.random() < 0.5:
        other_writers(story)
    if story.random.random() < 0.4:
        for _ in range(story.random.randint(1, 2)):
            node, source = story.random.choice(story.nodes), story.random.choice(MONOTONE)
            story.soon(60 * SECOND, partial(node.change, source))

    def finish() -> None:
        for connection in story.connections:
            for end in connection.ends:
                end.tell(e.Finish())

    story.world.after(200 * SECOND, finish)


DISASTERS = (
    cut,
    kill,
    full_disk,
    slow,
    skewed_clocks,
    jumping_clock,
    other_writers,
    crowd,
    small_limits,
    stay_open,
)


def tell_story(seed: int) -> Story:
    """Two honest nodes, some disasters, and a calm exchange afterwards."""
    world = World(seed)
    random = world.random
    sources = MONOTONE if random.random() < 0.5 else (*MONOTONE, *OTHERS)
    story = Story(world, *make_nodes(random, sources))
    for options in story.options:
        options["partitions"] = random.random() < 0.7
    before = {node.name: set(node.shelf.records) for node in story.nodes}
    for disaster in random.sample(DISASTERS, random.randint(0, 3)):
        disaster(story)
    story.connect(*story.nodes)
    world.run(world.now + HOUR)
    for connection in story.connections:
        for end in connection.ends:
            assert end.machine.closed or end not in end.node.ends, "an exchange that never ends"
            assert end.result is None or end.result.aborted in story.excuses, end.result
    for node in story.nodes:
        assert before[node.name] - story.removed <= set(node.shelf.records), "a record was lost"
    be_calm(story)
    return story


def be_calm(story: Story) -> None:
    """Nothing goes wrong any more: the exchange that follows converges."""
    story.paces, story.cuts = (Pace(), Pace()), (None, None)
    for node, options in zip(story.nodes, story.options, strict=True):
        node.shelf.broken_adds, node.offset = 0, 0
        options["open"] = False
        for name in ("limits", "budget", "own_limits"):
            options.pop(name, None)
    last = story.connect(*story.nodes)
    story.world.run(story.world.now + HOUR)
    assert last.closed
    monotone = all(node.source in MONOTONE for node in story.nodes)
    for end in last.ends:
        assert end.result is not None
        assert not monotone or end.result.converged, end.result
        assert end.result.aborted in (None, "loop-limit-exceeded"), end.result
    if last.left.result is not None and last.left.result.converged:
        assert sum(end.witness.checked for end in last.ends) == 1, "no fixed point was checked"


def tell_of_a_villain(seed: int, trick: str | None = None) -> tuple[Story, Connection]:
    """An honest node on the right, and on the left one that breaks the rules."""
    world = World(seed)
    random = world.random
    story = Story(world, *make_nodes(random, MONOTONE))
    story.left.exposed = story.right.exposed = "all"
    partitions = random.random() < 0.5
    limits = ExchangeLimits(max_fact_block_bytes=65_536)
    configs = (
        config(story.left, 0, partitions=partitions, limits=limits),
        config(story.right, 1, partitions=partitions, limits=limits),
    )
    kind = type("Trickster", (Villain,), {"trick": trick or random.choice(list(TRICKS))})
    connection = connect(world, story.left, story.right, configs, make_left=kind)
    connection.right.witness.peer = None
    kept = set(story.right.shelf.records)
    world.run(2 * HOUR)
    assert connection.right.machine.closed, "a hostile peer keeps the exchange from ending"
    assert kept <= set(story.right.shelf.records)
    assert connection.right.reader.pending <= 65_536 + 4096, "more is held than a block"
    return story, connection
