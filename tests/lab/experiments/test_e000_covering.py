"""The experiments of the thesis on covering: small runs whose outcome does not depend on the clock."""

from typing import Any

import pytest

from support.outcomes import ours, outcome_of
from tamis.lab.experiment import Scale
from tamis.lab.experiments import (
    e000_cost_bound,
    e000_cover_structures,
    e000_dominance,
    e000_ideal_k,
    e000_lower_bound,
)
from tamis.lab.experiments.e000_cover_structures import AIM, QUOTIENTS, Point, _at_full_length, _rows
from tamis.lab.replay import NAMES, Cost


def cost(seconds: float, **others: Any) -> Cost:
    figures = {
        "add_seconds": seconds * 0.75,
        "remove_seconds": seconds * 0.25,
        "check_seconds": 0.0,
        "add_calls": 1,
        "remove_calls": 1,
        "compared": 1,
        "held": 1,
        "forwarded": 1,
        "edges": 1,
    }
    return Cost(**{**figures, **others})


def test_ideal_k(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(e000_ideal_k.OPERATIONS, Scale.QUICK, 400)
    outcome = outcome_of(e000_ideal_k.EXPERIMENT)
    fastest = [row for row in outcome.rows if row.label.endswith("k = 1 / fastest k")]
    assert len(fastest) == 3 * 2
    assert all(row.ours >= 1 == row.paper for row in fastest)
    found = ours(outcome)
    for setting in ("counting, 3 attributes", "K-d tree, 3 attributes"):
        assert found[f"{setting}, p = 0.4: k = 10 / k = 1, uncovered nodes"] < 1
        assert found[f"{setting}, p = 0.4: k = 10 / k = 1, coverers remembered"] > 1
    assert [series.x for series in outcome.figure.series] == [[1, 2, 3, 5, 10]] * 6


def test_cover_structures(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(e000_cover_structures.OPERATIONS, Scale.QUICK, 400)
    outcome = outcome_of(e000_cover_structures.EXPERIMENT)
    times, split, work = outcome.tables
    assert [row[0] for row in times.rows] == ["d = 3, p = 0.2", "d = 6, p = 0.2", "d = 3, p = 0.4", "d = 6, p = 0.4"]
    assert [row[1] is None for row in times.rows] == [True, True, False, False]
    assert [row[0] for row in split.rows] == [row[0] for row in work.rows] == ["3", "6"]
    assert not any("at most" in row.label for row in outcome.rows)


def test_what_is_said_of_the_structures_follows_from_their_times() -> None:
    seconds = {"poset": 30.0, "forest": 20.0, "counting": 10.0, "kdtree": 4.0, "dominance": 6.0}
    by_name = {name: cost(each) for name, each in seconds.items()}
    assert list(by_name) == list(NAMES)
    rows = {row.label: row for row in _rows({AIM: by_name, Point(6, 0.2): by_name})}
    assert rows["d = 6, p = 0.4: K-d tree + G_1 / forest"].ours == pytest.approx(0.2)
    assert rows["d = 6, p = 0.2: K-d tree + G_1 / counting + G_1"].ours == pytest.approx(0.4)
    assert rows["d = 6, p = 0.4: POSET / forest (paper: more)"].ours == pytest.approx(1.5)
    assert rows["of 2 points, K-d tree + G_1 is the fastest at"].ours == 2
    assert [row.ours for row in _at_full_length(by_name)] == [30, 1, 0]
    assert {
        (each.point, each.paper) for each in QUOTIENTS if (each.structure, each.against) == ("kdtree", "forest")
    } == {
        (Point(6, 0.2), 0.05),
        (Point(6, 0.4), 0.07),
    }


def test_cost_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(e000_cost_bound.OPERATIONS, Scale.QUICK, 500)
    monkeypatch.setitem(e000_cost_bound.SEEDS, Scale.QUICK, 4)
    monkeypatch.setattr(e000_cost_bound, "LEAVING", (0.2, 0.4))
    outcome = outcome_of(e000_cost_bound.EXPERIMENT)
    bounds = [row for row in outcome.rows if row.paper is not None]
    assert len(bounds) == 1 + 2 + 2 * 4
    assert all(row.paper is not None and row.ours <= row.paper for row in bounds)
    found = ours(outcome)
    for p in ("0.2", "0.4"):
        random = found[f"p = {p}: searches for each unsubscription, k = 1"]
        assert found[f"p = {p}, the oldest leaves: searches for each unsubscription, k = 1"] > random


def test_dominance(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(e000_dominance, "AIM_SIZE", 1_500)
    monkeypatch.setitem(e000_dominance.SIZES, Scale.QUICK, (500, 1_500))
    monkeypatch.setitem(e000_dominance.QUERIES, Scale.QUICK, 60)
    monkeypatch.setitem(e000_dominance.FAITHFUL, Scale.QUICK, (4, 500))
    monkeypatch.setattr(e000_dominance, "RECTANGLES", 31)
    outcome = outcome_of(e000_dominance.EXPERIMENT)
    found = ours(outcome)
    for what in ("3 sides, 1,500 boxes, ε = 0.05", "3 sides, 1,500 boxes, ε = 0.05, learned cells"):
        assert found[f"{what}: covered questions answered"] >= 90
        assert 90 <= found[f"{what}: coverers found"] <= 100
        assert found[f"{what}: looked at by scan / by dominance, all"] > 5
    assert 0 <= found["hits on the grid that do not cover"] < 10
    # What specs/000 §6 found with rectangles of its own.
    for dimensions, (few, every) in e000_dominance.CUBES.items():
        assert found[f"{dimensions} dimensions: cubes at ε = 0.05"] == pytest.approx(few, rel=0.9)
        assert found[f"{dimensions} dimensions: cubes in all"] == pytest.approx(every, rel=0.9)
    recall = {str(row[0]): row[2] for row in outcome.tables[0].rows}
    for sides in range(1, 7):
        assert recall[f"{sides}, scan"] in (100, None)
        assert recall[f"{sides}, ε = 0"] == recall[f"{sides}, scan"]


def test_lower_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(e000_lower_bound.MOST_RUNS, Scale.QUICK, 256)
    monkeypatch.setitem(e000_lower_bound.RECTANGLES, Scale.QUICK, 300)
    outcome = outcome_of(e000_lower_bound.EXPERIMENT)
    found = ours(outcome)
    assert found["256 x 256: runs"] == 1
    assert found["257 x 257: runs"] == 385
    assert found["257 x 257: cubes"] == 514
    assert found["257 x 257: the largest run"] == pytest.approx(99.22, abs=0.005)
    assert found["257 x 257: one cell"] == pytest.approx(0.0015, abs=0.0001)
    assert found["Theorem 3: rectangles with fewer runs than it says"] == 0
    assert found["Lemma 9, d = 6, a = 0, m = 5, sides of 31: cubes"] == 162_436_429
    assert found["Lemma 9 as printed: random rectangles that break it"] > 0
    assert found["Lemma 9 corrected: random rectangles that break it"] == 0
    exact, least, approximate, most = (series.y for series in outcome.figure.series)
    assert all(a >= b for a, b in zip(exact, least, strict=True))
    assert all(a <= b for a, b in zip(approximate, most, strict=True))
    # Once the sides have more bits than are kept, their length does not matter any more.
    assert len(set(approximate[-3:])) == 1
    assert exact[-1] > approximate[-1]
