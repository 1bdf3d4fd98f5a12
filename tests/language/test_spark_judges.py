"""Spark SQL is an independent judge of what a condition means."""

from collections.abc import Iterator

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812 - as everybody writes it

import tamis
from support.judges import DIFFERENCES, SCHEMA, Source, assert_agreement
from support.spark import spark_session

CONDITIONS, EVENTS = 80, 40


@pytest.fixture(scope="module")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    with spark_session(tmp_path_factory.mktemp("spark")) as session:
        yield session


def judged(spark: SparkSession, events: pa.Table, conditions: list[str]) -> list[list[bool | None]]:
    frame = spark.createDataFrame(events)
    answers = frame.select(*(F.expr(text).alias(f"c{number}") for number, text in enumerate(conditions)))
    return [list(row) for row in answers.collect()]


#: What a backslash means: an escape to Spark, a character to Tamis.
BACKSLASHES = [
    (r"x = 'a\\b'", pa.string(), "a\\b", True, False),
    # Spark's patterns know it as an escape even where none is named.
    (r"x like 'a\\%'", pa.string(), "a%", True, False),
]


@pytest.mark.slow
def test_three_thousand_pairs_agree_and_differences_are_known(spark: SparkSession) -> None:
    source = Source(seed=4_26, null_elements=True)
    events = source.events(EVENTS)
    conditions = [source.condition() for _ in range(CONDITIONS)]
    assert CONDITIONS * EVENTS >= 3_000
    answers = judged(spark, pa.Table.from_pylist(events, SCHEMA), [str(each) for each in conditions])
    assert_agreement(conditions, events, answers)
    for text, kind, value, theirs, ours in DIFFERENCES + BACKSLASHES:
        table = pa.table({"x": pa.array([value], kind)})
        assert judged(spark, table, [text]) == [[theirs]], text
        assert tamis.parse(text).truth({"x": value}) is ours, text
