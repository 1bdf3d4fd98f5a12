"""A program that compiles, matches, notifies, updates and streams on a Spark of its own, while parts of it are killed.

    python pipeline_job.py MASTER FOLDER [work] [stream] [kill]

MASTER is one of Spark's, or the address of a Connect server. `work` is done on tables. `stream` goes on from its
checkpoint: it stops in the middle of the batches `HALFWAY` and `WRITTEN` until there is a file `go` in the folders of
these names, so that somebody may kill the whole program there. With `kill`, Python workers and executors are killed in
the middle of every job. All answers are left in the folder.
"""

import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec
import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from support.spark import EXECUTORS
from tamis.pipeline import EventLog, compile, match, notify, read_events, rejects, update  # noqa: A004 - it is one
from tamis.pipeline.job.settings import Events, Job, Settings, Sink, Subscriptions
from tamis.pipeline.job.sinks import write
from tamis.pipeline.session import decorated

SUBSCRIPTIONS, EVENTS = 3_000, 20_000
CONDITION = "concat('x between ', id % 997, ' and ', id % 997 + 5, ' and y = ', id % 3)"
#: Of every other subscription.
CLAUSE = "notify x moves 3"
#: What is updated before the stream.
CHANGED = (0, "x = 5")
#: The stream has so many micro-batches, each of one segment with so many events.
SEGMENTS, SEGMENT = 8, 500
#: In these micro-batches tasks are killed; the driver may be killed while state has changed but is not kept yet; and
#: after answers were written of a batch of which Spark does not know yet that it is done.
TASKS, HALFWAY, WRITTEN = 1, 3, 5
PLACES = {TASKS: "tasks", HALFWAY: "halfway", WRITTEN: "written"}
#: Nothing takes longer, however busy the machine is.
PATIENCE = 300.0


def awaited(is_there: Callable[[], Any]) -> Any:
    """Return what is there as soon as it is there."""
    end = time.monotonic() + PATIENCE
    while not (found := is_there()):
        if time.monotonic() > end:
            raise TimeoutError("waited for too long")
        time.sleep(0.05)
    return found


def stopped(place: Path) -> None:
    """Say who is here, and wait until it may go on."""
    (place / f"pid-{os.getpid()}").touch()
    awaited((place / "go").exists)


def held_up(frame: DataFrame, place: Callable[[pa.RecordBatch], Path | None]) -> DataFrame:
    """Stop tasks on a table after their first batch has gone out."""

    def wait(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        passed = set()
        for batch in batches:
            yield batch
            where = place(batch)
            if where is not None and where not in passed:
                passed.add(where)
                stopped(where)

    return frame.mapInArrow(wait, frame.schema)


def parent(process: int) -> int:
    """Return the process that started another."""
    return int(Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[1])


def killing(place: Path, victims: Sequence[str] = ("worker", "executor")) -> threading.Thread:
    """Kill workers that are held up, or the executors that they work for, one after the other; then let them go on."""

    def kill() -> None:
        done: set[int] = set()
        for victim in victims:
            worker = awaited(lambda: _held(place) - done).pop()
            # A worker is forked by a daemon, which the executor started.
            os.kill(worker if victim == "worker" else parent(parent(worker)), signal.SIGKILL)
            done.add(worker)
        (place / "go").touch()

    thread = threading.Thread(target=kill, daemon=True)
    thread.start()
    return thread


def _held(place: Path) -> set[int]:
    return {pid for each in place.glob("pid-*") if Path(f"/proc/{(pid := int(each.name[4:]))}").exists()}


def main(master: str, folder: Path, steps: Sequence[str]) -> None:
    """Do some of the steps."""
    # Tasks have several batches.
    options = {"spark.sql.shuffle.partitions": "2", "spark.sql.execution.arrow.maxRecordsPerBatch": "1000"}
    if master.startswith("sc://"):
        spark = SparkSession.builder.remote(master).getOrCreate()
        for name, value in options.items():
            spark.conf.set(name, value)
    else:
        builder = SparkSession.builder.master(master).appName("tamis job")
        spark = decorated(builder, folder / "spark", brief=True, options=options | EXECUTORS).getOrCreate()
        spark.sparkContext.setLogLevel("OFF")
    try:
        if "work" in steps:
            work(spark, folder, "kill" in steps)
        if "stream" in steps:
            stream(spark, folder, "kill" in steps)
    finally:
        spark.stop()


def work(spark: SparkSession, folder: Path, kills: bool) -> None:
    """Compile, match, notify and update."""
    store = folder / "store"
    clause = f"if(id % 2 = 0, ' {CLAUSE}', '')"
    table = spark.range(0, SUBSCRIPTIONS, 1, 2).selectExpr("id", f"concat({CONDITION}, {clause}) as condition")
    table = table.union(spark.createDataFrame([(SUBSCRIPTIONS, "x >")], table.schema))
    events = spark.range(0, EVENTS, 1, 4).selectExpr("id as n", "(id * 7919) % 1009 as x", "id % 3 as y")

    def harmed(frame: DataFrame, name: str) -> DataFrame:
        if not kills:
            return frame
        place = folder / name
        place.mkdir()
        killing(place)
        return held_up(frame, lambda _: place)

    made = compile(harmed(table, "compiling"), store, tasks=2)
    found = {"rejected": made.counts.rejected, "reasons": [row.id for row in rejects(spark, store).collect()]}
    (folder / "found.json").write_bytes(msgspec.json.encode(found))
    pairs = match(harmed(events, "matching"), store, output="pairs", columns=["n"])
    pairs.write.parquet(str(folder / "matches"))
    told = notify(match(events, store, columns=["n", "x"]), store, sequence="n", shards=2)
    harmed(told, "telling").write.parquet(str(folder / "told"))
    update(spark.createDataFrame([CHANGED], "id long, condition string"), store)


def stream(spark: SparkSession, folder: Path, kills: bool) -> None:
    """Match and notify what comes, from the checkpoint on to the end."""
    log, store = EventLog(folder / "log"), folder / "store"
    if kills:
        killing(folder / PLACES[TASKS])

    def place(batch: pa.RecordBatch) -> Path | None:
        number = batch.column(0)[0].as_py() // SEGMENT if batch.num_rows else None
        return folder / PLACES[number] if number in (TASKS, HALFWAY) else None

    matches = match(read_events(spark, log.path, store, most_segments=1), store, columns=["n", "x"])
    # What is behind it runs in the same task: who stops there has changed the state, but not kept it.
    told = held_up(notify(matches, store, sequence="n", shards=2), place)
    settings = Settings(
        Job("told"), Subscriptions("parquet"), Events("log"), Sink("parquet", path=str(folder / "answers"))
    )

    def deliver(frame: DataFrame, batch: int) -> None:
        write(frame, settings, "job", batch)
        if batch == WRITTEN:
            stopped(folder / PLACES[WRITTEN])

    writer = told.writeStream.foreachBatch(deliver)
    writer = writer.option("checkpointLocation", str(folder / "checkpoint")).trigger(availableNow=True)
    writer.start().awaitTermination()


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), sys.argv[3:])
