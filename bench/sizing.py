"""How large a machine does a pipeline need? Rates and bytes by the number of subscriptions, on one core.

    python bench/sizing.py [subscriptions shards] [--sizes 1000 10000 100000 1000000] [--events 400000] [--json FILE]

Events have ten attributes, uniform floats, in a Parquet file; conditions are ranges of three of them, of a width such
that an event meets ten conditions, however many there are. Spark runs on `local[1]`. Rates are by the CPU seconds of
the whole process tree (driver, JVM, Python worker), the best of several passes, into a sink that takes everything; what
comes out is lists of ids. `shards` compares one index with the same subscriptions in
several, on one host and dealt out.
"""

import argparse
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession

from harness.figures import Figure
from harness.report import tell
from harness.tree import mapped_in_tree, tree_seconds
from tamis.pipeline import compile, manifest, match  # noqa: A004 - it is one
from tamis.pipeline.session import decorated

SEED: Final = 11
ATTRIBUTES: Final = 10
RANGES: Final = 3
#: Conditions that an event meets.
MET: Final = 10
PASSES: Final = 2
SHARDS: Final = 4
NAMES: Final = [f"a{number}" for number in range(ATTRIBUTES)]
KEY: Final = "n"


def main() -> None:
    """Measure and print a table for each question."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("sections", nargs="*", metavar="section", help="default: all")
    arguments.add_argument("--sizes", type=int, nargs="+", default=[1_000, 10_000, 100_000, 1_000_000])
    arguments.add_argument("--events", type=int, default=400_000)
    arguments.add_argument("--json", type=Path, metavar="FILE", help="write all figures there")
    chosen = arguments.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(Path(folder), chosen)
        sections = {"subscriptions": bench.subscriptions, "shards": bench.shards}
        try:
            tell({name: sections[name]() for name in chosen.sections or sections}, chosen.json)
        finally:
            bench.spark.stop()


class Bench:
    """One run: its files and its session."""

    def __init__(self, folder: Path, chosen: argparse.Namespace) -> None:
        self.folder = folder
        self.chosen = chosen
        source = np.random.default_rng(SEED)
        columns = [pa.array(source.random(chosen.events, np.float32)) for _ in NAMES]
        table = pa.table([*columns, pa.array(np.arange(chosen.events))], names=[*NAMES, KEY])
        pq.write_table(table, folder / "events.parquet")
        options = {"spark.sql.shuffle.partitions": "1", "spark.driver.memory": "4g"}
        builder = SparkSession.builder.master("local[1]").appName("tamis sizing")
        self.spark = decorated(builder, folder / "spark", options=options).getOrCreate()
        self.spark.sparkContext.setLogLevel("ERROR")
        self.events = self.spark.read.parquet(str(folder / "events.parquet"))

    def subscriptions(self) -> Iterator[Figure]:
        """Rates and bytes, by the number of subscriptions."""
        read = best(lambda: sunk(self.events))
        for count in self.chosen.sizes:
            store = self.folder / f"store-{count}"
            texts = self.texts(count)
            start = tree_seconds()
            made = compile(texts, store)
            compiled = made.subscriptions / (tree_seconds() - start)
            seconds = best(lambda at=store: sunk(match(self.events, at, columns=[KEY])))  # type: ignore[misc]
            pages, _, _ = mapped_in_tree(str(store))
            met = match(self.events, store, output="pairs", columns=[KEY]).count() / self.chosen.events
            for measure, value, unit in (
                ("met", met, "per event"),
                ("events", self.chosen.events / seconds, "per CPU s"),
                ("of it reading", 100 * read / seconds, "%"),
                ("compiled", compiled, "per CPU s"),
                ("index", made.bytes / made.subscriptions, "bytes each"),
                ("in memory", pages / 2**20, "MiB"),
                ("on disk", sum(file.stat().st_size for file in files_of(store)) / made.subscriptions, "bytes each"),
            ):
                yield Figure("subscriptions", "ranges", count, measure, value, unit)

    def shards(self) -> Iterator[Figure]:
        """What it costs to cut an index up, and to deal it out."""
        count, events = max(self.chosen.sizes), self.chosen.events // 4
        some = self.events.where(f"{KEY} < {events}")
        for title, size, strategy in (
            ("one shard", count, "replicate"),
            (f"{SHARDS} shards", count // SHARDS, "replicate"),
            (f"{SHARDS} shards, dealt out", count // SHARDS, "shard"),
        ):
            store = self.folder / (f"store-{count}" if size == count else f"store-{count}-{size}")
            if not store.exists():
                compile(self.texts(count), store, tasks=count // size, shard_size=size)
            answer = match(some, store, columns=[KEY], strategy=strategy)  # type: ignore[arg-type]
            seconds = best(lambda at=answer: sunk(at))  # type: ignore[misc]
            yield Figure("shards", title, count, "shards", len(manifest(store).shards))
            yield Figure("shards", title, count, "events", events / seconds, "per CPU s")

    def texts(self, count: int) -> DataFrame:
        """Return so many subscriptions."""
        source = np.random.default_rng(SEED + 1)
        width = min(1.0, MET / count) ** (1 / RANGES)
        attribute = np.sort(np.argsort(source.random((count, ATTRIBUTES)), axis=1)[:, :RANGES], axis=1)
        low = source.random((count, RANGES)) * (1 - width)
        columns: dict[str, Any] = {"id": np.arange(count)}
        for at in range(RANGES):
            columns |= {f"i{at}": attribute[:, at], f"l{at}": low[:, at], f"h{at}": low[:, at] + width}
        ranges = [f"concat('a', i{at}, ' between ', string(l{at}), ' and ', string(h{at}))" for at in range(RANGES)]
        table = self.spark.createDataFrame(pa.table(columns))
        return table.selectExpr("id", f"concat_ws(' and ', {', '.join(ranges)}) as condition")


def files_of(store: Path) -> list[Path]:
    """Return all files of a store."""
    return [each for each in store.rglob("*") if each.is_file()]


def sunk(frame: DataFrame) -> None:
    """Compute a table and throw it away."""
    frame.write.format("noop").mode("overwrite").save()


def best(work: Callable[[], object]) -> float:
    """Return the fewest CPU seconds of the process tree, after a pass that is not counted."""
    work()
    times = []
    for _ in range(PASSES):
        start = tree_seconds()
        work()
        times.append(tree_seconds() - start)
    return min(times)


if __name__ == "__main__":
    main()
