import numpy as np
import pytest

from tamis.lab.experiment import Context, Row, Scale
from tamis.lab.experiments import e002_predicate_index
from tamis.lab.experiments.e002_predicate_index import (
    EXPERIMENT,
    NARROW_ANSWERS,
    PAPER,
    WITH_LISTS,
    WITHOUT_LISTS,
    Draw,
    Timing,
    _narrow,
    _order,
    _ratios,
    _wide,
    _wide_doubles,
)
from tamis.lab.intervals import Scan


def test_every_figure_of_the_table_gets_one_of_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(e002_predicate_index.SIZES, Scale.QUICK, (50, 200))
    monkeypatch.setattr(e002_predicate_index, "_ROUNDS", 1)
    steps: list[tuple[int, int]] = []
    outcome = EXPERIMENT.run(Context(Scale.QUICK, 7, lambda done, total: steps.append((done, total))))
    assert steps == [(done, 4) for done in range(5)]
    rows = {row.label: row for row in outcome.rows}
    assert len(rows) == len(outcome.rows)
    assert all(row.ours > 0 for row in outcome.rows if "1 = yes" not in row.label)
    for name, (query, build, memory) in PAPER.items():
        assert rows[f"{name}: query"].paper == query
        if build is not None:
            assert rows[f"{name}: build"].paper == build
            assert rows[f"{name}: memory"].paper == memory
    places = [row.ours for row in outcome.rows if row.label.endswith("place by query")]
    assert sorted(places) == [1, 2, 3, 4]
    assert [series.x for series in outcome.figure.series] == [[50, 200]] * len(WITHOUT_LISTS)


def test_the_verdicts_follow_from_the_times() -> None:
    by_name = {
        "SCAN": Timing(locate=500.0, enumerate=2_000.0, build=0.0, memory=0.0),
        "Interval-Tree": Timing(locate=1.0, enumerate=100.0, build=1.0, memory=1.0),
        "Segment-Tree": Timing(locate=4.0, enumerate=50.0, build=1.0, memory=1.0),
        "PS-Tree": Timing(locate=1.0, enumerate=1.0, build=1.0, memory=1.0),
        "PS-Tree as sorted cuts": Timing(locate=2.0, enumerate=2.0, build=1.0, memory=1.0),
    }

    def ours(rows: list[Row]) -> list[float]:
        return [row.ours for row in rows]

    assert ours(_ratios(by_name)) == [20.0, 500.0, 2_000.0, 1_000.0, 500.0, 1.0, 0.0]
    assert [row.paper for row in _ratios(by_name)][:3] == [
        pytest.approx(23.11 / 2.52),
        pytest.approx(23.11 / 6.27e-3),
        pytest.approx(23.11 / 0.71e-3),
    ]
    assert ours(_order(by_name)) == [1, 2, 3, 4]
    by_name["PS-Tree"] = Timing(locate=9.0, enumerate=1.0, build=1.0, memory=1.0)
    assert ours(_order(by_name)) == [2, 1, 3, 4]


@pytest.mark.parametrize(("draw", "share"), [(_wide, 1 / 3), (_wide_doubles, 1 / 3), (_narrow, NARROW_ANSWERS / 3_000)])
def test_points_lie_in_as_many_intervals_as_they_should(draw: Draw, share: float) -> None:
    low, high, points = draw(np.random.default_rng(7), 3_000, 2_000)
    assert (low <= high).all()
    assert len(points) == 2_000
    assert Scan.build(low, high).locate(points).mean() / 3_000 == pytest.approx(share, rel=0.05)


def test_both_settings_have_the_same_structures() -> None:
    assert list(WITH_LISTS) == list(WITHOUT_LISTS)
