"""The Segment-Tree (specs/002 §8, F22): an interval is listed at the few nodes that together are all of it."""

from typing import NamedTuple, Self

import numpy as np

from tamis.compiled import kernel
from tamis.lab.intervals.partition import partition
from tamis.lab.intervals.structure import Ints, Lists, Longs, Values, copy_list


class SegmentTree(NamedTuple):
    """A complete binary tree over the leaves: node n has the children 2 n and 2 n + 1, and the root is node 1.

    By node: the greatest value of its left half, and the intervals listed there. Nodes from ``len(split)`` on are
    leaves.
    """

    split: Values
    lists: Lists
    #: How many intervals there are.
    intervals: int

    @classmethod
    def build(cls, low: Values, high: Values) -> Self:
        cut = partition(low, high)
        width = 1 << (cut.leaves - 1).bit_length()
        limit = np.inf if low.dtype.kind == "f" else np.iinfo(low.dtype).max
        split = np.full(width, limit, low.dtype)
        _choose(cut.lasts, split)
        offsets = np.zeros(2 * width + 1, np.int64)
        _count(cut.first, cut.last, width, offsets)
        np.cumsum(offsets, out=offsets)
        intervals = np.empty(offsets[-1], np.int32)
        _fill(cut.first, cut.last, width, offsets[:-1].copy(), intervals)
        return cls(split, Lists(offsets, intervals), len(low))

    def locate(self, points: Values) -> Longs:
        """Return the leaf of each point."""
        found = np.empty(len(points), np.int64)
        _locate(self.split, points, found)
        return found

    def enumerate(self, first: int, points: Values, ends: Longs, out: Ints) -> int:
        return _enumerate(self, first, points, ends, out)

    @property
    def bytes(self) -> int:
        return self.split.nbytes + self.lists.bytes


@kernel
def _choose(lasts: Values, split: Values) -> None:
    """Write down where each inner node divides its leaves; leaves that do not exist are right of everything."""
    width = len(split)
    size = width
    node = 1
    while node < width:
        for number in range(node):
            last = number * size + size // 2 - 1
            if last < len(lasts):
                split[node + number] = lasts[last]
        node *= 2
        size //= 2


@kernel
def _count(first: Longs, last: Longs, width: int, offsets: Longs) -> None:
    """Count the intervals of each node, one place behind it."""
    for each in range(len(first)):
        left, right = first[each] + width, last[each] + 1 + width
        while left < right:
            if left & 1:
                offsets[left + 1] += 1
                left += 1
            if right & 1:
                offsets[right] += 1
                right -= 1
            left //= 2
            right //= 2


@kernel
def _fill(first: Longs, last: Longs, width: int, places: Longs, intervals: Ints) -> None:
    for each in range(len(first)):
        left, right = first[each] + width, last[each] + 1 + width
        while left < right:
            if left & 1:
                intervals[places[left]] = each
                places[left] += 1
                left += 1
            if right & 1:
                right -= 1
                intervals[places[right]] = each
                places[right] += 1
            left //= 2
            right //= 2


@kernel
def _locate(split: Values, points: Values, found: Longs) -> None:
    width = len(split)
    for number in range(len(points)):
        point = points[number]
        node = 1
        while node < width:
            node = 2 * node + (point > split[node])
        found[number] = node - width


@kernel
def _enumerate(tree: SegmentTree, first: int, points: Values, ends: Longs, out: Ints) -> int:
    width = len(tree.split)
    used = 0
    for number in range(first, len(points)):
        if len(out) - used < tree.intervals:
            return number
        point = points[number]
        node = 1
        while node < 2 * width:
            used = copy_list(tree.lists, node, used, out)
            node = 2 * node + (node < width and point > tree.split[node])
        ends[number] = used
    return len(points)
