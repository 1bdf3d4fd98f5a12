"""How far a stream is behind is read from what Spark reports of it."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from support.jobs import settled
from tamis.pipeline import EventLog
from tamis.pipeline.job.moment import Moment, lag
from tamis.pipeline.job.sample import write_sample


def progress(**source: Any) -> dict[str, Any]:
    return {"sources": [source]}


@pytest.mark.parametrize(
    ("format_", "source", "behind"),
    [
        ("json", {"metrics": {"numFilesOutstanding": "7"}}, (7, "files")),
        ("json", {"metrics": {}}, (None, None)),
        ("json", {}, (None, None)),
        # As Spark's own connector reports, and as ours does.
        ("kafka", {"endOffset": '{"t": {"0": 5}}', "latestOffset": '{"t": {"0": 9, "1": 4}}'}, (4, "records")),
        (
            "kafka",
            {"endOffset": '{"topics": {"t": {"0": 5}}}', "latestOffset": '{"topics": {"t": {"0": 6}}}'},
            (1, "records"),
        ),
        ("kafka", {"endOffset": '{"t": {"0": 5}}', "latestOffset": None}, (None, None)),
    ],
)
def test_lag_by_source(tmp_path: Path, format_: str, source: dict[str, Any], behind: tuple[Any, Any]) -> None:
    write_sample(tmp_path)
    settings = settled(tmp_path / "pipeline.toml", events={"format": format_})
    assert lag(progress(**source), settings) == behind


def test_lag_of_a_log_is_what_it_has_by_now(tmp_path: Path) -> None:
    write_sample(tmp_path)
    log = EventLog(tmp_path / "log")
    for number in range(3):
        log.append(pa.table({"x": [number]}))
    settings = settled(tmp_path / "pipeline.toml", events={"format": "log", "path": str(log.path)})
    assert lag(progress(endOffset='{"segment": 1, "version": 1}'), settings) == (2, "segments")
    assert lag({"sources": []}, settings) == (3, "segments")


def test_a_moment_is_a_line() -> None:
    moment = Moment(3, 1_200, 40, 2, 5_000.0, 0.24, 7, 12, "files")
    assert str(moment) == (
        "batch 3: 1,200 events, 40 answers, 2 rejected; 5,000 events/s, 0.2 s, 12 files behind, version 7"
    )
    assert str(Moment(0, 0, 0, 0, 0.0, 0.0, None, None, None)) == "batch 0: 0 events, 0 answers; 0 events/s, 0.0 s"
