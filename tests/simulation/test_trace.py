import datetime as dt
import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis.routing.packets import Event, Plain
from tamis.simulation import Clock, Faults, Link, Overlay, TraceWriter, topology
from tamis.simulation.faults import Crash, Restart
from tamis.simulation.trace import (
    Began,
    Delivered,
    Faulted,
    Linked,
    Lost,
    Recorded,
    Sent,
    Started,
    Stopped,
    Told,
    Unlinked,
    decoded,
    encoded,
    read_trace,
)

SCALAR = (
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False)
    | st.text()
    | st.dates()
    | st.datetimes()
    | st.datetimes(timezones=st.just(dt.UTC))
)
KEY = st.text(max_size=4) | st.sampled_from(["$date", "$object", "$x"])
CONTENT = st.dictionaries(
    KEY, st.recursive(SCALAR, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEY, inner, max_size=3))
)


@given(CONTENT)
def test_a_record_is_read_as_it_was_written(content: dict[str, Any]) -> None:
    event = Event("e", content)
    record = Sent(0.1, "a", 1, Plain(event))
    line = encoded(record, event)
    assert line.endswith(b"\n")
    assert line.count(b"\n") == 1
    assert decoded(line) == record
    assert encoded(decoded(line), event) == line


def test_numbers_that_json_does_not_have() -> None:
    event = Event(1, {"x": math.nan, "y": [math.inf]})
    read = decoded(encoded(Sent(0.0, 1, 2, Plain(event)), event))
    assert isinstance(read, Sent)
    assert isinstance(read.packet, Plain)
    assert math.isnan(read.packet.event.content["x"])
    assert read.packet.event.content["y"] == [math.inf]


def test_everything_that_happens_is_taken_down(tmp_path: Path) -> None:
    path = tmp_path / "run.trace"
    plan = Faults((Crash(at=1.0, broker=1), Restart(at=2.0, broker=1)))
    with TraceWriter(path) as trace:
        net = Overlay(topology("line", 2), "flood", seed=3, faults=plan, clocks={1: Clock(drift=0.5)}, trace=trace)
        net.subscribe(1, "alice", "x = 1")
        net.publish(0, {"x": 1}, publisher="bob")
        net.run(until=2.5)
        net.change_link(0, 1, Link(loss=1.0))
        net.publish(0, {"x": 1}, publisher="bob")
        net.run()
    records = [record for _, record in read_trace(path)]
    began, first, second = records[:3]
    assert isinstance(began, Began)
    assert (began.strategy, began.seed, began.options["engine"]) == ("flood", 3, "auto")
    assert (first, second) == (Started(0.0, 0), Started(0.0, 1, Clock(drift=0.5)))
    kinds = [type(record) for record in records]
    for kind, count in ((Linked, 2), (Unlinked, 1), (Stopped, 1), (Faulted, 2), (Sent, 2), (Lost, 1), (Delivered, 1)):
        assert kinds.count(kind) == count, kind
    assert Delivered(0.001, 1, "alice", 1, 1) in records
    assert Recorded(0.0, 0, "matches", 1) in records
    told = [record for record in records if isinstance(record, Told) and record.broker == 0]
    assert [type(record.message).__name__ for record in told] == [
        "NeighbourUp",
        "Publish",
        "NeighbourDown",
        "NeighbourUp",
        "Publish",
    ]


def test_a_line_that_is_no_record_is_named(tmp_path: Path) -> None:
    path = tmp_path / "run.trace"
    path.write_bytes(encoded(Started(0.0, 1)) + b'{"is": "startet"}\n')
    with pytest.raises(ValueError, match=r"run\.trace: line 2: not a record of a trace: .*startet"):
        list(read_trace(path))
