from itertools import combinations, pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.curves import Box, boxes, small_boxes_on_large_grids
from tamis.geometry.budget import Decomposition, decompose
from tamis.geometry.curve import curve

limits = st.none() | st.integers(1, 12)
caps = st.none() | st.integers(0, 40)


def decomposed(box: Box, max_runs: int | None, node_cap: int | None) -> Decomposition:
    found = decompose(curve(box.name, box.dimensions, box.bits), box.low, box.high, max_runs, node_cap)
    starts, ends = found.starts.tolist(), found.ends.tolist()
    assert all(start <= end for start, end in zip(starts, ends, strict=True))
    assert all(end + 1 < start for end, start in zip(ends, starts[1:], strict=False))
    return found


def covered(found: Decomposition) -> int:
    return int(sum(found.ends - found.starts + 1))


def holds(found: Decomposition, runs: list[tuple[int, int]]) -> bool:
    kept = list(zip(found.starts.tolist(), found.ends.tolist(), strict=True))
    return all(any(start <= first and last <= end for start, end in kept) for first, last in runs)


@given(boxes(), limits, caps)
def test_few_runs_hold_the_box(box: Box, max_runs: int | None, node_cap: int | None) -> None:
    found = decomposed(box, max_runs, node_cap)
    assert max_runs is None or len(found.starts) <= max_runs
    assert node_cap is None or len(found.starts) <= node_cap + 1
    assert holds(found, box.runs())
    assert found.exact == (covered(found) == box.volume)


@given(boxes(), limits, caps, st.integers(0, 5), st.integers(0, 20))
def test_more_runs_or_more_cuts_never_cover_more(
    box: Box, max_runs: int | None, node_cap: int | None, runs_more: int, cuts_more: int
) -> None:
    more_runs = None if max_runs is None else max_runs + runs_more
    more_cuts = None if node_cap is None else node_cap + cuts_more
    assert covered(decomposed(box, more_runs, more_cuts)) <= covered(decomposed(box, max_runs, node_cap))
    assert covered(decomposed(box, None, None)) <= covered(decomposed(box, max_runs, None))


@given(boxes())
def test_without_limits_the_runs_are_those_of_the_box(box: Box) -> None:
    for max_runs, node_cap in ((None, None), (1 << 10, None), (None, 1 << 10), (1 << 10, 1 << 10)):
        found = decomposed(box, max_runs, node_cap)
        assert list(zip(found.starts.tolist(), found.ends.tolist(), strict=True)) == box.runs()
        assert found.exact


@given(boxes(8), st.integers(1, 5))
def test_the_gaps_that_are_closed_are_the_best_choice(box: Box, max_runs: int) -> None:
    runs = box.runs()
    gaps = [start - end - 1 for (_, end), (start, _) in pairwise(runs)]
    if len(gaps) <= 10:
        chosen = combinations(gaps, max(0, len(runs) - max_runs))
        assert covered(decomposed(box, max_runs, None)) == box.volume + min(map(sum, chosen))


@given(small_boxes_on_large_grids(least_key_bits=40, most_key_bits=120), limits, caps)
def test_long_keys(box: Box, max_runs: int | None, node_cap: int | None) -> None:
    found = decomposed(box, max_runs, node_cap)
    assert max_runs is None or len(found.starts) <= max_runs
    assert holds(found, box.runs())
    assert found.exact == (covered(found) == box.volume)


@pytest.mark.parametrize(("dimensions", "bits"), [(3, 21), (63, 1), (3, 30), (2, 40)])
def test_huge_boxes_are_cut_into_few_pieces(dimensions: int, bits: int) -> None:
    last = (1 << bits) - 1
    low, high = [1] * dimensions, [max(1, last - 1)] * dimensions
    before = None
    for node_cap in (0, 1, 10, 100):
        found = decompose(curve("hilbert", dimensions, bits), low, high, max_runs=50, node_cap=node_cap)
        assert len(found.starts) <= min(50, node_cap + 1)
        now = sum(map(int, found.ends)) - sum(map(int, found.starts))
        assert before is None or now <= before
        before = now


def test_cuts_go_where_they_save_most() -> None:
    # The box reaches one column beyond the middle. One cut leaves its full half, and the smallest region with the rest.
    found = decompose(curve("z", 2, 4), [0, 0], [8, 7], node_cap=1)
    assert list(zip(found.starts.tolist(), found.ends.tolist(), strict=True)) == [(0, 63), (128, 159)]


def test_precision_is_that_of_the_probe() -> None:
    """specs/001 F4 quotes 1.99, 1.26 and 1.04 times the volume for 10 boxes of side 16 in 3 dimensions."""
    lows = np.random.default_rng(5).integers(0, 241, (60, 3))
    line = curve("hilbert", 3, 8)
    for max_runs, least, most in ((16, 1.6, 2.1), (64, 1.1, 1.3), (256, 1.0, 1.06)):
        times = [covered(decompose(line, low, low + 15, max_runs, 16 * max_runs)) / 16**3 for low in lows]
        assert least < np.mean(times) < most


@pytest.mark.parametrize(
    ("max_runs", "node_cap", "message"),
    [
        (0, None, "max_runs must be at least 1, not 0"),
        (1.5, None, "max_runs must be an integer, not 1.5"),
        (None, -1, "node_cap must be at least 0, not -1"),
        (None, 1 << 40, "node_cap must be at most"),
    ],
)
def test_limits_that_are_refused(max_runs: Any, node_cap: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        decompose(curve("z", 2, 3), [0, 0], [3, 3], max_runs, node_cap)


def test_a_box_that_is_refused() -> None:
    with pytest.raises(ValueError, match="dimension 1: low 4 is above high 3"):
        decompose(curve("z", 2, 3), [0, 4], [3, 3], 4, 4)
