"""Regions of a curve: the cells whose keys begin alike, and what they have to do with a box.

Every further bit of the prefix halves the region along one axis, in the order of the curve (see
`tamis.geometry.turns`). What a region has to do with a box is kept as two sets of axes, as bits: those on which it
reaches *below* the box, and those on which it reaches *above*. On such an axis the region's corner and the box's have
the same leading bits, so the next bit of the box's corner tells which halves meet the box; and halving one axis leaves
the others as they were. So a step costs the same in any number of dimensions. A region that reaches out nowhere is
inside.

Axis j has the bit j of a digit, as in specs/001 F2, on both curves.
"""

from typing import Final, TypeAlias

from tamis.geometry.integers import Integers, either
from tamis.geometry.turns import turned

#: The prefix; the level and the place in its digit of the next bit; entry and turn of the curve; below; above.
Region: TypeAlias = tuple[int, int, int, int, int, int, int]
FIELDS: Final = 7
KEY, LEVEL, PLACE, ENTRY, TURN, BELOW, ABOVE = range(FIELDS)


@either
def everything(low: Integers, high: Integers, bits: int, turning: bool) -> Region:
    """Return the whole grid. `turning` is the Hilbert curve, otherwise it is the Z curve."""
    dimensions = len(low)
    last = (1 << bits) - 1
    below = above = 0
    for axis in range(dimensions):
        if low[axis] > 0:
            below |= 1 << axis
        if high[axis] < last:
            above |= 1 << axis
    return 0, bits - 1, dimensions - 1, 0, (1 % dimensions if turning else 0), below, above


@either
def inside(region: Region) -> bool:
    """Say whether all of the region lies in the box."""
    return region[BELOW] | region[ABOVE] == 0


@either
def block(region: Region, dimensions: int) -> tuple[int, int]:
    """Return the first and the last key of a region."""
    rest = region[LEVEL] * dimensions + region[PLACE] + 1
    start = region[KEY] << rest
    return start, start | ~(-1 << rest)


@either
def axis_of(region: Region, dimensions: int) -> int:
    """Return along which axis a region is halved."""
    axis = region[PLACE] + region[TURN]
    return axis - dimensions if axis >= dimensions else axis


@either
def first_half(region: Region, axis: int, dimensions: int, turning: bool) -> int:
    """Return which half, 0 or 1, comes first on the curve."""
    before = region[KEY] if turning and region[PLACE] < dimensions - 1 else 0
    return ((region[ENTRY] >> axis) ^ before) & 1


@either
def meeting(region: Region, axis: int, low: int, high: int) -> tuple[int, int]:
    """Return the least and the greatest half that meets the box, whose sides on the axis are given."""
    least = (low >> region[LEVEL]) & (region[BELOW] >> axis) & 1
    greatest = ((high >> region[LEVEL]) | ~(region[ABOVE] >> axis)) & 1
    return least, greatest


@either
def half(
    region: Region, axis: int, low: int, high: int, which: int, first: int, dimensions: int, turning: bool
) -> Region:
    """Return the half 0 or 1 of a region, which must meet the box."""
    key, level, place, entry, turn, below, above = region
    # What branches would say is said by bits: which way they go is as good as random, and a wrong guess is dear.
    rest = (1 << level) - 1
    below &= ~(((which > (low >> level) & 1) | (low & rest == 0)) << axis)
    above &= ~(((which < (high >> level) & 1) | (high & rest == rest)) << axis)
    key = (key << 1) | (which ^ first)
    if place > 0:
        return key, level, place - 1, entry, turn, below, above
    if turning:
        entry, turn = turned(entry, turn, key & ((1 << dimensions) - 1), dimensions)
    return key, level - 1, dimensions - 1, entry, turn, below, above


@either
def put(rows: Integers, row: int, region: Region) -> None:
    """Keep a region in a row of an array."""
    rows[row, KEY], rows[row, LEVEL], rows[row, PLACE] = region[KEY], region[LEVEL], region[PLACE]
    rows[row, ENTRY], rows[row, TURN] = region[ENTRY], region[TURN]
    rows[row, BELOW], rows[row, ABOVE] = region[BELOW], region[ABOVE]


@either
def taken(rows: Integers, row: int) -> Region:
    """Return a region that was kept."""
    kept = rows[row]
    return kept[KEY], kept[LEVEL], kept[PLACE], kept[ENTRY], kept[TURN], kept[BELOW], kept[ABOVE]
