"""Keys of shards are where Spark puts them, and that is evenly."""

from pyspark.sql import SparkSession

from tamis.pipeline.spread import spark_hash, spread_keys


def test_shards_are_spread_over_partitions_as_spark_does_it(spark: SparkSession) -> None:
    numbers = spark.range(-50, 50).selectExpr("id", "hash(int(id)) as hash").collect()
    assert [spark_hash(row.id) for row in numbers] == [row.hash for row in numbers]
    for count in (1, 2, 8, 12, 64):
        keys = spread_keys(count)
        assert sorted(spark_hash(key) % count for key in keys) == list(range(count))
