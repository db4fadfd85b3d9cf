"""One session for all tests of Spark in a process: starting it takes longer than most of them."""

from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from lacec.spark.session import open_session
from tests.spark.quick import Quick, interpret


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    session = open_session(master="local[1,4]", memory="1g")
    interpret(session)
    yield session
    session.stop()


@pytest.fixture(scope="module")
def quick(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Quick:
    return Quick(spark, tmp_path_factory.mktemp("work"))
