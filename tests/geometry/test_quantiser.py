import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis.geometry.quantiser import Quantiser

numbers = st.floats(-1e6, 1e6) | st.integers(-5, 20).map(float)
extremes = (math.inf, -math.inf, 1e300, -1e300, 2.0**53, 2**53 + 1, 2**63 - 1)
anything = numbers | st.sampled_from(extremes)


@st.composite
def quantisers(draw: st.DrawFn, bounded: bool = False) -> Quantiser:
    bits = draw(st.integers(1, 6))
    if draw(st.booleans()):
        low = draw(numbers)
        return Quantiser.uniform(low, low + draw(st.floats(0.5, 1e6)), bits, bounded)
    sample = draw(st.lists(numbers, min_size=1, max_size=40))
    return Quantiser.quantiles(sample, bits, min(sample) - 1, max(sample) + 1, bounded)


@given(quantisers(), anything, anything, anything)
def test_a_true_match_is_never_lost(axis: Quantiser, low: float, value: float, high: float) -> None:
    low, high = min(low, high), max(low, high)
    first, last = axis.ranges([low], [high])
    if low <= value <= high:
        assert first[0] <= axis.cells([value])[0] <= last[0]


@given(quantisers(bounded=True), st.data())
def test_nor_at_an_edge(axis: Quantiser, data: st.DataObject) -> None:
    edge = data.draw(st.integers(0, 1 << axis.bits))
    value = axis.edges[edge]
    assert axis.cells(value) == min(edge, (1 << axis.bits) - 1)
    for near in (np.nextafter(value, -np.inf), np.nextafter(value, np.inf)):
        if axis.edges[0] <= near <= axis.edges[-1]:
            cell = int(axis.cells(near))
            assert axis.edges[cell] <= near
            assert near < axis.edges[cell + 1] or cell == (1 << axis.bits) - 1


@given(quantisers(), st.lists(anything, min_size=2, max_size=20))
def test_a_larger_value_never_has_a_smaller_cell(axis: Quantiser, values: list[float]) -> None:
    cells = axis.cells(sorted(values))
    assert cells.dtype == np.int64
    assert (np.diff(cells) >= 0).all()
    assert cells.min() >= 0
    assert cells.max() < 1 << axis.bits


def test_uniform_cells() -> None:
    axis = Quantiser.uniform(0, 256, 8)
    assert axis.cells([0, 0.999, 1, 254.5, 255, 256]).tolist() == [0, 0, 1, 254, 255, 255]
    assert axis.cells([[-5.0], [math.inf]]).tolist() == [[0], [255]]
    assert axis.ranges([3.5, -math.inf], [4, math.inf])[1].tolist() == [4, 255]
    assert (axis.bits, len(axis.edges)) == (8, 257)


def test_a_wide_domain() -> None:
    axis = Quantiser.uniform(-1.7e308, 1.7e308, 2)
    assert axis.cells([-1.7e308, -1, 0, 1e308]).tolist() == [0, 1, 2, 3]


@given(st.lists(numbers, min_size=2, max_size=60).filter(lambda each: min(each) < max(each) - 1e-3), st.integers(1, 7))
def test_quantiles_make_exactly_as_many_cells(sample: list[float], bits: int) -> None:
    axis = Quantiser.quantiles(sample, bits, bounded=True)
    assert len(axis.edges) == (1 << bits) + 1
    assert (axis.edges[0], axis.edges[-1]) == (min(sample), max(sample))
    assert (np.diff(axis.edges) > 0).all()


def test_cells_are_finer_where_values_are_dense() -> None:
    sample = np.random.default_rng(2).exponential(size=20_000)
    axis = Quantiser.quantiles(sample, 5)
    counts = np.bincount(axis.cells(sample), minlength=32)
    assert counts.min() > 0.9 * len(sample) / 32
    assert counts.max() < 1.1 * len(sample) / 32
    widths = np.diff(axis.edges[1:-1])
    assert widths[0] < widths[-1] / 10


def test_a_frequent_value_leaves_its_cells_to_the_widest() -> None:
    axis = Quantiser.quantiles([5] * 90 + [0, 16], 2, bounded=True)
    # One quantile is left, 5; the cell from 5 to 16 is split, then the first of its halves.
    assert axis.edges.tolist() == [0, 5, 7.75, 10.5, 16]


def test_a_bounded_domain_refuses_what_lies_outside() -> None:
    axis = Quantiser.uniform(0, 10, 3, bounded=True)
    assert axis.cells([0, 10]).tolist() == [0, 7]
    with pytest.raises(ValueError, match=r"the value 10\.5 lies outside of the domain 0\.0\.\.10\.0"):
        axis.cells([3, 10.5])
    with pytest.raises(ValueError, match="the value -inf lies outside"):
        axis.ranges([-math.inf], [3])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Quantiser([0, 1, 2, 3]), r"edges must be 2 \*\* bits \+ 1 numbers"),
        (lambda: Quantiser([0]), r"edges must be 2 \*\* bits \+ 1 numbers"),
        (lambda: Quantiser([0, 2, 2]), r"edge 2 must be above edge 1: 2\.0 is not above 2\.0"),
        (lambda: Quantiser([0, math.nan, 2]), "edges must not hold NaN"),
        (lambda: Quantiser.uniform(3, 3, 4), "low 3 must be below high 3"),
        (lambda: Quantiser.uniform(0, math.inf, 4), "a domain is given by finite ends, not 0 and inf"),
        (lambda: Quantiser.uniform(0, math.nan, 4), "a domain is given by finite ends"),
        (lambda: Quantiser.uniform(1, np.nextafter(1, 2), 4), "there are no 16 cells between"),
        (lambda: Quantiser.uniform(0, 1, 0), "bits must be at least 1, not 0"),
        (lambda: Quantiser.uniform(0, 1, 21), "an axis has at most 20 bits, not 21"),
        (lambda: Quantiser.quantiles([], 2), "the sample must hold at least one value"),
        (lambda: Quantiser.quantiles([1, math.inf], 2), "the sample must hold .* finite ones only"),
        (lambda: Quantiser.quantiles([7, 7], 2), r"low 7\.0 must be below high 7\.0"),
        (lambda: Quantiser.quantiles([1, np.nextafter(1, 2)], 2), "there are no 4 cells between"),
        (lambda: Quantiser.uniform(0, 1, 2).cells([0.5, math.nan]), "values must not hold NaN"),
        (lambda: Quantiser.uniform(0, 1, 2).cells(["a"]), "values must be numbers"),
        (lambda: Quantiser.uniform(0, 1, 2).ranges([0, 0.7], [1, 0.6]), r"low 0\.7 is above high 0\.6, at \(1,\)"),
        (lambda: Quantiser.uniform(0, 1, 2).ranges([0], [1, 1]), r"lows have the shape \(1,\) and highs \(2,\)"),
    ],
)
def test_what_is_refused(call: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()
