"""The folder that an evaluation writes its intermediate tables to, and what it tells of itself."""

from collections.abc import Callable
from itertools import count
from typing import TypeAlias

from pyspark.sql import Column, DataFrame, Observation, SparkSession

# Whether a table that is whole has an empty file that says so.
_MARK = "mapreduce.fileoutputcommitter.marksuccessfuljobs"

# What others call them, who know nothing else of Spark.
Session: TypeAlias = SparkSession
Frame: TypeAlias = DataFrame


class Work:
    def __init__(
        self,
        session: SparkSession,
        folder: str,
        progress: Callable[[str], None] = lambda _: None,
    ) -> None:
        """The folder is on a file system that the executors see; the caller removes it."""
        self._session, self._folder = session, folder
        self._numbers = count()
        self.progress = progress

    def written(self, frame: DataFrame) -> DataFrame:
        """The same rows, read from a table: what they came from is not computed again."""
        path = f"{self._folder}/{next(self._numbers)}"
        frame.write.option(_MARK, "false").parquet(path)
        return self._session.read.schema(frame.schema).parquet(path)

    def measured(self, frame: DataFrame, *totals: Column) -> tuple[DataFrame, list[int]]:
        """The same, with totals over the rows that were taken as they were written."""
        observation, names = Observation(), [f"total{n}" for n in range(len(totals))]
        named = [total.alias(name) for total, name in zip(totals, names, strict=True)]
        written = self.written(frame.observe(observation, *named))
        return written, [observation.get[name] or 0 for name in names]
