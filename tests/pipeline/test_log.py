"""Segments of events: numbered without gaps, read as they were written, refused if they cannot be."""

import datetime as dt
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pyarrow as pa
import pytest

from tamis.pipeline import EventLog, StoreError

EVENTS = pa.table({"n": [1, 2, 3], "name": pa.array(["a", None, "c"]).dictionary_encode()})


def read(log: EventLog, number: int) -> pa.Table:
    return pa.Table.from_batches(log.read(number, log.schema()), log.schema())


def test_what_is_appended_is_read_again(tmp_path: Path) -> None:
    log = EventLog(tmp_path / "log")
    assert (log.first(), log.last()) == (0, 0)
    with pytest.raises(StoreError, match="there are no events at"):
        log.schema()
    assert log.append(EVENTS) == 1
    assert log.append(EVENTS.to_batches()[0].slice(1)) == 2
    assert (log.first(), log.last(), log.last(1)) == (1, 2, 2)
    assert read(log, 1).to_pylist() == EVENTS.to_pylist()
    assert read(log, 2).to_pylist() == EVENTS.slice(1).to_pylist()


def test_many_writers_leave_no_gap(tmp_path: Path) -> None:
    log = EventLog(tmp_path)
    with ThreadPoolExecutor(8) as pool:
        numbers = list(pool.map(lambda _: log.append(EVENTS), range(24)))
    assert sorted(numbers) == list(range(1, 25))
    assert log.last() == 24
    assert not list(tmp_path.glob(".*"))


def test_columns_that_are_missing_are_null_and_types_are_those_of_the_first_segment(tmp_path: Path) -> None:
    log = EventLog(tmp_path)
    log.append(
        pa.table({"n": [1], "at": pa.array([dt.datetime(2026, 1, 1, tzinfo=dt.UTC)], pa.timestamp("ns", "UTC"))})
    )
    assert log.schema().field("at").type == pa.timestamp("us", "UTC")
    log.append(pa.table({"n": pa.array([2], pa.int32()), "new": ["x"]}))
    assert read(log, 2).to_pylist() == [{"n": 2, "at": None}]


def test_a_segment_that_cannot_be_read_is_refused_and_noted(tmp_path: Path) -> None:
    log = EventLog(tmp_path)
    log.append(EVENTS)
    log.append(pa.table({"n": ["no number"], "name": ["x"]}))
    log.append(EVENTS)
    log.segment(3).write_bytes(log.segment(3).read_bytes()[:40])
    assert [read(log, number).num_rows for number in (1, 2, 3, 2)] == [3, 0, 0, 0]
    assert [each.segment for each in log.refused()] == [2, 3]
    assert "no number" in log.refused()[0].reason
    # Columns are those of the first that can be read.
    log.segment(1).write_bytes(b"nonsense")
    assert log.schema().field("n").type == pa.string()
    for number in (1, 2, 3):
        log.segment(number).write_bytes(b"nonsense")
    with pytest.raises(StoreError, match=r"none of the segments 1 to 3 at .* can be read"):
        log.schema()
