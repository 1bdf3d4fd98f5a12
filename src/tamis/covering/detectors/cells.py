"""From points to cells of a grid, coordinate by coordinate: what a space-filling curve needs (specs/000 §6).

The quantisers of the geometry room take doubles. Here are 64-bit integers, which doubles do not tell apart.
"""

import numpy as np

from tamis.compiled import kernel
from tamis.covering.detectors.detector import Longs

# By coordinate, `2 ** bits - 1` cuts in ascending order. The cell of a value is how many of them are at or below it; so
# a greater value never has a smaller cell. Cuts may be equal, and the cells between them empty.


def uniform(dimensions: int, bits: int, low: int, high: int) -> Longs:
    """Return the cuts of points of boxes that lie between two ends, in cells of equal width; the end cells reach on."""
    if low >= high:
        raise ValueError(f"the boxes lie between {low} and {high}, but the first must be below the second")
    cells = 1 << bits
    inner = [low - (step * (low - high) // cells) for step in range(1, cells)]
    # A side that begins in cell c has ~low in cell 2 ** bits - 1 - c: as many cuts are at or below that as above low.
    return np.array([[-each for each in reversed(inner)], inner] * dimensions, np.int64).reshape(-1, cells - 1)


def quantiles(points: Longs, bits: int) -> Longs:
    """Return cuts between which there are about equally many of some points, at least one."""
    cells = 1 << bits
    ranks = np.arange(1, cells) * len(points) // cells
    return np.ascontiguousarray(np.sort(points, axis=0)[ranks].T)


@kernel
def cells_of(point: Longs, cuts: Longs, cells: Longs) -> None:
    """Write down the cells of the first coordinates of a point, as many as there are cuts for."""
    for coordinate in range(len(cuts)):
        cells[coordinate] = np.searchsorted(cuts[coordinate], point[coordinate], side="right")
