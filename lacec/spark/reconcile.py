"""Two laces reconciled (050): what an exchange between them would say and move.

In: two tables of records, and the policies of both sides. Out: the send set of each side
with digests, partitions and roots; where they differ; what each side requests and receives,
loop by loop until a fixed point; and the bytes of it all. The loops are those of the
machine of an exchange: each evaluates what to advertise, then what to request with what the
peer advertises, and rows move from one table to the other. A request list has all that is
requestable, and a listing all of a send set, where a real exchange has a limit for each.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import reduce

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import from_arrow_schema

from lacec.core.limits import DEFAULT_LIMITS, Limits
from lacec.core.predicates import Predicate
from lacec.plan.lower import SideProgram
from lacec.runtime.exchange.recording.recorder import NAMES
from lacec.runtime.interlace.codec import write_message
from lacec.runtime.interlace.facts import Fact
from lacec.runtime.interlace.limits import DEFAULT_LIMITS as EXCHANGE_LIMITS
from lacec.runtime.interlace.messages import NotAvailable, Request
from lacec.spark.advertising import ADVERTISED_COLUMNS, CLAIM_COLUMNS
from lacec.spark.agreement import Agreed, reads_claims
from lacec.spark.archive import Executors
from lacec.spark.evaluate import DEFAULT_SETTINGS, Evaluator, Facts, Side
from lacec.spark.facts import SOURCE
from lacec.spark.machine import Settings
from lacec.spark.reconciled import Reconciled, Sent, SideFound
from lacec.spark.rows import FIELD_COLUMNS
from lacec.spark.scratch import Work
from lacec.spark.summaries import prefix_of, summarise
from lacec.vm.database import Database
from lacec.vm.sources import add_rows

_HASH = "hash"
_CLAIMS = from_arrow_schema(CLAIM_COLUMNS)
# The bytes of a line without its hash, in which nothing is escaped.
_REQUEST = len(write_message(Request(("",))))
_REFUSAL = len(write_message(NotAvailable("")))


@dataclass(frozen=True)
class _Claims:
    """What a side advertises; the version is another when it is not the same as before."""

    frame: DataFrame
    size: int = 0
    bytes: int = 0
    version: int = 0


@dataclass(frozen=True)
class _Hashes:
    """Hashes in a table: how many, and the bytes of the lines that name them."""

    frame: DataFrame
    size: int
    bytes: int


@dataclass
class _Found:
    """An evaluation: what it was of, and what has been found of it."""

    side: Side
    send: DataFrame | None = None
    request: _Hashes | None = None


@dataclass
class _Member:
    """One side between loops."""

    index: int
    records: DataFrame
    program: SideProgram
    source: str
    plain: Database
    claims: _Claims
    offered: DataFrame | None = None  # the send set that the claims are all of
    stored: int = 0  # how often records have come
    # D18: answered NotAvailable, so not asked for while it stays advertised.
    unwanted: DataFrame | None = None
    # What this side answered so: its advertisement goes, so that it can come back.
    withheld: DataFrame | None = None
    requested: int = 0
    received: int = 0
    sent: Sent = field(default_factory=Sent)
    known: dict[tuple[int, int], _Found] = field(default_factory=dict)


class Reconciliation:
    """The loops of an exchange between two tables of records."""

    def __init__(
        self,
        agreed: Agreed,
        records: Sequence[DataFrame],
        executors: Executors,
        work: Work,
        limits: Limits = DEFAULT_LIMITS,
        settings: Settings = DEFAULT_SETTINGS,
        idle_loops: int = EXCHANGE_LIMITS.max_loop_iterations,
    ) -> None:
        """`idle_loops` is how many loops may move nothing (D18)."""
        self._executors, self._work = executors, work
        self._limits, self._settings, self._idle_loops = limits, settings, idle_loops
        self._schema = agreed.schema
        nothing = _Claims(executors.session.createDataFrame([], _CLAIMS))
        self._sides = [
            _Member(index, frame, program, source, _database(facts, limits), nothing)
            for index, (frame, program, source, facts) in enumerate(
                zip(records, agreed.programs, agreed.sources, agreed.runtime, strict=True)
            )
        ]
        self._requests: list[DataFrame] = []

    def run(self, most: int | None = None) -> Reconciled:
        """Until neither side requests anything and nothing changes, or for so many loops."""
        loops = idle = 0
        before: list[int] = []
        first: list[_Claims] = []
        converged = False
        while not converged and idle <= self._idle_loops and loops != most:
            loops += 1
            moved, asked = self._loop(loops)
            idle += not moved
            now = [side.claims.version for side in self._sides]
            first = first or [side.claims for side in self._sides]
            converged = not asked and now == before and idle <= self._idle_loops
            before = now
        return self._result(first, loops, converged, idle > self._idle_loops)

    def _loop(self, number: int) -> tuple[bool, bool]:
        """Advertise, request, transfer; whether records moved, and whether any were asked for."""
        told = [side.claims for side in self._sides]
        for side, peer in self._both():
            self._work.progress(f"loop {number}: what the {NAMES[side.index]} side sends")
            self._advertise(side, told[peer.index])
        for side, peer in self._both():
            if peer.claims.version != told[peer.index].version and side.unwanted is not None:
                side.unwanted = _among(side.unwanted, peer.claims.frame)
        self._work.progress(f"loop {number}: what is requested")
        asked = [self._request(side, peer.claims) for side, peer in self._both()]
        if not any(hashes.size for hashes in asked):
            return False, False
        self._work.progress(f"loop {number}: what moves")
        moved = [
            self._transfer(number, side, peer, hashes)
            for (side, peer), hashes in zip(self._both(), asked, strict=True)
        ]
        for side, rows in zip(self._sides, moved, strict=True):
            if rows is not None:
                side.records = side.records.unionAll(rows)
                side.stored += 1
        return any(rows is not None for rows in moved), True

    def _both(self) -> list[tuple[_Member, _Member]]:
        one, other = self._sides
        return [(one, other), (other, one)]

    # Evaluation.

    def _evaluated(self, side: _Member, claims: _Claims) -> _Found:
        """Over the records as they are, with what the peer advertises."""
        key = (side.stored, claims.version)
        if key not in side.known:
            source = self._sides[1 - side.index].source
            advertised = claims.frame.withColumn(SOURCE, F.lit(source))
            facts = Facts(side.records, advertised, side.plain)
            evaluator = Evaluator(
                self._executors.session, facts, self._work, self._limits, self._settings
            )
            # Of earlier moments nothing is asked again.
            side.known = {k: v for k, v in side.known.items() if k[0] == side.stored}
            side.known[key] = _Found(evaluator.side(side.program))
        return side.known[key]

    def _may_send(self, side: _Member, claims: _Claims) -> DataFrame:
        if not reads_claims(side.program):
            # What the peer advertises changes nothing: any evaluation of these records will do.
            for (stored, _), known in side.known.items():
                if stored == side.stored and known.send is not None:
                    return known.send
        found = self._evaluated(side, claims)
        if found.send is None:
            found.send = self._work.written(_named(found.side.may_send))
        return found.send

    # Advertise.

    def _advertise(self, side: _Member, peer: _Claims) -> None:
        may_send, old = self._may_send(side, peer), side.claims
        if may_send is side.offered and side.withheld is None:
            side.sent += Sent(advertisements=old.bytes + 1)
            return
        side.offered = may_send if side.withheld is None else None
        if side.withheld is not None:
            may_send, side.withheld = _without(may_send, side.withheld), None
        # Have, too: what is described are rows of records.
        new = _without(_among(side.records, may_send), old.frame)
        new = new.select(*(self._advertised(name) for name in ADVERTISED_COLUMNS))
        function = "lacec.spark.advertising:describe"
        described = self._executors.run(new, function, _CLAIMS, side.source)
        kept = _among(old.frame, may_send).withColumn("new", F.lit(0))
        written, (size, bytes, fresh) = self._work.measured(
            kept.unionAll(described.withColumn("new", F.lit(1))),
            *(_count(), F.sum("bytes"), F.sum("new")),
        )
        if fresh or size != old.size:
            side.claims = _Claims(written.drop("new"), size, bytes, old.version + 1)
        # 060: a block ends with a blank line.
        side.sent += Sent(advertisements=side.claims.bytes + 1)

    def _advertised(self, column: str) -> Column:
        """A column of records as far as its fields are in the schema."""
        names, value = self._schema.names, F.col(column)
        if self._schema.every or column == _HASH:
            return value
        if column == "extras":
            return F.filter(value, lambda each: each["name"].isin(sorted(names))).alias(column)
        allowed = column in {FIELD_COLUMNS.get(name) for name in names}
        return value if allowed else F.lit(None).cast("string").alias(column)

    # Request and transfer.

    def _request(self, side: _Member, peer: _Claims) -> _Hashes:
        """What may be requested: derived, missing, advertised, not answered in vain (D18)."""
        found = self._evaluated(side, peer)
        if found.request is None:
            may_request = _among(_named(found.side.may_request), peer.frame)
            found.request = self._hashes(_without(may_request, side.records), _REQUEST)
        hashes = found.request
        if side.unwanted is not None:
            hashes = self._hashes(_without(hashes.frame, side.unwanted), _REQUEST)
        side.requested += hashes.size
        side.sent += Sent(requests=hashes.bytes + 1)
        return hashes

    def _transfer(
        self, loop: int, side: _Member, peer: _Member, hashes: _Hashes
    ) -> DataFrame | None:
        """The rows that come to a side; None if there are none."""
        # 060: a batch ends with a blank line, and a record with a line feed.
        peer.sent += Sent(records=1)
        if not hashes.size:
            return None
        served = hashes.frame
        if reads_claims(peer.program):
            served = _among(served, self._may_send(peer, side.claims))
        rows, (count, bytes) = self._work.measured(
            _among(peer.records, served), _count(), F.sum("size")
        )
        side.received += count
        peer.sent += Sent(records=bytes + count)
        if count < hashes.size:
            refused = self._hashes(_without(hashes.frame, rows), _REFUSAL)
            peer.sent += Sent(records=refused.bytes)
            peer.withheld = refused.frame
            unwanted = side.unwanted
            side.unwanted = refused.frame if unwanted is None else unwanted.unionAll(refused.frame)
        moved = rows.select(_HASH, F.col("size").alias("bytes"))
        self._requests.append(
            hashes.frame.join(moved, _HASH, "left").select(
                F.lit(loop).alias("loop"), F.lit(NAMES[side.index]).alias("side"), _HASH, "bytes"
            )
        )
        return rows if count else None

    def _hashes(self, frame: DataFrame, line: int) -> _Hashes:
        """Hashes written to a table, for lines that have so many bytes without them."""
        written, (size, length) = self._work.measured(frame, _count(), F.sum(F.length(_HASH)))
        return _Hashes(written, size, length + line * size)

    # What was found.

    def _result(
        self, first: Sequence[_Claims], loops: int, converged: bool, limited: bool
    ) -> Reconciled:
        self._work.progress("partitions and roots")
        frames = [claims.frame for claims in first]
        summaries = summarise(frames, [claims.size for claims in first], self._executors)
        apart = [
            _without(frames[side].select(_HASH), frames[1 - side])
            .withColumn("side", F.lit(NAMES[side]))
            .withColumn("prefix", prefix_of(_HASH))
            for side in (0, 1)
        ]
        differences = self._work.written(apart[0].unionAll(apart[1]))
        only: tuple[dict[str, int], dict[str, int]] = ({}, {})
        for side, prefix, count in differences.groupBy("side", "prefix").count().collect():
            only[NAMES.index(side)][prefix] = count
        found = [
            SideFound(
                member.source,
                summaries[member.index],
                only[member.index],
                member.requested,
                member.received,
                member.sent,
            )
            for member in self._sides
        ]
        advertised = [
            frame.select(F.lit(NAMES[side]).alias("side"), _HASH, "digest", "bytes")
            for side, frame in enumerate(frames)
        ]
        tables = {
            "advertisements": advertised[0].unionAll(advertised[1]),
            "differences": differences.select("side", "prefix", _HASH),
            "requests": self._all_requests(),
        }
        return Reconciled((found[0], found[1]), loops, converged, limited, tables)

    def _all_requests(self) -> DataFrame:
        if self._requests:
            return reduce(DataFrame.unionAll, self._requests)
        schema = "loop int, side string, hash string, bytes bigint"
        return self._executors.session.createDataFrame([], schema)


def _database(facts: Sequence[Fact], limits: Limits) -> Database:
    database = Database()
    for name, *values in facts:
        add_rows(database, Predicate(name, len(values)), [values], limits)
    return database


def _named(frame: DataFrame) -> DataFrame:
    return frame.select(F.col("c0").alias(_HASH))


def _among(frame: DataFrame, others: DataFrame) -> DataFrame:
    """The rows whose hash stands in another table."""
    return frame.join(others.select(_HASH), _HASH, "left_semi")


def _without(frame: DataFrame, others: DataFrame) -> DataFrame:
    return frame.join(others.select(_HASH), _HASH, "left_anti")


def _count() -> Column:
    return F.count(F.lit(1))
