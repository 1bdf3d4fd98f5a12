"""K-d trees of boxes in rank space (specs/000 §3): they find the boxes that a point lies in.

The source stores a box with the sides [l_j, r_j] as the point (-l_1, r_1, …) and asks for the points that are at least
(-e_1, e_1, …) in every coordinate. Of the points below a node only the greatest coordinates matter then, that is the
least l_j and the greatest r_j: the hull of the boxes. So boxes stay boxes here, and a node has the hull of its boxes.
Splits halve the boxes by that of the 2β coordinates in which they differ most.

[ours] The source has one set of attributes for all subscriptions. Here each set that enough subscriptions
constrain has a tree of its own, which splits on nothing else, so no box in it is open on a side.
Subscriptions with a rare set of attributes get together by their most selective predicate only.
"""

from itertools import pairwise
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from tamis.compiled import kernel
from tamis.matching.ranks.layout import layout
from tamis.matching.ranks.lists import Bytes, Ints, Longs, View
from tamis.matching.ranks.selectivity import sort_by_selectivity
from tamis.matching.ranks.space import Space

#: So many boxes are not worth another split.
BUCKET: Final = 8
#: A set of attributes that fewer subscriptions have gets no tree.
LEAST_MEMBERS: Final = 16
#: Trees have so many dimensions at most: those that most subscriptions constrain.
MOST_DIMENSIONS: Final = 8


class Trees(NamedTuple):
    """Trees 0, 1, 2, …: the nodes of one behind those of the other, each in pre-order, and *slots* with a box each.

    Tree t has the dimensions from `first_dimension[t]` up to `first_dimension[t + 1]`, and so on. A box is a low and a
    high rank for each dimension of its tree.
    """

    #: By dimension: the trees for an event that has this attribute.
    by_dimension: View
    first_dimension: Longs
    dimensions: Ints
    first_node: Longs
    #: By node: the slots below it, and the node that follows if these are left out.
    begin: Ints
    end: Ints
    skip: Ints
    #: The hull of each node.
    first_hull: Longs
    hulls: Ints
    first_slot: Longs
    #: By slot: the subscription, or -1 if it was removed, and whether its box is all that it asks for.
    positions: Ints
    whole: Bytes
    first_box: Longs
    boxes: Ints

    @property
    def bytes(self) -> int:
        """How much memory the trees take."""
        return sum(each.nbytes for each in (*self.by_dimension, *self[1:]))

    def check_invariants(self) -> None:
        """Raise `AssertionError` if a node does not hold its boxes, or its children not all of them."""
        for tree in range(len(self.first_slot) - 1):
            width = 2 * int(self.first_dimension[tree + 1] - self.first_dimension[tree])
            boxes = self.boxes[self.first_box[tree] : self.first_box[tree + 1]].reshape(-1, width)
            hulls = self.hulls[self.first_hull[tree] : self.first_hull[tree + 1]].reshape(-1, width)
            first, last = (int(each) for each in self.first_node[tree : tree + 2])
            assert (self.begin[first], self.end[first]) == tuple(self.first_slot[tree : tree + 2])
            assert self.skip[first] == last
            for node in range(first, last):
                below = boxes[self.begin[node] - self.first_slot[tree] : self.end[node] - self.first_slot[tree]]
                assert (hulls[node - first, ::2] == below[:, ::2].min(axis=0)).all()
                assert (hulls[node - first, 1::2] == below[:, 1::2].max(axis=0)).all()
                if self.skip[node] > node + 1:
                    left, right = node + 1, self.skip[node + 1]
                    assert self.begin[node] == self.begin[left]
                    assert self.end[left] == self.begin[right]
                    assert self.end[right] == self.end[node]
                    assert self.skip[right] == self.skip[node]


class _Sides(NamedTuple):
    """The predicates of all subscriptions, without those that take null: where their hulls begin and end."""

    owner: Longs
    predicate: Ints
    dimension: Ints
    low: Ints
    high: Ints

    def take(self, chosen: npt.NDArray[Any]) -> "_Sides":
        """Return some of them, by a mask or in another order."""
        return _Sides(*(each[chosen] for each in self))


def plant(space: Space, held: View, positions: Ints) -> Trees:
    """Return trees of the subscriptions at some positions, in ranks as they are now."""
    sort_by_selectivity(space, positions, held, layout(space))
    sides = _sides(space, held, positions)
    popularity = np.bincount(sides.dimension, minlength=space.dimensions)
    sides, tree = _assigned(sides, popularity, len(positions))
    sides = sides.take(np.lexsort((sides.dimension, sides.owner, tree[sides.owner])))
    members = np.bincount(tree)
    widths = np.bincount(tree[sides.owner]) // members
    first_slot, first_dimension, first_box = _starts(members), _starts(widths), _starts(2 * members * widths)
    # The sides of the first member of each tree tell its dimensions.
    leading = np.repeat(first_box[:-1] // 2 - first_dimension[:-1], widths) + np.arange(first_dimension[-1])
    dimensions = sides.dimension[leading]
    single = space.bounds.size[sides.predicate] == 2
    whole = np.bincount(sides.owner[single], minlength=len(positions)) == held.size[positions]

    # No bucket is less than half full, except where a tree has only one.
    nodes = 4 * len(positions) // BUCKET + len(members)
    begin, end, skip = np.zeros((3, nodes), np.int32)
    first_node, first_hull = np.zeros((2, len(members) + 1), np.int64)
    hulls = np.zeros(2 * nodes * widths.max(initial=0), np.int32)
    drawn = np.stack((sides.low, sides.high), axis=1).ravel()
    boxes = np.empty_like(drawn)
    order = np.arange(len(positions))
    _grow(
        first_slot,
        first_dimension,
        first_box,
        drawn,
        BUCKET,
        order,
        boxes,
        first_node,
        begin,
        end,
        skip,
        first_hull,
        hulls,
    )
    owners = np.argsort(tree, kind="stable")[order]
    return Trees(
        by_dimension=_by_dimension(first_dimension, dimensions, popularity),
        first_dimension=first_dimension,
        dimensions=dimensions,
        first_node=first_node,
        begin=begin[: first_node[-1]],
        end=end[: first_node[-1]],
        skip=skip[: first_node[-1]],
        first_hull=first_hull,
        hulls=hulls[: first_hull[-1]].copy(),
        first_slot=first_slot,
        positions=positions[owners],
        whole=whole[owners].astype(np.int8),
        first_box=first_box,
        boxes=boxes,
    )


def _starts(sizes: npt.NDArray[Any]) -> Longs:
    return np.concatenate((np.zeros(1, np.int64), np.cumsum(sizes, dtype=np.int64)))


def _sides(space: Space, held: View, positions: Ints) -> _Sides:
    rank, bounds = space.rank, space.bounds.view()
    sizes = held.size[positions]
    owner = np.repeat(np.arange(len(positions)), sizes)
    predicate = held.data[np.repeat(held.start[positions] - _starts(sizes)[:-1], sizes) + np.arange(len(owner))]
    counted = ~np.array(space.takes_null, np.bool_)[predicate]
    owner, predicate = owner[counted], predicate[counted]
    start = bounds.start[predicate]
    low = rank[bounds.data[start]]
    high = rank[bounds.data[start + bounds.size[predicate] - 1]]
    return _Sides(owner, predicate, space.dimension[predicate], low, high)


def _assigned(sides: _Sides, popularity: Longs, owners: int) -> tuple[_Sides, Longs]:
    """Return the sides that boxes have, and a tree for each owner. An owner's most selective side comes first."""
    first = _starts(np.bincount(sides.owner, minlength=owners))[:-1]
    place = np.empty(len(sides.owner), np.int64)
    by_popularity = np.lexsort((sides.dimension, -popularity[sides.dimension], sides.owner))
    place[by_popularity] = np.arange(len(place)) - first[sides.owner]
    used = place < MOST_DIMENSIONS
    tree = np.zeros(owners, np.int64)
    for each in range(place[used].max(initial=-1) + 1):
        there = place == each
        following = np.zeros(owners, np.int64)
        following[sides.owner[there]] = sides.dimension[there] + 1
        tree = np.unique(tree * (len(popularity) + 1) + following, return_inverse=True)[1]
    rare = np.bincount(tree)[tree] < LEAST_MEMBERS
    tree[rare] = owners + sides.dimension[first[rare]]
    used &= ~rare[sides.owner]
    used[first[rare]] = True
    return sides.take(used), np.unique(tree, return_inverse=True)[1]


def _by_dimension(first_dimension: Longs, dimensions: Ints, popularity: Longs) -> View:
    """Return the trees by that of their dimensions which the fewest subscriptions have."""
    rarest = [int(min(dimensions[first:last], key=popularity.__getitem__)) for first, last in pairwise(first_dimension)]
    size = np.bincount(np.array(rarest, np.int64), minlength=len(popularity))
    return View(_starts(size)[:-1], size.astype(np.int32), np.argsort(rarest, kind="stable").astype(np.int32))


@kernel
def _grow(
    first_slot: Longs,
    first_dimension: Longs,
    first_box: Longs,
    drawn: Ints,
    bucket: int,
    order: Longs,
    boxes: Ints,
    first_node: Longs,
    begin: Ints,
    end: Ints,
    skip: Ints,
    first_hull: Longs,
    hulls: Ints,
) -> None:
    """Make the nodes and bring the boxes, as they were drawn, into the order in which nodes have them."""
    waiting = np.zeros((64, 2), np.int64)
    for tree in range(len(first_slot) - 1):
        width = 2 * (first_dimension[tree + 1] - first_dimension[tree])
        origin = first_box[tree] - first_slot[tree] * width
        node, hull = first_node[tree], first_hull[tree]
        waiting[0, 0], waiting[0, 1] = first_slot[tree], first_slot[tree + 1]
        depth = 1
        while depth:
            depth -= 1
            low, high = waiting[depth, 0], waiting[depth, 1]
            begin[node], end[node], skip[node] = low, high, node + 1
            side = _enclose(drawn, origin, width, order, low, high, hulls, hull)
            if side >= 0 and high - low > bucket:
                middle = (low + high) // 2
                _halve(drawn, origin + side, width, order, low, high - 1, middle)
                skip[node] = 0
                waiting[depth, 0], waiting[depth, 1] = middle, high
                waiting[depth + 1, 0], waiting[depth + 1, 1] = low, middle
                depth += 2
            node += 1
            hull += width
        # A node is followed by its left child, this by the right child, and that by what follows the node.
        for each in range(node - 1, first_node[tree] - 1, -1):
            if skip[each] == 0:
                skip[each] = skip[skip[each + 1]]
        first_node[tree + 1], first_hull[tree + 1] = node, hull
        for slot in range(first_slot[tree], first_slot[tree + 1]):
            for at in range(origin, origin + width):
                boxes[at + slot * width] = drawn[at + order[slot] * width]


@kernel
def _enclose(boxes: Ints, origin: int, width: int, order: Longs, low: int, high: int, hulls: Ints, hull: int) -> int:
    """Write down the hull of some boxes and return the coordinate in which they differ most, -1 if they are alike."""
    widest, side = 0, -1
    for coordinate in range(width):
        least = greatest = boxes[origin + coordinate + order[low] * width]
        for at in range(low + 1, high):
            value = boxes[origin + coordinate + order[at] * width]
            least, greatest = min(least, value), max(greatest, value)
        hulls[hull + coordinate] = greatest if coordinate % 2 else least
        if greatest - least > widest:
            widest, side = greatest - least, coordinate
    return side


@kernel
def _halve(boxes: Ints, origin: int, width: int, order: Longs, low: int, high: int, middle: int) -> None:
    """Bring the boxes with the smaller coordinates before the middle (Hoare's selection)."""
    while low < high:
        pivot = boxes[origin + order[(low + high) // 2] * width]
        left, right = low, high
        while left <= right:
            while boxes[origin + order[left] * width] < pivot:
                left += 1
            while boxes[origin + order[right] * width] > pivot:
                right -= 1
            if left <= right:
                order[left], order[right] = order[right], order[left]
                left += 1
                right -= 1
        if middle <= right:
            high = right
        elif middle >= left:
            low = left
        else:
            return
