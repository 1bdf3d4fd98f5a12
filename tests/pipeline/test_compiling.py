"""A table becomes a version: everything that is right is in it, everything else is told."""

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tamis import Index
from tamis.pipeline import compile, manifest, rejects, versions  # noqa: A004 - it is one
from tamis.pipeline.manifests import Counts
from tamis.pipeline.store import Store

ROWS = "id string, condition string, active boolean, version long"


def held(path: Path) -> dict[str | int, str]:
    """Return the subscriptions of the version in use."""
    store = Store(path)
    indexes = [Index.open(store.folder(store.current()) / each.folder) for each in store.manifest().shards]
    return {id: str(index.condition(id)) for index in indexes for id in index}


def test_good_rows_are_compiled_and_bad_ones_are_kept_aside(spark: SparkSession, tmp_path: Path) -> None:
    rows = [
        ("a", "price > 10", True, 1),
        ("b", "price >> 10", True, 1),
        ("c", None, True, 1),
        (None, "price > 1", True, 1),
        ("d", "price > 1", False, 1),
        ("e", "price > 1", None, 1),
        ("e", "price > 2 and name like 'x%'", None, 2),
        ("f", "price > 1", None, 5),
        ("f", "price > 2", None, 5),
    ]
    made = compile(spark.createDataFrame(rows, ROWS).repartition(3), tmp_path / "s", tasks=3)
    assert made == manifest(tmp_path / "s")
    assert (made.version, made.ids, made.base) == (1, "string", None)
    assert made.counts == Counts(active=2, rejected=5, inactive=1, superseded=1)
    assert held(tmp_path / "s") == {"a": "price > 10", "e": "price > 2 and name like 'x%'"}
    assert made.asked == {"name": {"string": 1}, "price": {"number": 2}}
    # What the tasks built apart is merged.
    assert len(made.shards) == 1
    assert {each.name for each in Store(tmp_path / "s").folder(1).glob("shard-*")} == {made.shards[0].folder}
    told = {(row.id, row.condition, row.position) for row in rejects(spark, tmp_path / "s").collect()}
    assert told == {
        ("b", "price >> 10", 8),
        ("c", None, None),
        (None, "price > 1", None),
        ("f", "price > 1", None),
        ("f", "price > 2", None),
    }


def test_shards_are_not_merged_beyond_their_size(spark: SparkSession, tmp_path: Path) -> None:
    table = spark.range(300).selectExpr("id", "concat('x > ', id) as condition")
    made = compile(table, tmp_path, tasks=4, shard_size=150)
    assert len(made.shards) > 1
    assert all(shard.subscriptions <= 150 for shard in made.shards)
    assert held(tmp_path) == {number: f"x > {number}" for number in range(300)}
    assert (made.ids, made.subscriptions, rejects(spark, tmp_path).count()) == ("long", 300, 0)


def test_nothing_is_a_version_too(spark: SparkSession, tmp_path: Path) -> None:
    assert compile(spark.createDataFrame([], ROWS), tmp_path).subscriptions == 0
    assert versions(tmp_path) == [1]


def test_what_cannot_be_compiled_leaves_nothing(spark: SparkSession, tmp_path: Path) -> None:
    compile(spark.createDataFrame([("a", "x > 1")], "id string, condition string"), tmp_path)
    numbers = spark.createDataFrame([(1, "x > 1")], "id long, condition string")
    with pytest.raises(ValueError, match="are of type string, not long"):
        compile(numbers, tmp_path)
    with pytest.raises(Exception, match="DIVIDE_BY_ZERO"):
        compile(numbers.selectExpr("string(id div 0) as id", "condition"), tmp_path)
    with pytest.raises(ValueError, match="a stream"):
        compile(spark.readStream.format("rate").load(), tmp_path)
    assert {each.name for each in tmp_path.iterdir()} == {".lock", "CURRENT", "version-0000000001"}
