"""The search that goes only where points are (specs/000 §6, `populated`)."""

from typing import Final

import numpy as np

from tamis.compiled import kernel
from tamis.covering.detectors.cells import cells_of
from tamis.covering.detectors.corners import dominates, enter
from tamis.covering.detectors.detector import NOBODY, Longs
from tamis.covering.detectors.sfcarray import WORD_BITS

#: A slice with so few points is not worth another split.
BUCKET: Final = 8
#: As a level: to be found out.
UNKNOWN: Final = -1
#: Doubles tell shares apart that differ by more than this, in as many dimensions as there can be.
_DOUBT: Final = 1e-12


@kernel
def level_for(sides: Longs, bits: int, kept: float) -> int:
    """Return the highest level whose cubes, with all larger ones, fill at least a share of a rectangle.

    The rectangle has these sides and lies at the top corner. If doubles cannot tell, the level is `UNKNOWN`.
    """
    for level in range(bits, 0, -1):
        share = filled(sides, level)
        if share >= kept + _DOUBT:
            return level
        if share > kept - _DOUBT:
            return UNKNOWN
    return 0


@kernel
def filled(sides: Longs, level: int) -> float:
    """Return which share of a rectangle the cubes from a level up fill."""
    share = 1.0
    for side in sides:
        share *= float(side >> level << level) / float(side)
    return share


@kernel
def search(
    keys: Longs,
    owners: Longs,
    newcomers: Longs,
    points: Longs,
    cuts: Longs,
    bits: int,
    low: Longs,
    high: Longs,
    besides: int,
    kept: float,
    level: int,
    out: Longs,
) -> tuple[int, int, float]:
    """Write down whose points dominate that of a box and lie in the cubes from a level up, until there is no room.

    Newcomers are not in the array of keys yet.

    Returns how many, how many slices and points were looked at, and the share of the rectangle that the cubes fill. If
    the level is not given and doubles cannot tell it, there are -1.
    """
    query = np.empty((1, points.shape[1]), np.int64)
    enter(low, high, query, 0)
    point = query[0]
    dimensions = len(cuts)
    corner = np.empty(dimensions, np.int64)
    cells_of(point, cuts, corner)
    sides = (1 << bits) - corner
    if level == UNKNOWN:
        level = level_for(sides, bits, kept)
        if level == UNKNOWN:
            return -1, 0, 0.0
    # What the cubes fill is a rectangle too. Its corner is a cell, and a cell begins at a cut: from here on a point has
    # to dominate the box and the corner.
    below = 0
    for dimension in range(dimensions):
        corner[dimension] = (1 << bits) - (sides[dimension] >> level << level)
        if corner[dimension]:
            point[dimension] = max(point[dimension], cuts[dimension, corner[dimension] - 1])
            below |= 1 << dimension
    # A slice waits with its next bit and the dimensions in which it may reach below the corner.
    waiting = np.empty((bits * dimensions + 1, 4), np.int64)
    waiting[0, 0], waiting[0, 1], waiting[0, 2], waiting[0, 3] = 0, len(owners), 0, below
    depth = 1
    found = touched = 0
    while depth and found < len(out):
        depth -= 1
        begin, end, place, below = waiting[depth, 0], waiting[depth, 1], waiting[depth, 2], waiting[depth, 3]
        touched += 1
        if below == 0 or end - begin <= BUCKET:
            for at in range(begin, end):
                touched += 1
                if _is_coverer(owners[at], points, point, besides):
                    out[found] = owners[at]
                    found += 1
                    if found == len(out):
                        break
            continue
        middle = _halved(keys, begin, end, place)
        dimension, rest = place % dimensions, bits - 1 - place // dimensions
        above = below
        if below >> dimension & 1:
            bit = corner[dimension] >> rest & 1
            if bit:
                begin = middle
            if not bit or not corner[dimension] & ((1 << rest) - 1):
                above ^= 1 << dimension
        if begin < middle:
            waiting[depth, 0], waiting[depth, 1], waiting[depth, 2], waiting[depth, 3] = begin, middle, place + 1, below
            depth += 1
        # The half with the greater cells comes first: a point that dominates is more likely there.
        if middle < end:
            waiting[depth, 0], waiting[depth, 1], waiting[depth, 2], waiting[depth, 3] = middle, end, place + 1, above
            depth += 1
    for owner in newcomers:
        if found == len(out):
            break
        touched += 1
        if _is_coverer(owner, points, point, besides):
            out[found] = owner
            found += 1
    return found, touched, filled(sides, level)


@kernel
def _is_coverer(owner: int, points: Longs, point: Longs, besides: int) -> bool:
    return owner not in (NOBODY, besides) and dominates(points, owner, point)


@kernel
def _halved(keys: Longs, begin: int, end: int, place: int) -> int:
    """Return where a bit begins to be set in a slice of keys that are the same before it."""
    word, shift = place // WORD_BITS, WORD_BITS - 1 - place % WORD_BITS
    while begin < end:
        middle = (begin + end) // 2
        if keys[middle, word] >> shift & 1:
            end = middle
        else:
            begin = middle + 1
    return begin
