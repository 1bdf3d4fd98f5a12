from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import msgspec
import pytest

from tamis.lab.claim import Claim
from tamis.lab.contest import CONJUNCTIVE, League, Point, be_gen, be_gen_grid, compete, contest, point
from tamis.lab.experiment import Context, Scale
from tamis.lab.trial import SCAN, Trial
from tamis.lab.workloads import BE_GEN_SPARSE, Ads, BeGen

SMALL = Ads(subscriptions=200, dimensions=20, most_predicates=15, mean_predicates=3, event_size=10)


def _context(steps: list[tuple[int, int]]) -> Context:
    return Context(Scale.QUICK, 7, lambda done, total: steps.append((done, total)))


def test_engines_meet_on_the_same_workload() -> None:
    points = [
        point("ads", size, msgspec.structs.replace(SMALL, subscriptions=size), Scale.QUICK) for size in (100, 200)
    ]
    steps: list[tuple[int, int]] = []
    claims = [
        Claim(kind="ads", at=200, engine=name, against=SCAN, paper=0.5) for name in CONJUNCTIVE.engines if name != SCAN
    ]
    outcome = contest(_context(steps), points, claims, "subscriptions")
    ran = {series.name for series in outcome.figure.series}
    assert "SCAN" in ran
    assert len(outcome.rows) == len(ran) - 1
    assert all(series.x == [100, 200] and series.panel == "ads" for series in outcome.figure.series)
    assert outcome.figure.log
    assert steps == [(0, 2), (1, 2), (2, 2)]
    [table] = outcome.tables
    assert [row[:2] for row in table.rows][:1] == [["100", "SCAN"]]
    assert len(table.rows) == 2 * len(ran)


def test_an_engine_above_its_cap_is_left_out_and_named() -> None:
    points = [
        point("ads", size, msgspec.structs.replace(SMALL, subscriptions=size), Scale.QUICK) for size in (100, 200)
    ]
    outcome = contest(_context([]), points, [], "subscriptions", league=replace(CONJUNCTIVE, caps={"kindex": 150}))
    assert {series.name: series.x for series in outcome.figure.series}["k-index"] == [100]
    assert any("k-index above 150" in note for note in outcome.notes)
    free = contest(_context([]), points, [], "subscriptions", league=replace(CONJUNCTIVE, caps={}))
    assert {series.name: series.x for series in free.figure.series}["k-index"] == [100, 200]


def test_engines_that_disagree_are_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    answers: Iterator[list[int]] = iter([[1, 2], [1, 2], [2, 1]])

    def wrong(_league: League, _name: str, _task: Any) -> Trial:
        return Trial(0, 0, 1, 1, 1, 1, 1, next(answers))

    monkeypatch.setattr(League, "attempt", wrong)
    with pytest.raises(RuntimeError, match="third and first"):
        list(compete(CONJUNCTIVE, ["first", "second", "third"], None))


def test_be_gen_is_swept_dense_and_sparse() -> None:
    points = be_gen(Scale.QUICK, "alpha", (0, 2))
    assert [(each.kind, each.value) for each in points] == [("dense", 0), ("dense", 2), ("sparse", 0), ("sparse", 2)]
    spec = points[-1].spec
    assert isinstance(spec, BeGen)
    assert (spec.alpha, spec.dimensions) == (2, BE_GEN_SPARSE.dimensions)
    assert points[-1].subscriptions == spec.subscriptions


def test_the_grid_of_the_thesis_is_for_full_runs() -> None:
    def values(points: list[Point]) -> set[float]:
        return {each.value for each in points}

    assert values(be_gen_grid(Scale.FULL, "alpha", (0, 5))) == set(BeGen.GRID["alpha"])
    assert values(be_gen_grid(Scale.QUICK, "alpha", (0, 5))) == {0, 5}
