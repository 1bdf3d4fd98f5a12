from collections.abc import Mapping

import pytest

from tamis.lab import content, race
from tamis.lab.content import Content
from tamis.lab.experiment import Context, Scale
from tamis.lab.race import BULK, LOOP, SINGLE, Times, aim_rows, figure, flat_rows, slower_rows, tables


def heat(held: Content, asked: Content) -> Mapping[str, float]:
    """The loop takes a second for each box that is held; the table grows with the dimensions."""
    dimensions, count = held.lows.shape[1], len(asked.lows)
    assert len(asked.points) == count
    return {LOOP: count * float(len(held.lows)), SINGLE: 2.0 * count, BULK: count * 10.0**dimensions}


@pytest.fixture
def times(monkeypatch: pytest.MonkeyPatch) -> Times:
    monkeypatch.setitem(content.SIZES, Scale.QUICK, (10, 30))
    monkeypatch.setitem(race.ASKED, Scale.QUICK, 5)
    return race.race(Context(Scale.QUICK, 7, lambda *_: None), 2, heat)


def test_times_are_those_of_one(times: Times) -> None:
    assert list(times) == ["zipf", "uniform"]
    assert times["zipf"][3][30] == {LOOP: 30e6, SINGLE: 2e6, BULK: 1e9}
    assert [row[0] for row in tables(times)[0].rows] == [f"{d}, {size}" for d in (2, 3, 4) for size in (10, 30)]


def test_what_is_said_follows_from_the_times(times: Times) -> None:
    aims = {row.label: row.ours for row in aim_rows(times, "test")}
    assert aims["Zipf, 3 dimensions, 30 boxes: test, loop / table, one by one"] == 15
    assert aims["uniform, 3 dimensions, 30 boxes: test, loop / table, in bulk"] == pytest.approx(0.03)
    assert [row.ours for row in flat_rows(times, "test")] == [1.0] * 6
    longer, *grows = slower_rows(times, "test", grows=True)
    assert (longer.ours, longer.paper) == (0, 3)
    assert [row.ours for row in grows] == [2, 2]
    assert {series.panel for series in figure(times, "µs").series} == {"Zipf, 3 dimensions", "uniform, 3 dimensions"}
