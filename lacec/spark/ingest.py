"""Ingest: records from stores, files, folders and tables into a folder of tables.

In: paths. Out: the next batch of a folder, with a row for each record that is new, and
counts. Records are checked in executors, which write rows; then the hashes alone are
compared with each other and with those of earlier batches, and files that have a row too
many are written again without it. The batch is renamed into place when all of it is there.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import astuple, dataclass, field
from pathlib import Path
from threading import Event, Thread
from typing import TYPE_CHECKING

from lacec.records.limits import DEFAULT_RECORD_LIMITS, RecordLimits
from lacec.spark.archive import Executors, prepare
from lacec.spark.failures import clear_errors
from lacec.spark.session import Opener, session
from lacec.spark.sources import find_units
from lacec.spark.tables import (
    REFUSED_SCHEMA,
    SCHEMA,
    batches,
    commit,
    read_records,
    read_refused,
    read_table,
    writing,
)
from lacec.spark.worker import CHECKED, DROPPED, write_unit
from lacec.store.importing import Refused

if TYPE_CHECKING:
    from pyspark.sql import Row

# So many refusals are told one by one; the table has all of them.
MOST_TOLD = 20
_TASKS = 64
_EARLIER = -1  # the unit of what earlier batches have
_LOOK = 0.5  # seconds between looks at how many units are done

Progress = Callable[[str, int, int], None]
"""Hears which stage this is, and how many bytes of how many are done; 0 of 0 if that is unknown."""


@dataclass(frozen=True, slots=True)
class Ingested:
    """What became of the records; equal ones count once. `batch` is None if nothing is new."""

    admitted: int = 0
    known: int = 0
    refused: int = 0
    batch: int | None = None
    batches: int = 0
    refusals: list[Refused] = field(default_factory=list)


def ingest(
    sources: Sequence[str | Path],
    out: str | Path,
    *,
    spark: Opener = session,
    column: str | None = None,
    limits: RecordLimits = DEFAULT_RECORD_LIMITS,
    on_progress: Progress | None = None,
) -> Ingested:
    """Add the records of sources to a folder that is made if it is not there.

    `column` is which column of a Parquet table has the records, if it has several of bytes.
    """
    tell = on_progress or (lambda _stage, _done, _total: None)
    with writing(out) as staging:
        tell("reading sources", 0, 0)
        units = find_units(list(map(Path, sources)), staging, column, limits)
        for number, unit in enumerate(units):
            write_unit(staging, number, unit.parts)
        if not units:
            return Ingested(batches=len(batches(out)))
        tell("starting Spark", 0, 0)
        with spark() as opened, clear_errors():
            run = _Run(prepare(opened, staging), staging, Path(out), tell)
            return run.ingest([unit.size for unit in units], limits)


@dataclass(frozen=True, slots=True)
class _Run:
    executors: Executors
    staging: Path
    out: Path
    tell: Progress

    def ingest(self, sizes: Sequence[int], limits: RecordLimits) -> Ingested:
        with self._watched(sizes):
            frame = self.executors.session.range(0, len(sizes), 1, len(sizes))
            function = "lacec.spark.worker:check_units"
            arguments = str(self.staging), astuple(limits)
            checked = self.executors.run(frame, function, CHECKED, *arguments).collect()
        self.tell("comparing hashes", 0, 0)
        files = {each.unit: each.records for each in checked if each.records is not None}
        admitted = sum(each.admitted for each in checked)
        known = 0
        for each in self._drop(files):
            files[each.unit] = each.records
            admitted -= each.dropped
            known += each.known
        self.tell("writing the batch", 0, 0)
        batch = self.staging / "batch"
        self._gather([name for name in files.values() if name is not None], batch / "records")
        refusals = self._refuse([each.refused for each in checked if each.refused], batch)
        number = commit(self.out, batch) if batch.exists() else None
        refused = sum(each.faults for each in checked)
        return Ingested(admitted, known, refused, number, len(batches(self.out)), refusals)

    def _gather(self, names: Sequence[str], folder: Path) -> None:
        if names:
            folder.mkdir(parents=True)
        for name in names:
            (self.staging / name).rename(folder / name)

    def _drop(self, files: dict[int, str]) -> "list[Row]":
        """Write files again that have rows whose hash came before, here or in earlier batches.

        What is shuffled is a hash and the place of its row.
        """
        from pyspark.sql import Window
        from pyspark.sql import functions as f

        if not files:
            return []
        spark = self.executors.session
        staged = read_table(spark, [self.staging / name for name in files.values()], SCHEMA)
        unit = f.split_part(f.col("_metadata.file_name"), f.lit("-"), f.lit(1)).cast("long")
        row = f.col("_metadata.row_index").cast("long")
        known = read_records(spark, self.out).select("hash", *map(f.lit, (_EARLIER, _EARLIER)))
        hashes = staged.select("hash", unit.alias("unit"), row.alias("row")).union(known)
        # Earlier batches are before all units; a hash is in one of them at most.
        equal = Window.partitionBy("hash").orderBy("unit", "row")
        place = f.row_number().over(equal)
        again = (f.first("unit").over(equal) == _EARLIER) & (place == 2)
        dropped = (
            hashes.select("unit", "row", place.alias("place"), again.cast("long").alias("known"))
            .where("place > 1")
            .groupBy("unit")
            .agg(f.collect_list("row").alias("rows"), f.sum("known").alias("known"))
            .repartition(min(len(files), _TASKS), "unit")
        )
        function = "lacec.spark.worker:drop_rows"
        return self.executors.run(dropped, function, DROPPED, str(self.staging), files).collect()

    def _refuse(self, names: Sequence[str], batch: Path) -> list[Refused]:
        """Put refusals that are new into the batch; some of all of them."""
        if not names:
            return []
        spark = self.executors.session
        found = read_table(spark, [self.staging / name for name in names], REFUSED_SCHEMA)
        new = found.distinct().join(read_refused(spark, self.out), list(Refused._fields), "anti")
        if not new.isEmpty():
            new.write.parquet(str(batch / "refused"))
        told = found.orderBy(*Refused._fields).limit(MOST_TOLD).collect()
        return [Refused(*each) for each in told]

    @contextmanager
    def _watched(self, sizes: Sequence[int]) -> Iterator[None]:
        """Tell how much is done, all the while."""
        ended, stage, total = Event(), "checking records", sum(sizes)

        def watch() -> None:
            while not ended.wait(_LOOK):
                done = [int(each.stem) for each in self.staging.glob("*.done")]
                self.tell(stage, sum(sizes[number] for number in done), total)

        self.tell(stage, 0, total)
        watcher = Thread(target=watch, daemon=True)
        watcher.start()
        try:
            yield
        finally:
            ended.set()
            watcher.join()
