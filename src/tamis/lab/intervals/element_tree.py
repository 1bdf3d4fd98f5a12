"""The PS-Tree as a trie over elements, the thesis' own form, in flat tables (specs/002 §4 and §9.3).

`tamis.matching.ranks.trie.ElementTrie` is the same trie for values of every kind, with cuts that come and go. This one
is built once for numbers of one type: 8 elements for 32-bit integers, 16 for doubles.
"""

from typing import NamedTuple, Self

import numpy as np

from tamis.compiled import kernel
from tamis.lab.intervals.partition import Partition, partition
from tamis.lab.intervals.ps_tree import listed, unlisted
from tamis.lab.intervals.structure import Ints, Lists, Longs, Values, copy_list


class ElementTree(NamedTuple):
    """A node is a table of 16 entries, one for each element: ``child[16 * node + element]``.

    An entry is the node to go on with, or ``~n`` where the search ends: at the only value below, or at the next value
    to the right if there is none below. Value n is the last one of leaf n, so a point that is not greater lies in leaf
    n, and in leaf n + 1 otherwise: the links l, e and g of the thesis need not be stored. That a way is not followed
    further when it leads to one value only is ours.
    """

    child: Ints
    #: The last values of the leaves as integers of the same order, and one greater than all.
    keys: Values
    #: How many bits a value has.
    bits: int
    lists: Lists

    @classmethod
    def build(cls, low: Values, high: Values) -> Self:
        cut = partition(low, high)
        return cls(*_tables(cut), listed(cut))

    @classmethod
    def numbered(cls, low: Values, high: Values) -> Self:
        """Return the tree without lists."""
        cut = partition(low, high)
        return cls(*_tables(cut), unlisted(cut))

    def locate(self, points: Values) -> Longs:
        """Return the leaf of each point."""
        found = np.empty(len(points), np.int64)
        _locate(self, _ordered(points), found)
        return found

    def enumerate(self, first: int, points: Values, ends: Longs, out: Ints) -> int:
        return _enumerate(self, first, _ordered(points), ends, out)

    @property
    def bytes(self) -> int:
        return self.child.nbytes + self.keys.nbytes + self.lists.bytes


def _ordered(values: Values) -> Values:
    """Return integers of the same order; a double's are its bits, those below the sign inverted if it is negative."""
    if values.dtype.kind != "f":
        return values
    bits = (values.astype(np.float64) + 0.0).view(np.int64)
    return bits ^ ((bits >> 63) & np.iinfo(np.int64).max)


def _tables(cut: Partition) -> tuple[Ints, Values, int]:
    ordered = _ordered(cut.lasts)
    bits = 8 * ordered.itemsize
    keys = np.append(ordered, np.iinfo(ordered.dtype).max).astype(ordered.dtype)
    nodes = 1
    for shift in range(bits - 4, 0, -4):
        # Below the root there is a node for every run of values that begin with the same elements.
        start = ordered >> shift
        same = np.concatenate([[False], start[1:] == start[:-1]])
        nodes += int(np.count_nonzero(same[1:] > same[:-1]))
    child = np.empty(16 * nodes, np.int32)
    _build(keys, bits, child)
    return child, keys, bits


@kernel
def _element(key: int, shift: int, bits: int) -> int:
    """Return four bits of a key; the first are inverted at the sign, so that negative numbers come first."""
    return ((key >> shift) & 15) ^ (8 if shift == bits - 4 else 0)


@kernel
def _build(keys: Values, bits: int, child: Ints) -> None:
    nodes = len(child) // 16
    starts, ends, shifts = np.empty(nodes, np.int64), np.empty(nodes, np.int64), np.empty(nodes, np.int64)
    starts[0], ends[0], shifts[0] = 0, len(keys) - 1, bits - 4
    made = 1
    for node in range(nodes):
        at, end, shift = starts[node], ends[node], shifts[node]
        for element in range(16):
            start = at
            while at < end and _element(keys[at], shift, bits) == element:
                at += 1
            if at - start < 2:
                child[16 * node + element] = ~start
            else:
                child[16 * node + element] = made
                starts[made], ends[made], shifts[made] = start, at, shift - 4
                made += 1


@kernel
def _leaf(tree: ElementTree, point: int) -> int:
    shift = tree.bits - 4
    entry = tree.child[_element(point, shift, tree.bits)]
    while entry >= 0:
        shift -= 4
        entry = tree.child[16 * entry + ((point >> shift) & 15)]
    return int(~entry + (point > tree.keys[~entry]))


@kernel
def _locate(tree: ElementTree, points: Values, found: Longs) -> None:
    for number in range(len(points)):
        found[number] = _leaf(tree, points[number])


@kernel
def _enumerate(tree: ElementTree, first: int, points: Values, ends: Longs, out: Ints) -> int:
    used = 0
    for number in range(first, len(points)):
        leaf = _leaf(tree, points[number])
        if len(out) - used < tree.lists.offsets[leaf + 1] - tree.lists.offsets[leaf]:
            return number
        used = copy_list(tree.lists, leaf, used, out)
        ends[number] = used
    return len(points)
