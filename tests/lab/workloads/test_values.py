import numpy as np
import pytest
from msgspec.structs import replace

from tamis.lab.workloads import ALL_RAD, DIFF_RAD, SAME_RAD, Autoregression, ValueWorkload, generate


def notified(workload: ValueWorkload, every: int) -> float:
    """Return how many subscriptions an update notifies on average, looking at one in `every` of them."""
    values = workload.values[0].tolist()
    radii, arrivals = workload.radii[::every], workload.arrivals[::every]
    centres = np.where(arrivals == 0, workload.centres[::every], 0)
    total = 0
    for update in range(1, len(values)):
        centres[arrivals == update] = values[update - 1]
        affected = (np.abs(values[update] - centres) >= radii) & (arrivals <= update)
        centres[affected] = values[update]
        total += int(np.count_nonzero(affected))
    return total / (len(values) - 1) * len(workload) / len(radii)


def test_different_radii_are_notified_as_often_as_in_the_paper() -> None:
    # Table 2, unicast at 20,000 subscriptions: 499 in the paper.
    assert notified(generate(replace(DIFF_RAD, events=20_000)), every=5) == pytest.approx(499, rel=0.05)


def test_equal_radii_are_notified_as_often_as_in_the_paper() -> None:
    # Table 3, unicast at 10,000 subscriptions: 97 in the paper.
    assert notified(generate(replace(SAME_RAD, events=30_000)), every=50) == pytest.approx(97, rel=0.05)


@pytest.mark.parametrize(("ticks", "trial"), [(100, 3493), (1_000, 527)])
def test_mixed_radii_are_notified_as_often_as_in_our_trial(ticks: int, trial: float) -> None:
    assert notified(generate(replace(ALL_RAD, ticks=ticks)), every=4) == pytest.approx(trial, rel=0.05)


def test_a_series_drifts_and_varies_as_it_says() -> None:
    workload = generate(DIFF_RAD)
    assert workload.values.shape == (1, 100_001)
    steps = np.diff(workload.values[0]) / DIFF_RAD.ticks
    assert steps.mean() == pytest.approx(400, rel=0.05)
    assert steps.std() == pytest.approx(1_000, rel=0.05)


def test_a_series_that_forgets_stays_near_its_level() -> None:
    spec = Autoregression(case="same-rad", subscriptions=1, drift=500, deviation=800, phi=0.5, events=50_000, ticks=1)
    values = generate(spec).values[0, 100:]
    assert values.mean() == pytest.approx(500 / (1 - 0.5), rel=0.05)
    assert values.std() == pytest.approx(800 / np.sqrt(1 - 0.25), rel=0.05)


def test_different_radii_are_different() -> None:
    workload = generate(replace(DIFF_RAD, events=10))
    assert (np.diff(workload.radii) > 0).all()
    assert workload.radii.min() >= 1 * 4
    assert workload.radii.max() <= 200_000 * 4
    assert 0.95 * 20_000 < len(workload) <= 20_000
    assert not workload.centres.any()
    assert not workload.arrivals.any()


def test_centres_of_equal_radii_span_less_than_the_radius() -> None:
    workload = generate(replace(SAME_RAD, events=10))
    assert set(workload.radii) == {51_000}
    assert np.ptp(workload.centres) < 51_000
    assert np.ptp(workload.centres) > 40_000


def test_mixed_radii_are_cents_and_dollars_and_never_zero() -> None:
    workload = generate(replace(ALL_RAD, events=1_000))
    assert workload.radii.min() >= 1
    assert workload.radii.max() <= 100_00
    # Of a hundred uniform radii in cents one is a whole dollar as well.
    assert np.mean(workload.radii % 100 != 0) == pytest.approx(0.1 * 0.99, rel=0.05)
    assert np.mean(workload.arrivals > 0) == pytest.approx(0.5, rel=0.05)
    assert workload.arrivals.max() <= 1_000


def test_tables_tell_updates_and_subscriptions() -> None:
    workload = generate(replace(ALL_RAD, events=3, subscriptions=4))
    assert workload.updates().column_names == ["item", "update", "value"]
    assert workload.updates()["value"].to_pylist() == workload.values[0].tolist()
    assert workload.subscriptions()["radius"].to_pylist() == workload.radii.tolist()


def test_equal_seeds_give_equal_series_and_different_ones_do_not() -> None:
    spec = replace(ALL_RAD, events=100, subscriptions=50)
    first, again, other = (generate(spec, seed) for seed in (1, 1, 2))
    assert first.updates() == again.updates()
    assert first.subscriptions() == again.subscriptions()
    assert first.updates() != other.updates()
    assert first.subscriptions() != other.subscriptions()
