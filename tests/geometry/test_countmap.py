from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.positions import as_runs, positions, run_lists
from tamis.geometry.countmap import CountMap
from tamis.geometry.leaves import Runs


def pairs(runs: Runs) -> list[tuple[int, int]]:
    return list(zip(*(side.tolist() for side in runs), strict=True))


@given(st.lists(st.tuples(run_lists(), st.booleans()), max_size=20))
def test_counts_and_what_changed(steps: list[tuple[list[tuple[int, int]], bool]]) -> None:
    counts = CountMap()
    oracle: Counter[int] = Counter()
    live: list[list[tuple[int, int]]] = []
    for runs, leaves in steps:
        before = set(+oracle)
        if leaves and live:
            gone = live.pop(len(runs) % len(live))
            oracle.subtract(positions(gone))
            changed = counts.remove(*as_runs(gone))
            assert positions(pairs(changed)) == before - set(+oracle)
        else:
            live.append(runs)
            oracle.update(positions(runs))
            changed = counts.add(*as_runs(runs))
            assert positions(pairs(changed)) == set(+oracle) - before
        assert (changed[0][1:] > changed[1][:-1] + 1).all()
        counts.check_invariants()
    assert [counts.count(point) for point in range(130)] == [oracle[point] for point in range(130)]
    for runs in live:
        counts.remove(*as_runs(runs))
    assert len(counts) == 0


@given(st.lists(run_lists(), max_size=6), run_lists())
def test_what_is_not_covered_cannot_be_removed(live: list[list[tuple[int, int]]], gone: list[tuple[int, int]]) -> None:
    counts = CountMap()
    for runs in live:
        counts.add(*as_runs(runs))
    before = [side.tolist() for side in counts.segments()]
    if positions(gone) - set().union(*map(positions, live)):
        with pytest.raises(ValueError, match="not covered"):
            counts.remove(*as_runs(gone))
        assert [side.tolist() for side in counts.segments()] == before
    else:
        counts.remove(*as_runs(gone))


def test_gaps() -> None:
    counts = CountMap()
    counts.add(*as_runs([(3, 4), (9, 9)]))
    last = 2**63 - 1
    assert pairs(counts.gaps(np.array([0, 6, 5, 11]))) == [(-1, 2), (5, 8), (5, 8), (10, last)]
    counts.add(*as_runs([(last - 1, last)]))
    assert pairs(counts.gaps(np.array([11]))) == [(10, last - 2)]
    assert pairs(counts.remove(*as_runs([(last - 1, last)]))) == [(last - 1, last)]
    assert len(counts) == 4


def test_many_breakpoints() -> None:
    rng = np.random.default_rng(7)
    counts = CountMap()
    low = rng.integers(0, 50_000, 5_000)
    high = low + rng.integers(0, 40, 5_000)
    for start, end in zip(low.tolist(), high.tolist(), strict=True):
        counts.add(np.array([start]), np.array([end]))
    counts.check_invariants()
    expected = np.zeros(50_100, np.int64)
    np.add.at(expected, low, 1)
    np.add.at(expected, high + 1, -1)
    expected = np.cumsum(expected)
    assert [counts.count(point) for point in range(0, 50_100, 7)] == expected[::7].tolist()
    for start, end in zip(low.tolist(), high.tolist(), strict=True):
        counts.remove(np.array([start]), np.array([end]))
    counts.check_invariants()
    assert len(counts) == 0
