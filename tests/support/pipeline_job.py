"""A program that compiles, matches, updates and streams on a Spark of its own, while parts of it are killed.

    python pipeline_job.py MASTER FOLDER [kill]

MASTER is one of Spark's, or `connect`. With `kill`, a Python worker is killed in the middle of compiling and an
executor in the middle of matching. Prints sums over all matches as JSON.
"""

import json
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - as everybody writes it

from tamis.pipeline import EventLog, compile, match, read_events, rejects, update  # noqa: A004 - it is one
from tamis.pipeline.session import decorated

SUBSCRIPTIONS, EVENTS = 3_000, 20_000
CONDITION = "concat('x between ', id % 997, ' and ', id % 997 + 5, ' and y = ', id % 3)"
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


def held_up(frame: DataFrame, folder: Path) -> DataFrame:
    """Let the first tasks on a table say who they are and wait until they may go on."""
    place = str(folder)

    def wait(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            (Path(place) / f"pid-{os.getpid()}").touch()
            awaited((Path(place) / "go").exists)
            yield batch

    return frame.mapInArrow(wait, frame.schema)


def parent(process: int) -> int:
    """Return the process that started another."""
    return int(Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[1])


def killing(folder: Path, victim: str) -> threading.Thread:
    """Kill a worker that is held up, or the executor that it works for, and let the others go on."""
    folder.mkdir()

    def kill() -> None:
        pids = awaited(lambda: [int(each.name[4:]) for each in folder.glob("pid-*")])
        worker = pids[0]
        # A worker is forked by a daemon, which the executor started.
        os.kill(worker if victim == "worker" else parent(parent(worker)), signal.SIGKILL)
        (folder / "go").touch()

    thread = threading.Thread(target=kill)
    thread.start()
    return thread


def main(master: str, folder: Path, kills: bool) -> dict[str, Any]:
    """Do everything once."""
    os.environ["PYSPARK_PYTHON"] = sys.executable
    if master == "connect":
        spark = SparkSession.builder.remote("local[2]").config("spark.sql.session.timeZone", "UTC").getOrCreate()
    else:
        options = {"spark.sql.shuffle.partitions": "2", "spark.executor.memory": "512m"}
        builder = SparkSession.builder.master(master).appName("tamis job")
        spark = decorated(builder, folder / "spark", brief=True, options=options).getOrCreate()
        spark.sparkContext.setLogLevel("OFF")
    try:
        return work(spark, folder, kills)
    finally:
        spark.stop()


def work(spark: SparkSession, folder: Path, kills: bool) -> dict[str, Any]:
    """Compile, match, update, match again, and stream."""
    store = folder / "store"
    table = spark.range(0, SUBSCRIPTIONS, 1, 2).selectExpr("id", f"{CONDITION} as condition")
    table = table.union(spark.createDataFrame([(SUBSCRIPTIONS, "x >")], table.schema))
    events = spark.range(0, EVENTS, 1, 4).selectExpr("id as n", "(id * 7919) % 1009 as x", "id % 3 as y")
    threads = []
    if kills:
        threads = [killing(folder / "compiling", "worker"), killing(folder / "matching", "executor")]
        table, events = held_up(table, folder / "compiling"), held_up(events, folder / "matching")
    made = compile(table, store, tasks=2)
    found = {"rejected": made.counts.rejected, "reasons": [row.id for row in rejects(spark, store).collect()]}
    found["matches"] = summed(match(events, store, output="pairs", columns=["n"]))
    for thread in threads:
        thread.join()
    changes = spark.createDataFrame([("0", "x = 5")], "id string, condition string")
    update(changes.selectExpr("bigint(id) as id", "condition"), store)
    log = EventLog(folder / "log")
    for number in range(2):
        log.append(pa.table({"n": [number], "x": [5], "y": [9]}))
    stream = match(read_events(spark, log.path, store), store, output="pairs")
    query = stream.writeStream.format("parquet").trigger(availableNow=True)
    query.option("checkpointLocation", str(folder / "checkpoint")).start(str(folder / "out")).awaitTermination()
    rows = spark.read.parquet(str(folder / "out")).collect()
    found["stream"] = sorted([row.n, row.subscription_id, row.subscription_version] for row in rows)
    return found


def summed(answer: DataFrame) -> list[int]:
    """Return sums that one match too many or too few would change."""
    n, id = F.col("n"), F.col("subscription_id")
    return list(answer.agg(F.count(n), F.sum(n), F.sum(id), F.sum(n * id)).collect()[0])


if __name__ == "__main__":
    print(json.dumps(main(sys.argv[1], Path(sys.argv[2]), "kill" in sys.argv[3:])))  # noqa: T201
