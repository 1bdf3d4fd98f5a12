"""From a box to its maximal runs on a curve, by descent in the order of the curve (specs/001 F3).

F3 opens a cube into `2 ** d` smaller ones and asks each whether it meets the box. Here a region is halved along one
axis at a time, and a half that misses the box is not visited; so those that meet it are, in curve order, and
nothing grows with `2 ** d`.
"""

from tamis.compiled import kernel
from tamis.geometry.integers import Integers, either
from tamis.geometry.regions import axis_of, block, everything, first_half, half, inside, meeting, put, taken


@either
def descend(
    low: Integers,
    high: Integers,
    bits: int,
    turning: bool,
    waiting: Integers,
    starts: Integers,
    ends: Integers,
    most: int,
) -> int:
    """Write the runs of a box as far as there is room, and return how many there are; stop beyond `most`.

    `waiting` is scratch with a row of `FIELDS` for each bit of a key.
    """
    dimensions = len(low)
    region = everything(low, high, bits, turning)
    found = depth = 0
    start, end = 0, -1
    while True:
        while not inside(region):
            axis = axis_of(region, dimensions)
            first = first_half(region, axis, dimensions, turning)
            least, greatest = meeting(region, axis, low[axis], high[axis])
            if least < greatest:
                put(waiting, depth, half(region, axis, low[axis], high[axis], 1 - first, first, dimensions, turning))
                depth += 1
                least = first
            region = half(region, axis, low[axis], high[axis], least, first, dimensions, turning)
        begin, last = block(region, dimensions)
        if begin != end + 1 or found == 0:
            if 0 < found <= len(starts):
                starts[found - 1] = start
                ends[found - 1] = end
            found += 1
            if found > most:
                return found
            start = begin
        end = last
        if depth == 0:
            break
        depth -= 1
        region = taken(waiting, depth)
    if found <= len(starts):
        starts[found - 1] = start
        ends[found - 1] = end
    return found


#: The same, compiled, for keys of at most 63 bits.
descend_compiled = kernel(descend)
