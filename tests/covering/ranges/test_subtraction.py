from itertools import product
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tamis.covering.ranges.subtraction import remainder, subsumed
from tamis.geometry.leaves import GREATEST, LEAST

sides = st.tuples(st.integers(0, 5), st.integers(0, 5)).map(sorted)
boxes = st.tuples(sides, sides, sides)


def cells(box: Any) -> set[tuple[int, ...]]:
    return set(product(*(range(low, high + 1) for low, high in box)))


@given(boxes, st.lists(boxes, max_size=12), st.integers(0, 60))
def test_against_sets_of_cells(box: Any, others: list[Any], cap: int) -> None:
    low, high = np.array(box).T
    lows, highs = np.array(others, np.int64).reshape(-1, 3, 2).transpose(2, 0, 1)
    expected = cells(box) <= set().union(*map(cells, others))
    assert subsumed(low, high, lows, highs) == expected
    rests = remainder(low, high, lows, highs)
    assert rests is not None
    left = [cells(np.stack(rest, axis=1).tolist()) for rest in zip(*rests, strict=True)]
    assert set().union(*left) == cells(box) - set().union(*map(cells, others))
    assert sum(map(len, left)) == len(set().union(*left))
    capped = remainder(low, high, lows, highs, work_cap=cap)
    assert capped is None or capped[0].tolist() == rests[0].tolist()
    # A cap never makes it say yes wrongly.
    assert not subsumed(low, high, lows, highs, work_cap=cap) or expected


def test_the_ends_of_the_grid() -> None:
    low, high = np.array([LEAST, LEAST]), np.array([GREATEST, GREATEST])
    lows = np.array([[LEAST, LEAST], [0, LEAST], [0, 8]])
    highs = np.array([[-1, GREATEST], [GREATEST, 7], [GREATEST, GREATEST]])
    assert subsumed(low, high, lows, highs)
    assert not subsumed(low, high, lows[:2], highs[:2])
    assert not subsumed(low, high, lows, highs, work_cap=2)


def test_too_many_rests_are_a_no() -> None:
    places = np.arange(0, 20_000, 2)
    lows = np.stack((places, places), axis=1)
    box = np.array([0, 0]), np.array([20_000, 20_000])
    assert not subsumed(*box, lows, lows, work_cap=10**9)
    assert remainder(*box, lows, lows, work_cap=10**9) is None
