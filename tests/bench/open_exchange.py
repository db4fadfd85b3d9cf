"""An open exchange on large stores: one record is stored, and soon requested on the other side.

Both stores hold the same records, and all of them are advertised both ways. Measured are
the seconds from a record that is stored to its request by the other side, to its being
stored there, and to rest; in one process, where claims are handed over as they are, and with
partition summaries as on a connection, with the bytes that both sides would write. What
comes before is shown too, because it costs more: making both stores, the exchange until it
rests, and the first record, for which both sides turn live. Between two records both look
ahead, as they do on a connection: for how long the first time, and then, is shown as well.
Run by itself, sizes may be given as arguments.
"""

import shutil
import sys
import tempfile
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from time import perf_counter
from typing import NamedTuple

from rich.console import Console
from rich.table import Table

from lacec.runtime.exchange.in_process import make_pair, system_clock
from lacec.runtime.interlace import events as e
from lacec.runtime.interlace.codec import write_message
from lacec.runtime.interlace.driver import Pair
from lacec.runtime.interlace.limits import SECOND
from lacec.runtime.interlace.messages import BatchEnd, Message, Request, SentRecord
from lacec.store.store import Store
from tests.bench import peers, results
from tests.bench.exchange import participants
from tests.bench.store import make_records

SIZES = (10_000, 100_000, 1_000_000)
RECORDS = 50
_BATCH = 8192
_HOUR = 3600 * SECOND


class Times(NamedTuple):
    """Of one record: when it was requested, stored, and all was at rest; bytes beside its own;
    and for how long both looked ahead then."""

    requested: float
    stored: float
    rested: float
    written: int
    ahead: float


class Stopwatch:
    """Sees when a record is requested and stored, and counts what would be written."""

    def __init__(self, writes: bool) -> None:
        self.writes = writes
        self.written = 0
        self.requested = self.stored = 0.0

    def told(self, side: int, clock: e.Clock, given: Sequence[e.Event]) -> None:
        pass

    def heard(self, _: int, message: Message, __: e.FromPeer | e.Faulty) -> None:
        if isinstance(message, Request) and message.hashes:
            self.requested = perf_counter()
        if self.writes and not isinstance(message, SentRecord | BatchEnd):
            self.written += len(write_message(message))

    def answered(self, _: int, answer: e.Answer) -> None:
        if isinstance(answer, e.Stored):
            self.stored = perf_counter()


def stores_of(folder: Path, count: int) -> tuple[Store, Store]:
    """Two stores of the same records."""
    records = make_records(count, sealed=False)
    with Store.create(folder / "left") as left:
        while batch := list(islice(records, _BATCH)):
            left.add(batch)
        left.settle()
    shutil.copytree(folder / "left", folder / "right")
    return Store.open(folder / "left"), Store.open(folder / "right")


class Measured(NamedTuple):
    """What one size took: to set up, to rest at first, the first record, and those after."""

    made: float
    begun: float
    first: Times
    later: list[Times]


def measure(count: int, summaries: bool) -> Measured:
    fresh = make_records(1 + RECORDS, sealed=False, seed=21)
    with tempfile.TemporaryDirectory() as folder:
        start = perf_counter()
        left, right = stores_of(Path(folder), count)
        made = perf_counter() - start
        record = (lambda _: None) if summaries else None
        pair = make_pair(
            *participants(left, right), system_clock, tick_interval=_HOUR, record=record
        )
        pair.trace = None
        start = perf_counter()
        pair.run()
        begun = perf_counter() - start
        assert all(seat.rested for seat in pair.seats)
        times = []
        for each in fresh:
            if left.has(each.hash):  # made by chance before
                continue
            left.add([each])
            times.append(one_record(pair, left, summaries))
            assert right.has(each.hash)
        left.close()
        right.close()
    return Measured(made, begun, times[0], times[1:])


def one_record(pair: Pair, left: Store, summaries: bool) -> Times:
    """From a record that was just stored until both sides are at rest."""
    watch = pair.trace = Stopwatch(writes=summaries)
    start = perf_counter()
    pair.tell(pair.seats[0], e.StoreChanged(left.last_id()))
    pair.go_on()
    end = perf_counter()
    for seat in pair.seats:
        for _ in seat.machine.look_ahead():
            pass
    ahead = perf_counter() - end
    return Times(watch.requested - start, watch.stored - start, end - start, watch.written, ahead)


def main(console: Console, by: int = 1, sizes: Sequence[int] = SIZES) -> None:
    title = "An open exchange: one record stored (medians after the first, and the slowest)"
    table = Table(title=title)
    before = ("made s", "first rest s", "turning live ms", "ahead then ms")
    after = ("requested ms", "slowest ms", "stored ms", "at rest ms", "ahead ms", "bytes")
    for heading in ("advertised", "records", *before, *after):
        table.add_column(heading, justify="left" if heading == "advertised" else "right")
    kept: list[results.Row] = []
    for count in (size // by for size in sizes):
        for summaries in (False, True):
            found = measure(count, summaries)
            requested, stored, rested, written, ahead = (
                peers.median(list(column)) for column in zip(*found.later, strict=True)
            )
            slowest = max(times.requested for times in found.later)
            live = (found.first.rested, found.first.ahead)
            ms = (*live, requested, slowest, stored, rested, ahead)
            way = "by summaries" if summaries else "as it is"
            table.add_row(
                way,
                f"{count:,}",
                f"{found.made:.1f}",
                f"{found.begun:.2f}",
                *(f"{seconds * 1000:.2f}" for seconds in ms),
                f"{written:,.0f}" if summaries else "-",
            )
            kept.append((f"{count:,} records", way, requested * 1000))
    console.print(table)
    about = (
        f"The median of {RECORDS} records after the first, for which both sides turn live. In one "
        "process, without a transport."
    )
    results.keep("open", about, kept)


if __name__ == "__main__":
    main(Console(width=140), sizes=[int(size) for size in sys.argv[1:]] or SIZES)
