import numpy as np
import pytest
from msgspec.structs import replace

from tamis.lab.workloads import Conjunctions, Mics, SparseEvents, generate
from tamis.lab.workloads.draws import zipf
from tamis.lab.workloads.mics import CELLS, MICS_FITTED_UNIFORM, MICS_FITTED_ZIPF


def parts(spec: Mics, seed: int = 7) -> tuple[Conjunctions, SparseEvents]:
    workload = generate(spec, seed)
    assert isinstance(workload.conditions, Conjunctions)
    assert isinstance(workload.events, SparseEvents)
    return workload.conditions, workload.events


def traffic(spec: Mics, seed: int) -> int:
    """Return how many publications meet some box in the first three attributes."""
    conditions, events = parts(spec, seed)
    asked = conditions.predicates
    corners = np.full((len(conditions), 2, spec.attributes), 0)
    owners = np.repeat(np.arange(len(conditions)), np.diff(conditions.offsets))
    corners[owners, 0, conditions.codes], corners[owners, 1, conditions.codes] = asked.low, asked.high + 1
    # Mark the corners of each box with alternating signs; sums along all axes then count boxes per cell.
    grid = np.zeros((CELLS + 1,) * 3, dtype=np.int32)
    for x, y, z in np.ndindex(2, 2, 2):
        np.add.at(grid, (corners[:, x, 0], corners[:, y, 1], corners[:, z, 2]), 1 - 2 * ((x + y + z) % 2))
    for axis in range(3):
        np.cumsum(grid, axis=axis, out=grid)
    points = events.values.reshape(len(events), spec.attributes)
    return int((grid[points[:, 0], points[:, 1], points[:, 2]] > 0).sum())


@pytest.mark.parametrize("law", ["zipf", "uniform"])
def test_lower_ends_and_publications_follow_the_law(law: str) -> None:
    spec = Mics(law="zipf" if law == "zipf" else "uniform", subscriptions=100_000, events=100_000)
    conditions, events = parts(spec)
    expected = zipf(CELLS, 1 if law == "zipf" else 0)
    for values in (conditions.predicates.low, events.values):
        shares = np.bincount(values, minlength=CELLS) / len(values)
        np.testing.assert_allclose(shares.reshape(8, 32).sum(axis=1), expected.reshape(8, 32).sum(axis=1), rtol=0.05)
    assert events.values.max() == CELLS - 1


def test_boxes_have_their_width_and_stay_on_the_grid() -> None:
    conditions, _ = parts(Mics(subscriptions=20_000, events=10, attributes=2, narrowest=2, widest=2))
    asked = conditions.predicates
    assert set(asked.high - asked.low) == {1}
    assert asked.low.min() == 0
    assert asked.high.max() == CELLS - 1
    assert set(np.diff(conditions.offsets)) == {2}


def test_the_fitted_workload_leaves_out_ignored_attributes_as_often_as_it_says() -> None:
    conditions, _ = parts(replace(MICS_FITTED_ZIPF, subscriptions=50_000, events=10))
    shares = np.bincount(conditions.codes) / len(conditions)
    np.testing.assert_allclose(shares, [1, 1, 1] + [0.13] * 4, rtol=0.05)
    widths = conditions.predicates.high - conditions.predicates.low + 1
    np.testing.assert_allclose(np.bincount(widths)[1:] / len(widths), 0.25, rtol=0.05)


@pytest.mark.parametrize(
    ("spec", "expected"), [(MICS_FITTED_ZIPF, 5157), (replace(MICS_FITTED_UNIFORM, subscriptions=150_000), 1345)]
)
def test_the_fitted_workload_has_the_traffic_it_was_fitted_to(spec: Mics, expected: int) -> None:
    if spec.law == "zipf":
        spec = replace(spec, subscriptions=20_000)
    assert np.mean([traffic(spec, seed) for seed in (1, 2)]) == pytest.approx(expected, rel=0.05)
