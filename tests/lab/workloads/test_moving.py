import numpy as np
import pytest

from tamis.lab.workloads.moving import (
    DIFF_RAD_SERIES,
    RADIUS,
    SIGMA,
    START,
    all_radii,
    ar1,
    diff_radii,
    same_centres,
)


def test_a_series_drifts_from_its_start_on_a_grid_of_a_quarter() -> None:
    values = ar1(*DIFF_RAD_SERIES, 500.0, 50_000, 7)
    assert (values * 4 == np.rint(values * 4)).all()
    assert abs(values[0] - 900) < 5_000
    steps = np.diff(values)
    assert steps.mean() == pytest.approx(400, rel=0.05)
    assert steps.std() == pytest.approx(1_000, rel=0.05)


def test_a_series_that_forgets_stays_near_its_level() -> None:
    values = ar1(10.0, 0.5, 1.0, 20.0, 20_000, 7)
    assert values.mean() == pytest.approx(20, abs=0.1)
    assert values.std() == pytest.approx((1 / 0.75) ** 0.5, rel=0.05)


def test_different_radii_are_drawn_on_a_grid_and_kept_once() -> None:
    radii = diff_radii(100_000, 7)
    assert 88_000 < len(radii) < 92_000
    assert (np.diff(radii) >= 0.25).all()
    assert (radii * 4 == np.rint(radii * 4)).all()
    assert 1 <= radii[0] < 10
    assert 190_000 < radii[-1] <= 200_000


def test_centres_lie_round_the_value_and_span_less_than_the_radius() -> None:
    centres = same_centres(20_000, 300.0, SIGMA, RADIUS, 7)
    assert (np.diff(centres) >= 0).all()
    assert np.ptp(centres) < RADIUS
    assert centres.mean() == pytest.approx(300, abs=300)
    assert same_centres(20_000, START, SIGMA / 10, RADIUS, 7).std() == pytest.approx(SIGMA / 10, rel=0.05)


def test_all_radii_are_cents_and_dollars_in_ticks() -> None:
    for ticks in (100, 1_000):
        radii = all_radii(20_000, ticks, 7)
        assert radii.min() >= ticks / 100
        assert radii.max() <= 100 * ticks
        assert np.mean(radii % ticks != 0) == pytest.approx(0.1, rel=0.1)


def test_equal_seeds_give_equal_draws_and_different_ones_do_not() -> None:
    assert np.array_equal(diff_radii(100, 1), diff_radii(100, 1))
    assert not np.array_equal(diff_radii(100, 1)[:50], diff_radii(100, 2)[:50])
    assert np.array_equal(ar1(*DIFF_RAD_SERIES, START, 9, 1), ar1(*DIFF_RAD_SERIES, START, 9, 1))
    assert not np.array_equal(ar1(*DIFF_RAD_SERIES, START, 9, 1), ar1(*DIFF_RAD_SERIES, START, 9, 2))
