import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from tamis.lab.spark.tables import event_table, subscription_table
from tamis.lab.workloads import BE_GEN_SPARSE, Iot
from tamis.lab.workloads.blocks import BLOCK, event_block, subscription_block


def test_rows_do_not_depend_on_the_partitions(spark: SparkSession) -> None:
    """Two blocks and a part of a third: the same as drawn here, in order, however they are spread."""
    spec = Iot(subscriptions=2 * BLOCK + 100, events=BLOCK + 50)
    asked = pa.Table.from_batches([batch for number in range(3) for batch in subscription_block(spec, 9, number)])
    told = pa.Table.from_batches([batch for number in range(2) for batch in event_block(spec, 9, number)])
    for partitions in (1, 4):
        subscriptions = subscription_table(spark, spec, 9, partitions)
        assert subscriptions.rdd.getNumPartitions() == partitions
        assert subscriptions.toArrow().combine_chunks() == asked.combine_chunks()
        events = event_table(spark, spec, 9, partitions).toArrow()
        assert events.combine_chunks().cast(told.schema) == told.combine_chunks()


def test_another_seed_is_another_workload(spark: SparkSession) -> None:
    spec = Iot(subscriptions=5, events=5)
    assert subscription_table(spark, spec, 1).collect() != subscription_table(spark, spec, 2).collect()
    assert event_table(spark, spec, 1).collect() != event_table(spark, spec, 2).collect()


def test_too_many_attributes_are_refused(spark: SparkSession) -> None:
    with pytest.raises(ValueError, match="30,000 attributes"):
        event_table(spark, BE_GEN_SPARSE)
