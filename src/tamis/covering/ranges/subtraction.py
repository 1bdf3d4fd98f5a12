"""What is left of a box when others are cut out of it (specs/001 F11)? It is subsumed if nothing is."""

from typing import Final

import numpy as np

from tamis.compiled import kernel
from tamis.geometry.leaves import Longs, Runs

#: Boxes that are compared with a rest before it is given up, which is safe.
WORK_CAP: Final = 100_000
#: Rests that may wait at a time; more are as good as too much work.
_MOST_RESTS: Final = 4096
_TOO_MUCH: Final = -1


def subsumed(low: Longs, high: Longs, lows: Longs, highs: Longs, work_cap: int = WORK_CAP) -> bool:
    """Return whether every point of a box on the integer grid lies in one of the others.

    "No" may also mean that to find out would cost more than `work_cap` comparisons.
    """
    return bool(_subtract(low, high, *_in_order(low, high, lows, highs), work_cap, np.empty((0, 2, 0), np.int64)) == 0)


def remainder(low: Longs, high: Longs, lows: Longs, highs: Longs, work_cap: int = WORK_CAP) -> Runs | None:
    """Return what is left of a box as disjoint boxes, or None if to find out costs too much."""
    out = np.empty((_MOST_RESTS, 2, len(low)), np.int64)
    found = _subtract(low, high, *_in_order(low, high, lows, highs), work_cap, out)
    return None if found == _TOO_MUCH else (out[:found, 0].copy(), out[:found, 1].copy())


def _in_order(low: Longs, high: Longs, lows: Longs, highs: Longs) -> Runs:
    """Return the boxes that meet a box. Those that share most with it come first: they leave the least."""
    widths = np.minimum(highs, high).astype(np.float64) - np.maximum(lows, low)
    meeting = np.flatnonzero((widths >= 0).all(axis=1))
    order = meeting[np.argsort(-np.log1p(widths[meeting]).sum(axis=1), kind="stable")]
    return lows[order], highs[order]


@kernel
def _subtract(low: Longs, high: Longs, lows: Longs, highs: Longs, work_cap: int, out: Longs) -> int:
    """Take the rests one by one, the last first: each is cut by the next box that meets it; if none does, it stays.

    What stays is written to `out`, and counted; without room, or with too much work, there is no answer.
    """
    dimensions = len(low)
    rests = np.empty((_MOST_RESTS, 2, dimensions), np.int64)
    following = np.empty(_MOST_RESTS, np.int64)
    rests[0, 0], rests[0, 1], following[0] = low, high, 0
    box = np.empty((2, dimensions), np.int64)
    waiting, work, found = 1, 0, 0
    while waiting:
        waiting -= 1
        box[:] = rests[waiting]
        number = following[waiting]
        while number < len(lows) and not _meets(box, lows[number], highs[number]):
            number += 1
            work += 1
        work += 1
        if work > work_cap or waiting + 2 * dimensions > _MOST_RESTS:
            return _TOO_MUCH
        if number == len(lows):
            if found == len(out):
                return _TOO_MUCH
            out[found] = box
            found += 1
            continue
        for axis in range(dimensions):
            if box[0, axis] < lows[number, axis]:
                rests[waiting] = box
                rests[waiting, 1, axis] = lows[number, axis] - 1
                following[waiting] = number + 1
                waiting += 1
                box[0, axis] = lows[number, axis]
            if box[1, axis] > highs[number, axis]:
                rests[waiting] = box
                rests[waiting, 0, axis] = highs[number, axis] + 1
                following[waiting] = number + 1
                waiting += 1
                box[1, axis] = highs[number, axis]
    return found


@kernel
def _meets(box: Longs, low: Longs, high: Longs) -> bool:
    for axis in range(len(low)):  # noqa: SIM110 - the kernel compiler knows no generators
        if box[0, axis] > high[axis] or low[axis] > box[1, axis]:
            return False
    return True
