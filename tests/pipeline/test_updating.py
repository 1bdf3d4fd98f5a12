"""Changes folded into a version give what compiling the whole table gives."""

import random
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import DataFrame, SparkSession

from support.stores import stored, table_of
from tamis import Index
from tamis.pipeline import compile, manifest, rejects, update, versions  # noqa: A004 - it is one
from tamis.pipeline.asked import asked_by
from tamis.pipeline.keeping import subscriptions
from tamis.pipeline.particulars import particulars
from tamis.pipeline.sorting import sort_out
from tamis.pipeline.store import Store

ROWS = "id string, condition string, active boolean"


def held(path: Path, version: int) -> dict[str | int, str]:
    store = Store(path)
    indexes = [Index.open(store.folder(version) / each.folder) for each in store.manifest(version).shards]
    found = [(id, str(index.condition(id))) for index in indexes for id in index]
    assert len(found) == len(dict(found))
    return dict(found)


def changes(spark: SparkSession, *rows: tuple[str | None, str | None, bool]) -> DataFrame:
    return spark.createDataFrame(list(rows), ROWS)


def test_new_changed_gone_and_bad(spark: SparkSession, tmp_path: Path) -> None:
    stored(tmp_path, [{"a": "x > 1", "b": "x > 2"}, {"c": "y = 'q'", "d": "x > 4"}])
    rows = [("b", "x > 22", True), ("c", "x >", True), ("d", None, False), ("e", "z = 5", True), ("f", "x > 6", False)]
    made = update(changes(spark, *rows), tmp_path)
    assert (made.version, made.base, made.counts.rejected, made.counts.inactive) == (2, 1, 1, 2)
    assert held(tmp_path, 2) == {"a": "x > 1", "b": "x > 22", "e": "z = 5"}
    assert made.subscriptions == 3
    assert made.asked == {"x": {"number": 2}, "z": {"number": 1}}
    assert [(row.id, row.condition, row.position) for row in rejects(spark, tmp_path).collect()] == [("c", "x >", 4)]
    # The version before is as it was.
    assert held(tmp_path, 1) == {"a": "x > 1", "b": "x > 2", "c": "y = 'q'", "d": "x > 4"}
    assert manifest(tmp_path, 1).subscriptions == 4


def test_clauses_owners_and_tags_are_kept(spark: SparkSession, tmp_path: Path) -> None:
    schema = "id string, condition string, notify string, owner string, tags array<string>, active boolean"
    table = [
        ("a", "x > 1 notify y moves 2 per k", None, "ann", ["s", "t"], True),
        ("b", "x > 2", "y moves 5%", None, None, True),
        ("c", "x > 3", None, None, None, True),
        ("d", "x > 4", "y moves", None, None, True),
    ]
    first = compile(spark.createDataFrame(table, schema), tmp_path)
    assert (first.counts.active, first.counts.rejected) == (3, 1)
    assert first.notified == {"k": {"any": 1}, "y": {"number": 2}}
    changed: list[tuple[Any, ...]] = [
        ("a", "x > 1", None, "ann", None, True),
        ("b", "x > 22", "notify y moves 5%", None, None, True),
        ("c", "x > 3", "z moves 1", None, [], True),
        ("e", "x > 5", None, None, None, False),
    ]
    second = update(spark.createDataFrame(changed, schema), tmp_path)
    assert second.notified == {"y": {"number": 1}, "z": {"number": 1}}
    assert sorted(map(tuple, subscriptions(spark, tmp_path, 1).collect())) == [
        ("a", "x > 1", "notify y moves 2 per k", "ann", ["s", "t"]),
        ("b", "x > 2", "notify y moves 5%", None, None),
        ("c", "x > 3", None, None, None),
    ]
    assert sorted(map(tuple, subscriptions(spark, tmp_path).collect())) == [
        ("a", "x > 1", None, "ann", None),
        ("b", "x > 22", "notify y moves 5%", None, None),
        ("c", "x > 3", "notify z moves 1", None, []),
    ]
    old, new = particulars(tmp_path, 1), particulars(tmp_path, 2)
    # It is the same clause as before, so what it was told goes on.
    assert old.since[old.find(pa.array(["b"]))] == new.since[new.find(pa.array(["b"]))]
    # So is one that a whole new table states again.
    compile(spark.createDataFrame(changed[1:2], schema), tmp_path)
    newest = particulars(tmp_path, 3)
    assert newest.since[newest.find(pa.array(["b"]))] == new.since[new.find(pa.array(["b"]))]
    assert newest.find(pa.array(["c"])).tolist() == [-1]


def test_parts_that_did_not_change_are_shared(spark: SparkSession, tmp_path: Path) -> None:
    first = stored(tmp_path, [{f"s{number}": f"x > {number}" for number in range(3_000)}])
    second = update(changes(spark, ("s7", "x < 0", True)), tmp_path)
    store = Store(tmp_path)
    old, new = (
        {file.stat().st_ino for file in (store.folder(each.version) / each.shards[0].folder).glob("part-*")}
        for each in (first, second)
    )
    assert old < new


def test_a_long_history_is_that_of_a_table(spark: SparkSession, tmp_path: Path) -> None:
    chance = random.Random(7)
    table: dict[str, str] = {}
    stored(tmp_path, [])
    for _ in range(6):
        rows: list[tuple[str | None, str | None, bool]] = []
        for id in chance.sample(range(30), 12):
            text = chance.choice(["x > 1", "y = 'a' or x < 3", "x >", "z is null"])
            active = chance.random() < 0.8
            rows.append((f"s{id}", text, active))
            table.pop(f"s{id}", None)
            if active and text != "x >":
                table[f"s{id}"] = text
        made = update(changes(spark, *rows), tmp_path)
        assert held(tmp_path, made.version) == table
        assert made.asked == asked_by(sort_out(table_of(table)).expressions)
    assert versions(tmp_path) == [1, 2, 3, 4, 5, 6, 7]


def test_what_cannot_be_folded_in_leaves_nothing(spark: SparkSession, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="no compiled subscriptions"):
        update(changes(spark), tmp_path)
    stored(tmp_path, [{"a": "x > 1"}])
    with pytest.raises(ValueError, match="are of type string, not long"):
        update(spark.createDataFrame([(1, "x > 1")], "id long, condition string"), tmp_path)
    with pytest.raises(ValueError, match="foreachBatch"):
        update(spark.readStream.format("rate").load(), tmp_path)
    assert versions(tmp_path) == [1]
    assert not list(tmp_path.glob(".building-*"))


def test_a_change_feed_can_be_a_stream(spark: SparkSession, tmp_path: Path) -> None:
    store = tmp_path / "store"
    stored(store, [{"a": "x > 1"}])
    frames = [changes(spark, ("b", "x > 2", True)), changes(spark, ("a", None, False), ("b", "x > 3", True))]
    for number, frame in enumerate(frames):
        frame.coalesce(1).write.parquet(str(tmp_path / "feed" / str(number)))
    reader = spark.readStream.schema(frames[0].schema).option("maxFilesPerTrigger", 1)
    feed = reader.option("recursiveFileLookup", "true").parquet(str(tmp_path / "feed"))

    def fold(frame: DataFrame, _: int) -> None:
        update(frame, store)

    query = feed.writeStream.foreachBatch(fold).trigger(availableNow=True)
    query.option("checkpointLocation", str(tmp_path / "checkpoint")).start().awaitTermination()
    assert held(store, 3) == {"b": "x > 3"}
