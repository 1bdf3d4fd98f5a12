"""Does a stream stand it when subscriptions change every second?

    python bench/churn.py [--seconds 180] [--rate 2000] [--subscriptions 10000] [--changes 100] [--cores 2]
                          [--json FILE]

Events come to an event log at a steady rate, and every second `update` makes a new version of the subscriptions: some
are new, some have another condition, some are gone. One query matches all the while, and is not restarted; old versions
are pruned. Conditions are three ranges of ten uniform attributes, of which an event meets 0.1 %.

Afterwards every event must have exactly one answer, against one version that was made, none against an older one than
the event before it; and all answers of every version are compared with a `tamis.Index` of its subscriptions. What is
wrong ends the run with an error. An event's lag is the time from when it was due until the answers of its micro-batch
are written. Memory is that of the whole process tree (driver, JVM, Python workers), each page once (PSS).
"""

import argparse
import tempfile
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from time import monotonic, time_ns
from typing import Any, Final, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession

import tamis
from harness.clock import proportional_bytes
from harness.figures import Figure, at_least, at_most
from harness.report import tell
from harness.tree import processes, tree_seconds
from tamis.pipeline import EventLog, compile, match, prune, read_events, update  # noqa: A004 - it is one
from tamis.pipeline.session import decorated

SEED: Final = 17
NAMES: Final = [f"a{number}" for number in range(10)]
RANGES: Final = 3
SHARE: Final = 1e-3
#: Seconds from one segment of the log to the next, and from one version to the next.
PERIOD, TURN = 0.25, 1.0
#: Of the changes: so many in ten are new, and so many take a subscription away; the rest changes a condition.
NEW, GONE = 3, 3
#: Versions that are kept, and after how many it is looked.
KEPT, LOOK = 20, 10
#: Seconds between two looks at the memory.
INTERVAL: Final = 2.0
#: What is asked for: the greatest lag in seconds; lag and memory of the second half to those of the first.
LAG, LATER, MORE = 10.0, 1.5, 1.1


def main() -> None:
    """Measure, print a table, and say whether the bars are reached."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--seconds", type=float, default=180.0)
    arguments.add_argument("--rate", type=int, default=2_000, help="events a second")
    arguments.add_argument("--subscriptions", type=int, default=10_000, help="at the beginning")
    arguments.add_argument("--changes", type=int, default=100, help="changes in a version")
    arguments.add_argument("--cores", type=int, default=2)
    arguments.add_argument("--json", type=Path, metavar="FILE", help="write all figures there")
    chosen = arguments.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        builder = SparkSession.builder.master(f"local[{chosen.cores}]").appName("tamis bench")
        spark = decorated(builder, Path(folder) / "spark", options={"spark.driver.memory": "1g"}).getOrCreate()
        spark.sparkContext.setLogLevel("ERROR")
        try:
            churn = Churn(Path(folder), chosen.rate, chosen.subscriptions, chosen.changes)
            tell({"churn": figures(churn, churn.run(spark, chosen.seconds))}, chosen.json)
        finally:
            spark.stop()


class Ran(NamedTuple):
    """What was measured. Lags are those of the events in order, in seconds; memory is in bytes, look by look."""

    seconds: float
    busy: float
    batches: int
    lags: Any
    memory: list[int]
    #: How many versions were made while it ran, how many of them answered, and the longest time that one took.
    versions: int
    answering: int
    slowest: float
    matches: int


def figures(churn: "Churn", ran: Ran) -> Iterator[Figure]:
    """Return what is told of a run."""

    def figure(measure: str, value: float, unit: str = "", bar: Any = None) -> Figure:
        return Figure("churn", f"{churn.rate:,} events/s", churn.subscriptions, measure, value, unit, bar)

    half = len(ran.lags) // 2
    middle = len(ran.memory) // 2
    yield figure("events, each with one answer", len(ran.lags), "", at_least(churn.rate * ran.seconds * 0.95))
    yield figure("matches", ran.matches / len(ran.lags), "per event")
    yield figure("micro-batches", ran.batches)
    yield figure("versions made", ran.versions / ran.seconds, "per s", at_least(0.9 / TURN))
    yield figure("versions that answered", ran.answering)
    yield figure("longest update", ran.slowest, "s")
    for name, value in zip(("half", "99 %", "greatest"), np.percentile(ran.lags, [50, 99, 100]), strict=True):
        yield figure(f"lag, {name}", float(value), "s", at_most(LAG) if name == "greatest" else None)
    later = float(np.median(ran.lags[half:]) / np.median(ran.lags[:half]))
    yield figure("lag, second half to first", later, "", at_most(LATER))
    yield figure("memory, greatest", max(ran.memory) / 2**20, "MiB")
    more = float(np.mean(ran.memory[middle:]) / np.mean(ran.memory[:middle]))
    yield figure("memory, second half to first", more, "", at_most(MORE))
    yield figure("processor", ran.busy / ran.seconds, "CPU s/s")


class Churn:
    """One run: its events, its subscriptions as they change, and what came out."""

    def __init__(self, folder: Path, rate: int, subscriptions: int, changes: int) -> None:
        self.rate = rate
        self.subscriptions = subscriptions
        self._changes = changes
        self._log = EventLog(folder / "log")
        self._store = folder / "store"
        self._answers = folder / "answers"
        self._done = folder / "done"
        self._checkpoint = folder / "checkpoint"
        self._size = max(1, round(rate * PERIOD))
        self._chance = np.random.default_rng(SEED)
        self._living: list[int] = []
        self._next = 0
        #: By version, what changed in it.
        self._history: list[tuple[int, pa.Table]] = []
        self._slowest = 0.0
        self._memory: list[int] = []

    # --- what happens -------------------------------------------------------------------------------

    def events(self, segment: int) -> dict[str, Any]:
        """Return the attributes of a segment, the same ones whenever it is asked."""
        chance = np.random.default_rng([SEED, segment])
        return {name: chance.random(self._size) for name in NAMES}

    def _append(self, segment: int, due: int) -> None:
        first = segment * self._size
        told = {"n": np.arange(first, first + self._size), "at": np.full(self._size, due)}
        self._log.append(pa.table({**told, **self.events(segment)}))

    def _conditions(self, count: int) -> list[str]:
        width = SHARE ** (1 / RANGES)
        found = []
        for _ in range(count):
            names = self._chance.choice(NAMES, RANGES, replace=False)
            lows = self._chance.random(RANGES) * (1 - width)
            found.append(
                " and ".join(f"{n} between {low} and {low + width}" for n, low in zip(names, lows, strict=True))
            )
        return found

    def _added(self, count: int) -> tuple[list[int], list[str]]:
        ids = list(range(self._next, self._next + count))
        self._next += count
        self._living += ids
        return ids, self._conditions(count)

    def _changed(self) -> pa.Table:
        """Return the changes of the next version."""
        few = min(self._changes, len(self._living) // 2)
        new, gone = few * NEW // 10, few * GONE // 10
        places = self._chance.choice(len(self._living), few - new, replace=False)
        named = [self._living[place] for place in places]
        self._living = [id for id in self._living if id not in set(named[:gone])]
        texts: list[str | None] = [*([None] * gone), *self._conditions(few - new - gone)]
        ids, more = self._added(new)
        active = [False] * gone + [True] * (few - gone)
        return pa.table({"id": [*named, *ids], "condition": [*texts, *more], "active": active})

    # --- while it runs ------------------------------------------------------------------------------

    def run(self, spark: SparkSession, seconds: float) -> Ran:
        """Let everything happen for so long, and see that all answers are right."""
        ids, texts = self._added(self.subscriptions)
        table = pa.table({"id": ids, "condition": texts, "active": [True] * len(ids)})
        self._history.append((compile(spark.createDataFrame(table), self._store).version, table))
        self._append(0, time_ns())
        self._done.mkdir()
        query = self._query(spark)
        try:
            # What happens once, such as the start of workers, is no part of it.
            query.processAllAvailable()
            began, spent, start = monotonic(), tree_seconds(), time_ns()
            batch = query.lastProgress["batchId"]
            segments = round(seconds / PERIOD)
            steps: list[tuple[Callable[[int], None], float, int]] = [
                (lambda turn: self._append(turn + 1, start + int(turn * PERIOD * 1e9)), PERIOD, segments),
                (lambda turn: self._update(spark, turn), TURN, round(seconds / TURN)),
                (lambda _: self._look(), INTERVAL, round(seconds / INTERVAL)),
            ]
            paced(steps, query)
            wall, busy = monotonic() - began, tree_seconds() - spent
            query.processAllAvailable()
            batches = query.lastProgress["batchId"] - batch
        finally:
            query.stop()
        lags, matches, answering = self._judged(segments + 1)
        made = len(self._history) - 1
        return Ran(wall, busy, batches, lags, self._memory, made, answering, self._slowest, matches)

    def _query(self, spark: SparkSession) -> Any:
        answers, done = str(self._answers), str(self._done)

        def deliver(frame: DataFrame, batch: int) -> None:
            frame.write.mode("overwrite").parquet(f"{answers}/batch={batch}")
            # A file, because with Spark Connect this runs in another process.
            (Path(done) / str(batch)).write_text(str(time_ns()))

        matched = match(read_events(spark, self._log.path, self._store), self._store, columns=["n", "at"])
        writer = matched.writeStream.foreachBatch(deliver)
        return writer.option("checkpointLocation", str(self._checkpoint)).start()

    def _update(self, spark: SparkSession, turn: int) -> None:
        changes = self._changed()
        began = monotonic()
        made = update(spark.createDataFrame(changes), self._store)
        self._slowest = max(self._slowest, monotonic() - began)
        self._history.append((made.version, changes))
        if turn % LOOK == 0:
            prune(self._store, KEPT)

    def _look(self) -> None:
        total = 0
        for process in processes():
            try:
                total += proportional_bytes(process)
            except OSError:
                # It has ended meanwhile.
                continue
        self._memory.append(total)

    # --- afterwards ---------------------------------------------------------------------------------

    def _judged(self, segments: int) -> tuple[Any, int, int]:
        """Compare all answers; return the lags of all events but the first segment, the matches and the versions."""
        answers = pq.read_table(self._answers).sort_by("n")
        numbers, used = answers["n"].to_numpy(), answers["subscription_version"].to_numpy()
        if not np.array_equal(numbers, np.arange(segments * self._size)):
            raise AssertionError(f"{len(numbers)} answers to {segments * self._size} events, or not one to each")
        if np.any(np.diff(used) < 0):
            raise AssertionError("an event was matched against an older version than the one before it")
        if not set(used.tolist()) <= {version for version, _ in self._history}:
            raise AssertionError("an event was matched against a version that was not made")
        lists = answers["subscription_ids"].combine_chunks()
        offsets, ids = lists.offsets.to_numpy(), lists.flatten().to_numpy()
        index = tamis.Index()
        for version, changes in self._history:
            _apply(index, changes)
            first, last = np.searchsorted(used, [version, version + 1])
            if first == last:
                continue
            right = index.match_batch(self._between(int(first), int(last)))
            found = ids[offsets[first] : offsets[last]], offsets[first : last + 1] - offsets[first]
            if not np.array_equal(_pairs(*found), _pairs(right.ids.to_numpy(zero_copy_only=False), right.offsets)):
                raise AssertionError(f"version {version} gave other answers than an index of its subscriptions")
        ends = {int(file.name): int(file.read_text()) for file in self._done.iterdir()}
        batches = answers["batch"].to_numpy().astype(np.int64)
        known = np.array([ends[batch] for batch in range(len(ends))])
        lags = (known[batches] - answers["at"].to_numpy()) / 1e9
        return lags[self._size :], len(ids), len(set(used.tolist()))

    def _between(self, first: int, last: int) -> pa.Table:
        """Return events by their numbers."""
        begin, end = first // self._size, -(-last // self._size)
        parts = [self.events(segment) for segment in range(begin, end)]
        table = pa.table({name: np.concatenate([part[name] for part in parts]) for name in NAMES})
        return table.slice(first - begin * self._size, last - first)


def paced(steps: list[tuple[Callable[[int], None], float, int]], query: Any) -> None:
    """Do each step so many times, once in so many seconds, in a thread of its own; what goes wrong ends it."""
    began, stop = monotonic(), threading.Event()
    wrong: list[BaseException] = []

    def turns(step: Callable[[int], None], period: float, count: int) -> None:
        try:
            for turn in range(count):
                if stop.wait(max(0.0, began + turn * period - monotonic())):
                    return
                step(turn)
        except BaseException as error:  # noqa: BLE001 - it is raised below
            wrong.append(error)
            stop.set()

    threads = [threading.Thread(target=turns, args=step, daemon=True) for step in steps]
    for thread in threads:
        thread.start()
    for thread in threads:
        while thread.is_alive():
            thread.join(1.0)
            if not query.isActive:
                stop.set()
    if wrong:
        raise wrong[0]
    if query.exception() is not None:
        raise query.exception()


def _apply(index: tamis.Index, changes: pa.Table) -> None:
    rows = changes.to_pylist()
    index.remove_many([row["id"] for row in rows if row["id"] in index])
    kept = [row for row in rows if row["active"]]
    index.add_many([row["id"] for row in kept], [row["condition"] for row in kept])


def _pairs(ids: Any, offsets: Any) -> Any:
    """Return matches in an order that does not depend on that within an event."""
    owners = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    order = np.lexsort((ids, owners))
    return np.stack([owners[order], np.asarray(ids, np.int64)[order]])


if __name__ == "__main__":
    main()
