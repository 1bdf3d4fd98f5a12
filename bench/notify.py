"""How fast does `notify` run as a stream on Spark, and how much of that is the gate itself?

    python bench/notify.py [matched events] [--updates 8000000] [--items 10000] [--watches 100000] [--batch 1000000]
                           [--cores 2] [--json FILE]

Every watch is a subscription to one item, with a radius of its own: `item = 7 notify value moves 2.5 per item`. An
update is a new value of an item, one step of a random walk, and so concerns ten watches if there are ten times as many
as items. Half of the updates go through a query that is then stopped; what counts is a second one, which begins at the
checkpoint with the memory of the first, and its micro-batches after the first one. `matched` takes updates that were
matched before, with lists of ids; `events` has `match` in the same query, and so in the same tasks. The gate
alone is `Gate.pass_many` on the same pairs in one thread, which also says how many must be told: a wrong count ends the
run with an error.
"""

import argparse
import tempfile
from collections.abc import Callable, Iterator
from functools import cached_property
from pathlib import Path
from time import process_time, sleep
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812 - as everybody writes it
from pyspark.sql.streaming import StreamingQueryListener

from harness.figures import Figure, at_least
from harness.report import tell
from harness.tree import tree_seconds
from tamis import Notify
from tamis.notification import Gate
from tamis.pipeline import compile, match  # noqa: A004 - it is one
from tamis.pipeline.notifying import notify
from tamis.pipeline.session import decorated

SEED: Final = 11
#: What is asked for, in updates for each second of wall time.
RATE: Final = 150_000
#: Files in one micro-batch: two tasks for each of two cores.
FILES: Final = 4
LEAST_RADIUS, GREATEST_RADIUS = 1, 20


def main() -> None:
    """Measure, print a table for each question, and say whether the bars are reached."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("sections", nargs="*", metavar="section", help="default: all")
    arguments.add_argument("--updates", type=int, default=8_000_000)
    arguments.add_argument("--items", type=int, default=10_000)
    arguments.add_argument("--watches", type=int, default=100_000)
    arguments.add_argument("--batch", type=int, default=1_000_000, help="updates in a micro-batch")
    arguments.add_argument("--cores", type=int, default=2)
    arguments.add_argument("--json", type=Path, metavar="FILE", help="write all figures there")
    chosen = arguments.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(Path(folder), chosen)
        wanted = chosen.sections or ["matched", "events"]
        tell({name: bench.streamed(name) for name in wanted}, chosen.json)
        bench.spark.stop()


class Bench:
    """One run: its history, its store and its session."""

    def __init__(self, folder: Path, chosen: argparse.Namespace) -> None:
        self.folder = folder
        self.chosen = chosen
        source = np.random.default_rng(SEED)
        self.items = source.integers(0, chosen.items, chosen.updates)
        self.values = walked(self.items, source.normal(size=chosen.updates), 1000.0)
        self.watched = np.sort(source.integers(0, chosen.items, chosen.watches))
        self.radii = source.uniform(LEAST_RADIUS, GREATEST_RADIUS, chosen.watches).round(2)
        #: The watches of item i are `watched[bounds[i] : bounds[i + 1]]`.
        self.bounds = np.searchsorted(self.watched, np.arange(chosen.items + 1))
        options = {"spark.sql.shuffle.partitions": str(chosen.cores), "spark.driver.memory": "4g"}
        builder = SparkSession.builder.master(f"local[{chosen.cores}]").appName("tamis bench")
        self.spark = decorated(builder, folder / "spark", options=options).getOrCreate()
        self.spark.sparkContext.setLogLevel("ERROR")
        self.store = folder / "store"
        condition = F.format_string("item = %d notify value moves %s per item", "item", F.col("radius").cast("string"))
        table = pa.table({"id": np.arange(chosen.watches), "item": self.watched, "radius": self.radii})
        compile(self.spark.createDataFrame(table).select("id", condition.alias("condition")), self.store)
        for name in ("matched", "events"):
            self.write(name)

    def write(self, name: str) -> None:
        """Write the history as files, `FILES` for a micro-batch."""
        (self.folder / name).mkdir()
        size = self.chosen.batch // FILES
        for number, start in enumerate(range(0, self.chosen.updates, size)):
            items, values = self.items[start : start + size], self.values[start : start + size]
            columns: dict[str, Any] = {"n": np.arange(start, start + len(items)), "item": items, "value": values}
            if name == "matched":
                owners, watches = self.pairs(items)
                offsets = np.append(0, np.cumsum(np.bincount(owners, minlength=len(items)))).astype(np.int32)
                columns["subscription_ids"] = pa.ListArray.from_arrays(pa.array(offsets), pa.array(watches))
                columns["subscription_version"] = np.ones(len(items), np.int64)
            pq.write_table(pa.table(columns), self.folder / name / f"{number:06}.parquet")

    def pairs(self, items: Any) -> tuple[Any, Any]:
        """Return for each pair of an update and a watch of its item both numbers."""
        counts = np.diff(self.bounds)[items]
        owners = np.repeat(np.arange(len(items)), counts)
        first = np.cumsum(counts) - counts
        return owners, np.arange(len(owners)) - first[owners] + self.bounds[items[owners]]

    # --- measured -----------------------------------------------------------------------------------

    def streamed(self, name: str) -> Iterator[Figure]:
        """Rates of a query that went on from a checkpoint."""
        count = self.chosen.updates

        def figure(measure: str, value: float, unit: str = "", bar: Any = None) -> Figure:
            return Figure("notify", name, self.chosen.watches, measure, value, unit, bar)

        alone, told = self.alone
        first = self.ran(name, half=True)
        second = self.ran(name, half=False)
        if first.told + second.told != told:
            raise AssertionError(f"{first.told} and {second.told} were told, but the gate says {told}")
        yield figure("pairs", float(np.diff(self.bounds)[self.items].mean()), "per update")
        yield figure("told", told / count, "per update")
        yield figure("updates, wall", second.rows / second.wall, "updates/s", at_least(RATE))
        yield figure("updates", second.rows / second.busy, "updates/CPU s")
        yield figure("first micro-batch after the restart", second.start, "s")
        yield figure("updates of the first query, wall", first.rows / first.wall, "updates/s")
        yield figure("gate alone", count / alone, "updates/CPU s")
        yield figure("gate to all", 100 * alone / count / (second.busy / second.rows), "%")

    @cached_property
    def alone(self) -> tuple[float, int]:
        """Return the CPU seconds of a gate on one thread, and how many pairs it tells."""
        gate = Gate()
        numbers = [gate.add(each, Notify("value", radius=radius, key="item")) for each, radius in enumerate(self.radii)]
        assert numbers == list(range(self.chosen.watches))
        seconds, told = 0.0, 0
        names = list(range(self.chosen.items))
        for start in range(0, self.chosen.updates, self.chosen.batch):
            items, values = (
                self.items[start : start + self.chosen.batch],
                self.values[start : start + self.chosen.batch],
            )
            owners, watches = self.pairs(items)
            codes, doubles = items[owners], values[owners]
            begin = process_time()
            told += int(gate.pass_many(watches, codes, names, doubles).sum())
            seconds += process_time() - begin
        return seconds, told

    def ran(self, name: str, half: bool) -> "Ran":
        """Run what is left, or half of all, through a query that goes on from the checkpoint of this name."""
        folder = self.folder / name
        files = sorted(folder.glob("*.parquet"))
        hidden = files[len(files) // 2 :] if half else []
        for file in hidden:
            file.rename(file.with_suffix(".later"))
        for file in [] if half else sorted(folder.glob("*.later")):
            file.rename(file.with_suffix(".parquet"))
        schema = self.spark.read.parquet(str(files[0])).schema
        reader = self.spark.readStream.schema(schema).option("maxFilesPerTrigger", FILES)
        updates = reader.option("pathGlobFilter", "*.parquet").parquet(str(folder))
        matches = updates if name == "matched" else match(updates, self.store)
        told = notify(matches, self.store, sequence="n", shards=2 * self.chosen.cores).where("outcome = 'told'")
        counted = told.observe("told", F.count(F.lit(1)).alias("count"))
        writer = counted.writeStream.format("noop").option(
            "checkpointLocation", str(self.folder / f"checkpoint-{name}")
        )
        return Ran.of(self.spark, lambda: writer.trigger(availableNow=True).start())


class Ran(StreamingQueryListener):  # type: ignore[misc]  # it publishes no types
    """What a query did: rows and seconds after the first micro-batch, how long that took, and how many were told."""

    def __init__(self) -> None:
        self._seen: list[tuple[Any, float]] = []

    def onQueryStarted(self, event: Any) -> None:  # noqa: N802 - Spark's name
        pass

    def onQueryProgress(self, event: Any) -> None:  # noqa: N802
        if event.progress.numInputRows:
            self._seen.append((event.progress, tree_seconds()))

    def onQueryTerminated(self, event: Any) -> None:  # noqa: N802
        pass

    def sum_up(self) -> None:
        """Work out what was asked for."""
        (first, begin), (_, end) = self._seen[0], self._seen[-1]
        others = [progress for progress, _ in self._seen[1:]]
        self.start = first.batchDuration / 1000
        self.rows = sum(each.numInputRows for each in others)
        self.wall = sum(each.batchDuration for each in others) / 1000
        #: CPU seconds of everything: driver, JVM and Python workers.
        self.busy = end - begin
        self.told = sum(progress.observedMetrics["told"]["count"] for progress, _ in self._seen)

    @classmethod
    def of(cls, spark: SparkSession, start: Callable[[], Any]) -> "Ran":
        """Run a query to its end."""
        ran = cls()
        spark.streams.addListener(ran)
        query = start()
        query.awaitTermination()
        wanted = sum(1 for each in query.recentProgress if each.numInputRows)
        # Spark tells its listeners in its own time.
        while len(ran._seen) < wanted:
            sleep(0.05)
        spark.streams.removeListener(ran)
        ran.sum_up()
        return ran


def walked(items: Any, steps: Any, start: float) -> Any:
    """Return the values of items, each of which begins at one and moves by its own steps."""
    order = np.argsort(items, kind="stable")
    sums = np.cumsum(steps[order])
    first = np.flatnonzero(np.append(True, np.diff(items[order]) != 0))
    before = np.repeat(sums[first] - steps[order][first], np.diff(np.append(first, len(items))))
    values = np.empty(len(items))
    values[order] = start + sums - before
    return values.round(2)


if __name__ == "__main__":
    main()
