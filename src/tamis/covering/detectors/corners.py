"""Boxes as points: one box covers another if and only if its point is at least as great in every coordinate.

The source (specs/000 §4) takes (-l_1, r_1, -l_2, r_2, …). Here it is ~l, which is -l - 1, because the smallest
64-bit integer has no negative.
"""

import numpy as np

from tamis.compiled import brief, kernel
from tamis.covering.detectors.detector import Longs


@brief
def enter(low: Longs, high: Longs, points: Longs, row: int) -> None:
    """Write down the point of a box in a row."""
    for dimension in range(len(low)):
        points[row, 2 * dimension] = ~low[dimension]
        points[row, 2 * dimension + 1] = high[dimension]


def roomy(array: Longs, length: int) -> Longs:
    """Return an array with at least so many rows and the same beginning."""
    if length <= len(array):
        return array
    larger = np.empty((max(length, 2 * len(array), 16), *array.shape[1:]), array.dtype)
    larger[: len(array)] = array
    return larger


@kernel
def dominates(points: Longs, row: int, point: Longs) -> bool:
    """Return whether one of many points is at least as great as a point in every coordinate."""
    for coordinate in range(len(point)):  # noqa: SIM110 - the kernel compiler knows no generators
        if points[row, coordinate] < point[coordinate]:
            return False
    return True
