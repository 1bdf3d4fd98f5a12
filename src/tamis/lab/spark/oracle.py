"""Brute force: every condition is asked about every event, as a join of blocks."""

from collections.abc import Iterator
from typing import Any, Final

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql.types import StructField, StructType

from tamis.language.subscription import parse_subscription
from tamis.pipeline.schema import ID

#: Rows that are asked about each other in one step.
_SUBSCRIPTIONS: Final = 256
_EVENTS: Final = 1_024


def every_pair(events: DataFrame, subscriptions: DataFrame, key: str) -> DataFrame:
    """Return the `key` of every event beside the `subscription_id` of every subscription that it meets.

    `subscriptions` have an `id` and a `condition`. It is the reference meaning of the language, `Expression.matches`,
    that decides, and nothing of any index; so it takes about a second for every few hundred thousand pairs on a core.
    """
    asked = subscriptions.select("id", "condition")
    kinds = events.schema[key].dataType, asked.schema["id"].dataType
    names = events.columns
    tasks = int(events.sparkSession.conf.get("spark.sql.shuffle.partitions") or 1)
    # Few rows that take long: by themselves they would all be one task. Names that differ in case only go by number.
    asked_blocks = asked.repartition(tasks).mapInArrow(_packed(_SUBSCRIPTIONS), "asked binary")
    numbered = events.toDF(*(f"c{number}" for number in range(len(names))))
    told_blocks = numbered.mapInArrow(_packed(_EVENTS), "told binary")

    def compare(batches: Iterator[Any]) -> Iterator[Any]:
        for batch in batches:
            for wanted, given in zip(*batch.columns, strict=True):
                rows = _opened(given)
                yield _met(_opened(wanted), rows.rename_columns(names), rows.column(names.index(key)))

    schema = StructType([StructField(key, kinds[0]), StructField(ID, kinds[1])])
    return asked_blocks.crossJoin(told_blocks).mapInArrow(compare, schema)


def _met(asked: pa.RecordBatch, told: pa.RecordBatch, keys: pa.Array) -> pa.RecordBatch:
    events = told.to_pylist()
    conditions = [parse_subscription(text).condition for text in asked.column(1).to_pylist()]
    found = [
        (row, number)
        for number, condition in enumerate(conditions)
        for row, event in enumerate(events)
        if condition.matches(event)
    ]
    rows, numbers = (pa.array([pair[side] for pair in found], pa.int64()) for side in (0, 1))
    return pa.RecordBatch.from_arrays([keys.take(rows), asked.column(0).take(numbers)], names=["0", "1"])


def _packed(size: int) -> Any:
    """Return a step that writes so many rows as one value."""

    def pack(batches: Iterator[Any]) -> Iterator[Any]:
        for batch in batches:
            for first in range(0, batch.num_rows, size):
                sink = pa.BufferOutputStream()
                with pa.ipc.new_stream(sink, batch.schema) as writer:
                    writer.write_batch(batch.slice(first, size))
                yield pa.RecordBatch.from_arrays([pa.array([sink.getvalue().to_pybytes()], pa.binary())], names=["0"])

    return pack


def _opened(value: pa.Scalar) -> pa.RecordBatch:
    return pa.ipc.open_stream(value.as_buffer()).read_next_batch()
