"""How fast does `match` run on Spark, against joins in Spark SQL and against nothing but reading and the kernel?

    python bench/spark.py [match cores memory tasks] [--events 1000000] [--subscriptions 100000] [--many 1000000]
                          [--slice 20000] [--passes 8] [--json FILE]

Events have ten attributes, uniform floats, in a Parquet file; conditions are three ranges of the same width, so that
0.1 % or 0.01 % of them are met. Rates are events per CPU second of the whole process tree (driver, JVM, Python
workers), the best of several passes, into a sink that takes everything; lists of ids come out. Joins run on a slice of
the events and on one five times as long, and what the difference takes counts, so that what they do once is not held
against them. The prototype (`harness/bitsets.py`) knows nothing but such conditions, and takes turns with `match`.
Answers are compared; a wrong one ends the run with an error.
"""

import argparse
import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import combinations
from pathlib import Path
from time import perf_counter, process_time
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - as everybody writes it

from harness import bitsets
from harness.figures import Figure, at_least, at_most
from harness.report import tell
from harness.tree import mapped_in_tree, pin, tree_seconds
from tamis.pipeline import compile, match  # noqa: A004 - it is one
from tamis.pipeline.attached import attached
from tamis.pipeline.session import decorated
from tamis.pipeline.task import Task
from tamis.pipeline.workers import by_workers

SEED: Final = 11
ATTRIBUTES: Final = 10
RANGES: Final = 3
#: What is asked for.
BUCKETS, CROSS, TOTAL, CORES, PROTOTYPE = 15, 300, 1.5, 1.7, 1.0
NAMES: Final = [f"a{number}" for number in range(ATTRIBUTES)]
#: What tells events apart: it alone comes out again, with the ids.
KEY: Final = "n"
#: How many times as long the longer slice is on which a join runs.
LONGER: Final = 5
#: Rows in an Arrow batch of Spark.
BATCH: Final = 10_000
#: Tasks that have nothing to do.
TASKS: Final = 50
SELECTIVITIES: Final = {"0.1 %": 1e-3, "0.01 %": 1e-4}


def main() -> None:
    """Measure, print a table for each question, and say whether the bars are reached."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("sections", nargs="*", metavar="section", help="default: all")
    arguments.add_argument("--events", type=int, default=1_000_000)
    arguments.add_argument("--subscriptions", type=int, default=100_000)
    arguments.add_argument("--many", type=int, default=1_000_000, help="conditions whose memory is shared")
    arguments.add_argument("--slice", type=int, default=20_000, help="events that are joined")
    arguments.add_argument(
        "--passes", type=int, default=8, help="how often all is timed: Java compiles during the first"
    )
    arguments.add_argument("--json", type=Path, metavar="FILE", help="write all figures there")
    chosen = arguments.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(Path(folder), chosen)
        sections = {"match": bench.matching, "cores": bench.cores, "memory": bench.memory, "tasks": bench.tasks}
        tell({name: sections[name]() for name in chosen.sections or sections}, chosen.json)
        bench.stop()


class Bench:
    """One run: its files and its session."""

    def __init__(self, folder: Path, chosen: argparse.Namespace) -> None:
        self.folder = folder
        self.chosen = chosen
        self.passes: int = chosen.passes
        self._session: SparkSession | None = None
        source = np.random.default_rng(SEED)
        columns = [pa.array(source.random(chosen.events, np.float32)) for _ in NAMES]
        self.table = pa.table([*columns, pa.array(np.arange(chosen.events))], names=[*NAMES, KEY])
        pq.write_table(self.table, folder / "events.parquet", row_group_size=max(1, chosen.events // 8))

    def session(self, cores: int = 2) -> SparkSession:
        """Return Spark on so many cores."""
        self.stop()
        # The workers have to find the prototype.
        os.environ["PYTHONPATH"] = str(Path(__file__).parent)
        builder = SparkSession.builder.master(f"local[{cores}]").appName("tamis bench")
        options = {"spark.sql.shuffle.partitions": "2", "spark.driver.memory": "4g"}
        # Two or more tasks for each core, of the same size.
        options["spark.sql.files.maxPartitionBytes"] = str(max(1, self.chosen.events * 4 * ATTRIBUTES // 8))
        self._session = decorated(builder, self.folder / "spark", options=options).getOrCreate()
        self._session.sparkContext.setLogLevel("ERROR")
        return self._session

    def stop(self) -> None:
        """Stop Spark, if it runs."""
        if self._session is not None:
            self._session.stop()

    # --- sections -----------------------------------------------------------------------------------

    def matching(self) -> Iterator[Figure]:
        """Rates, shares and rivals."""
        spark = self.session()
        events = spark.read.parquet(str(self.folder / "events.parquet"))
        count = self.chosen.events
        scan = best(lambda: sunk(events), self.passes)
        read = best(lambda: sunk(events.mapInArrow(by_workers(consumed, "read"), "rows long")), self.passes)
        for title, share in SELECTIVITIES.items():
            conditions = Conditions(self.chosen.subscriptions, share)

            def figure(measure: str, value: float, unit: str = "", bar: Any = None, of: str = title) -> Figure:
                return Figure("match", of, self.chosen.subscriptions, measure, value, unit, bar)

            store = self.folder / f"store-{share}"
            table = conditions.texts(spark)
            start = tree_seconds()
            made = compile(table, store)
            yield figure("compile", made.subscriptions / (tree_seconds() - start), "conditions/CPU s")
            yield figure("index", made.bytes / made.subscriptions, "bytes/condition")
            answer = match(events, store, columns=[KEY])
            total = best(partial(sunk, answer), self.passes)
            kernel, task, matches = self.alone(store)
            wall, rival = self.beside_the_prototype(events, answer, conditions, matches)
            rate = count / total
            yield figure("matches", matches / count, "per event")
            yield figure("events, wall", count / wall, "events/s")
            yield figure("prototype, wall", count / rival, "events/s")
            yield figure("to the prototype, wall", rival / wall, "times", at_least(PROTOTYPE))
            yield figure("events", rate, "events/CPU s")
            yield figure("kernel alone", count / kernel, "events/CPU s")
            yield figure("total to scan and kernel", total / (scan + kernel), "", at_most(TOTAL))
            parts = {
                "scan": scan,
                "Arrow to Python": read - scan,
                "kernel": kernel,
                "Python": task - kernel,
                "Arrow back": total - read - task,
            }
            for name, seconds in parts.items():
                yield figure(f"share of {name}", 100 * seconds / total, "%")
            if share == max(SELECTIVITIES.values()):
                slices = ((2, self.chosen.slice // 4), (RANGES, self.chosen.slice))
                joined = [self.joined(events, conditions, store, *each) for each in slices]
                yield figure("bucket join, 2 attributes", joined[0], "events/CPU s")
                yield figure("bucket join, 3 attributes", joined[1], "events/CPU s")
                yield figure("to the best bucket join", rate / max(joined), "times", at_least(BUCKETS))
                crossed = self.crossed(events, conditions)
                yield figure("cross join", crossed, "events/CPU s")
                yield figure("to the cross join", rate / crossed, "times", at_least(CROSS))

    def cores(self) -> Iterator[Figure]:
        """From one core to two: all processes are held there, since one task keeps Java and Python busy at a time."""
        walls = {}
        for number in (1, 2):
            spark = self.session(number)
            store = self.folder / "store-cores"
            if not store.exists():
                compile(Conditions(self.chosen.subscriptions, 1e-3).texts(spark), store)
            answer = match(spark.read.parquet(str(self.folder / "events.parquet")), store, columns=[KEY])
            pin(number)
            walls[number] = walled(partial(sunk, answer), self.passes)
        yield Figure(
            "cores", "0.1 %", self.chosen.subscriptions, "1 to 2 cores", walls[1] / walls[2], "", at_least(CORES)
        )

    def memory(self) -> Iterator[Figure]:
        """The pages of an index are there once, however many workers have it open."""
        spark = self.session()
        store = self.folder / "store-many"
        start = perf_counter()
        made = compile(Conditions(self.chosen.many, 1e-4).texts(spark), store, tasks=4)
        yield Figure("memory", "0.01 %", self.chosen.many, "compile, wall", perf_counter() - start, "s")
        events = spark.read.parquet(str(self.folder / "events.parquet")).limit(50_000).repartition(4)
        sunk(match(events, store))
        shared, alone, workers = mapped_in_tree(str(store))
        yield Figure("memory", "0.01 %", self.chosen.many, "index", made.bytes / 2**20, "MiB")
        yield Figure("memory", "0.01 %", self.chosen.many, "workers", workers)
        yield Figure("memory", "0.01 %", self.chosen.many, "pages of all workers, added up", alone / 2**20, "MiB")
        # What a file takes once, with the room that its texts have in it.
        size = sum(file.stat().st_size for file in store.rglob("part-*"))
        yield Figure("memory", "0.01 %", self.chosen.many, "pages, each once (PSS)", shared / 2**20, "MiB")
        yield Figure("memory", "0.01 %", self.chosen.many, "PSS to the file", shared / size, "", at_most(1.05))

    def tasks(self) -> Iterator[Figure]:
        """What a task takes that has nothing to do, in a worker that has an index open, as it is and settled in."""
        store = self.folder / "store-tasks"
        compile(Conditions(self.chosen.subscriptions, 1e-3).texts(self.session()), store)

        def idle(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            attached(str(store), 1)
            return consumed(batches)

        # Others than those that compiled, which are settled in.
        empty = self.session(1).range(0, TASKS, 1, TASKS)
        for way, function in {"as it is": idle, "settled in": by_workers(idle, "nothing")}.items():
            seconds = best(partial(sunk, empty.mapInArrow(function, "rows long")), self.passes)
            yield Figure("tasks", way, self.chosen.subscriptions, "an empty task", 1000 * seconds / TASKS, "CPU ms")

    # --- measured -----------------------------------------------------------------------------------

    def alone(self, store: Path) -> tuple[float, float, int]:
        """Return CPU seconds of the kernel, and of all that a task does, on one thread without Spark; and matches."""
        index = attached(str(store), 1)
        batches = self.table.combine_chunks().to_batches(max_chunksize=BATCH)
        kernel = fastest(lambda: [part.match_rows(batch) for part in index.parts for batch in batches])
        task = Task(str(store), [*NAMES, KEY], [ATTRIBUTES], "lists", 1)
        seconds = fastest(lambda: [None for _ in task.run(iter(batches))])
        return kernel, seconds, sum(len(batch.column(1).values) for batch in task.run(iter(batches)))

    def beside_the_prototype(
        self, events: DataFrame, answer: DataFrame, conditions: "Conditions", matches: int
    ) -> tuple[float, float]:
        """Return wall seconds of `match` and of the prototype, which take turns."""
        folder = self.folder / f"bits-{conditions.width}"
        bitsets.build(conditions.attribute, conditions.low, conditions.high, folder)
        rival = events.mapInArrow(bitsets.matcher(str(folder), NAMES, KEY), f"{KEY} long, ids array<int>")
        found = rival.select(F.sum(F.size("ids"))).first()
        if found is None or found[0] != matches:
            raise AssertionError(f"the prototype finds {found}, match {matches}")
        ours, theirs = in_turn((answer, rival), perf_counter, self.passes)
        return ours, theirs

    def joined(self, events: DataFrame, conditions: "Conditions", store: Path, attributes: int, few: int) -> float:
        """Return the rate of an equality join on the buckets of some attributes of each condition."""
        many = LONGER * few
        slices = [events.limit(count).cache() for count in (few, many)]
        joins = [bucketed(some, conditions, attributes) for some in slices]
        found, expected = joins[0].count(), match(slices[0], store, output="pairs", columns=[KEY]).count()
        if found != expected:
            raise AssertionError(f"the join on {attributes} attributes finds {found}, match {expected}")
        once, whole = in_turn(joins, tree_seconds, min(3, self.passes))
        for some in slices:
            some.unpersist()
        # Where a slice is so small that the clock does not see it, what is done once counts too.
        return (many - few) / (whole - once) if whole > once else many / whole

    def crossed(self, events: DataFrame, conditions: "Conditions") -> float:
        """Return the rate of a join that looks at all pairs, extrapolated from a few."""
        count: int = min(4_000, self.chosen.slice)
        some = valued(events.limit(count))
        few = min(10_000, conditions.count)
        pairs = some.join(F.broadcast(conditions.columns(events.sparkSession, few)), on=F.expr(met(RANGES)))
        seconds = best(lambda: sunk(pairs), self.passes)
        return count * few / seconds / conditions.count


class Conditions:
    """So many conjunctions of three ranges, each met by a share of all events."""

    def __init__(self, count: int, share: float) -> None:
        self.count = count
        self.width = share ** (1 / RANGES)
        source = np.random.default_rng(SEED + 1)
        self.attribute = np.sort(np.argsort(source.random((count, ATTRIBUTES)), axis=1)[:, :RANGES], axis=1)
        self.low = source.random((count, RANGES)) * (1 - self.width)
        self.high = self.low + self.width

    def texts(self, spark: SparkSession) -> DataFrame:
        """Return them as subscriptions."""
        ranges = [
            F.format_string(
                "a%d between %s and %s", f"i{at}", F.col(f"l{at}").cast("string"), F.col(f"h{at}").cast("string")
            )
            for at in range(RANGES)
        ]
        return self.columns(spark, self.count).select("id", F.concat_ws(" and ", *ranges).alias("condition"))

    def columns(self, spark: SparkSession, count: int) -> DataFrame:
        """Return the first ones as numbers: attributes, least and greatest values."""
        columns: dict[str, Any] = {"id": np.arange(count)}
        for at in range(RANGES):
            columns |= {
                f"i{at}": self.attribute[:count, at],
                f"l{at}": self.low[:count, at],
                f"h{at}": self.high[:count, at],
            }
        return spark.createDataFrame(pa.table(columns))


def bucketed(events: DataFrame, conditions: Conditions, attributes: int) -> DataFrame:
    """Join events and conditions that share a set of attributes and a bucket of each, then look at the ranges."""
    spark, buckets = events.sparkSession, max(1, int(1 / conditions.width))
    sets = spark.createDataFrame(
        list(combinations(range(ATTRIBUTES), attributes)), [f"j{at}" for at in range(attributes)]
    )
    key = " + ".join(f"(j{at} * {buckets} + b{at}) * {(ATTRIBUTES * buckets) ** at}L" for at in range(attributes))
    left = valued(events).join(F.broadcast(sets))
    right = conditions.columns(spark, conditions.count)
    for at in range(attributes):
        left = left.withColumn(f"b{at}", F.expr(f"least(int(v[j{at}] * {buckets}), {buckets - 1})"))
        spans = f"sequence(int(l{at} * {buckets}), least(int(h{at} * {buckets}), {buckets - 1}))"
        right = right.withColumn(f"b{at}", F.explode(F.expr(spans))).withColumn(f"j{at}", F.col(f"i{at}"))
    left = left.select("*", F.expr(key).alias("key")).select("v", "key", KEY)
    kept = ["id", *(f"{name}{at}" for name in "ilh" for at in range(RANGES))]
    right = right.select(*kept, F.expr(key).alias("key"))
    return left.join(right, "key").where(met(RANGES))


def valued(events: DataFrame) -> DataFrame:
    """Return events with their attributes in an array."""
    return events.withColumn("v", F.array(*NAMES)).drop(*NAMES)


def met(ranges: int) -> str:
    """Return the condition in terms of the columns."""
    return " and ".join(f"v[i{at}] between l{at} and h{at}" for at in range(ranges))


def sunk(frame: DataFrame) -> None:
    """Compute a table and throw it away."""
    frame.write.format("noop").mode("overwrite").save()


def consumed(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Take everything and say only how much it was."""
    yield pa.record_batch({"rows": [sum(batch.num_rows for batch in batches)]})


def best(work: Callable[[], object], passes: int) -> float:
    """Return the fewest CPU seconds of the process tree, after a pass that is not counted."""
    return _least(work, tree_seconds, passes)


def walled(work: Callable[[], object], passes: int) -> float:
    """Return the shortest wall time, after a pass that is not counted."""
    return _least(work, perf_counter, passes)


def in_turn(frames: Sequence[DataFrame], clock: Callable[[], float], passes: int) -> list[float]:
    """Return the least time that each of several tables takes, which are computed in turn."""
    turns = [[_timed(lambda at=frame: sunk(at), clock) for frame in frames] for _ in range(passes)]  # type: ignore[misc]
    return [min(times) for times in zip(*turns, strict=True)]


def fastest(work: Callable[[], object]) -> float:
    """Return the fewest CPU seconds of this process."""
    return _least(work, process_time, 2)


def _least(work: Callable[[], object], clock: Callable[[], float], passes: int) -> float:
    work()
    return min(_timed(work, clock) for _ in range(passes))


def _timed(work: Callable[[], object], clock: Callable[[], float]) -> float:
    start = clock()
    work()
    return clock() - start


if __name__ == "__main__":
    main()
