"""Reconciliation on Spark: what it says is what an exchange of the same records does."""

from collections.abc import Sequence
from pathlib import Path
from random import Random

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyspark.sql import DataFrame
from pyspark.sql.pandas.types import from_arrow_schema

from lacec.records.b64a import encode
from lacec.records.record import Record, build_plex
from lacec.runtime.exchange.advertisement_columns import describe_record
from lacec.runtime.exchange.in_process import Participant, make_pair
from lacec.runtime.exchange.side import Policy
from lacec.runtime.iltp.framing.writer import StreamWriter
from lacec.runtime.interlace import driver
from lacec.runtime.interlace import events as e
from lacec.runtime.interlace import messages as m
from lacec.runtime.interlace.advertisement import NO_FIELDS, Schema, advertise
from lacec.runtime.interlace.limits import ExchangeLimits
from lacec.runtime.interlace.reconcile.partitions import SYMBOLS, Partitions
from lacec.runtime.interlace.result import Result
from lacec.spark.advertising import CLAIM_COLUMNS, describe
from lacec.spark.agreement import agree, reads_claims
from lacec.spark.archive import prepare
from lacec.spark.reconcile import Reconciliation
from lacec.spark.reconciled import Reconciled, Sent
from lacec.spark.rows import RECORD_COLUMNS, record_arrays, row_of
from lacec.spark.scratch import Work
from lacec.spark.summaries import summarise
from lacec.spark.tables import records_frame
from lacec.store.store import Store
from tests.cli.run import lacec
from tests.helpers import examples
from tests.runtime.interlace.solo import ALICE, BOB, plex
from tests.runtime.interlace.test_driver import clock, seat
from tests.simulation.policies import (
    ANSWERS,
    AT_MOST_THREE,
    COMPLEMENT,
    EVERYTHING,
    EXPOSURES,
    GROUP_U,
    HESITANT,
    MEMBERS,
    MONOTONE,
    library,
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
    idle_loops: int = 16,
) -> Reconciled:
    quick.count += 1
    work = Work(quick.session, str(quick.folder / str(quick.count)))
    agreed = agree(both, "1700000000:000000000", verifiers, fields)
    frames = [records_frame(quick.session, list(map(row_of, some))) for some in records]
    executors = prepare(quick.session, quick.folder)
    return Reconciliation(agreed, frames, executors, work, idle_loops=idle_loops).run()


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


SETTINGS = st.tuples(
    st.integers(0, 10**6),
    st.sampled_from((*MONOTONE, HESITANT, AT_MOST_THREE)),
    st.sampled_from((*MONOTONE, HESITANT, AT_MOST_THREE)),
    st.tuples(st.sampled_from(EXPOSURES), st.sampled_from(EXPOSURES)),
    st.sampled_from(((None, None), (ALICE, BOB), (ALICE, None))),
    st.sampled_from((NO_FIELDS, Schema(every=True), Schema(frozenset(("Note", "Name"))))),
)


@pytest.mark.soak
@given(SETTINGS)
@examples(60)
def test_many_random_exchanges(
    quick: Quick,
    setting: tuple[int, str, str, tuple[str, str], tuple[str | None, str | None], Schema],
) -> None:
    seed, one, other, exposed, verifiers, fields = setting
    random = Random(seed)
    records = (some_records(random, 30), some_records(random, 30))
    check(quick, policies((one, other), exposed), records, verifiers, fields)


def test_d18_what_is_not_available_is_not_asked_for_until_it_comes_back(quick: Quick) -> None:
    """What may be sent depends on what the peer offers, so that some is refused at first."""
    random = Random(7)
    records = (some_records(random, 2), some_records(random, 2))
    both = policies((HESITANT, EVERYTHING))
    found = check(quick, both, records, (ALICE, BOB), Schema(frozenset(("Note",))))
    requests = found.tables["requests"].collect()
    assert [row for row in requests if row.bytes is None]
    assert found.converged


def test_d18_loops_that_move_nothing_are_limited(quick: Quick) -> None:
    """Nothing is offered that the peer offers too: they offer and take back for ever."""
    records = [plex("one")]
    shelves = [MemoryShelf(), MemoryShelf()]
    for shelf in shelves:
        shelf.add(records)
    limits = ExchangeLimits(max_loop_iterations=2)
    seats = [
        seat(index, COMPLEMENT, shelf, partitions=False, limits=limits)
        for index, shelf in enumerate(shelves)
    ]
    driver.Pair(seats[0], seats[1], clock).run()
    real = seats[0].result
    assert real is not None
    assert real.aborted == "loop-limit-exceeded"
    both = policies((COMPLEMENT, COMPLEMENT))
    found = reconcile(quick, both, (records, records), idle_loops=2)
    assert (found.converged, found.limited, found.loops) == (False, True, real.loops)


def test_stores_folders_and_the_command(
    quick: Quick, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """050: of two stores and of what was ingested of them, the same comes."""
    monkeypatch.chdir(tmp_path)
    Path("group.lace").write_text(GROUP_U + "\n", encoding="utf-8")
    random = Random(7)
    for name in ("ours", "theirs"):
        with Store.create(Path(name)) as store:
            store.add(some_records(random, 12))
        assert lacec("spark", "ingest", name, "--out", f"{name}-tables").code == 0
    given = ("--policy", "group.lace", "--expose", "selected", "--json")
    outcome = lacec("spark", "reconcile", "ours-tables", "theirs-tables", "--out", "found", *given)
    assert (outcome.code, outcome.err) == (0, "")
    found = outcome.document
    real = lacec("run-interlace", "--left", "ours", "--right", "theirs", *given).document
    assert found["plan"] == real["left"]["exchange_plan_id"]
    assert (found["loops"], found["converged"]) == (real["left"]["loops"], True)
    for side in ("left", "right"):
        came = {each["hash"] for each in found["requests"] if each["side"] == side}
        assert came == set(real[side]["received_hashes"])
        assert found[side]["received"] == len(came) > 0

    def read(name: str) -> DataFrame:
        return quick.session.read.parquet(str(tmp_path / "found" / f"{name}.parquet"))

    advertised = read("advertisements").groupBy("side").count().collect()
    assert dict(advertised) == {side: found[side]["send"] for side in ("left", "right")}
    whole = read("partitions").where("prefix = ''").collect()[0]
    assert whole.left_root == found["left"]["root"]
    assert whole.right_only == found["right"]["only_here"]
    assert read("differences").count() == len(found["differences"])
    assert read("requests").count() == len(found["requests"])
    assert sorted(path.name for path in tmp_path.iterdir() if path.name.startswith(".")) == []


def test_mistakes_are_told_before_spark_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("bad.lace").write_text("SelectHave(P) :- Have(Q).\n", encoding="utf-8")
    Path("good.lace").write_text(EVERYTHING + "\n", encoding="utf-8")
    told = lacec("spark", "reconcile", "a", "b", "--policy", "bad.lace", "--json")
    assert told.code == 1
    assert "unbound-variable" in {each["name"] for each in told.document["diagnostics"]}
    told = lacec("spark", "reconcile", "a", "b", "--policy", "good.lace", "--json")
    assert told.code == 1
    assert "is not there" in told.document["error"]
    assert lacec("spark", "reconcile", "a", "a", "--policy", "good.lace").code == 2
    Path("there").mkdir()
    told = lacec("spark", "reconcile", "a", "b", "--policy", "good.lace", "--out", "there")
    assert told.code == 2


# What executors do.

hashes = st.binary(min_size=32, max_size=32).map(lambda data: f"P.{encode(data)}.H3")


@given(st.tuples(st.sets(hashes, max_size=60), st.sets(hashes, max_size=60)))
@examples(2)
def test_050_counts_and_roots_of_partitions(quick: Quick, sides: tuple[set[str], set[str]]) -> None:
    """Buckets of four digests, so that one tree is found in many parts."""
    schema = from_arrow_schema(CLAIM_COLUMNS)
    # Few prefixes, so that partitions have several records.
    records = [[advertise(f"P.A{hash[3:]}", "s", []) for hash in sorted(some)] for some in sides]
    frames = [
        quick.session.createDataFrame(
            [(each.hash, *[None] * 8, [], each.digest, each.size) for each in some], schema
        )
        for some in records
    ]
    executors = prepare(quick.session, quick.folder)
    found = summarise(frames, [len(some) for some in records], executors, bucket=4)
    for summaries, some in zip(found, records, strict=True):
        real = Partitions(some)
        prefixes = {"", *(record.payload[:2] for record in some)}
        assert summaries == {prefix: real.summary(prefix) for prefix in prefixes}


LONG = [("Note", "it's \\ " + "ü" * size) for size in (10, 300, 420, 470, 500)]


@pytest.mark.parametrize("source", ["Opq_x", "V" * 256])
def test_d22_a_claim_is_the_advertisement_record(source: str) -> None:
    """With the fields whose line is short enough, and no other."""
    long = build_plex("u", "a", "n" * 400, "1700000000:000000000", LONG, b"")
    records = [*library(), long]
    batch = pa.RecordBatch.from_arrays(
        record_arrays([row_of(record) for record in records]), schema=RECORD_COLUMNS
    )
    (claims,) = describe(iter([batch]), source)
    expected = [describe_record(record, source, Schema(every=True)) for record in records]
    assert claims.column("digest").to_pylist() == [each.digest for each in expected]
    assert claims.column("bytes").to_pylist() == [each.size for each in expected]
    kept = claims.column("extras").to_pylist()[-1]
    assert 0 < len(kept) < len(LONG)
    assert [each["value"] for each in kept] == [
        each.value for each in expected[-1].fields if each.name == "Note"
    ]


@pytest.mark.parametrize(
    ("source", "exposed", "reads"),
    [
        (EVERYTHING, "all", False),
        (GROUP_U, "selected", False),
        (MEMBERS, "group", False),
        (ANSWERS, "all", True),
        (COMPLEMENT, "nothing", True),
        (HESITANT, "all", True),
    ],
)
def test_what_a_side_sends_may_depend_on_what_its_peer_offers(
    source: str, exposed: str, reads: bool
) -> None:
    agreed = agree(policies((source, source), (exposed, exposed)), "1700000000:000000000")
    assert [reads_claims(program) for program in agreed.programs] == [reads, reads]
