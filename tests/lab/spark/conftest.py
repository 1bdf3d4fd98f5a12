"""One Spark for all tests of the lab that need it, and for those of the pipeline after them."""

from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from support.spark import spark_session


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    with spark_session(tmp_path_factory.mktemp("spark")) as session:
        yield session
