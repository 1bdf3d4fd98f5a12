"""`cover` claims nothing that is not so, and finds all that it promises to find."""

from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

import tamis
from support.judges import Source
from tamis.pipeline import compile  # noqa: A004 - it is one
from tamis.pipeline.covering import COVERED, DUPLICATE, KEPT, UNSATISFIABLE, Report, cover

CONDITIONS = 70


def table_of(spark: SparkSession, conditions: dict[Any, str]) -> DataFrame:
    kind = "long" if isinstance(next(iter(conditions)), int) else "string"
    return spark.createDataFrame(list(conditions.items()), f"id {kind}, condition string")


def check_claims(conditions: dict[Any, str], found: Any) -> dict[Any, Any]:
    """See that all that is claimed is so; return the verdicts."""
    rows = {row.id: row for row in found.verdicts.collect()}
    assert rows.keys() == conditions.keys()
    for id, row in rows.items():
        assert row.condition == conditions[id]
        if row.verdict == KEPT:
            assert row.by is None
        elif row.verdict == UNSATISFIABLE:
            assert tamis.covers("false", conditions[id])
        else:
            assert rows[row.by].verdict == KEPT
            assert tamis.covers(conditions[row.by], conditions[id])
        if row.same_as is not None:
            assert row.same_as < id
            assert tamis.covers(conditions[id], conditions[row.same_as])
            assert tamis.covers(conditions[row.same_as], conditions[id])
    for group in found.mergeable.collect():
        assert len(group.ids) > 1
        assert all(rows[id].verdict == KEPT for id in group.ids)
        assert all(tamis.covers(group.condition, conditions[id]) for id in group.ids)
        assert tamis.covers(" or ".join(f"({conditions[id]})" for id in group.ids), group.condition)
    report: Report = found.report
    assert report.subscriptions == len(conditions)
    assert report.undecided == sum(row.undecided for row in rows.values())
    assert report.mergeable == sum(len(group.ids) for group in found.mergeable.collect())
    found.release()
    return rows


def test_a_mixture(spark: SparkSession) -> None:
    source = Source(5, null_elements=True)
    conditions = {number: str(source.condition()) for number in range(CONDITIONS)}
    conditions |= {1000 + number: f"i between {number} and {2 * number}" for number in range(20)}
    rows = check_claims(conditions, cover(table_of(spark, conditions)))
    for id, row in rows.items():
        if row.verdict == KEPT and not row.undecided:
            for other in conditions:
                assert not tamis.covers(conditions[other], conditions[id]) or tamis.covers(
                    conditions[id], conditions[other]
                )


def test_each_verdict(spark: SparkSession) -> None:
    conditions = {
        "wide": "price > 10",
        "narrow": "price > 20 and symbol = 'A'",
        "again": "price > 20.0 and symbol in ('A')",
        "wide too": "not price <= 10",
        "never": "price > 5 and price < 3",
        "left": "x between 0 and 5 and y = 1",
        "right": "x > 5 and x < 9 and y = 1",
        "wrong": "price >",
    }
    found = cover(table_of(spark, conditions))
    rows = {row.id: (row.verdict, row.by, row.same_as) for row in found.verdicts.collect()}
    assert rows == {
        "wide": (KEPT, None, None),
        "narrow": (COVERED, "wide", "again"),
        "again": (COVERED, "wide", None),
        "wide too": (DUPLICATE, "wide", "wide"),
        "never": (UNSATISFIABLE, None, None),
        "left": (KEPT, None, None),
        "right": (KEPT, None, None),
        "wrong": ("refused", None, None),
    }
    assert [row.ids for row in found.mergeable.collect()] == [["left", "right"]]
    assert [row.condition for row in found.mergeable.collect()] == ["x >= 0 and x < 9 and y = 1"]
    assert [row.id for row in found.unsatisfiable.collect()] == ["never"]
    assert [row.reason for row in found.refused.collect()] == ["expected a value, found the end"]
    assert sorted(row.id for row in found.duplicates.collect()) == ["narrow", "wide too"]
    assert sorted(row.id for row in found.covered.collect()) == ["again", "narrow"]
    assert found.report.kept == 3
    assert found.report.least == 2


def test_buckets_hold_whoever_covers(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ranges that reach over many buckets, and conditions that do not constrain the attribute of the buckets."""
    monkeypatch.setattr("tamis.pipeline.covering.MOST_COPIES", 100.0)
    conditions = {number: f"x between {number} and {number + 3}" for number in range(200)}
    conditions |= {1000: "x between 50 and 120", 1001: "y > 3", 1002: "x = 180 and y > 5", 1003: "y > 4 and z = 1"}
    found = cover(table_of(spark, conditions))
    covered = {row.id: row.by for row in found.covered.collect()}
    assert covered == dict.fromkeys(range(50, 118), 1000) | {1002: covered[1002], 1003: 1001}
    assert covered[1002] in (1001, 177, 178, 179, 180)
    assert found.report.mergeable == 133


def test_a_version_at_a_path(spark: SparkSession, tmp_path: Path) -> None:
    compile(table_of(spark, {"a": "x > 1", "b": "x > 2 notify x moves 5"}), tmp_path / "store")
    found = cover(tmp_path / "store")
    assert [(row.id, row.by) for row in found.covered.collect()] == [("b", "a")]
    compile(table_of(spark, {"b": "x > 2"}), tmp_path / "store")
    assert cover(tmp_path / "store").report.covered == 0
    assert cover(tmp_path / "store", version=1).report.covered == 1


def test_what_is_no_table(spark: SparkSession) -> None:
    with pytest.raises(ValueError, match="are a stream: cover takes a table"):
        cover(spark.readStream.format("rate").load().selectExpr("value as id", "'x > 1' as condition"))
    with pytest.raises(ValueError, match="need a column 'condition'; there are: id"):
        cover(spark.createDataFrame([(1,)], "id long"))
    with pytest.raises(ValueError, match="of a path"):
        cover(spark.createDataFrame([(1, "x > 1")], "id long, condition string"), version=3)
