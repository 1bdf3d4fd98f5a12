"""The experiments of soft state: small runs in virtual time."""

import pytest

from support.outcomes import ours, outcome_of
from tamis.lab.experiments import e004_e18_extension, e004_e19_uncertainty, e004_e20_presence
from tamis.lab.experiments.e004_e19_uncertainty import BOUND, MESSAGES, SECONDS


def test_extension() -> None:
    outcome = outcome_of(e004_e18_extension.EXPERIMENT)
    found = ours(outcome)
    assert found["first broker: utilisation, mean"] == pytest.approx(0.8, rel=0.05)
    assert found["one of the last brokers: utilisation, mean"] == pytest.approx(0.6, rel=0.1)
    assert found["one of the last brokers: extension, mean"] == pytest.approx(0.4, rel=0.1)
    slow, after = (found[f"one of the last brokers: utilisation at refresh {number}"] for number in (75, 76))
    assert after < 0.5 < 0.7 < slow < 1
    assert found["leases that ended, all brokers"] == found["bounds below the true age"] == 0
    used = [float(row[1] or 0) for row in outcome.tables[0].rows]
    assert used == sorted(used, reverse=True)


def test_uncertainty() -> None:
    found = ours(outcome_of(e004_e19_uncertainty.EXPERIMENT))
    last = "utilisation at one of the last brokers, mean"
    assert found[f"{BOUND}: {last}"] == pytest.approx(0.6, rel=0.1)
    assert found[f"{SECONDS}: {last}"] == pytest.approx(0.8, rel=0.05)
    assert found[f"{SECONDS}: extensions above the bound on the age, one of the last brokers"] == 0
    recovery = "refreshes until the extension recovers, first broker"
    assert 24 <= found[f"{SECONDS}: {recovery}"] <= 26
    assert found[f"{MESSAGES}: {recovery}"] == 200
    assert found["by bounds / by true ages: extension, mean, where the chain ends"] == pytest.approx(1, rel=0.1)
    assert all(found[f"{name}: leases that ended, all brokers"] == 0 for name in (BOUND, SECONDS, MESSAGES))
    late = "brokers where the lease ended before a refresh that is 0.3 s late"
    assert found[f"{BOUND}: {late}"] < found[f"{SECONDS}: {late}"] == 10


def test_presence() -> None:
    outcome = outcome_of(e004_e20_presence.EXPERIMENT)
    found = ours(outcome)
    assert found["in batches, none: absent, share of time, first broker"] > 0.5
    assert (
        found["in batches, none: absent, share of time, first broker"]
        < found["in batches, none: absent, share of time, last broker"]
    )
    for how in ("in batches", "at once"):
        none, bound, uncertainty = (
            found[f"{how}, {extension}: absent after the first 1 s, worst broker"]
            for extension in ("none", "bound", "uncertainty")
        )
        assert bound == 0
        assert uncertainty < none / 4
