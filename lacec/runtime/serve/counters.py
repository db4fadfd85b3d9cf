"""What a lace has done, in numbers: of links that are, and of links that were.

In: the ends of links, as they come. Out: the numbers, as a page for Prometheus.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from lacec.runtime.iltp.session import Lace
from lacec.runtime.interlace.result import Result

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
CONVERGED, CLOSED = "converged", "closed"


def outcome(result: Result) -> str:
    """How a link ended, in a word: a reason if it was one of those."""
    if result.aborted is not None:
        return result.aborted
    return CONVERGED if result.converged else CLOSED


@dataclass
class Totals:
    """Of records and bytes, over some links."""

    received: int = 0
    rejected: int = 0
    not_available: int = 0
    bytes_received: int = 0
    bytes_sent: int = 0
    loops: int = 0

    def add(self, result: Result) -> None:
        self.received += len(result.received_hashes)
        self.rejected += len(result.rejected_hashes)
        self.not_available += len(result.not_available_hashes)
        self.bytes_received += result.bytes_received
        self.bytes_sent += result.bytes_sent
        self.loops += result.loops


@dataclass
class Tally:
    lace: Lace
    outcomes: Counter[str] = field(default_factory=Counter)
    accepted: int = 0
    _ended: Totals = field(default_factory=Totals)

    def end(self, result: Result) -> None:
        """Count a link that has ended."""
        self.outcomes[outcome(result)] += 1
        self._ended.add(result)

    @property
    def totals(self) -> Totals:
        """Of all links, those that go on too."""
        found = Totals(**vars(self._ended))
        for pump in self.lace.links:
            found.add(pump.machine.link.result(converged=False))
        return found

    def page(self) -> str:
        """The numbers as Prometheus reads them."""
        totals, memory = self.totals, self.lace.memory
        phases = Counter(pump.machine.state.name.lower() for pump in self.lace.links)
        return "".join(
            (
                *_metric("links", "gauge", "Links by state.", "state", phases),
                *_metric("accepted_total", "counter", "Connections.", number=self.accepted),
                *_metric("links_total", "counter", "Links by end.", "outcome", self.outcomes),
                *_metric("received_records_total", "counter", "Stored.", number=totals.received),
                *_metric("rejected_records_total", "counter", "Not valid.", number=totals.rejected),
                *_metric(
                    "missing_records_total",
                    "counter",
                    "Asked for, and not available.",
                    number=totals.not_available,
                ),
                *_metric(
                    "received_bytes_total", "counter", "Of records.", number=totals.bytes_received
                ),
                *_metric("sent_bytes_total", "counter", "Of records.", number=totals.bytes_sent),
                *_metric("loops_total", "counter", "Loops of exchanges.", number=totals.loops),
                *_metric("held_bytes", "gauge", "Held for all links.", number=memory.used),
                *_metric("budget_bytes", "gauge", "Over this, links wait.", number=memory.most),
            )
        )


def _metric(
    name: str,
    kind: str,
    help: str,
    label: str | None = None,
    numbers: Counter[str] | None = None,
    number: int = 0,
) -> Iterator[str]:
    yield f"# HELP lacec_{name} {help}\n# TYPE lacec_{name} {kind}\n"
    if label is None or numbers is None:
        yield f"lacec_{name} {number}\n"
        return
    rows: Iterable[tuple[str, int]] = sorted(numbers.items())
    for value, count in rows:
        yield f'lacec_{name}{{{label}="{value}"}} {count}\n'
