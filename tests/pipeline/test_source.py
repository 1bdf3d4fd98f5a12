"""A batch that is repeated meets the version of the first time; the next one meets the newest."""

import datetime as dt
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.sql import DataFrame, SparkSession

from support.spark_sinks import Sink
from support.stores import stored
from tamis.pipeline import EventLog, LogSource, match, pinned, read_events

AT = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)


def events(*numbers: int) -> pa.Table:
    at = pa.array([AT] * len(numbers), pa.timestamp("us", "UTC"))
    return pa.table({"x": list(numbers), "at": at, "tags": [["t", None]] * len(numbers)})


def ran(stream: DataFrame, sink: Callable[[DataFrame, int], None], checkpoint: Path) -> None:
    """Run all that is there through a query, until its end or failure."""
    query = stream.writeStream.foreachBatch(sink).trigger(availableNow=True)
    query.option("checkpointLocation", str(checkpoint)).start().awaitTermination()


def sink_of(folder: Path) -> Sink:
    return Sink(folder / "sink", "x", "subscription_id", "subscription_version")


def test_a_repeated_batch_meets_the_same_version_and_the_next_one_the_newest(
    spark: SparkSession, tmp_path: Path
) -> None:
    log, store, checkpoint = EventLog(tmp_path / "log"), tmp_path / "store", tmp_path / "checkpoint"
    stored(store, [{"a": "x > 0 and array_contains(tags, 't')"}])
    log.append(events(1))
    sink = sink_of(tmp_path)

    def answers() -> DataFrame:
        return match(read_events(spark, log.path, store, most_segments=1), store, output="pairs", columns=["x"])

    ran(answers(), sink, checkpoint)
    assert sink.written == [(0, [(1, "a", 1)])]
    log.append(events(2))
    sink.fail()
    with pytest.raises(Exception, match="the sink is lost after its write"):
        ran(answers(), sink, checkpoint)
    stored(store, [{"b": "x > 0 and at = timestamp '2026-01-01 00:00:00'"}])
    log.append(events(3))
    log.append(events(4, 5))
    ran(answers(), sink, checkpoint)
    assert sink.written[1:] == [
        (1, [(2, "a", 1)]),
        (1, [(2, "a", 1)]),
        (2, [(3, "b", 2)]),
        (3, [(4, "b", 2), (5, "b", 2)]),
    ]


def test_a_running_query_takes_over_a_newer_version(spark: SparkSession, tmp_path: Path) -> None:
    log, store = EventLog(tmp_path / "log"), tmp_path / "store"
    stored(store, [{"a": "x > 0"}])
    log.append(events(1))
    sink = sink_of(tmp_path)
    answers = match(read_events(spark, log.path, store), store, output="pairs", columns=["x"])
    query = answers.writeStream.foreachBatch(sink).option("checkpointLocation", str(tmp_path / "checkpoint")).start()
    try:
        query.processAllAvailable()
        # A newer version asks for other columns than the one that the query began with.
        stored(store, [{"b": "array_contains(tags, 't')"}])
        query.processAllAvailable()
        assert len(sink.written) == 1
        log.append(events(2))
        query.processAllAvailable()
    finally:
        query.stop()
    assert sink.written == [(0, [(1, "a", 1)]), (1, [(2, "b", 2)])]


def test_a_damaged_segment_does_not_end_the_stream(spark: SparkSession, tmp_path: Path) -> None:
    log, store = EventLog(tmp_path / "log"), tmp_path / "store"
    stored(store, [{"a": "x > 0"}])
    for number in (1, 2, 3):
        log.append(events(number))
    log.segment(2).write_bytes(b"nonsense")
    sink = sink_of(tmp_path)
    ran(match(read_events(spark, log.path, store), store, output="pairs"), sink, tmp_path / "checkpoint")
    assert sink.written == [(0, [(1, "a", 1), (3, "a", 1)])]
    assert [each.segment for each in log.refused()] == [2]


def test_a_log_is_a_table_too(spark: SparkSession, tmp_path: Path) -> None:
    log = EventLog(tmp_path / "log")
    for number in range(3):
        log.append(events(number, number))
    spark.dataSource.register(LogSource)
    frame = spark.read.format("tamis-log").load(str(log.path))
    assert sorted(row.x for row in frame.collect()) == [0, 0, 1, 1, 2, 2]
    assert frame.schema.simpleString() == "struct<x:bigint,at:timestamp,tags:array<string>>"
    assert frame.where("at = timestamp '2026-01-01 00:00:00'").count() == 6


def test_a_log_without_events_is_told(spark: SparkSession, tmp_path: Path) -> None:
    with pytest.raises(Exception, match="there are no events at"):
        read_events(spark, tmp_path, tmp_path).schema  # noqa: B018 - Spark looks when it is asked


def test_any_source_is_pinned_by_the_number_of_its_batch(spark: SparkSession, tmp_path: Path) -> None:
    store, folder = tmp_path / "store", tmp_path / "events"
    stored(store, [{"a": "id >= 0"}])
    sink = sink_of(tmp_path)

    def matched(frame: DataFrame, batch: int) -> None:
        version = pinned(store, tmp_path / "pins", batch)
        named = match(frame, store, version=version, output="pairs").withColumnRenamed("id", "x")
        sink(named, batch)

    def step() -> None:
        spark.range(1).coalesce(1).write.mode("append").parquet(str(folder))
        ran(spark.readStream.schema("id long").parquet(str(folder)), matched, tmp_path / "checkpoint")

    step()
    sink.fail()
    with pytest.raises(Exception, match="the sink is lost"):
        step()
    stored(store, [{"b": "id >= 0"}])
    step()
    assert sink.written == [(0, [(0, "a", 1)]), (1, [(0, "a", 1)]), (1, [(0, "a", 1)]), (2, [(0, "b", 2)])]
