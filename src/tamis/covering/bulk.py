"""Many boxes that are all there at once: who covers whom, and which of them together are one box.

Detectors take boxes one by one and answer one question at a time; a whole table is done with in two compiled passes.
"""

import numpy as np
import numpy.typing as npt

from tamis.compiled import kernel
from tamis.covering.detectors.corners import dominates
from tamis.covering.detectors.detector import NOBODY, Longs
from tamis.covering.detectors.orthants import plant


def points_of(lows: Longs, highs: Longs) -> Longs:
    """Return boxes as points: one box covers another if its point is nowhere smaller (specs/000 §4)."""
    points = np.empty((len(lows), 2 * lows.shape[1]), np.int64)
    points[:, ::2], points[:, 1::2] = ~lows, highs
    return points


class Planted:
    """Boxes, as points, in a K-d tree that does not change."""

    def __init__(self, points: Longs) -> None:
        self._corners, self._nodes, self._rows = plant(points)
        self._points = points[self._rows]

    def first(self, queries: Longs, besides: Longs) -> Longs:
        """Return for each query the row of a box that covers it, other than that of `besides`, or `NOBODY`."""
        out = np.full(len(queries), NOBODY, np.int64)
        _first(self._corners, self._nodes, self._points, self._rows, queries, besides, out)
        return out

    def some(self, query: Longs, limit: int) -> Longs:
        """Return the rows of boxes that cover a query, at most so many."""
        out = np.empty(min(limit, len(self._rows)), np.int64)
        return out[: _some(self._corners, self._nodes, self._points, self._rows, query, out)]


def merged(lows: Longs, highs: Longs) -> Longs:
    """Return for each box the first of its group: the boxes of a group together are exactly one box.

    Ends are cuts: a box that ends where another begins touches it. Boxes that touch in one dimension and are the same
    in all others become one, and so on with what they became until nothing changes (the total merging of specs/001
    F6). That no other choice of groups would leave fewer is not promised.
    """
    lows, highs = lows.copy(), highs.copy()
    group = np.arange(len(lows))
    boxes = np.arange(len(lows))
    dimension = quiet = 0
    while quiet < lows.shape[1] and len(boxes) > 1:
        others = [side[boxes, each] for each in range(lows.shape[1]) if each != dimension for side in (lows, highs)]
        order = boxes[np.lexsort((lows[boxes, dimension], *others))]
        joined = np.zeros(len(order), np.bool_)
        _join(lows, highs, order, dimension, group, joined)
        quiet = 0 if joined.any() else quiet + 1
        boxes = np.sort(order[~joined])
        dimension = (dimension + 1) % lows.shape[1]
    # A box that joined another has joined what that has joined.
    while ((further := group[group]) != group).any():
        group = further
    first = np.full(len(group), len(group))
    np.minimum.at(first, group, np.arange(len(group)))
    return first[group]


@kernel
def _first(
    corners: Longs, nodes: Longs, points: Longs, rows: Longs, queries: Longs, besides: Longs, out: Longs
) -> None:
    for number in range(len(queries)):
        query = queries[number]
        node = 0
        while node < len(nodes) and out[number] == NOBODY:
            if not dominates(corners, node, query):
                node = nodes[node, 2]
                continue
            if nodes[node, 2] == node + 1:
                for row in range(nodes[node, 0], nodes[node, 1]):
                    if rows[row] != besides[number] and dominates(points, row, query):
                        out[number] = rows[row]
                        break
            node += 1


@kernel
def _some(corners: Longs, nodes: Longs, points: Longs, rows: Longs, query: Longs, out: Longs) -> int:
    found = node = 0
    while node < len(nodes) and found < len(out):
        if not dominates(corners, node, query):
            node = nodes[node, 2]
            continue
        if nodes[node, 2] == node + 1:
            for row in range(nodes[node, 0], nodes[node, 1]):
                if found < len(out) and dominates(points, row, query):
                    out[found] = rows[row]
                    found += 1
        node += 1
    return found


@kernel
def _join(lows: Longs, highs: Longs, order: Longs, dimension: int, group: Longs, joined: npt.NDArray[np.bool_]) -> None:
    """Let boxes in an order join the one before, whose sides grow, if they touch it and differ in nothing else."""
    at = 0
    while at < len(order):
        first = order[at]
        at += 1
        while at < len(order):
            each = order[at]
            if lows[each, dimension] > highs[first, dimension]:
                break
            same = True
            for other in range(lows.shape[1]):
                if other != dimension and (
                    lows[each, other] != lows[first, other] or highs[each, other] != highs[first, other]
                ):
                    same = False
                    break
            if not same:
                break
            highs[first, dimension] = max(highs[first, dimension], highs[each, dimension])
            group[each] = first
            joined[at] = True
            at += 1
