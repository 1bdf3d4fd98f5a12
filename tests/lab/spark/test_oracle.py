import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from support.judges import SCHEMA, Source
from tamis.lab.spark import oracle
from tamis.lab.spark.oracle import every_pair


def test_it_is_the_reference_meaning_for_every_pair(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    """Conditions and events of every type, with absent values, in blocks that do not come out even."""
    monkeypatch.setattr(oracle, "_SUBSCRIPTIONS", 7)
    monkeypatch.setattr(oracle, "_EVENTS", 9)
    source = Source(11, null_elements=True)
    told, asked = source.events(40), [source.condition() for _ in range(60)]
    table = pa.Table.from_pylist(told, schema=SCHEMA).append_column("key", pa.array([f"e{n}" for n in range(40)]))
    rows = [(number, str(condition)) for number, condition in enumerate(asked)]
    subscriptions = spark.createDataFrame(rows, "id long, condition string")
    found = every_pair(spark.createDataFrame(table), subscriptions, "key")
    assert found.columns == ["key", "subscription_id"]
    expected = [
        (f"e{row}", number)
        for row, event in enumerate(told)
        for number, condition in enumerate(asked)
        if condition.matches(event)
    ]
    assert len(expected) > 300
    assert sorted(tuple(pair) for pair in found.collect()) == sorted(expected)


def test_a_clause_is_no_part_of_the_condition_and_names_keep_their_case(spark: SparkSession) -> None:
    events = spark.createDataFrame([(1, 5, 9), (2, 9, 5)], "key int, price int, `Price` int")
    subscriptions = spark.createDataFrame(
        [("a", "price > 7 notify price moves 2"), ("b", "Price > 7")], "id string, condition string"
    )
    assert sorted(map(tuple, every_pair(events, subscriptions, "key").collect())) == [(1, "b"), (2, "a")]


def test_nothing_meets_nothing(spark: SparkSession) -> None:
    events = spark.createDataFrame([], "key int, price int")
    subscriptions = spark.createDataFrame([("a", "price > 7")], "id string, condition string")
    assert every_pair(events, subscriptions, "key").collect() == []
