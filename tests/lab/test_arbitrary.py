from typing import Any

import pytest

from tamis.lab.arbitrary import ARBITRARY, ArbitraryLeague, abe_gen, abe_gen_grid, build
from tamis.lab.claim import NAMES
from tamis.lab.contest import compete
from tamis.lab.experiment import Context, Outcome, Scale
from tamis.lab.experiments import (
    e002_abe_ads,
    e002_abe_children,
    e002_abe_conjunctive,
    e002_abe_depth,
    e002_abe_dimensions,
    e002_abe_event_size,
    e002_abe_optimisations,
    e002_abe_repeats,
    e002_abe_size,
    e002_abe_skew,
)
from tamis.lab.trial import SCAN, Trial
from tamis.lab.workloads import AbeGen

MODULES = {
    module.EXPERIMENT.id: module
    for module in (
        e002_abe_ads,
        e002_abe_children,
        e002_abe_conjunctive,
        e002_abe_depth,
        e002_abe_dimensions,
        e002_abe_event_size,
        e002_abe_optimisations,
        e002_abe_repeats,
        e002_abe_size,
        e002_abe_skew,
    )
}
SMALL = AbeGen(subscriptions=150, events=30, dimensions=40, cardinality=10)


def test_all_engines_and_stages_find_the_same() -> None:
    task = ARBITRARY.prepare(SMALL, 7)
    names = [*ARBITRARY.engines, "plain", "suppressed", "demand"]
    trials = dict(compete(ARBITRARY, names, task))
    expected = [sum(each.matches(event) for each in task.expressions) for event in task.events]
    assert trials[SCAN].matches == expected
    assert trials[SCAN].candidates == len(task.expressions) - len(build(SCAN, task.expressions).never)
    assert trials["plain"].candidates > trials["suppressed"].candidates > trials["demand"].candidates
    assert all(0 < trial.own_bytes < trial.total_bytes for trial in trials.values())


@pytest.mark.parametrize("experiment", MODULES)
@pytest.mark.parametrize("scale", list(Scale))
def test_every_claim_is_answered(experiment: str, scale: Scale, monkeypatch: pytest.MonkeyPatch) -> None:
    def attempt(league: ArbitraryLeague, name: str, _task: Any) -> Trial:
        rank = 1 + list(league.engines).index(name)
        return Trial(1, rank, rank, rank, rank, rank, rank, [1])

    monkeypatch.setattr(ArbitraryLeague, "prepare", lambda _league, _spec, _seed: None)
    monkeypatch.setattr(ArbitraryLeague, "attempt", attempt)
    monkeypatch.setattr(e002_abe_ads, "TRACED", {scale: 20})
    outcome = MODULES[experiment].EXPERIMENT.run(Context(scale, 7, lambda _done, _total: None))
    assert isinstance(outcome, Outcome)
    assert sum(row.paper is not None for row in outcome.rows) == len(MODULES[experiment].CLAIMS)
    assert {claim.kind for claim in MODULES[experiment].CLAIMS} <= {series.panel for series in outcome.figure.series}


def test_the_lead_on_advertisements_is_told_for_all_kinds(monkeypatch: pytest.MonkeyPatch) -> None:
    def attempt(league: ArbitraryLeague, name: str, _task: Any) -> Trial:
        rank = 1 + list(league.engines).index(name)
        return Trial(1, rank, rank, rank, rank, rank, rank, [1])

    monkeypatch.setattr(ArbitraryLeague, "prepare", lambda _league, _spec, _seed: None)
    monkeypatch.setattr(ArbitraryLeague, "attempt", attempt)
    monkeypatch.setattr(e002_abe_ads, "TRACED", {Scale.FULL: 20})
    outcome = e002_abe_ads.EXPERIMENT.run(Context(Scale.FULL, 7, lambda _done, _total: None))
    leads = {row.label: row.ours for row in outcome.rows if row.paper is None}
    # The A-Tree is the last of seven here, and SCAN the first.
    assert leads == {
        f"{kind}, {size:,}: A-Tree / SCAN, the best of the others, match time": 7
        for kind, sizes in e002_abe_ads.SIZES.items()
        for size in sizes[Scale.FULL]
    }


def test_memory_is_traced_as_well(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(e002_abe_ads, "TRACED", {Scale.QUICK: 300})
    table = e002_abe_ads._memory(Context(Scale.QUICK, 7, lambda _done, _total: None))
    assert [row[0] for row in table.rows] == [NAMES[name] for name in ARBITRARY.engines]
    for _, counted, traced, peak in table.rows:
        assert isinstance(counted, float)
        assert isinstance(traced, float)
        assert isinstance(peak, float)
        assert counted > 0
        assert 0 < traced <= peak


def test_abe_gen_is_swept() -> None:
    points = abe_gen(Scale.QUICK, "depth", (1, 2))
    assert [(each.kind, each.value) for each in points] == [("ABE-Gen", 1), ("ABE-Gen", 2)]
    assert {each.value for each in abe_gen_grid(Scale.FULL, "depth", (1,))} == set(AbeGen.GRID["depth"])
    assert {each.value for each in abe_gen_grid(Scale.QUICK, "depth", (1,))} == {1}
