from typing import Literal

import numpy as np
import pytest

from tamis.lab.workloads import Conjunctions, Shen, SparseEvents, generate
from tamis.lab.workloads.shen import DENSITIES

Law = Literal["uniform", "norm-1", "norm-2"]


def boxes_and_points(spec: Shen) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    workload = generate(spec)
    conditions, events = workload.conditions, workload.events
    assert isinstance(conditions, Conjunctions)
    assert isinstance(events, SparseEvents)
    shape = (-1, spec.attributes)
    low, high = conditions.predicates.low, conditions.predicates.high
    return low.reshape(shape), high.reshape(shape), events.values.reshape(shape)


@pytest.mark.parametrize("density", DENSITIES)
@pytest.mark.parametrize("distribution", ["uniform", "norm-1", "norm-2"])
def test_the_density_is_the_one_asked_for(distribution: Law, density: float) -> None:
    spec = Shen(distribution=distribution, density=density, subscriptions=20_000, events=20_000)
    low, high, points = boxes_and_points(spec)
    column = np.sort(points.ravel())
    inside = np.searchsorted(column, high.ravel(), side="right") - np.searchsorted(column, low.ravel(), side="left")
    # The attributes are alike and independent.
    assert (inside.mean() / len(column)) ** 5 == pytest.approx(density, rel=0.05)


def test_attributes_are_independent() -> None:
    low, high, points = boxes_and_points(Shen(density=0.05, subscriptions=1_000, events=10_000))
    met = np.ones((len(low), len(points)), dtype=np.bool_)
    for axis in range(5):
        met &= (points[:, axis] >= low[:, axis, None]) & (points[:, axis] <= high[:, axis, None])
    assert met.mean() == pytest.approx(0.05, rel=0.05)


def test_uniform_boxes_lie_inside_and_have_sides_of_one_length() -> None:
    low, high, points = boxes_and_points(Shen(density=0.001))
    np.testing.assert_allclose(high - low, 0.2512, atol=0.0001)
    assert low.min() >= 0
    assert high.max() <= 1
    assert low.shape == (10_000, 5)
    assert points.shape == (1_000, 5)


@pytest.mark.parametrize(("distribution", "deviation"), [("norm-1", 0.125), ("norm-2", 0.22)])
def test_normal_boxes_and_points_lie_around_the_middle(distribution: Law, deviation: float) -> None:
    low, high, points = boxes_and_points(Shen(distribution=distribution, density=0.01))
    centres = (low + high) / 2
    assert centres.mean() == pytest.approx(0.5, rel=0.05)
    # Drawing again outside [0, 1] makes a deviation of 0.25 one of 0.22.
    assert centres.std() == pytest.approx(deviation, rel=0.05)
    assert points.std() == pytest.approx(0.22, rel=0.05)
    assert points.min() >= 0
    assert points.max() <= 1
    least = (high - low).min()
    assert (high - low).mean() == pytest.approx(least * 19 / 18, rel=0.01)


def test_normal_boxes_of_a_density_nobody_fitted_are_refused() -> None:
    with pytest.raises(ValueError, match="known for 5 attributes and the densities"):
        generate(Shen(distribution="norm-1", density=0.3))
    with pytest.raises(ValueError, match="known for 5 attributes"):
        generate(Shen(distribution="norm-2", attributes=4))
