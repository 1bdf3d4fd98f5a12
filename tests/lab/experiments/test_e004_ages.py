"""The experiments on clocks and bounds: small runs, all in virtual time."""

import pytest

from support.outcomes import ours, outcome_of
from tamis.lab.experiment import Scale
from tamis.lab.experiments import e004_e15_drift as e15
from tamis.lab.experiments import e004_e16_rings as e16
from tamis.lab.experiments import e004_e17_ntp as e17


def test_drift_is_seen_through_the_network() -> None:
    found = ours(outcome_of(e15.EXPERIMENT))
    stable = max(found[f"{name}: standard deviation of the drift"] for name in ("ssvl.kth.se", "iit-tech.net"))
    assert found["uba.ar: standard deviation of the drift"] > 5 * stable
    assert found["true drifts that are farther from the estimate than its error"] == 0
    assert found["drift and its error, largest of all hosts (thesis: at most 100)"] < e15.BOUND
    assert found["three servers: how far their drifts are apart, largest"] < 10


def test_bounds_hold_in_rings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(e16.EVENTS, Scale.QUICK, 100)
    found = ours(outcome_of(e16.EXPERIMENT))
    for ring in ("local", "global"):
        for protocol in (e16.OPTIMISED, e16.UNOPTIMISED):
            assert found[f"{ring}, {protocol}: bounds below the true delay"] == 0
        slopes = [
            found[f"{ring}, {each}: error that each second of delay adds"] for each in ("optimised", "unoptimised")
        ]
        assert abs(slopes[0]) < 0.2 < 0.5 < slopes[1]
        assert found[f"{ring}: largest error, unoptimised / optimised"] > 1.5


def test_bounds_are_tighter_than_ntp_on_short_ways(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(e17.EVENTS, Scale.QUICK, 50)
    found = ours(outcome_of(e17.EXPERIMENT))
    assert found["local: error of NTP, median, less that of the bound"] > 0.3
    assert found["local and global: bounds below the true delay"] == 0
