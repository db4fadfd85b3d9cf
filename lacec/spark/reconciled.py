"""What a reconciliation found: of each side, and where the two differ; and its JSON."""

from dataclasses import asdict, dataclass
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from lacec.records import b64a
from lacec.runtime.exchange.recording.recorder import NAMES
from lacec.runtime.interlace.reconcile.merkle import EMPTY
from lacec.runtime.interlace.reconcile.partitions import Summary


@dataclass(frozen=True)
class Sent:
    """The bytes that a side puts on the wire, in all loops; setup and hello are not counted."""

    records: int = 0
    advertisements: int = 0
    requests: int = 0

    def __add__(self, other: "Sent") -> "Sent":
        return Sent(
            self.records + other.records,
            self.advertisements + other.advertisements,
            self.requests + other.requests,
        )


@dataclass(frozen=True)
class SideFound:
    """Of one side: its send set as the exchange begins, and what comes of it."""

    source: str
    summaries: dict[str, Summary]
    only_here: dict[str, int]  # by partition: records that the other does not offer
    requested: int
    received: int
    sent: Sent

    def json(self) -> dict[str, Any]:
        whole = self.summaries[""]
        return {
            "source": self.source,
            "send": whole.size,
            "root": b64a.encode(whole.root),
            "partitions": len(self.summaries) - 1,
            "only_here": sum(self.only_here.values()),
            "requested": self.requested,
            "received": self.received,
            "bytes": asdict(self.sent),
        }


@dataclass(frozen=True)
class Reconciled:
    """What was found; the tables can be read as long as the work folder is there."""

    sides: tuple[SideFound, SideFound]
    loops: int
    converged: bool
    limited: bool  # it ended at the limit on loops
    tables: dict[str, DataFrame]

    def differing(self) -> list[str]:
        """The partitions in which the sides do not offer the same records."""
        return sorted({prefix for side in self.sides for prefix in side.only_here})

    def partitions(self) -> list[dict[str, Any]]:
        """Of each prefix that a side has records of: counts, roots, and how many differ."""
        prefixes = {prefix for side in self.sides for prefix in side.summaries}
        return [self.partition(prefix) for prefix in sorted(prefixes)]

    def partition(self, prefix: str) -> dict[str, Any]:
        found: dict[str, Any] = {"prefix": prefix}
        for name, side in zip(NAMES, self.sides, strict=True):
            _, count, root = side.summaries.get(prefix, Summary(prefix, 0, EMPTY))
            only = side.only_here.get(prefix, 0) if prefix else sum(side.only_here.values())
            found[name] = {"count": count, "root": b64a.encode(root), "only_here": only}
        return found

    def json(self, most: int) -> dict[str, Any]:
        """Counts of everything, and the first so many of what is counted."""
        differing = self.differing()
        return {
            **{name: side.json() for name, side in zip(NAMES, self.sides, strict=True)},
            "differing": len(differing),
            "partitions": [self.partition(prefix) for prefix in differing[:most]],
            "differences": self._first("differences", ["side", "hash"], most),
            "requests": self._first("requests", ["loop", "side", "hash", "bytes"], most),
            "loops": self.loops,
            "converged": self.converged,
        }

    def _first(self, table: str, columns: list[str], most: int) -> list[dict[str, Any]]:
        rows = self.tables[table].select(columns).orderBy(columns).limit(most).collect()
        return [row.asDict() for row in rows]

    def written(self, session: SparkSession) -> dict[str, DataFrame]:
        """All there is to keep, as tables."""
        rows = [
            (each["prefix"], *(value for name in NAMES for value in each[name].values()))
            for each in self.partitions()
        ]
        columns = ["prefix string"]
        for name in NAMES:
            columns += [f"{name}_count bigint", f"{name}_root string", f"{name}_only bigint"]
        return {**self.tables, "partitions": session.createDataFrame(rows, ", ".join(columns))}
