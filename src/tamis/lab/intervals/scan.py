"""SCAN: every interval is tested (specs/002 §8)."""

from typing import NamedTuple, Self

import numpy as np

from tamis.compiled import kernel
from tamis.lab.intervals.structure import Ints, Longs, Values


class Scan(NamedTuple):
    """The intervals as they are."""

    low: Values
    high: Values

    @classmethod
    def build(cls, low: Values, high: Values) -> Self:
        return cls(low, high)

    def locate(self, points: Values) -> Longs:
        """Return how many intervals contain each point: a scan knows no place, and must look at them all."""
        found = np.empty(len(points), np.int64)
        _count(self, points, found)
        return found

    def enumerate(self, first: int, points: Values, ends: Longs, out: Ints) -> int:
        return _enumerate(self, first, points, ends, out)

    @property
    def bytes(self) -> int:
        return 0


@kernel
def _count(intervals: Scan, points: Values, found: Longs) -> None:
    for number in range(len(points)):
        point = points[number]
        count = 0
        for each in range(len(intervals.low)):
            if intervals.low[each] <= point and point <= intervals.high[each]:
                count += 1
        found[number] = count


@kernel
def _enumerate(intervals: Scan, first: int, points: Values, ends: Longs, out: Ints) -> int:
    used = 0
    for number in range(first, len(points)):
        if len(out) - used < len(intervals.low):
            return number
        point = points[number]
        for each in range(len(intervals.low)):
            # Written always and kept if it counts: a jump that cannot be foreseen takes ten times as long.
            out[used] = each
            used += (intervals.low[each] <= point) & (point <= intervals.high[each])
        ends[number] = used
    return len(points)
