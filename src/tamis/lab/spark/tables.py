"""Workloads of any size as DataFrames, drawn on the executors."""

from collections.abc import Callable, Iterator
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import LongType, StringType, StructField, StructType

from tamis.lab.workloads.blocks import blocks, event_block, event_schema, subscription_block
from tamis.lab.workloads.spec import DEFAULT_SEED
from tamis.lab.workloads.workload import WorkloadSpec


def subscription_table(
    spark: SparkSession, spec: WorkloadSpec, seed: int = DEFAULT_SEED, partitions: int | None = None
) -> DataFrame:
    """Return the subscriptions of a workload: `id` and `condition`, the same rows for any number of partitions."""
    schema = StructType([StructField("id", LongType()), StructField("condition", StringType())])
    return _drawn(spark, subscription_block, spec, seed, spec.subscriptions, schema, partitions)


def event_table(
    spark: SparkSession, spec: WorkloadSpec, seed: int = DEFAULT_SEED, partitions: int | None = None
) -> DataFrame:
    """Return the events of a workload: `event_id` and a column for each attribute, the same rows however they lie.

    `ValueError` if events have more attributes than a table should have columns.
    """
    columns = event_schema(spec, seed)
    # Spark says what these are to it; Connect needs a row for that.
    row = pa.Table.from_arrays([pa.nulls(1, kind) for kind in columns.types], schema=columns)
    return _drawn(spark, event_block, spec, seed, spec.events, spark.createDataFrame(row).schema, partitions)


def _drawn(
    spark: SparkSession,
    block: Callable[[WorkloadSpec, int, int], Iterator[pa.RecordBatch]],
    spec: WorkloadSpec,
    seed: int,
    count: int,
    schema: StructType,
    partitions: int | None,
) -> DataFrame:
    def draw(batches: Iterator[Any]) -> Iterator[Any]:
        for batch in batches:
            for number in batch.column(0).to_pylist():
                yield from block(spec, seed, number)

    return spark.range(0, blocks(count), 1, partitions).mapInArrow(draw, schema)
