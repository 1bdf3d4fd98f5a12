"""How the Hilbert curve turns from one cube to the next smaller one (specs/001 F2; Hamilton and Rau-Chaplin).

A cube is halved once along every axis. Which of its `2 ** d` parts comes where on the curve is told by two numbers:
the corner where the curve enters (`entry`, a bit for each axis) and the axis it halves last (`axis`; in the words of
F2, `r + 1`). The part with the number `digit`, written as a Gray code, turned round by `axis` and seen from
`entry`, is the part's corner. F2 writes this for whole digits; here it is used bit by bit, from the top:

    the bit at `place` of a digit halves the axis (place + axis) mod d;
    it is the half's bit, XOR that axis's bit of `entry`, XOR the bit before it in the same digit.

So a cube is halved one axis at a time, in the order of the curve, and no table of `2 ** d` parts is needed.
"""

from tamis.geometry.integers import either


@either
def turned(entry: int, axis: int, digit: int, dimensions: int) -> tuple[int, int]:
    """Return `entry` and `axis` of the part with this digit: `child` of F2."""
    if digit == 0:
        return entry, (axis + 1 if axis + 1 < dimensions else 0)
    even = ((digit - 1) >> 1) << 1
    corner = even ^ (even >> 1)
    rotated = ((corner << axis) | (corner >> (dimensions - axis))) & ((1 << dimensions) - 1)
    ones = digit - 1 + (digit & 1)
    axis += 1
    while ones & 1:
        ones >>= 1
        axis += 1
    # Without a division: `axis` went round twice at most.
    while axis >= dimensions:
        axis -= dimensions
    return entry ^ rotated, axis
