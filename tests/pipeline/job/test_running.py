"""A job gives the answers of an index, each once, whatever its mode and however often it is stopped."""

import json
import threading
from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from support.jobs import Recorder, answers, expected, index_of, ran, settled
from tamis.pipeline import EventLog
from tamis.pipeline.connectors.rejects import Rejects
from tamis.pipeline.job import delivering
from tamis.pipeline.job.sample import events, write_sample
from tamis.pipeline.job.settings import Changes, Notify
from tamis.pipeline.job.sinks import write


def test_the_sample_runs_and_catches_up_with_what_comes_later(spark: SparkSession, tmp_path: Path) -> None:
    write_sample(tmp_path)
    settings, watcher = settled(tmp_path / "pipeline.toml"), Recorder()
    summary = ran(spark, settings, watcher)
    index = index_of(tmp_path / "subscriptions.csv")
    right = expected(index, list(events()))
    assert answers(tmp_path / "answers") == right
    assert (summary.events, summary.answers, summary.rejected, summary.batches) == (602, len(right), 2, 3)
    assert (summary.subscriptions, summary.rejected_subscriptions, summary.ended) == (6, 1, "end")
    assert watcher.said == ["version 1: 6 subscriptions, 1 refused"]
    assert watcher.moments[-1].events == 602
    rejects = Rejects(tmp_path / "state" / "rejects")
    assert [rejects.count(batch) for batch in range(3)] == [1, 0, 1]
    assert rejects.table()["record"].to_pylist() == ['{"n": "eleven", "symbol": "ACME"}', "this is no JSON"]
    # What is done is done; a file that comes later is the only one that is read.
    late = {"n": 9_999, "symbol": "ACME", "price": 200.0}
    (tmp_path / "events" / "late.jsonl").write_text(json.dumps(late) + "\n")
    again = ran(spark, settings, watcher)
    assert (again.batches, again.events, again.version) == (1, 1, 1)
    assert answers(tmp_path / "answers") == sorted([*right, (9_999, "any-dear"), (9_999, "dear-acme")])


def test_a_batch_job_reads_everything_each_time_and_replaces_its_answers(spark: SparkSession, tmp_path: Path) -> None:
    write_sample(tmp_path)
    settings = settled(tmp_path / "pipeline.toml", job={"mode": "batch"})
    right = expected(index_of(tmp_path / "subscriptions.csv"), list(events()))
    for _ in range(2):
        summary = ran(spark, settings)
        assert (summary.events, summary.answers, summary.rejected) == (602, len(right), 2)
        assert answers(tmp_path / "answers") == right


def test_csv_goes_by_names_and_puts_lines_aside_that_do_not_fit(spark: SparkSession, tmp_path: Path) -> None:
    write_sample(tmp_path)
    (tmp_path / "csv").mkdir()
    lines = ["price,extra,n,symbol", "97.5,x,1,BOLT", "dear,x,2,ACME", "3,x,3,ACME,too,many", "110,x,4,ACME"]
    (tmp_path / "csv" / "events.csv").write_text("\n".join(lines) + "\n")
    given = {"format": "csv", "path": str(tmp_path / "csv")}
    summary = ran(spark, settled(tmp_path / "pipeline.toml", job={"mode": "batch"}, events=given))
    assert answers(tmp_path / "answers") == [(4, "any-dear"), (4, "dear-acme")]
    assert (summary.events, summary.rejected) == (4, 2)
    assert Rejects(tmp_path / "state" / "rejects").table()["record"].to_pylist() == lines[2:4]


class BrokenError(Exception):
    """What a sink may raise."""


def test_a_batch_that_fails_is_repeated_with_the_same_version_and_ends_as_one(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_sample(tmp_path)
    settings = settled(tmp_path / "pipeline.toml")
    right = expected(index_of(tmp_path / "subscriptions.csv"), list(events()))

    def failing(frame, settings, origin, batch):  # type: ignore[no-untyped-def]
        known = write(frame, settings, origin, batch)
        if batch == 2:
            raise BrokenError("the sink is lost after its write")
        return known

    monkeypatch.setattr(delivering, "write", failing)
    with pytest.raises(Exception, match="the sink is lost after its write"):
        ran(spark, settings)
    monkeypatch.undo()
    (tmp_path / "subscriptions.csv").write_text("id,condition\nnew,n = 599\n")
    summary = ran(spark, settings)
    assert (summary.batches, summary.version, summary.rejected) == (1, 2, 1)
    assert answers(tmp_path / "answers") == right
    assert Rejects(tmp_path / "state" / "rejects").table().num_rows == 2


def log_job(folder: Path, subscriptions: str = "id,condition\na,x >= 0\n") -> tuple[EventLog, Path]:
    (folder / "subscriptions.csv").write_text(subscriptions)
    (folder / "pipeline.toml").write_text(
        '[job]\nname = "log"\nmode = "stream"\n[subscriptions]\nformat = "csv"\npath = "subscriptions.csv"\n'
        'refresh = 0.1\n[events]\nformat = "log"\npath = "log"\nmost = 1\n[sink]\nformat = "json"\npath = "answers"\n'
    )
    log = EventLog(folder / "log")
    log.append(pa.table({"n": [0], "x": [0]}))
    return log, folder / "pipeline.toml"


def test_a_stream_takes_over_changed_subscriptions_and_stops_after_its_batch(
    spark: SparkSession, tmp_path: Path
) -> None:
    log, file = log_job(tmp_path)
    stop, watcher = threading.Event(), Recorder()

    def then(moment):  # type: ignore[no-untyped-def]
        if moment.batch == 0:
            (tmp_path / "subscriptions.csv").write_text("id,condition\nb,x >= 0\n")
        else:
            stop.set()

    def said(text: str) -> None:
        watcher.said.append(text)
        if text.startswith("version 2"):
            log.append(pa.table({"n": [1], "x": [1]}))

    watcher.then = then
    watcher.say = said  # type: ignore[method-assign]
    summary = ran(spark, settled(file), watcher, stop)
    assert (summary.ended, summary.version, summary.batches, summary.events) == ("stopped", 2, 2, 2)
    assert answers(tmp_path / "answers") == [(0, "a"), (1, "b")]
    assert (watcher.moments[-1].behind, watcher.moments[-1].unit) == (0, "segments")
    # Nothing was left undone: the next run finds nothing to repeat.
    again = ran(spark, settled(file, job={"mode": "catch-up"}))
    assert again.batches == 0


def test_subscriptions_that_cannot_be_compiled_leave_the_stream_as_it_is(spark: SparkSession, tmp_path: Path) -> None:
    log, file = log_job(tmp_path)
    stop, watcher = threading.Event(), Recorder()

    def said(text: str) -> None:
        watcher.said.append(text)
        if "cannot be compiled" in text:
            log.append(pa.table({"n": [1], "x": [1]}))

    watcher.then = lambda moment: (
        stop.set() if moment.batch else (tmp_path / "subscriptions.csv").write_text("nobody,knows\n1,2\n")
    )
    watcher.say = said  # type: ignore[method-assign]
    summary = ran(spark, settled(file), watcher, stop)
    assert answers(tmp_path / "answers") == [(0, "a"), (1, "a")]
    assert summary.version == 1
    assert any("'id'" in text for text in watcher.said)


def test_changes_of_subscriptions_come_as_files(spark: SparkSession, tmp_path: Path) -> None:
    _, file = log_job(tmp_path)
    changes = tmp_path / "changes"
    changes.mkdir()
    (changes / "1.json").write_text('{"id": "b", "condition": "x = 0"}\n{"id": "a", "active": false}\n')
    feed = Changes(str(changes), "json")
    settings = settled(file, job={"mode": "catch-up"}, subscriptions={"changes": feed})
    summary = ran(spark, settings)
    assert answers(tmp_path / "answers") == [(0, "b")]
    # The table from which it began counts no longer.
    (tmp_path / "subscriptions.csv").write_text("id,condition\nc,x = 0\n")
    assert ran(spark, settings).version == summary.version


def test_lists_and_other_formats(spark: SparkSession, tmp_path: Path) -> None:
    _, file = log_job(tmp_path)
    sink = {"format": "parquet", "path": str(tmp_path / "lists")}
    settings = settled(file, job={"mode": "catch-up"}, sink=sink, match={"output": "lists"})
    ran(spark, settings)
    rows = spark.read.parquet(str(tmp_path / "lists")).collect()
    assert [(row.n, row.subscription_ids, row.batch) for row in rows] == [(0, ["a"], 0)]


def test_with_notify_only_what_has_moved_is_told_across_runs(spark: SparkSession, tmp_path: Path) -> None:
    log, file = log_job(tmp_path, "id,condition,notify\na,x >= 0,x moves 2\n")
    settings = settled(file, job={"mode": "catch-up"}, notify=Notify("n"))
    for number, value in enumerate((1, 2, 3), 1):
        log.append(pa.table({"n": [number], "x": [value]}))
    ran(spark, settings)
    assert answers(tmp_path / "answers") == [(0, "a"), (2, "a")]
    # What was told last is remembered from one run to the next.
    log.append(pa.table({"n": [4, 5], "x": [3, 4]}))
    ran(spark, settings)
    assert answers(tmp_path / "answers") == [(0, "a"), (2, "a"), (5, "a")]
