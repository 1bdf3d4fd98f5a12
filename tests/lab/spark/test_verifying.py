from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - as everybody writes it

from tamis.lab.spark import verifying
from tamis.lab.spark.tables import event_table, subscription_table
from tamis.lab.spark.verifying import Difference, verify
from tamis.lab.workloads import Iot
from tamis.pipeline import compile as compile_
from tamis.pipeline import match

ROWS = [
    ("ann", "price > 10", True, None),
    ("bob", "price > 100", True, 1),
    ("bob", "price > 10", True, 2),
    ("eve", "price >", True, None),
    ("off", "price > 10", False, None),
]


@pytest.fixture
def events(spark: SparkSession) -> DataFrame:
    return spark.createDataFrame([(5,), (50,)], "price int")


@pytest.fixture
def subscriptions(spark: SparkSession) -> DataFrame:
    return spark.createDataFrame(ROWS, "id string, condition string, active boolean, version int")


def test_the_pipeline_is_right(spark: SparkSession) -> None:
    spec = Iot(subscriptions=500, events=100)
    verdict = verify(event_table(spark, spec), subscription_table(spark, spec), sample=60)
    assert verdict.is_right
    assert (verdict.events, verdict.subscriptions, verdict.rejected) == (60, 500, 0)
    assert verdict.pairs > 5


def test_of_a_table_the_newest_text_counts_that_was_accepted(events: DataFrame, subscriptions: DataFrame) -> None:
    verdict = verify(events, subscriptions)
    assert verdict.is_right
    assert (verdict.events, verdict.subscriptions, verdict.rejected, verdict.pairs) == (2, 2, 1, 2)


def test_compiled_ones_are_taken_as_they_are(events: DataFrame, subscriptions: DataFrame, tmp_path: Path) -> None:
    compile_(subscriptions, tmp_path / "store")
    verdict = verify(events, tmp_path / "store")
    assert (verdict.is_right, verdict.subscriptions, verdict.pairs) == (True, 2, 2)


def test_what_is_missed_or_too_much_is_shown(
    events: DataFrame, subscriptions: DataFrame, monkeypatch: pytest.MonkeyPatch
) -> None:
    def wrong(*given: Any, **options: Any) -> DataFrame:
        """Lose what bob gets, and tell ann everything once more."""
        found = match(*given, **options).where("subscription_id <> 'bob'")
        return found.withColumn("again", F.explode(F.array(F.lit(1), F.lit(2))))

    monkeypatch.setattr(verifying, "match", wrong)
    verdict = verify(events, subscriptions)
    assert not verdict.is_right
    assert (verdict.pairs, verdict.missing, verdict.extra) == (2, 1, 1)
    assert verdict.differences == [
        Difference("ann", "price > 10", {"price": 50}, found=2, expected=1),
        Difference("bob", "price > 10", {"price": 50}, found=0, expected=1),
    ]
