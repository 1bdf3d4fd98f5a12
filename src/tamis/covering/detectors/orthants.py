"""A K-d tree of points that finds those in an orthant: at least as great as a point in every coordinate.

Of the points below a node only the greatest coordinates matter, so that is what a node has. Nodes are in pre-order, the
half with the greater coordinates first, because a point that dominates another is more likely there.
"""

from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt

from tamis.compiled import brief, kernel
from tamis.covering.detectors.corners import dominates, enter
from tamis.covering.detectors.detector import Longs

#: So many points are not worth another split.
BUCKET: Final = 16
#: About so many points of a node tell where to split it.
SAMPLE: Final = 16

Floats: TypeAlias = npt.NDArray[np.float64]


#: By node: its first row, the row behind its last, and the node behind those below it.
NODE_COLUMNS: Final = 3


def plant(points: Longs, first_row: int = 0, first_node: int = 0) -> tuple[Longs, Longs, Longs]:
    """Return a tree whose rows and nodes count from some number on: by node the greatest coordinates, and the columns.

    With it comes, by row of the tree, the row that the point has now.
    """
    order = np.arange(len(points), dtype=np.int64)
    most = 4 * len(points) // BUCKET + 1
    corners = np.empty((most, points.shape[1]), np.int64)
    nodes = np.empty((most, NODE_COLUMNS), np.int64)
    used = _grow(points, order, BUCKET, corners, nodes) if len(points) else 0
    return corners[:used], nodes[:used] + np.array([first_row, first_row, first_node]), order


@kernel
def _grow(points: Longs, order: Longs, bucket: int, corners: Longs, nodes: Longs) -> int:
    """Make the nodes and bring rows into the order in which nodes have them; return how many nodes there are."""
    width = points.shape[1]
    spread = np.empty(width)
    for coordinate in range(width):
        spread[coordinate] = _apart(points, coordinate, order, 0, len(order), 1)
    waiting = np.empty((64, 2), np.int64)
    waiting[0, 0], waiting[0, 1] = 0, len(order)
    depth, node = 1, 0
    while depth:
        depth -= 1
        low, high = waiting[depth, 0], waiting[depth, 1]
        nodes[node, 0], nodes[node, 1], nodes[node, 2] = low, high, node + 1
        if high - low > bucket:
            side = _widest(points, spread, order, low, high, max(1, (high - low) // SAMPLE))
            if side < 0:
                side = _widest(points, spread, order, low, high, 1)
            if side >= 0:
                middle = (low + high) // 2
                _halve(points, side, order, low, high - 1, middle)
                nodes[node, 2] = 0
                waiting[depth, 0], waiting[depth, 1] = middle, high
                waiting[depth + 1, 0], waiting[depth + 1, 1] = low, middle
                depth += 2
        node += 1
    # A node is followed by its first child, this by the second, and that by what follows the node.
    for each in range(node - 1, -1, -1):
        if nodes[each, 2] == 0:
            first, second = each + 1, nodes[each + 1, 2]
            nodes[each, 2] = nodes[second, 2]
            for coordinate in range(width):
                corners[each, coordinate] = max(corners[first, coordinate], corners[second, coordinate])
        else:
            corners[each] = points[order[nodes[each, 0]]]
            for at in range(nodes[each, 0] + 1, nodes[each, 1]):
                for coordinate in range(width):
                    corners[each, coordinate] = max(corners[each, coordinate], points[order[at], coordinate])
    return node


@kernel
def _apart(points: Longs, coordinate: int, order: Longs, low: int, high: int, step: int) -> float:
    """Return how far some rows are apart, as a float: the difference of two integers may have no room."""
    least = greatest = points[order[low], coordinate]
    for at in range(low + step, high, step):
        value = points[order[at], coordinate]
        least, greatest = min(least, value), max(greatest, value)
    return float(greatest) - float(least)


@kernel
def _widest(points: Longs, spread: Floats, order: Longs, low: int, high: int, step: int) -> int:
    """Return in which coordinate every n-th of some rows are farthest apart, -1 if they are alike.

    Distances count by what they are for all rows, since coordinates have scales of their own.
    """
    widest, side = 0.0, -1
    for coordinate in range(points.shape[1]):
        if spread[coordinate] > 0.0:
            apart = _apart(points, coordinate, order, low, high, step) / spread[coordinate]
            if apart > widest:
                widest, side = apart, coordinate
    return side


@kernel
def _halve(points: Longs, side: int, order: Longs, low: int, high: int, middle: int) -> None:
    """Bring the rows with the greater coordinates before the middle (Hoare's selection)."""
    while low < high:
        pivot = points[order[(low + high) // 2], side]
        left, right = low, high
        while left <= right:
            while points[order[left], side] > pivot:
                left += 1
            while points[order[right], side] < pivot:
                right -= 1
            if left <= right:
                order[left], order[right] = order[right], order[left]
                left += 1
                right -= 1
        if middle <= right:
            high = right
        elif middle >= left:
            low = left
        else:
            return


@brief
def search(
    corners: Longs,
    nodes: Longs,
    points: Longs,
    handles: Longs,
    planted: int,
    held: int,
    low: Longs,
    high: Longs,
    besides: int,
    out: Longs,
) -> tuple[int, int]:
    """Write down whose points dominate that of a box until there is no room; return how many, and what was looked at.

    Trees have the rows up to `planted`, newcomers those up to `held`. A row without an owner has a negative handle.
    """
    query = np.empty((1, points.shape[1]), np.int64)
    enter(low, high, query, 0)
    point = query[0]
    found = touched = node = 0
    while node < len(nodes) and found < len(out):
        touched += 1
        if not dominates(corners, node, point):
            node = nodes[node, 2]
            continue
        if nodes[node, 2] == node + 1:
            for row in range(nodes[node, 0], nodes[node, 1]):
                touched += 1
                if dominates(points, row, point) and handles[row] >= 0 and handles[row] != besides:
                    out[found] = handles[row]
                    found += 1
                    if found == len(out):
                        break
        node += 1
    for row in range(planted, held):
        if found == len(out):
            break
        touched += 1
        if dominates(points, row, point) and handles[row] != besides:
            out[found] = handles[row]
            found += 1
    return found, touched
