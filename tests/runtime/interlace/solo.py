"""One machine alone: its questions are answered at once, and the test plays the peer."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from blake3 import blake3

from lacec.records import b64a
from lacec.records.record import Record, build_plex
from lacec.runtime.exchange.in_process import KnownParties
from lacec.runtime.exchange.side import Policy, Side
from lacec.runtime.interlace import events as e
from lacec.runtime.interlace import messages as m
from lacec.runtime.interlace.advertisement import Advertisement, ClaimedField, Schema
from lacec.runtime.interlace.limits import SECOND
from lacec.runtime.interlace.link import Config
from lacec.runtime.interlace.machine import Machine
from lacec.runtime.interlace.result import Result
from tests.simulation.policies import EVERYTHING, local_policy, modules, operand
from tests.simulation.shelf import MemoryCursors, MemoryShelf
from tests.simulation.world import EPOCH

ALICE = "V.C1K0USiXg3rDHQR1r9Vv8by~K2bUSvqlxgmk55rx8Ph.H3"
BOB = "V.ZZ0CzZKGT_eUGcQTb4XYttXEoh4ClDNb1W8wo4BzOfC.H3"


def plex(name: str, group: str = "u", data: bytes = b"") -> Record:
    return build_plex(group, "ding", name, "1700000000:000000000", [], data)


def claim(number: int, letter: str = "P", value: str = "x") -> Advertisement:
    """An advertisement record with a payload like any other."""
    payload = b64a.encode(blake3(b"%d" % number).digest())
    return Advertisement(f"{letter}.{payload}.H3", "S", (ClaimedField("App", 0, value),))


class Solo:
    """The machine of side 0, with records, until the test has played side 1."""

    def __init__(
        self,
        records: Iterable[Record] = (),
        source: str = EVERYTHING,
        exposed: str = "all",
        peer_source: str = EVERYTHING,
        **options: Any,
    ) -> None:
        self.own = operand(0, source)
        self.peer_operand = operand(1, peer_source)
        options.setdefault("partitions", False)
        self.config = Config(0, self.own.module.id, **options)
        self.machine = Machine(self.config)
        self.shelf = MemoryShelf()
        self.shelf.add(records)
        self.cursors = MemoryCursors()
        policy = Policy(self.own, local_policy(0, source, exposed))
        prover = KnownParties(self.config.claim, BOB)
        self.side = Side(policy, self.shelf, modules().get, prover, self.cursors)
        self.now = 0
        self.result: Result | None = None
        self.rested: list[Result] = []
        self.asked: list[e.Question] = []
        self.clock(0)
        (setup,) = self.tell(e.Start())
        assert isinstance(setup, m.Setup)
        self.setup = setup

    def clock(self, seconds: float, offset: float = 0) -> list[m.Message]:
        """Let time pass; `offset` moves TAI alone."""
        self.now += int(seconds * SECOND)
        return self.tell(e.Clock(self.now, EPOCH + self.now + int(offset * SECOND)))

    def tell(self, *events: e.Event) -> list[m.Message]:
        """What the machine says to these events."""
        queue, said = list(events), list[m.Message]()
        while queue:
            for effect in self.machine.handle(queue.pop(0)):
                match effect:
                    case e.Send(message):
                        said.append(message)
                    case e.Closed(result):
                        self.result = result
                    case e.Rested(result):
                        self.rested.append(result)
                    case _:
                        self.asked.append(effect)
                        queue.insert(0, self.side.answer(effect))
        return said

    # The peer's part.

    def peer_setup(self, **changes: Any) -> m.Setup:
        module = self.peer_operand.module.id
        return replace(m.Setup(1, module, m.UNASSIGNED, "selector"), **changes)

    def greet(self, setup: m.Setup | None = None, **changes: Any) -> m.Hello:
        """Go on to hello: what the peer says is what the machine said, with changes."""
        (hello,) = self.tell(setup or self.peer_setup())
        assert isinstance(hello, m.Hello)
        claimed = (setup or self.peer_setup()).origin
        signer = None if claimed == m.UNASSIGNED else claimed
        return replace(hello, **{"signer": signer, "proof": None} | changes)

    def open(self, setup: m.Setup | None = None, **changes: Any) -> m.Offer:
        """Go on to the first offer of the machine."""
        (offer,) = self.tell(self.greet(setup, **changes))
        assert isinstance(offer, m.Offer)
        return offer

    def advertise(self, *records: Record, **changes: Any) -> m.Request:
        """Advertise these records in a full listing; the request of the machine."""
        (request,) = self.tell(m.Offer(self.claims(*records), **changes))
        assert isinstance(request, m.Request)
        return request

    def claims(self, *records: Record) -> tuple[Advertisement, ...]:
        source = self.machine.link.peer_source
        return tuple(
            Advertisement(record.hash, source, (ClaimedField("Type", 0, record.type),))
            for record in records
        )

    def loop(
        self,
        advertised: Sequence[Record] = (),
        sent: Sequence[Record] = (),
        wanted: Iterable[str] = (),
    ) -> list[m.Message]:
        """A whole loop: what is advertised, requested, and sent; what the machine says after."""
        request = self.advertise(*advertised)
        said = self.tell(m.Request(tuple(wanted)))
        if not request.hashes and not wanted:
            return said
        return said + self.tell(*(m.Arrived(record) for record in sent), m.BatchEnd())

    @property
    def ended(self) -> Result:
        """The result of an exchange that has ended."""
        assert self.result is not None, self.machine.state
        return self.result

    @property
    def reason(self) -> str | None:
        """Why the exchange was aborted."""
        return self.ended.aborted


ALL_FIELDS = Schema(every=True)
