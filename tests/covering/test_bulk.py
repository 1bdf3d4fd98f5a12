"""All boxes at once say what boxes one by one say."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tamis.covering.bulk import Planted, merged, points_of

BOXES = st.integers(0, 3).flatmap(
    lambda width: st.lists(
        st.lists(st.tuples(st.integers(0, 4), st.integers(1, 3)), min_size=width, max_size=width),
        min_size=1,
        max_size=40,
        unique_by=tuple,
    )
)


def sides(boxes: list[list[tuple[int, int]]]) -> tuple[np.ndarray, np.ndarray]:
    ends = np.array(boxes, np.int64).reshape(len(boxes), -1, 2)
    return ends[:, :, 0].copy(), (ends[:, :, 0] + ends[:, :, 1]).copy()


@given(boxes=BOXES)
def test_coverers(boxes: list[list[tuple[int, int]]]) -> None:
    lows, highs = sides(boxes)
    points = points_of(lows, highs)
    planted = Planted(points)
    first = planted.first(points, np.arange(len(points)))
    for number, found in enumerate(first.tolist()):
        covering = np.flatnonzero((lows <= lows[number]).all(axis=1) & (highs >= highs[number]).all(axis=1)).tolist()
        others = [each for each in covering if each != number]
        assert found in others if others else found == -1
        assert sorted(planted.some(points[number], 100).tolist()) == covering
        assert len(planted.some(points[number], 1)) == 1


@given(boxes=BOXES)
def test_groups_are_boxes(boxes: list[list[tuple[int, int]]]) -> None:
    lows, highs = sides(boxes)
    group = merged(lows, highs)

    def cells(box: int) -> set[tuple[int, ...]]:
        grid = np.meshgrid(*(np.arange(low, high) for low, high in zip(lows[box], highs[box], strict=True)))
        return set(zip(*(axis.ravel().tolist() for axis in grid), strict=True)) if grid else {()}

    for first in np.unique(group).tolist():
        members = np.flatnonzero(group == first)
        assert members[0] == first
        together = set().union(*map(cells, members.tolist()))
        hull = highs[members].max(axis=0) - lows[members].min(axis=0)
        assert len(together) == np.prod(hull)


def test_quarters_become_one() -> None:
    boxes = [[(0, 1), (0, 1)], [(1, 1), (1, 1)], [(0, 1), (1, 1)], [(1, 1), (0, 1)], [(5, 1), (5, 1)]]
    assert merged(*sides(boxes)).tolist() == [0, 0, 0, 0, 4]
