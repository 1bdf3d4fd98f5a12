import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis.covering.detectors.cells import cells_of, quantiles, uniform

_LEAST, _GREATEST = -(2**63), 2**63 - 1
values = st.integers(-40, 40) | st.integers(_LEAST, _GREATEST)


def cell(cuts: np.ndarray, coordinate: int, value: int) -> int:
    point = np.zeros(len(cuts), np.int64)
    point[coordinate] = value
    cells = np.empty(len(cuts), np.int64)
    cells_of(point, cuts, cells)
    return int(cells[coordinate])


@given(st.integers(1, 5), st.lists(values, min_size=2, max_size=2, unique=True).map(sorted), values)
def test_uniform_cells_are_those_of_the_specification(bits: int, ends: list[int], value: int) -> None:
    low, high = ends
    cuts = uniform(2, bits, low, high)
    top = (1 << bits) - 1
    expected = min(max(((value - low) << bits) // (high - low), 0), top)
    assert [cell(cuts, each, ~value) for each in (0, 2)] == [top - expected] * 2
    assert [cell(cuts, each, value) for each in (1, 3)] == [expected] * 2


@given(st.lists(values, min_size=1, max_size=30), st.integers(1, 4), values, values)
def test_greater_values_have_no_smaller_learned_cells(sample: list[int], bits: int, a: int, b: int) -> None:
    cuts = quantiles(np.array(sample, np.int64).reshape(-1, 1), bits)
    assert cuts.shape == (1, (1 << bits) - 1)
    assert 0 <= cell(cuts, 0, min(a, b)) <= cell(cuts, 0, max(a, b)) < 1 << bits


def test_learned_cells_hold_equally_many() -> None:
    skewed = np.random.default_rng(3).pareto(0.5, 4_096) * 1e6
    points = np.stack([skewed.astype(np.int64), -skewed.astype(np.int64)], axis=1)
    cuts = quantiles(points, 4)
    for coordinate in range(2):
        found = [cell(cuts, coordinate, int(value)) for value in points[:, coordinate]]
        assert np.bincount(found, minlength=16).tolist() == [256] * 16


def test_no_width_is_refused() -> None:
    with pytest.raises(ValueError, match="between 5 and 5, but the first must be below the second"):
        uniform(1, 3, 5, 5)
