"""Labels: integers that keep the order of a list into which anything may be inserted anywhere (specs/003 F8).

A new member gets a label in the middle of its gap. Where there is none, the smallest aligned stretch of labels that is
not too crowded is spread out evenly. The stretch of `2 ** j` labels may hold `(2 / CROWDING) ** j` members, so that an
insertion moves a logarithmic number of labels, amortised, wherever it falls. This is the scheme of Bender et al., "Two
simplified algorithms for maintaining order in a list" (2002), in place of the W-BOX that the seed names (§4.3) without
detail: it moves nobody as long as there is a gap, where a W-BOX moves the rest of a leaf at each insertion.
"""

from typing import Final

from tamis.compiled import kernel
from tamis.notification.circle import Longs

#: Labels lie from 0 up to, not including, this.
BITS: Final = 62
TOP: Final = 1 << BITS
#: A label that comes after all others is so much greater than the last one, while there are so many.
STEP: Final = 1 << 32
#: How much more sparsely a stretch must be filled than its halves.
CROWDING: Final = 1.5


@kernel
def insert_label(labels: Longs, place: int, members: int, position: int) -> tuple[int, int]:
    """Find a label for a new member at a position, shifting those behind it; return which members have new labels.

    `labels` are those of the members from `place` on, with room for one more. All members from the first returned
    position up to, not including, the second, the new one among them, were spread out; if they are equal, none was.
    """
    for at in range(place + members, place + position, -1):
        labels[at] = labels[at - 1]
    left = labels[place + position - 1] if position > 0 else -1
    right = labels[place + position + 1] if position < members else TOP
    if position == members and TOP - left > STEP:
        labels[place + position] = left + STEP
        return 0, 0
    if right - left > 1:
        labels[place + position] = left + (right - left) // 2
        return 0, 0
    anchor = left if position > 0 else right
    first, last = position, position + 1
    capacity = 1.0
    for bits in range(1, BITS + 1):
        capacity *= 2.0 / CROWDING
        begin = anchor >> bits << bits
        width = 1 << bits
        while first > 0 and labels[place + first - 1] >= begin:
            first -= 1
        while last < members + 1 and labels[place + last] - begin < width:
            last += 1
        count = last - first
        # Odd places, so that there is a gap on both sides.
        if count <= capacity and 2 * count <= width:
            gap = width // count
            for at in range(count):
                labels[place + first + at] = begin + at * gap + gap // 2
            return first, last
    return -1, -1
