"""The experiments that are contests: every claim is about something that they run."""

from typing import Any

import pytest

from tamis.lab.claim import NAMES
from tamis.lab.contest import CONJUNCTIVE, League
from tamis.lab.experiment import Context, Figure, Outcome, Scale
from tamis.lab.experiments import (
    e002_ads,
    e002_build,
    e002_cardinality,
    e002_dimensions,
    e002_equality,
    e002_event_size,
    e002_memory,
    e002_probability,
    e002_querylog,
    e002_size,
    e002_skew,
    e002_subscription_size,
)
from tamis.lab.trial import SCAN, Trial

MODULES = [
    e002_ads,
    e002_build,
    e002_cardinality,
    e002_dimensions,
    e002_equality,
    e002_event_size,
    e002_memory,
    e002_probability,
    e002_querylog,
    e002_size,
    e002_skew,
    e002_subscription_size,
]
WHOLE = {module.EXPERIMENT.id: module for module in MODULES}


@pytest.mark.parametrize("experiment", WHOLE)
@pytest.mark.parametrize("scale", list(Scale))
def test_every_claim_is_answered(experiment: str, scale: Scale, monkeypatch: pytest.MonkeyPatch) -> None:
    def attempt(league: League, name: str, _task: Any) -> Trial:
        rank = 1 + list(league.engines).index(name)
        return Trial(1, rank, rank, rank, rank, rank, rank, [1])

    monkeypatch.setattr(League, "prepare", lambda _league, _spec, _seed: None)
    monkeypatch.setattr(League, "attempt", attempt)
    monkeypatch.setattr(e002_build, "SORTED", {scale: ()})
    outcome = WHOLE[experiment].EXPERIMENT.run(Context(scale, 7, lambda _done, _total: None))
    assert len(outcome.rows) == len(WHOLE[experiment].CLAIMS)
    names = {NAMES[engine] for engine in CONJUNCTIVE.engines}
    assert {series.name for series in outcome.figure.series} | {NAMES[SCAN]} == names
    assert {claim.kind for claim in WHOLE[experiment].CLAIMS} <= {series.panel for series in outcome.figure.series}


def test_table_10_3_2_is_in_the_order_of_its_figures() -> None:
    for column in e002_ads.TABLE.values():
        assert list(column.values()) == sorted(column.values())


def test_sorting_after_each_subscription_takes_longer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(e002_build, "contest", lambda *_args: Outcome([], Figure("", "", [])))
    monkeypatch.setattr(e002_build, "SORTED", {Scale.QUICK: (200,)})
    [row] = e002_build.EXPERIMENT.run(Context(Scale.QUICK, 7, lambda _done, _total: None)).rows
    assert row.label.startswith("dense, 200")
    assert row.ours > 1
