"""One session for all tests of Spark, since starting it takes longer than most of them."""

from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from lacec.spark.session import open_session


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
