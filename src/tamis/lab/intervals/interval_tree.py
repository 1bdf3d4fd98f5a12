"""The centred Interval-Tree (specs/002 §8, F22): of a node's intervals all contain its centre."""

from typing import NamedTuple, Self

import numpy as np

from tamis.compiled import kernel
from tamis.lab.intervals.structure import Ints, Longs, Values

#: No node.
_NONE = -1


class IntervalTree(NamedTuple):
    """By node: its centre, its children, and from where to where its intervals lie in two arrays.

    In ``by_low`` they are sorted by their low ends from the least, in ``by_high`` by their high ends from the greatest;
    ``lows`` and ``highs`` are those ends. To the left of a node are the intervals that end before its centre, to the
    right those that begin after it.
    """

    centre: Values
    left: Ints
    right: Ints
    start: Ints
    end: Ints
    by_low: Ints
    lows: Values
    by_high: Ints
    highs: Values

    @classmethod
    def build(cls, low: Values, high: Values) -> Self:
        by_low = np.argsort(low, kind="stable").astype(np.int32)
        by_high = np.argsort(high, kind="stable")[::-1].astype(np.int32)
        centre = np.empty(len(low), low.dtype)
        links = np.empty((4, len(low)), np.int32)
        nodes = _build(low, high, by_low, by_high, centre, links)
        left, right, start, end = links[:, :nodes].copy()
        return cls(centre[:nodes].copy(), left, right, start, end, by_low, low[by_low], by_high, high[by_high])

    def locate(self, points: Values) -> Longs:
        """Return the node at which the way down ends."""
        found = np.empty(len(points), np.int64)
        _locate(self, points, found)
        return found

    def enumerate(self, first: int, points: Values, ends: Longs, out: Ints) -> int:
        return _enumerate(self, first, points, ends, out)

    @property
    def bytes(self) -> int:
        return sum(array.nbytes for array in self)


@kernel
def _build(low: Values, high: Values, by_low: Ints, by_high: Ints, centre: Values, links: Ints) -> int:
    """Sort every node's intervals between those to its left and those to its right, from the root down.

    A node's centre is where the middle one of its intervals by low end begins: so it has at least that interval, and
    at most half of them go to either side.
    """
    left, right, start, end = links[0], links[1], links[2], links[3]
    spare = np.empty(len(by_low), np.int32)
    nodes = 0
    if len(by_low):
        start[0], end[0] = 0, len(by_low)
        nodes = 1
    node = 0
    while node < nodes:
        begin, stop = start[node], end[node]
        middle = low[by_low[(begin + stop) // 2]]
        _part(low, high, middle, by_low, begin, stop, spare)
        first, last = _part(low, high, middle, by_high, begin, stop, spare)
        centre[node] = middle
        start[node], end[node] = first, last
        left[node] = right[node] = _NONE
        if begin < first:
            left[node] = nodes
            start[nodes], end[nodes] = begin, first
            nodes += 1
        if last < stop:
            right[node] = nodes
            start[nodes], end[nodes] = last, stop
            nodes += 1
        node += 1
    return nodes


@kernel
def _part(low: Values, high: Values, middle: float, order: Ints, begin: int, stop: int, spare: Ints) -> tuple[int, int]:
    """Sort intervals into those before, around and after a value, each in the order they had; tell the two borders."""
    before = around = 0
    for at in range(begin, stop):
        if high[order[at]] < middle:
            before += 1
        elif low[order[at]] <= middle:
            around += 1
    places = (begin, begin + before, begin + before + around)
    at_before, at_around, at_after = places
    for at in range(begin, stop):
        each = order[at]
        if high[each] < middle:
            spare[at_before] = each
            at_before += 1
        elif low[each] <= middle:
            spare[at_around] = each
            at_around += 1
        else:
            spare[at_after] = each
            at_after += 1
    order[begin:stop] = spare[begin:stop]
    return places[1], places[2]


@kernel
def _locate(tree: IntervalTree, points: Values, found: Longs) -> None:
    for number in range(len(points)):
        point = points[number]
        last, node = _NONE, min(len(tree.centre), 1) - 1
        while node != _NONE:
            last = node
            if point < tree.centre[node]:
                node = tree.left[node]
            elif point > tree.centre[node]:
                node = tree.right[node]
            else:
                node = _NONE
        found[number] = last


@kernel
def _enumerate(tree: IntervalTree, first: int, points: Values, ends: Longs, out: Ints) -> int:
    used = 0
    for number in range(first, len(points)):
        if len(out) - used < len(tree.by_low):
            return number
        point = points[number]
        node = min(len(tree.centre), 1) - 1
        while node != _NONE:
            at, end = tree.start[node], tree.end[node]
            if point > tree.centre[node]:
                while at < end and tree.highs[at] >= point:
                    out[used] = tree.by_high[at]
                    used += 1
                    at += 1
                node = tree.right[node]
            else:
                while at < end and tree.lows[at] <= point:
                    out[used] = tree.by_low[at]
                    used += 1
                    at += 1
                node = tree.left[node] if point < tree.centre[node] else _NONE
        ends[number] = used
    return len(points)
