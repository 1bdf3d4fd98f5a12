"""The PS-Tree as one sorted array of cuts: a leaf lists all intervals that cover it (specs/002 §4 and §9.3)."""

from typing import NamedTuple, Self

import numpy as np

from tamis.compiled import kernel
from tamis.lab.intervals.partition import Partition, partition
from tamis.lab.intervals.structure import Ints, Lists, Longs, Values, copy_list


class PSTree(NamedTuple):
    """The cuts, and the intervals of each leaf.

    The lists make the thesis' PS-Tree_B, whose size grows with the product of intervals and leaves. Without them
    (`numbered`) it is PS-Tree_H: a leaf is only a number, and `enumerate` finds nothing.
    """

    lasts: Values
    lists: Lists

    @classmethod
    def build(cls, low: Values, high: Values) -> Self:
        cut = partition(low, high)
        return cls(cut.lasts, listed(cut))

    @classmethod
    def numbered(cls, low: Values, high: Values) -> Self:
        """Return the tree without lists."""
        cut = partition(low, high)
        return cls(cut.lasts, unlisted(cut))

    def locate(self, points: Values) -> Longs:
        """Return the leaf of each point."""
        found = np.empty(len(points), np.int64)
        _locate(self, points, found)
        return found

    def enumerate(self, first: int, points: Values, ends: Longs, out: Ints) -> int:
        return _enumerate(self, first, points, ends, out)

    @property
    def bytes(self) -> int:
        return self.lasts.nbytes + self.lists.bytes


def listed(cut: Partition) -> Lists:
    """Return the intervals that cover each leaf."""
    # How many intervals cover a leaf: those that began up to it, less those that ended before it.
    begun = np.cumsum(np.bincount(cut.first, minlength=cut.leaves))
    ended = np.cumsum(np.bincount(cut.last + 1, minlength=cut.leaves + 1))
    offsets = np.zeros(cut.leaves + 1, np.int64)
    np.cumsum(begun - ended[: cut.leaves], out=offsets[1:])
    intervals = np.empty(offsets[-1], np.int32)
    _fill(cut.first, cut.last, offsets[:-1].copy(), intervals)
    return Lists(offsets, intervals)


def unlisted(cut: Partition) -> Lists:
    """Return an empty list for each leaf."""
    return Lists(np.zeros(cut.leaves + 1, np.int64), np.empty(0, np.int32))


@kernel
def _fill(first: Longs, last: Longs, places: Longs, intervals: Ints) -> None:
    for each in range(len(first)):
        for leaf in range(first[each], last[each] + 1):
            intervals[places[leaf]] = each
            places[leaf] += 1


@kernel
def _leaf(lasts: Values, point: float) -> int:
    low, high = 0, len(lasts)
    while low < high:
        middle = (low + high) // 2
        if lasts[middle] < point:
            low = middle + 1
        else:
            high = middle
    return low


@kernel
def _locate(tree: PSTree, points: Values, found: Longs) -> None:
    for number in range(len(points)):
        found[number] = _leaf(tree.lasts, points[number])


@kernel
def _enumerate(tree: PSTree, first: int, points: Values, ends: Longs, out: Ints) -> int:
    used = 0
    for number in range(first, len(points)):
        leaf = _leaf(tree.lasts, points[number])
        if len(out) - used < tree.lists.offsets[leaf + 1] - tree.lists.offsets[leaf]:
            return number
        used = copy_list(tree.lists, leaf, used, out)
        ends[number] = used
    return len(points)
