from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis.covering.ranges.boxindex import FEW, BoxIndex
from tamis.geometry.leaves import GREATEST, LEAST, Longs


def drawn(seed: int, count: int, dimensions: int, side: int) -> tuple[Longs, Longs]:
    """Return boxes on a grid of 20 cells per axis, some reaching to the ends of all integers."""
    rng = np.random.default_rng(seed)
    lows = rng.integers(0, 20, (count, dimensions))
    highs = lows + rng.integers(0, side, (count, dimensions))
    lows[rng.random(lows.shape) < 0.05] = LEAST
    highs[rng.random(highs.shape) < 0.05] = GREATEST
    return lows, highs


def merges(low: Longs, high: Longs, first: Longs, last: Longs) -> bool:
    """Return whether the hull of two boxes has no cell outside of both, by counting cells."""
    hull = np.minimum(low, first), np.maximum(high, last)
    both = np.maximum(low, first), np.minimum(high, last)

    def volume(low: Longs, high: Longs) -> int:
        sides = [max(0, b - a + 1) for a, b in zip(low.tolist(), high.tolist(), strict=True)]
        return int(np.prod(np.array(sides, object)))

    return volume(*hull) == volume(low, high) + volume(first, last) - volume(*both)


@given(st.integers(0, 1000), st.integers(1, 5), st.sampled_from((3, 12)), st.integers(1, 2 * FEW))
def test_every_question_against_a_linear_scan(seed: int, dimensions: int, side: int, count: int) -> None:
    lows, highs = drawn(seed, count, dimensions, side)
    index = BoxIndex(dimensions)
    for handle in range(count):
        index.add(handle, lows[handle], highs[handle])
    live = np.ones(count, np.bool_)
    for handle in range(0, count, 3):
        index.remove(handle)
        live[handle] = False
    index.check_invariants()
    for low, high in zip(*drawn(seed + 1, 6, dimensions, side), strict=True):
        around = live & ((lows <= low) & (high <= highs)).all(axis=1)
        meeting = live & ((lows <= high) & (low <= highs)).all(axis=1)
        inside = live & ((low <= lows) & (highs <= high)).all(axis=1)
        assert sorted(index.coverers(low, high).tolist()) == np.flatnonzero(around).tolist()
        assert sorted(index.overlapping(low, high).tolist()) == np.flatnonzero(meeting).tolist()
        assert sorted(index.inside(low, high).tolist()) == np.flatnonzero(inside).tolist()
        assert len(index.coverers(low, high, limit=1)) == min(1, around.sum())
        point = np.minimum(low, 19)
        matching = live & ((lows <= point) & (point <= highs)).all(axis=1)
        assert sorted(index.matching(point).tolist()) == np.flatnonzero(matching).tolist()
        merging = [each for each in np.flatnonzero(live) if merges(low, high, lows[each], highs[each])]
        assert sorted(index.mergeable(low, high).tolist()) == merging
        assert index.is_subsumed(low, high) or not around.any()
    assert all(each not in index.coverers(*index.box(each), besides=each) for each in index)


@given(st.integers(0, 1000), st.integers(0, 40))
def test_subsumption_by_cells(seed: int, cap: int) -> None:
    lows, highs = drawn(seed, 2 * FEW, 2, 5)
    index = BoxIndex(2)
    covered = np.zeros((32, 32), np.bool_)
    for handle, (low, high) in enumerate(zip(np.maximum(lows, 0), np.minimum(highs, 31), strict=True)):
        index.add(handle, low, high)
        covered[low[0] : high[0] + 1, low[1] : high[1] + 1] = True
    for low, high in zip(*drawn(seed + 1, 10, 2, 9), strict=True):
        low, high = np.maximum(low, 0), np.minimum(high, 31)
        expected = covered[low[0] : high[0] + 1, low[1] : high[1] + 1].all()
        assert index.is_subsumed(low, high) == expected
        assert expected or not index.is_subsumed(low, high, work_cap=cap)


def test_few_candidates_are_compared() -> None:
    lows = np.random.default_rng(7).integers(0, 2**40, (5000, 7))
    highs = lows + 2**34
    index = BoxIndex(7)
    for handle in range(5000):
        index.add(handle, lows[handle], highs[handle])
    index.compared = 0
    for handle in range(100):
        assert index.coverers(*index.box(handle)).tolist() == [handle]
    assert index.compared < 100 * 20


def test_no_dimensions_and_errors() -> None:
    nothing: Any = np.empty(0, np.int64)
    index = BoxIndex(0)
    for handle in range(2 * FEW):
        index.add(handle, nothing, nothing)
    assert len(index.coverers(nothing, nothing)) == 2 * FEW
    index.check_invariants()
    with pytest.raises(ValueError, match="handle 3 is in the index already"):
        index.add(3, nothing, nothing)
    index.remove(3)
    with pytest.raises(KeyError, match="handle 3 is not in the index"):
        index.remove(3)
    assert 3 not in index
    assert len(index) == 2 * FEW - 1


@pytest.mark.parametrize("count", [FEW // 2, 3 * FEW])
def test_boxes_that_move_lie_to_each_other_as_before(count: int) -> None:
    rng = np.random.default_rng(count)
    lows = rng.integers(0, 20, (count, 2))
    highs = lows + rng.integers(0, 5, (count, 2))
    index = BoxIndex(2)
    for handle in range(count):
        index.add(handle, lows[handle], highs[handle])
    index.remove(0)
    before = [sorted(index.overlapping(*index.box(each)).tolist()) for each in index]
    old = np.arange(26)
    new = np.sort(rng.choice(10**9, len(old), replace=False))
    index.move(1, old, new)
    index.check_invariants()
    for handle in index:
        low, high = index.box(handle)
        assert (low[0], low[1]) == (lows[handle, 0], new[lows[handle, 1]])
        assert (high[0], high[1]) == (highs[handle, 0], new[highs[handle, 1] + 1] - 1)
    assert [sorted(index.overlapping(*index.box(each)).tolist()) for each in index] == before


def test_an_index_that_is_empty_again_can_be_moved() -> None:
    index = BoxIndex(1)
    for handle in range(FEW):
        index.add(handle, np.array([handle]), np.array([handle]))
    for handle in range(FEW):
        index.remove(handle)
    index.move(0, np.array([1]), np.array([5]))
    index.add(1, np.array([5]), np.array([6]))
    assert index.matching(np.array([6])).tolist() == [1]
