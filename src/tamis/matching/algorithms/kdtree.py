"""Shen's K-d tree of subscriptions (specs/000 §3)."""

from math import isqrt
from typing import Final

import numpy as np

from tamis.compiled import kernel
from tamis.matching.algorithms.boxtree import Trees, plant
from tamis.matching.engine import Capabilities, register
from tamis.matching.ranks.conjunctive import LimitedEngine
from tamis.matching.ranks.encoding import Encoded
from tamis.matching.ranks.kernels import CANDIDATES, TESTS, Predicates, enter, leave, meets_all
from tamis.matching.ranks.line import Split
from tamis.matching.ranks.lists import Ints, Longs, View, grown

#: Newcomers wait outside the trees until they are more than this times the square root of those inside: each costs a
#: test on every event, and planting costs some steps for each subscription.
NEWCOMERS: Final = 4


@register(
    "kdtree",
    Capabilities(
        arbitrary=False,
        exact=True,
        dynamic=True,
        batch=True,
        summary="K-d trees of boxes, one for each common set of attributes (Shen; specs/000 §3)",
    ),
)
class KdTree(LimitedEngine):
    """Subscriptions are boxes in trees: fast where they all constrain the same few attributes, right everywhere.

    A box has for each attribute the hull of what its predicate takes. If that is not all the subscription asks for (a
    predicate with holes, one that takes null, an attribute that the tree does not know), it is tested in full.

    The trees speak of the ranks at the time they were planted. Each leaf remembers the rank it had then; a
    leaf split off later has that of the leaf it was part of, which no box in the trees divides. So cuts come and go
    without touching the trees. A removed subscription leaves its box behind; when more than half of the
    boxes are such, or many newcomers wait, the trees are planted anew before the next event.
    """

    def __init__(self) -> None:
        super().__init__()
        self._plant(np.empty(0, np.int32))

    def _plant(self, positions: Ints) -> None:
        self._trees: Trees = plant(self.space, self.held.view(), positions)
        #: By leaf: the rank it had when the trees were planted.
        self._rank_planted: Ints = self.space.rank.copy()
        self._dead = 0
        self._newcomers: Ints = np.zeros(1, np.int32)
        self._waiting = 0
        #: By position: its slot in the trees, or ~ its place among the newcomers.
        self._where: Ints = np.zeros(self.top, np.int32)
        self._where[self._trees.positions] = np.arange(len(positions), dtype=np.int32)

    def insert(self, position: int, predicates: list[int]) -> None:  # noqa: ARG002 - they are read from `held`
        self._newcomers = grown(self._newcomers, self._waiting + 1)
        self._newcomers[self._waiting] = position
        self._where = grown(self._where, position + 1)
        self._where[position] = ~self._waiting
        self._waiting += 1

    def delete(self, position: int, predicates: list[int]) -> None:  # noqa: ARG002 - its place is known
        where = int(self._where[position])
        if where >= 0:
            self._trees.positions[where] = -1
            self._dead += 1
        else:
            self._waiting -= 1
            last = self._newcomers[self._waiting]
            self._newcomers[~where] = last
            self._where[last] = where

    def split(self, split: Split) -> None:
        self._rank_planted = grown(self._rank_planted, split.new + 1)
        self._rank_planted[split.new] = self._rank_planted[split.old]

    def prepare(self) -> None:
        super().prepare()
        inside = self._trees.positions
        if 2 * self._dead > len(inside) or self._waiting > NEWCOMERS * isqrt(len(inside)):
            self._plant(np.concatenate((inside[inside >= 0], self._newcomers[: self._waiting])))
        self._rank_planted = grown(self._rank_planted, self.space.leaves)

    def search_up_to(
        self, limit: int, first: int, last: int, events: Encoded, ends: Longs, out: Ints, work: Longs
    ) -> int:
        return _search(
            first,
            last,
            events,
            self._trees,
            self._rank_planted,
            self._newcomers[: self._waiting],
            self.held.view(),
            self.predicates(),
            self.ranks(),
            self.scratch("planted", self.space.dimensions),
            self.top,
            limit,
            ends,
            out,
            work,
        )

    def extra_bytes(self) -> int:
        return self._trees.bytes + self._rank_planted.nbytes + self._newcomers.nbytes + self._where.nbytes

    def check_invariants(self) -> None:
        super().check_invariants()
        assert not self.scratch("planted", self.space.dimensions).any()
        trees, bounds = self._trees, self.space.bounds
        trees.check_invariants()
        inside = trees.positions
        assert self._dead == (inside < 0).sum()
        for place, position in enumerate(self._newcomers[: self._waiting].tolist()):
            assert self._where[position] == ~place
        for tree in range(len(trees.first_slot) - 1):
            dimensions = trees.dimensions[trees.first_dimension[tree] : trees.first_dimension[tree + 1]].tolist()
            boxes = trees.boxes[trees.first_box[tree] : trees.first_box[tree + 1]].reshape(-1, len(dimensions), 2)
            for slot, box in enumerate(boxes.tolist(), start=int(trees.first_slot[tree])):
                if inside[slot] >= 0:
                    assert self._where[inside[slot]] == slot
                    predicates = {int(self.space.dimension[each]): each for each in self.held[inside[slot]].tolist()}
                    ends = [bounds[predicates[each]][[0, -1]] for each in dimensions]
                    assert box == [self._rank_planted[each].tolist() for each in ends]


@kernel
def _inside(corners: Ints, at: int, first: int, last: int, dimensions: Ints, ranks: Ints, work: Longs) -> bool:
    """Return whether a point lies in the box that begins at a place of `corners`."""
    for side in range(first, last):
        work[TESTS] += 1
        rank = ranks[dimensions[side]]
        if rank < corners[at] or rank >= corners[at + 1]:
            return False
        at += 2
    return True


@kernel
def _walk(
    tree: int,
    trees: Trees,
    planted: Ints,
    held: View,
    predicates: Predicates,
    ranks: Ints,
    used: int,
    full: int,
    out: Ints,
    work: Longs,
) -> int:
    """Add what a tree has for an event to the answers, until there are `full`, and return how many there are then."""
    dimensions, first, last = trees.dimensions, trees.first_dimension[tree], trees.first_dimension[tree + 1]
    width = 2 * (last - first)
    hull = trees.first_hull[tree] - width * trees.first_node[tree]
    box = trees.first_box[tree] - width * trees.first_slot[tree]
    node = trees.first_node[tree]
    while node < trees.first_node[tree + 1] and used < full:
        if not _inside(trees.hulls, hull + width * node, first, last, dimensions, planted, work):
            node = trees.skip[node]
            continue
        if trees.skip[node] == node + 1:
            for slot in range(trees.begin[node], trees.end[node]):
                if used == full:
                    break
                position = trees.positions[slot]
                if position >= 0:
                    work[CANDIDATES] += 1
                    if _inside(trees.boxes, box + width * slot, first, last, dimensions, planted, work) and (
                        trees.whole[slot] or meets_all(position, -1, ranks, held, predicates, work)
                    ):
                        out[used] = position
                        used += 1
        node += 1
    return used


@kernel
def _search(
    first: int,
    last: int,
    events: Encoded,
    trees: Trees,
    rank_planted: Ints,
    newcomers: Ints,
    held: View,
    predicates: Predicates,
    ranks: Ints,
    planted: Ints,
    top: int,
    limit: int,
    ends: Longs,
    out: Ints,
    work: Longs,
) -> int:
    """The boxes that are reached are candidates; the sides of hulls and boxes are counted as tests.

    An event's ranks are in `ranks`, those it would have had when the trees were planted in `planted`.
    """
    start, size, data = trees.by_dimension
    used = 0
    for row in range(first, last):
        if len(out) - used < top:
            return row
        full = used + limit
        enter(row, events, predicates.rank, ranks)
        enter(row, events, rank_planted, planted)
        for dimension in events.dimensions[events.offsets[row] : events.offsets[row + 1]]:
            if dimension < len(size):
                for tree in data[start[dimension] : start[dimension] + size[dimension]]:
                    used = _walk(tree, trees, planted, held, predicates, ranks, used, full, out, work)
        for position in newcomers:
            if used == full:
                break
            work[CANDIDATES] += 1
            if meets_all(position, -1, ranks, held, predicates, work):
                out[used] = position
                used += 1
        leave(row, events, ranks)
        leave(row, events, planted)
        ends[row] = used
    return last
