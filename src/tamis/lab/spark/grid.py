"""The points of an experiment as tasks of a Spark job."""

import pickle
import threading
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final
from uuid import uuid4

import pyarrow as pa
from pyspark.sql import SparkSession

from tamis.lab.machine import this_machine
from tamis.lab.spread import Spread, named

#: One row for each point: what it gave, or what it raised and where.
_SCHEMA: Final = "point long, result binary, error string, trace string, machine string"
#: Seconds between two looks at how far Spark is.
_INTERVAL: Final = 0.5
#: Failed points of which a message tells.
_TOLD: Final = 3
_GROUP: Final = "spark.jobGroup.id"


class PointError(RuntimeError):
    """Points of a grid have failed. The message names them and what they raised; a note has the first one's trace."""


class SparkSpread(Spread):
    """Runs every point as a task of its own, with Spark Connect too; workers need Tamis and its lab.

    A point that raises does not end the others, and is not tried again: all that failed are told together.
    """

    def __init__(self, spark: SparkSession, master: str) -> None:
        self._spark = spark
        self._master = master
        self._machines: set[str] = set()
        self.option = f" --spark --master '{master}'"

    def run(
        self,
        work: Callable[..., Any],
        points: Sequence[tuple[Any, ...]],
        progress: Callable[[int, int], None],
    ) -> list[Any]:
        """Return what the work gives at every point, in their order."""
        count = len(points)
        # The last points of a grid are mostly the largest: they begin first, so that none of them is waited for alone.
        numbers = self._spark.range(0, count, 1, count)
        rows = numbers.mapInArrow(_task(work, list(reversed(points))), _SCHEMA)
        with _followed(self._spark, count, progress):
            found = sorted(rows.collect(), key=lambda row: -int(row.point))
        self._machines.update(row.machine for row in found)
        failed = [(point, row) for point, row in zip(points, found, strict=True) if row.error is not None]
        if failed:
            told = "; ".join(f"at the point {named(point)}: {row.error}" for point, row in failed[:_TOLD])
            error = PointError(f"{len(failed)} of {count} points failed: {told}")
            error.add_note(failed[0][1].trace)
            raise error
        # What the tasks of this very job have written.
        return [pickle.loads(row.result) for row in found]  # noqa: S301

    def remarks(self) -> list[str]:
        """Say how times were taken, and where."""
        return [
            f"Times were taken in tasks of Spark ({self._master}), several at once, on: "
            f"{'; '.join(sorted(self._machines))}. All engines of a point took turns in one task, so compare them; "
            "points may have met other neighbours and other machines, so compare these with caution."
        ]


def _task(work: Callable[..., Any], points: Sequence[tuple[Any, ...]]) -> Callable[[Iterator[Any]], Iterator[Any]]:
    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        machine = str(this_machine())
        for batch in batches:
            for number in batch.column(0).to_pylist():
                row = {"point": number, "result": None, "error": None, "trace": None, "machine": machine}
                try:
                    row["result"] = pickle.dumps(work(*points[number]))
                except Exception as error:  # noqa: BLE001 - it is told, with the point
                    row["error"] = f"{type(error).__name__}: {error}"
                    row["trace"] = traceback.format_exc()
                yield pa.RecordBatch.from_pylist([row], schema=_ARROW)

    return run


_ARROW: Final = pa.schema(
    [
        ("point", pa.int64()),
        ("result", pa.binary()),
        ("error", pa.string()),
        ("trace", pa.string()),
        ("machine", pa.string()),
    ]
)


@contextmanager
def _followed(spark: SparkSession, count: int, progress: Callable[[int, int], None]) -> Iterator[None]:
    """Tell progress while the job of this block runs: of tasks, which are points."""
    progress(0, count)
    follow = _followed_by_client if type(spark).__module__.startswith("pyspark.sql.connect") else _followed_by_driver
    with follow(spark, lambda done: progress(min(done, count), count)):
        yield
    progress(count, count)


@contextmanager
def _followed_by_client(spark: SparkSession, told: Callable[[int], None]) -> Iterator[None]:
    def handle(stages: Any, **_: Any) -> None:
        told(sum(stage.num_completed_tasks for stage in stages or ()))

    spark.registerProgressHandler(handle)
    try:
        yield
    finally:
        spark.removeProgressHandler(handle)


@contextmanager
def _followed_by_driver(spark: SparkSession, told: Callable[[int], None]) -> Iterator[None]:
    context, group, done = spark.sparkContext, f"tamis-lab-{uuid4()}", threading.Event()
    tracker = context.statusTracker()

    def watch() -> None:
        while not done.wait(_INTERVAL):
            jobs = [tracker.getJobInfo(job) for job in tracker.getJobIdsForGroup(group)]
            stages = [tracker.getStageInfo(stage) for job in jobs if job is not None for stage in job.stageIds]
            told(sum(stage.numCompletedTasks for stage in stages if stage is not None))

    before = context.getLocalProperty(_GROUP)
    context.setLocalProperty(_GROUP, group)
    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        done.set()
        watcher.join()
        context.setLocalProperty(_GROUP, before)
