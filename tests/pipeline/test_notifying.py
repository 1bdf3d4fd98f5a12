"""Who has to be told, on Spark: a table and any stream over the same history say what one gate says."""

import datetime as dt
import random
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import DataFrame, SparkSession

from support.stores import stored
from support.told import VERSIONS, Match, Oracle, Said, store_of
from tamis.pipeline import AttributeWarning, EventLog, StoreError, match, read_events
from tamis.pipeline.manifests import Manifest
from tamis.pipeline.memory import Memory
from tamis.pipeline.notifying import _Processor, notify
from tamis.pipeline.recalling import remembered
from tamis.pipeline.session import STATE_STORE
from tamis.pipeline.store import Store
from tamis.pipeline.telling import Teller

EVENTS = "n long, k string, p double, q int, s struct<k: long, p: decimal(10, 2)>, at timestamp, tags array<string>"
MATCHES = f"{EVENTS}, subscription_ids array<string>, subscription_version long"
AT = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)
PROVIDER = "spark.sql.streaming.stateStore.providerClass"


def history(chance: random.Random, count: int) -> list[Match]:
    versions = sorted(chance.randint(1, len(VERSIONS)) for _ in range(count))
    found: list[Match] = []
    for number, version in enumerate(versions):
        event = {
            "k": chance.choice(["A", "B", None]),
            "p": chance.choice([None, float("nan"), *map(float, range(-1, 8))]),
            "q": chance.choice([None, *range(-1, 8)]),
            "s": chance.choice([None, {"k": chance.randint(0, 1), "p": chance.randint(0, 6)}]),
        }
        found.append((number, version, chance.sample(sorted(VERSIONS[version - 1]), 3), event))
    return found


def frame_of(spark: SparkSession, matches: list[Match]) -> DataFrame:
    rows = [
        (
            number,
            event["k"],
            event["p"],
            event["q"],
            None if event["s"] is None else (event["s"]["k"], Decimal(event["s"]["p"])),
            AT + dt.timedelta(seconds=number),
            ["t"],
            list(ids),
            version,
        )
        for number, version, ids, event in matches
    ]
    return spark.createDataFrame(rows, MATCHES).coalesce(1)


def said(frame: DataFrame) -> list[Said]:
    return sorted((row.n, row.subscription_id, row.outcome) for row in frame.collect())


class Stream:
    """Matches that are written to a folder, and a query that is started anew for each of them."""

    def __init__(self, spark: SparkSession, folder: Path, store: Path, **options: Any) -> None:
        self.spark = spark
        self.folder = folder
        self.store = store
        self.options = {"sequence": "n", **options}

    def run(self, matches: list[Match]) -> None:
        frame_of(self.spark, matches).write.mode("append").parquet(str(self.folder / "in"))
        reader = self.spark.readStream.schema(MATCHES).option("recursiveFileLookup", "true")
        told = notify(reader.parquet(str(self.folder / "in")), self.store, **self.options)
        writer = told.writeStream.format("parquet").option("path", str(self.folder / "out"))
        writer = writer.option("checkpointLocation", str(self.folder / "checkpoint")).trigger(availableNow=True)
        writer.start().awaitTermination()

    def answers(self) -> DataFrame:
        return self.spark.read.parquet(str(self.folder / "out"))


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return store_of(tmp_path_factory.mktemp("notify"))


def test_a_table_and_a_stream_with_restarts_say_what_one_gate_says(
    spark: SparkSession, tmp_path: Path, store: Path
) -> None:
    chance = random.Random(5)
    matches = history(chance, 300)
    wanted = sorted(Oracle().says(matches))
    assert {outcome for _, _, outcome in wanted} == {"told", "refused"}
    options: dict[str, Any] = {"sequence": "at", "identity": "n", "shards": 2}
    table = notify(frame_of(spark, chance.sample(matches, len(matches))), store, **options).collect()
    assert sorted((row.n, row.subscription_id, row.outcome) for row in table) == wanted
    stream = Stream(spark, tmp_path, store, **options)
    cut = chance.randrange(1, len(matches))
    for some in (matches[:cut], matches[cut:]):
        stream.run(chance.sample(some, len(some)))
    # All columns of the events came through, and the ids are the same, each of them once.
    assert sorted(map(repr, stream.answers().collect())) == sorted(map(repr, table))
    assert len({row.notification_id for row in table}) == len(table)


def test_a_query_goes_on_with_what_another_remembers(spark: SparkSession, tmp_path: Path, store: Path) -> None:
    matches = history(random.Random(6), 200)
    wanted = sorted(Oracle().says(matches))
    first = Stream(spark, tmp_path / "first", store, shards=2)
    first.run(matches[:100])
    before = remembered(spark, tmp_path / "first" / "checkpoint", store).localCheckpoint()
    with pytest.raises(Exception, match="dealt to 2 shards, but 3 are asked for"):
        Stream(spark, tmp_path / "first", store, shards=3).run(matches[100:101])
    second = Stream(spark, tmp_path / "second", store, shards=3, initial=before)
    second.run(matches[100:])
    assert sorted(said(first.answers()) + said(second.answers())) == wanted
    table = notify(frame_of(spark, matches[100:]), store, sequence="n", initial=before, shards=1)
    assert said(table) == said(second.answers())


def test_versions_of_a_stream_and_a_repeated_batch(spark: SparkSession, tmp_path: Path) -> None:
    store, log = tmp_path / "store", EventLog(tmp_path / "log")
    stored(store, [{"a": "p > 0 notify p moves 2", "b": "p > 0 notify p moves 2", "c": "p > 5"}])
    got: list[list[tuple[Any, ...]]] = []
    fails = False

    def deliver(frame: DataFrame, _: int) -> None:
        nonlocal fails
        got.append(sorted((row.n, row.subscription_id, row.notification_id) for row in frame.collect()))
        if fails:
            fails = False
            raise OSError("lost after its write")

    def run(*values: float) -> None:
        log.append(
            spark.createDataFrame([(len(got) * 10 + n, p) for n, p in enumerate(values)], "n long, p double").toArrow()
        )
        matches = match(read_events(spark, log.path, store), store)
        query = notify(matches, store, sequence="n").writeStream.foreachBatch(deliver).trigger(availableNow=True)
        query.option("checkpointLocation", str(tmp_path / "checkpoint")).start().awaitTermination()

    fails = True
    with pytest.raises(Exception, match="lost after its write"):
        run(1.0, 2.0, 9.0)
    # The clause of one is another from here on, and of the other it is not.
    stored(store, [{"a": "p > 0 notify p moves 2 per n", "b": "p > 1 notify p moves 2"}])
    run(10.0)
    assert [each[:2] for each in got[0]] == [(0, "a"), (0, "b"), (2, "a"), (2, "b"), (2, "c")]
    assert got[1] == got[0]
    assert [each[:2] for each in got[2]] == [(10, "a")]


def test_it_is_matched_by_the_same_task_unless_something_was_done_in_between(
    spark: SparkSession, tmp_path: Path
) -> None:
    stored(tmp_path, [{1: "p > 0 notify p moves 2 per `a.k`", 2: "p > 3"}, {3: "q = 1 notify p moves 1"}])
    chance = random.Random(7)
    rows = [(n, chance.choice("AB"), chance.uniform(0, 9), chance.randint(0, 1)) for n in range(300)]
    events = spark.createDataFrame(rows, "n long, `a.k` string, p double, q int")
    chosen: list[dict[str, Any]] = [{}, {"output": "pairs", "columns": ["p", "n", "a.k"]}]
    for options in chosen:
        matches = match(events, tmp_path, **options)
        at_once = notify(matches, tmp_path, sequence="n", shards=3)
        apart = notify(matches.where("n >= 0"), tmp_path, sequence="n", shards=3)
        assert at_once.columns == apart.columns
        assert sorted(map(repr, at_once.collect())) == sorted(map(repr, apart.collect()))
        kept = notify(match(events, tmp_path, **options).cache(), tmp_path, sequence="n", shards=3)
        plans = [frame._jdf.queryExecution().executedPlan().toString() for frame in (at_once, apart, kept)]
        assert ["deal to 3 shards" in plan for plan in plans] == [True, False, False]
        assert ["deal matches to 3 shards" in plan for plan in plans] == [False, True, True]


def test_the_state_of_an_older_tamis_is_refused_with_what_to_do() -> None:
    class Before:
        def getValueState(self, *_: str) -> "Before":  # noqa: N802 - Spark's name
            return self

        def get(self) -> tuple[bytes]:
            return (Memory(pa.string(), 2).encode().replace(b"told 2", b"told 1"),)

    processor = _Processor(Teller("", [], "n", None, 0, None), "string", 2)
    processor.init(Before())
    with pytest.raises(ValueError, match=r"older Tamis in another way: begin a new checkpoint with initial=remembered"):
        processor.handleInputRows(None, iter([]), None)


def test_what_cannot_work_is_said_before_it_runs(spark: SparkSession, tmp_path: Path) -> None:
    frame = frame_of(spark, [])
    clear = [{"a": "true notify p moves 2 per k", "b": "true notify s.p moves 2"}]
    stored(tmp_path, clear)
    cases: list[tuple[DataFrame, dict[str, Any], str]] = [
        (frame.drop("p", "s"), {}, r"need columns that the matches lack: 'p' \(1 clauses\), 's.p' \(1 clauses\)"),
        (frame.drop("subscription_ids"), {}, "matches have 'subscription_ids' or 'subscription_id'"),
        (frame.withColumnRenamed("q", "outcome"), {}, "the answer has a column 'outcome'"),
        (frame, {"sequence": "x"}, "there is no column 'x'"),
        (frame, {"sequence": "k"}, "column 'k' is an integer or a time, not string"),
        (frame, {"ttl": dt.timedelta(1)}, "ttl is an integer, because 'n' is one"),
        (frame, {"sequence": "at", "ttl": 5}, "ttl is a timedelta, because 'at' is a time"),
        (frame, {"ttl": -1}, "ttl is -1, but it must not be below 0"),
        (frame, {"shards": 0}, "from 1 to 4096 shards, not 0"),
        (frame, {"initial": spark.range(1)}, "the initial state needs a column 'subscription_id'"),
    ]
    for given, options, reason in cases:
        with pytest.raises(ValueError, match=reason):
            notify(given, tmp_path, **{"sequence": "n", **options})
    with pytest.warns(AttributeWarning, match="column p is string, but 1 notify clauses want a number"):
        notify(frame.withColumn("p", frame.k), tmp_path, sequence="n")
    stream = spark.readStream.schema(MATCHES).parquet(str(tmp_path))
    spark.conf.set(PROVIDER, "org.example.Other")
    try:
        with pytest.raises(ValueError, match="needs the state store of RocksDB"):
            notify(stream, tmp_path, sequence="n")
    finally:
        spark.conf.set(PROVIDER, STATE_STORE)


def test_a_version_of_an_older_tamis_is_refused_with_what_to_do(spark: SparkSession, tmp_path: Path) -> None:
    made = stored(tmp_path, [{"a": "true"}])
    old = Manifest(1, made.ids, made.shards, made.counts, made.asked, [], format=1)
    old.write(Store(tmp_path).folder(1))
    with pytest.raises(StoreError, match="did not keep notify clauses: compile the subscriptions again"):
        notify(frame_of(spark, []), tmp_path, sequence="n")
    assert match(spark.range(2), tmp_path).count() == 2
