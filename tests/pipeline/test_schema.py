"""Tables from elsewhere become subscriptions, or it is said which column is wrong."""

from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from pyspark.sql.types import LongType

from tamis.pipeline import subscription_schema
from tamis.pipeline.schema import declared


def test_parquet_json_and_csv_give_the_same_table(spark: SparkSession, tmp_path: Path) -> None:
    rows = [(1, "x > 1", "notify x moves 2", "ann", ["a", "b"], True, 7), (2, "x < 1", None, None, None, None, None)]
    table = spark.createDataFrame(rows, subscription_schema(LongType()))
    flat = table.withColumn("tags", table.tags.cast("string").substr(2, 4))
    table.write.parquet(str(tmp_path / "parquet"))
    table.write.json(str(tmp_path / "json"))
    flat.write.csv(str(tmp_path / "csv"), header=True)
    read = [
        spark.read.parquet(str(tmp_path / "parquet")),
        spark.read.schema(subscription_schema(LongType())).json(str(tmp_path / "json")),
        spark.read.schema(subscription_schema(LongType(), flat=True)).csv(str(tmp_path / "csv"), header=True),
    ]
    for frame in read:
        assert sorted(map(tuple, declared(frame).collect())) == rows


def test_columns_that_are_missing_are_null_and_strange_ones_left_out(spark: SparkSession) -> None:
    frame = spark.createDataFrame([("a", 3, "x > 1")], "id string, version int, condition string")
    assert declared(frame.withColumn("when", frame.version)).collect() == [("a", "x > 1", None, None, None, None, 3)]
    assert declared(frame).schema == subscription_schema()


@pytest.mark.parametrize(
    ("schema", "message"),
    [
        ("id string, text string", "need a column 'condition'; there are: id, text"),
        ("condition string", "need a column 'id'"),
        ("id double, condition string", "'id' is a string or an integer, not double"),
        ("id string, condition int", "'condition' is string, not int"),
        ("id string, condition string, active string", "'active' is boolean, not string"),
        ("id string, condition string, version double", "'version' is bigint, not double"),
    ],
)
def test_a_wrong_column_is_named(spark: SparkSession, schema: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        declared(spark.createDataFrame([], schema))
