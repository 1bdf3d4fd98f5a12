"""BE-Tree (specs/002 §8; Sadoghi, Jacobsen: BE-Tree, SIGMOD 2011): divide by attribute and by value in turn.

An event walks down the tree through the doors of attributes that it has and the halves that its values lie in. The
subscriptions on its way are candidates. The tree is in `clusters`. A predicate of many stretches is filed by its first
and last rank, and never by a door if it takes null, so candidates are verified like those of PSTBloom and PSTHash.
"""

from collections.abc import Callable
from typing import Final

import numpy as np

from tamis.compiled import kernel
from tamis.matching.algorithms.clusters import Clusters
from tamis.matching.algorithms.division import ATTRIBUTE, LEFT, MIDDLE, RIGHT, ROOT, Tree, behind
from tamis.matching.engine import Capabilities, Rows, register
from tamis.matching.ranks.conjunctive import ConjunctiveEngine
from tamis.matching.ranks.encoding import Encoded
from tamis.matching.ranks.kernels import CANDIDATES, TESTS, enter, leave, meets
from tamis.matching.ranks.layout import layout
from tamis.matching.ranks.line import Merge
from tamis.matching.ranks.lists import Ints, Longs, View
from tamis.matching.ranks.verification import Tests, Verification, verify, word_of

#: How many subscriptions a cluster keeps before it is divided. Of 2 to 100, those from 10 to 50 are equally fast within
#: 15 %, on ads and on dense BE-Gen (50,000 subscriptions): fewer candidates are paid for with more clusters.
LEAF_CAPACITY: Final = 20
#: A cluster with more doors than this for each attribute of an event is asked for each attribute.
_DOORS_PER_ATTRIBUTE = 4
#: From so many subscriptions at once it is worth to look at all leaves and predicates.
BULK = 256


@register(
    "betree",
    Capabilities(
        arbitrary=False,
        exact=True,
        dynamic=True,
        batch=True,
        summary="a tree divided by attribute and by value in turn, candidates tested (BE-Tree; specs/002 §8)",
    ),
)
class BETree(ConjunctiveEngine):
    """New subscriptions wait until the next event, then enter the tree together."""

    def __init__(self, capacity: int = LEAF_CAPACITY) -> None:
        super().__init__()
        self.clusters = Clusters(capacity)
        self._verification = Verification(self.space, self.held)
        self._waiting: dict[int, None] = {}

    def insert(self, position: int, predicates: list[int]) -> None:  # noqa: ARG002 - they are in `held`
        self._waiting[position] = None

    def delete(self, position: int, predicates: list[int]) -> None:  # noqa: ARG002 - the tree knows where it is
        if position in self._waiting:
            del self._waiting[position]
        else:
            self.clusters.delete(position)
            self._verification.delete(position)

    def merge(self, merge: Merge) -> None:
        self.clusters.merge(merge.kept, merge.dropped)

    def _settle(self) -> None:
        """Put the waiting subscriptions into the tree."""
        if self._waiting:
            positions = np.fromiter(self._waiting, np.int32, len(self._waiting))
            self._waiting.clear()
            if len(positions) < BULK:
                for position in positions.tolist():
                    self._verification.insert(position, self.held[position].tolist())
            else:
                self._verification.insert_many(positions, layout(self.space))
            self.clusters.insert(positions, self.held.view(), self.predicates(), self.space.dimensions)

    def match_by(self, search: Callable[..., int], events: Encoded) -> Rows:
        self._settle()
        return super().match_by(search, events)

    def search(self, first: int, last: int, events: Encoded, ends: Longs, out: Ints, work: Longs) -> int:
        tree = self.clusters.tree()
        stack = self.scratch("stack", len(tree.fields))
        held, tests, ranks = self.held.view(), self._verification.tests(), self.ranks()
        return _search(first, last, events, tree, held, tests, ranks, stack, self.top, ends, out, work)

    def extra_bytes(self) -> int:
        return self.clusters.bytes + self._verification.bytes

    def check_invariants(self) -> None:
        super().check_invariants()
        self._settle()
        self.clusters.check_invariants(self.held, self.space)
        self._verification.check_invariants()


@kernel
def _search(
    first: int,
    last: int,
    events: Encoded,
    tree: Tree,
    held: View,
    tests: Tests,
    ranks: Ints,
    stack: Ints,
    top: int,
    ends: Longs,
    out: Ints,
    work: Longs,
) -> int:
    rank, needed, doors, leaves = tests.predicates.rank, tests.needed, tree.doors, tree.leaves
    used = 0
    for row in range(first, last):
        if len(out) - used < top:
            return row
        enter(row, events, rank, ranks)
        word = word_of(row, events)
        found = used
        attributes = events.offsets[row + 1] - events.offsets[row]
        stack[0] = ROOT
        depth = 1
        while depth:
            depth -= 1
            cluster = stack[depth]
            while cluster >= 0:
                work[CANDIDATES] += leaves.size[cluster]
                for place in range(leaves.start[cluster], leaves.start[cluster] + leaves.size[cluster]):
                    position = leaves.data[place]
                    if needed[position] & ~word == 0:
                        out[found] = position
                        found += 1
                if doors.size[cluster] > 2 * _DOORS_PER_ATTRIBUTE * attributes:
                    for place in range(events.offsets[row], events.offsets[row + 1]):
                        opened = behind(cluster, events.dimensions[place], doors)
                        if opened >= 0:
                            stack[depth] = opened
                            depth += 1
                else:
                    for place in range(doors.start[cluster], doors.start[cluster] + doors.size[cluster], 2):
                        if ranks[doors.data[place]] > 0:
                            stack[depth] = doors.data[place + 1]
                            depth += 1
                middle = tree.fields[cluster, MIDDLE]
                if middle < 0:
                    break
                at = ranks[tree.fields[cluster, ATTRIBUTE]]
                cluster = tree.fields[cluster, LEFT if at < rank[middle] else RIGHT]
        used = _verified(held, ranks, tests, out, used, found, work)
        leave(row, events, ranks)
        ends[row] = used
    return last


@kernel
def _verified(held: View, ranks: Ints, tests: Tests, out: Ints, used: int, found: int, work: Longs) -> int:
    """Keep the candidates `out[used:found]` that the event meets; `verify` takes their first predicate for granted."""
    found = verify(0, ranks, tests, out, used, found, work)
    work[TESTS] += found - used
    kept = used
    for number in range(used, found):
        position = out[number]
        predicate = held.data[held.start[position]]
        if meets(predicate, ranks[tests.predicates.dimension[predicate]], tests.predicates):
            out[kept] = position
            kept += 1
    return kept
