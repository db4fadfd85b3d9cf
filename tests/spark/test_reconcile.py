"""Reconciliation on Spark: what it says is what an exchange of the same records does."""

from collections.abc import Sequence
from random import Random

from lacec.records.record import Record
from lacec.runtime.exchange import Participant, make_pair
from lacec.runtime.iltp.writer import StreamWriter
from lacec.runtime.interlace import events as e
from lacec.runtime.interlace import messages as m
from lacec.runtime.interlace.advertisement import NO_FIELDS, Schema
from lacec.runtime.interlace.partitions import SYMBOLS, Partitions
from lacec.runtime.interlace.result import Result
from lacec.runtime.side import Policy
from lacec.spark.agreement import agree
from lacec.spark.reconcile import Reconciliation
from lacec.spark.reconciled import Reconciled, Sent
from lacec.spark.rows import row_of
from lacec.spark.shipping import prepare
from lacec.spark.tables import records_frame
from lacec.spark.work import Work
from tests.runtime.interlace.test_driver import clock
from tests.simulation.policies import (
    MEMBERS,
    local_policy,
    operand,
    some_records,
)
from tests.simulation.shelf import MemoryShelf
from tests.spark.quick import Quick

Pair = tuple[Policy, Policy]
Records = tuple[Sequence[Record], Sequence[Record]]


class Heard:
    """All that each side says, as bytes of a stream by kind."""

    def __init__(self) -> None:
        self.offers: tuple[list[m.Offer], list[m.Offer]] = ([], [])
        self.sent = [Sent(), Sent()]
        self._writers = [StreamWriter({}), StreamWriter({})]
        for writer in self._writers:
            writer.begin()

    def told(self, *_: object) -> None: ...

    def answered(self, *_: object) -> None: ...

    def heard(self, side: int, message: m.Message, _: e.FromPeer | e.Faulty) -> None:
        speaker = 1 - side
        if isinstance(message, m.Setup | m.Hello):
            return
        size = len(self._writers[speaker].write(message))
        if isinstance(message, m.Offer):
            self.offers[speaker].append(message)
            self.sent[speaker] += Sent(advertisements=size)
        elif isinstance(message, m.Request):
            self.sent[speaker] += Sent(requests=size)
        else:
            self.sent[speaker] += Sent(records=size)


def policies(sources: tuple[str, str], exposed: tuple[str, str] = ("all", "all")) -> Pair:
    one, other = (
        Policy(operand(index, source), local_policy(index, source, seen))
        for index, (source, seen) in enumerate(zip(sources, exposed, strict=True))
    )
    return one, other


def exchange(
    both: Pair,
    records: Records,
    verifiers: tuple[str | None, str | None] = (None, None),
    fields: Schema = NO_FIELDS,
) -> tuple[list[Result], Heard]:
    """A real exchange in one process, with all that was said in it."""
    sides = []
    for policy, some, verifier in zip(both, records, verifiers, strict=True):
        shelf = MemoryShelf()
        shelf.add(some)
        sides.append(Participant(shelf, policy, verifier, None, fields))
    pair = make_pair(sides[0], sides[1], clock)
    pair.trace = heard = Heard()
    pair.run()
    return [found for seat in pair.seats if (found := seat.result) is not None], heard


def reconcile(
    quick: Quick,
    both: Pair,
    records: Records,
    verifiers: tuple[str | None, str | None] = (None, None),
    fields: Schema = NO_FIELDS,
    most: int | None = None,
) -> Reconciled:
    quick.count += 1
    work = Work(quick.session, str(quick.folder / str(quick.count)))
    agreed = agree(both, "1700000000:000000000", verifiers, fields)
    frames = [records_frame(quick.session, list(map(row_of, some))) for some in records]
    executors = prepare(quick.session, quick.folder)
    return Reconciliation(agreed, frames, executors, work).run(most)


def received(found: Reconciled, side: str) -> set[str]:
    requests = found.tables["requests"].where("bytes is not null").collect()
    return {row.hash for row in requests if row.side == side}


def check(
    quick: Quick,
    both: Pair,
    records: Records,
    verifiers: tuple[str | None, str | None] = (None, None),
    fields: Schema = NO_FIELDS,
) -> Reconciled:
    """Summaries, loops, what is received and every byte are those of the exchange."""
    results, heard = exchange(both, records, verifiers, fields)
    found = reconcile(quick, both, records, verifiers, fields)
    assert found.converged == results[0].converged
    assert found.loops == results[0].loops
    for index, side in enumerate(found.sides):
        real = Partitions(heard.offers[index][0].records)
        prefixes = [one + two for one in SYMBOLS for two in SYMBOLS if real.count(one + two)]
        assert side.summaries == {each: real.summary(each) for each in ("", *prefixes)}
        assert received(found, ("left", "right")[index]) == set(results[index].received_hashes)
        assert side.received == len(results[index].received_hashes)
        assert side.sent == heard.sent[index]
    offered = [{record.hash for record in offers[0].records} for offers in heard.offers]
    differences = {(row.side, row.hash) for row in found.tables["differences"].collect()}
    assert differences == {("left", hash) for hash in offered[0] - offered[1]} | {
        ("right", hash) for hash in offered[1] - offered[0]
    }
    digests = {
        (side, record.hash, record.digest, record.size)
        for side, offers in zip(("left", "right"), heard.offers, strict=True)
        for record in offers[0].records
    }
    assert {
        (row.side, row.hash, bytes(row.digest), row.bytes)
        for row in found.tables["advertisements"].collect()
    } == digests
    return found


def test_050_members_bring_their_records_in_a_later_loop(quick: Quick) -> None:
    random = Random(7)
    records = (some_records(random, 40), some_records(random, 40))
    found = check(quick, policies((MEMBERS, MEMBERS)), records)
    assert found.converged
