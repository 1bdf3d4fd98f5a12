"""Cutting a box into few regions, where it helps most first, and closing gaps between runs: the loops of F4."""

from typing import Final

import numpy as np

from tamis.geometry.integers import Integers, either
from tamis.geometry.regions import (
    ABOVE,
    BELOW,
    FIELDS,
    LEVEL,
    PLACE,
    TURN,
    Region,
    axis_of,
    block,
    everything,
    first_half,
    half,
    inside,
    meeting,
    put,
    taken,
)

#: The row of a region that waits has two more fields: its first key, and how many of its cells are not in the box.
ROW: Final = FIELDS + 2
_START, _OUTSIDE = FIELDS, FIELDS + 1


@either
def cut(
    low: Integers,
    high: Integers,
    bits: int,
    turning: bool,
    cuts: int,
    rows: Integers,
    heap: Integers,
    starts: Integers,
    ends: Integers,
) -> tuple[int, bool]:
    """Cut a box at most so often; write runs that hold it, and return how many and whether they hold nothing else.

    The region with the most cells outside of the box is cut first, among equals the first on the curve. `rows`, `heap`,
    `starts` and `ends` have room for one more than `cuts`.
    """
    dimensions = len(low)
    region = _shrunk(everything(low, high, bits, turning), low, high, turning)
    if inside(region):
        starts[0], ends[0] = block(region, dimensions)
        return 1, True
    _keep(rows, 0, region, low, high)
    heap[0] = 0
    waiting, used, found = 1, 1, 0
    for _ in range(cuts):
        if waiting == 0:
            break
        row = heap[0]
        waiting -= 1
        heap[0] = heap[waiting]
        _sink(heap, waiting, rows)
        region = taken(rows, row)
        axis = axis_of(region, dimensions)
        first = first_half(region, axis, dimensions, turning)
        kept = 0
        for which in range(2):
            part = half(region, axis, low[axis], high[axis], which, first, dimensions, turning)
            part = _shrunk(part, low, high, turning)
            if inside(part):
                starts[found], ends[found] = block(part, dimensions)
                found += 1
            else:
                heap[waiting] = row if kept == 0 else used
                _keep(rows, heap[waiting], part, low, high)
                _rise(heap, waiting, rows)
                waiting += 1
                kept += 1
        if kept == 2:
            used += 1
    for place in range(waiting):
        starts[found], ends[found] = block(taken(rows, heap[place]), dimensions)
        found += 1
    return _joined(starts, ends, found), waiting == 0


@either
def close_gaps(starts: Integers, ends: Integers, found: int, most: int) -> int:
    """Close the smallest gaps between runs until there are at most so many, in place; return how many there are."""
    if found <= most:
        return found
    by_size = np.argsort(starts[1:found] - ends[: found - 1], kind="mergesort")
    closed = np.ones(found, np.bool_)
    for gap in by_size[found - most :]:
        closed[gap] = False
    left = 0
    for run in range(found - 1):
        if not closed[run]:
            ends[left] = ends[run]
            left += 1
            starts[left] = starts[run + 1]
    ends[left] = ends[found - 1]
    return left + 1


@either
def _shrunk(region: Region, low: Integers, high: Integers, turning: bool) -> Region:
    """Return the smallest region within this one that holds its part of the box."""
    dimensions = len(low)
    while not inside(region):
        axis = axis_of(region, dimensions)
        least, greatest = meeting(region, axis, low[axis], high[axis])
        if least < greatest:
            break
        first = first_half(region, axis, dimensions, turning)
        region = half(region, axis, low[axis], high[axis], least, first, dimensions, turning)
    return region


@either
def _keep(rows: Integers, row: int, region: Region, low: Integers, high: Integers) -> None:
    dimensions = len(low)
    start, end = block(region, dimensions)
    cells = 1
    for axis in range(dimensions):
        place = axis - region[TURN]
        if place < 0:
            place += dimensions
        # The axes of higher places are halved already at this level.
        side = (1 << (region[LEVEL] + (1 if place <= region[PLACE] else 0))) - 1
        least = low[axis] & side if (region[BELOW] >> axis) & 1 else 0
        greatest = high[axis] & side if (region[ABOVE] >> axis) & 1 else side
        cells *= greatest - least + 1
    put(rows, row, region)
    rows[row, _START] = start
    rows[row, _OUTSIDE] = end - start - (cells - 1)


@either
def _sooner(rows: Integers, one: int, other: int) -> bool:
    if rows[one, _OUTSIDE] != rows[other, _OUTSIDE]:
        return bool(rows[one, _OUTSIDE] > rows[other, _OUTSIDE])
    return bool(rows[one, _START] < rows[other, _START])


@either
def _rise(heap: Integers, place: int, rows: Integers) -> None:
    row = heap[place]
    while place > 0:
        parent = (place - 1) >> 1
        if not _sooner(rows, row, heap[parent]):
            break
        heap[place] = heap[parent]
        place = parent
    heap[place] = row


@either
def _sink(heap: Integers, size: int, rows: Integers) -> None:
    row = heap[0]
    place = 0
    while 2 * place + 1 < size:
        child = 2 * place + 1
        if child + 1 < size and _sooner(rows, heap[child + 1], heap[child]):
            child += 1
        if not _sooner(rows, heap[child], row):
            break
        heap[place] = heap[child]
        place = child
    heap[place] = row


@either
def _joined(starts: Integers, ends: Integers, found: int) -> int:
    """Sort pieces and join those that touch, in place; return how many runs that makes."""
    order = np.argsort(starts[:found], kind="mergesort")
    sorted_starts, sorted_ends = starts[order], ends[order]
    runs = 0
    for piece in range(found):
        if runs > 0 and sorted_starts[piece] == ends[runs - 1] + 1:
            ends[runs - 1] = sorted_ends[piece]
        else:
            starts[runs] = sorted_starts[piece]
            ends[runs] = sorted_ends[piece]
            runs += 1
    return runs
