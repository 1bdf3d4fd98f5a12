"""How long do `cover` and `replay` take on Spark on this machine?

    python bench/manage.py [cover replay] [--subscriptions 1000000] [--events 10000000] [--conditions 1000]
                           [--cores N] [--json FILE]

`cover`: the Zipf boxes of specs/001 (256 cells for each of three attributes), of the same width (4), where equal boxes
alone cover each other, and of widths from 1 to 16. `replay`: conditions of three ranges, of which an event meets 0.1 %,
over events of ten uniform attributes in 30 days, with three examples of each, against as many existing subscriptions.
Times are wall time and CPU seconds of the whole process tree, without the start of Spark. A bar shows the progress.
"""

import argparse
import datetime as dt
import tempfile
from collections.abc import Iterator
from pathlib import Path
from time import perf_counter
from typing import Final

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame

from harness.figures import Figure
from harness.report import tell
from harness.tree import tree_seconds
from tamis.cli.local_spark import MEMORY, Watched, local_spark
from tamis.lab.workloads import Mics, generate
from tamis.pipeline.covering import cover
from tamis.pipeline.replaying import replay

SEED: Final = 13
WIDTHS: Final = {"width 4": (4, 4), "widths 1 to 16": (1, 16)}
NAMES: Final = [f"a{number}" for number in range(10)]
RANGES: Final = 3
SHARE: Final = 1e-3
DAYS: Final = 30
#: Events that are written at a time.
CHUNK: Final = 500_000


def main() -> None:
    """Measure and print a table for each question."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("sections", nargs="*", metavar="section", help="default: all")
    arguments.add_argument("--subscriptions", type=int, default=1_000_000, help="boxes that are covered")
    arguments.add_argument("--events", type=int, default=10_000_000, help="events that are replayed")
    arguments.add_argument("--conditions", type=int, default=1_000, help="conditions that are replayed")
    arguments.add_argument("--cores", type=int, default=None)
    arguments.add_argument("--json", type=Path, metavar="FILE", help="write all figures there")
    chosen = arguments.parse_args()
    wanted = chosen.sections or ["cover", "replay"]
    sections = {"cover": covering, "replay": replaying}
    with tempfile.TemporaryDirectory() as folder, local_spark("bench", chosen.cores, MEMORY, "auto") as watched:
        tell({name: sections[name](watched, Path(folder), chosen) for name in wanted}, chosen.json)


def covering(watched: Watched, folder: Path, chosen: argparse.Namespace) -> Iterator[Figure]:
    """How long it takes to find needless conditions, and how many there are."""
    count = chosen.subscriptions
    for title, (narrowest, widest) in WIDTHS.items():
        spec = msgspec.structs.replace(Mics(), subscriptions=count, events=1, narrowest=narrowest, widest=widest)
        file = folder / f"{widest}-{narrowest}.parquet"
        table = pa.table({"id": pa.array(np.arange(count)), "condition": generate(spec).conditions.texts()})
        pq.write_table(table, file)
        del table
        began, spent = perf_counter(), tree_seconds()
        with watched.shown(f"cover, {title}"):
            found = cover(watched.spark.read.parquet(str(file)))
        wall, processor = perf_counter() - began, tree_seconds() - spent
        yield Figure("cover", title, count, "wall", wall, "s")
        yield Figure("cover", title, count, "processor", processor, "CPU s")
        for name in ("duplicate", "covered", "kept", "undecided", "mergeable", "merged", "least"):
            yield Figure("cover", title, count, name, getattr(found.report, name))
        found.release()


def replaying(watched: Watched, folder: Path, chosen: argparse.Namespace) -> Iterator[Figure]:
    """How long it takes to replay conditions."""
    source = np.random.default_rng(SEED)
    file = folder / "events.parquet"
    write_events(file, chosen.events, source)
    history = watched.spark.read.parquet(str(file))
    tables = [conditions(watched, chosen.conditions, source) for _ in range(2)]
    for title, against in (("alone", None), ("against as many", tables[1])):
        began, spent = perf_counter(), tree_seconds()
        with watched.shown(f"replay, {title}", chosen.events, "events"):
            found = replay(history, tables[0], time="ts", against=against)
        wall, processor = perf_counter() - began, tree_seconds() - spent
        matches = sum(row.matches for row in found.totals.collect())
        yield Figure("replay", title, chosen.conditions, "wall", wall, "s")
        yield Figure("replay", title, chosen.conditions, "processor", processor, "CPU s")
        yield Figure("replay", title, chosen.conditions, "events", found.events / processor, "events/CPU s")
        yield Figure("replay", title, chosen.conditions, "matches", matches / found.events, "per event")
        found.release()


def write_events(file: Path, count: int, source: np.random.Generator) -> None:
    """Write events of uniform attributes, in the order of their times."""
    schema = pa.schema([*((name, pa.float32()) for name in NAMES), ("ts", pa.timestamp("us", "UTC"))])
    first = int(dt.datetime(2026, 1, 1, tzinfo=dt.UTC).timestamp()) * 1_000_000
    with pq.ParquetWriter(file, schema) as writer:
        for start in range(0, count, CHUNK):
            size = min(CHUNK, count - start)
            times = first + np.arange(start, start + size) * (DAYS * 86_400_000_000 // count)
            columns = [pa.array(source.random(size, np.float32)) for _ in NAMES]
            writer.write_table(pa.table([*columns, pa.array(times).cast(schema.field("ts").type)], schema=schema))


def conditions(watched: Watched, count: int, source: np.random.Generator) -> DataFrame:
    """Return conjunctions of ranges of the same width."""
    width = SHARE ** (1 / RANGES)
    rows = []
    for number in range(count):
        names = source.choice(NAMES, RANGES, replace=False)
        lows = source.random(RANGES) * (1 - width)
        text = " and ".join(
            f"{name} between {low!r} and {low + width!r}" for name, low in zip(names, lows.tolist(), strict=True)
        )
        rows.append((number, text))
    return watched.spark.createDataFrame(rows, "id long, condition string")


if __name__ == "__main__":
    main()
