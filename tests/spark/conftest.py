"""One session for all tests of Spark, since starting it takes longer than most of them."""

from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from lacec.spark.session import open_session
from tests.spark.quick import Quick, interpreted


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Whoever runs one of these tests runs them all."""
    for item in items:
        if "tests/spark/" in item.path.as_posix():
            item.add_marker(pytest.mark.xdist_group("spark"))


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    session = open_session(memory="1g")
    yield session
    session.stop()


@pytest.fixture(scope="module")
def quick(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Quick]:
    with interpreted(spark):
        yield Quick(spark, tmp_path_factory.mktemp("work"))
