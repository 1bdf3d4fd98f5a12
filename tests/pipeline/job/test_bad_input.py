"""Whatever comes, a stream goes on, and what it cannot take is told with place, reason and count."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from support.jobs import Recorder, answers, ran, settled
from tamis.pipeline import EventLog, StoreError, match, subscriptions
from tamis.pipeline.connectors.rejects import Rejects
from tamis.pipeline.job.failures import FAILURES, one_line
from tamis.pipeline.job.settings import Changes
from tamis.pipeline.store import Store

NONSENSE = b"this is no Parquet"


def job(folder: Path, format_: str = "parquet", mode: str = "catch-up", **more: str) -> Path:
    (folder / "subscriptions.csv").write_text("id,condition\na,x >= 0\nnobody,colour = 'red'\n")
    extra = "".join(f"{name} = {value!r}\n" for name, value in more.items())
    (folder / "pipeline.toml").write_text(
        f'[job]\nname = "bad"\nmode = "{mode}"\n[subscriptions]\nformat = "csv"\npath = "subscriptions.csv"\n'
        f'[events]\nformat = "{format_}"\npath = "events"\n{extra}[sink]\nformat = "json"\npath = "answers"\n'
    )
    (folder / "events").mkdir(exist_ok=True)
    return folder / "pipeline.toml"


def put(folder: Path, name: str, content: dict[str, list[Any]] | bytes) -> str:
    file = folder / "events" / name
    if isinstance(content, bytes):
        file.write_bytes(content)
    else:
        pq.write_table(pa.table(content), file)
    return str(file)


def test_a_stream_passes_files_that_cannot_be_read_and_names_them(spark: SparkSession, tmp_path: Path) -> None:
    file = job(tmp_path)
    # The first one by name: the columns are those of the first that can be read.
    broken = put(tmp_path, "0-broken.parquet", NONSENSE)
    put(tmp_path, "1-good.parquet", {"n": [1, 2], "x": [1.0, -1.0]})
    cut = put(tmp_path, "2-cut.parquet", (tmp_path / "events" / "1-good.parquet").read_bytes()[:-20])
    changed = put(tmp_path, "3-changed.parquet", {"n": [3], "x": ["high"]})
    put(tmp_path, "4-lacking.parquet", {"n": [4]})
    put(tmp_path, "5-more.parquet", {"colour": ["red"], "x": [5.0], "n": [5]})
    watcher = Recorder()
    with pytest.warns(Warning, match=r"no column for colour \(1\): these predicates are never true"):
        summary = ran(spark, settled(file), watcher)
    assert answers(tmp_path / "answers") == [(1, "a"), (5, "a")]
    assert (summary.ended, summary.events, summary.answers, summary.rejected) == ("end", 7, 2, 3)
    told = Rejects(tmp_path / "state" / "rejects").table().sort_by("place").to_pylist()
    assert [row["place"].removeprefix("file:") for row in told] == [broken, cut, changed]
    assert "magic bytes not found" in told[0]["reason"]
    assert told[2]["reason"] == "column 'x' is string in this file, not double"
    assert sorted(summary.refused) == [f"{row['place']}: {row['reason']}" for row in told]
    assert watcher.moments[-1].rejected == 3
    # What is refused is done: the next run takes what is new.
    put(tmp_path, "6-late.parquet", {"n": [6], "x": [6.0]})
    again = ran(spark, settled(file))
    assert (again.events, again.rejected, again.refused) == (1, 0, [])
    assert answers(tmp_path / "answers")[-1] == (6, "a")


def test_a_table_with_a_file_that_cannot_be_read_ends_with_its_name(spark: SparkSession, tmp_path: Path) -> None:
    file = job(tmp_path, mode="batch", schema="n long, x double")
    put(tmp_path, "good.parquet", {"n": [1], "x": [1.0]})
    cases: list[tuple[Any, str]] = [(NONSENSE, "is not a Parquet file"), ({"n": [2], "x": ["high"]}, "column: [x]")]
    for content, said in cases:
        bad = put(tmp_path, "bad.parquet", content)
        with pytest.raises(FAILURES) as caught:
            ran(spark, settled(file))
        assert bad in one_line(caught.value)
        assert said in one_line(caught.value)
    # A file that lacks a column gives nulls.
    put(tmp_path, "bad.parquet", {"n": [2]})
    assert ran(spark, settled(file)).events == 2


def test_a_file_of_csv_with_other_columns_ends_with_its_name(spark: SparkSession, tmp_path: Path) -> None:
    file = job(tmp_path, "csv", mode="batch", schema="n long, x double")
    put(tmp_path, "1.csv", b"n,x\n1,1.0\n")
    for content in (b"n,y\n2,2.0\n", b"x,n\n2.0,2\n", b"n\n2\n"):
        bad = put(tmp_path, "2.csv", content)
        with pytest.raises(FAILURES) as caught:
            ran(spark, settled(file))
        assert one_line(caught.value).startswith(f"{bad}: ")
        assert "CSV header" in one_line(caught.value)


def test_a_damaged_segment_is_told_by_the_job(spark: SparkSession, tmp_path: Path) -> None:
    file = job(tmp_path, "log")
    log = EventLog(tmp_path / "events")
    for number in (1, 2, 3):
        log.append(pa.table({"n": [number], "x": [1.0]}))
    log.segment(2).write_bytes(NONSENSE)
    summary = ran(spark, settled(file))
    assert answers(tmp_path / "answers") == [(1, "a"), (3, "a")]
    assert summary.rejected == 1
    assert summary.refused[0].startswith(f"{log.segment(2)}: ")
    again = ran(spark, settled(file, job={"mode": "batch"}))
    assert (again.rejected, again.refused) == (1, summary.refused)


def test_changes_that_cannot_be_read_are_told_and_the_others_count(spark: SparkSession, tmp_path: Path) -> None:
    file = job(tmp_path, "log")
    EventLog(tmp_path / "events").append(pa.table({"n": [1], "x": [1.0]}))
    feed = tmp_path / "changes"
    feed.mkdir()
    (feed / "1.parquet").write_bytes(NONSENSE)
    pq.write_table(pa.table({"id": ["b"], "condition": ["x = 1"]}), feed / "2.parquet")
    settings, watcher = settled(file, subscriptions={"changes": Changes(str(feed), "parquet")}), Recorder()
    ran(spark, settings, watcher)
    assert answers(tmp_path / "answers") == [(1, "a"), (1, "b")]
    [told] = [text for text in watcher.said if "cannot be read" in text]
    assert str(feed / "1.parquet") in told
    # With a feed, a version that is damaged is not made again from the table: the changes would be lost.
    folder = Store(settings.store).folder(2)
    (folder / "manifest.json").write_bytes((folder / "manifest.json").read_bytes()[:100])
    with pytest.raises(StoreError, match=r"cannot be used: .*changes that have come are in it"):
        ran(spark, settings)


def test_a_manifest_that_is_half_written_is_told_and_the_job_makes_another(spark: SparkSession, tmp_path: Path) -> None:
    file = job(tmp_path, "log")
    log = EventLog(tmp_path / "events")
    log.append(pa.table({"n": [1], "x": [1.0]}))
    settings = settled(file)
    assert ran(spark, settings).version == 1
    manifest = Store(settings.store).folder(1) / "manifest.json"
    manifest.write_bytes(manifest.read_bytes()[: len(manifest.read_bytes()) // 2])
    with pytest.raises(StoreError, match=r"manifest\.json cannot be used"):
        match(spark.range(1), settings.store)
    with pytest.raises(StoreError, match=r"manifest\.json cannot be used"):
        subscriptions(spark, settings.store)
    log.append(pa.table({"n": [2], "x": [2.0]}))
    assert ran(spark, settings).version == 2
    assert answers(tmp_path / "answers") == [(1, "a"), (2, "a")]
