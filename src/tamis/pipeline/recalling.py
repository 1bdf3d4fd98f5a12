"""What was told last, as a table: to look at, and for a query to begin with."""

from pathlib import Path
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - as everybody writes it
from pyspark.sql.types import LongType, StringType, TimestampType

from tamis.pipeline.dealing import INITIAL, PACKETS, homes_of, packet_batch
from tamis.pipeline.keytexts import keys_of, kinds, shown
from tamis.pipeline.memory import NEVER, Memory
from tamis.pipeline.packets import packed
from tamis.pipeline.store import Store
from tamis.pipeline.workers import Batches, by_workers

#: The state of a shard, as Spark knows it.
STATE: Final = "memory"
_COLUMNS: Final = ("subscription_id", "key", "key_kind", "value", "sequence")


def remembered(spark: SparkSession, checkpoint: str | Path, path: str | Path) -> DataFrame:
    """Return what a stopped query of `notify` remembers: by subscription and key, the value told last.

    `sequence` is when the pair was seen last, times in microseconds. `notify(…, initial=…)` takes such a table: for a
    new checkpoint, with other shards or columns than the old one. Events that still wait are not in it.
    """
    ids = Store(path).manifest().ids
    states = spark.read.format("statestore").option("stateVarName", STATE).load(str(checkpoint))
    schema = f"subscription_id {ids}, key string, key_kind string, value double, sequence long"
    read = by_workers(_rows, "read what was told")
    return states.select(F.col("value.state").alias("state")).mapInArrow(read, schema)


def _rows(batches: Batches) -> Batches:
    for batch in batches:
        for state in batch.column(0).to_pylist():
            ids, keys, times, told = Memory.decode(state).rows()
            columns = [
                ids.cast(pa.string()) if pa.types.is_large_string(ids.type) else ids,
                shown(keys),
                kinds(keys),
                pa.array(told),
                pa.array(times, mask=times == NEVER),
            ]
            yield pa.RecordBatch.from_arrays(columns, names=list(_COLUMNS))


def initial_packets(initial: DataFrame, ids: str, shards: int) -> DataFrame:
    """Return a table of what was told as packets for shards; what is wrong with it is a `ValueError`."""
    given = {field.name: field.dataType for field in initial.schema.fields}
    for name in ("subscription_id", "value"):
        if name not in given:
            raise ValueError(f"the initial state needs a column {name!r}; there are: {', '.join(given)}")
    kind = LongType() if ids == "long" else StringType()
    times = F.col("sequence") if "sequence" in given else F.lit(None)
    if isinstance(given.get("sequence"), TimestampType):
        times = F.unix_micros("sequence")
    columns: list[Column] = [
        F.col("subscription_id").cast(kind),
        (F.col("key") if "key" in given else F.lit(None)).cast("string"),
        (F.col("key_kind") if "key_kind" in given else F.lit(None)).cast("string"),
        F.col("value").cast("double"),
        times.cast("long"),
    ]
    named = [column.alias(name) for column, name in zip(columns, _COLUMNS, strict=True)]

    def deal(batches: Batches) -> Batches:
        for batch in batches:
            whole = batch.filter(pc.and_(batch.column(0).is_valid(), batch.column(3).is_valid()))
            found = homes_of(whole.column(0), keys_of(whole.column(1), whole.column(2)), shards)
            packets = [
                (shard, INITIAL, packed(whole.filter(pa.array(found == shard)))) for shard in np.unique(found).tolist()
            ]
            if packets:
                yield packet_batch(packets, None, shards)

    return initial.select(*named).mapInArrow(by_workers(deal, f"deal what was told to {shards} shards"), PACKETS)


def recall(memory: Memory, batch: pa.RecordBatch) -> None:
    """Let a memory take over rows of a table of what was told."""
    ids, texts, names, values, times = batch.columns
    memory.remember(ids, keys_of(texts, names), values.to_numpy(), times.fill_null(NEVER).to_numpy())
