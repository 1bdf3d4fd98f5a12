"""The tree of BE-Tree (`betree`): subscriptions divided by attribute and by value in turn, as flat arrays.

A *cluster* (the c-node of the original) holds subscriptions of its own, its *leaf*, and two ways further down:

    doors     by attribute (p-nodes): subscriptions with a predicate on it are in the cluster behind the door
    halves    by value (c-directory): a cluster behind a door is cut in two in rank space; subscriptions whose
              predicate lies to the left or right of the cut are in that half, all others stay

A leaf with more subscriptions than the capacity is divided, first by value, then by attributes that are not on the way
to it, as long as that is possible (`division`). So to build the tree at once is to divide the leaf of its root.
"""

from collections.abc import Iterable

import numpy as np

from tamis.matching.algorithms.division import ATTRIBUTE, FIELDS, LEFT, MIDDLE, PARENT, RIGHT, ROOT, Tree, divide, place
from tamis.matching.ranks.kernels import Predicates
from tamis.matching.ranks.lists import Ints, Lists, Longs, View, grown
from tamis.matching.ranks.space import Space

_FIRST_SIZE = 64


class Clusters:
    """A tree that subscriptions are put into and taken out of. The doors of a cluster are sorted by attribute."""

    def __init__(self, capacity: int) -> None:
        if capacity < 1:
            raise ValueError(f"a leaf holds at least one subscription, not {capacity}")
        self.capacity = capacity
        self.fields: Ints = np.full((_FIRST_SIZE, FIELDS), -1, np.int32)
        self.leaves = Lists()
        self.doors = Lists()
        #: By position: the cluster whose leaf it is in.
        self._where: Ints = np.zeros(1, np.int32)
        self._free: list[int] = list(range(_FIRST_SIZE - 1, ROOT, -1))

    def tree(self) -> Tree:
        """Return the tree as it is now."""
        self.leaves.reserve(len(self.fields))
        self.doors.reserve(len(self.fields))
        return Tree(self.fields, self.leaves.view(), self.doors.view())

    def insert(self, positions: Ints, held: View, predicates: Predicates, dimensions: int) -> None:
        """Put subscriptions into the tree, and divide the leaves that are too large then."""
        self._where = grown(self._where, int(positions.max()) + 1)
        place(positions, self.tree(), held, predicates, self._where)
        touched = self._where[positions].tolist()
        for position, cluster in zip(positions.tolist(), touched, strict=True):
            self.leaves.append(cluster, position)
        large = [each for each in dict.fromkeys(touched) if len(self.leaves[each]) > self.capacity]
        if large:
            self._divide(large, held, predicates, dimensions)

    def _divide(self, large: list[int], held: View, predicates: Predicates, dimensions: int) -> None:
        order = np.concatenate([self.leaves[each] for each in large])
        ends = np.cumsum([len(self.leaves[each]) for each in large])
        ranges = np.zeros((len(self.fields), 2), np.int64)
        ranges[large, 0], ranges[large, 1] = np.append(0, ends[:-1]), ends
        waiting = np.array(large, np.int32)
        costs, numbers = np.zeros(dimensions), np.zeros(dimensions, np.int32)
        made: list[int] = []
        while len(waiting):
            spare = self._spare(_FIRST_SIZE + 2 * len(order) // self.capacity)
            more = np.zeros((len(self.fields) - len(ranges), 2), np.int64)
            ranges = np.concatenate([ranges, more])
            waiting, used = divide(
                waiting, self.capacity, self.fields, ranges, order, spare, held, predicates, costs, numbers
            )
            made += spare[:used].tolist()
            self._free += spare[used:][::-1].tolist()
        self._write(large + made, order, ranges)
        fresh: dict[int, list[tuple[int, int]]] = {}
        for cluster in made:
            attribute, parent = self.fields[cluster, [ATTRIBUTE, PARENT]].tolist()
            if self.fields[parent, ATTRIBUTE] != attribute:
                fresh.setdefault(parent, []).append((attribute, cluster))
        for cluster, doors in fresh.items():
            self._set_doors(cluster, self._doors(cluster) + doors)

    def _write(self, clusters: Iterable[int], order: Ints, ranges: Longs) -> None:
        for cluster in clusters:
            first, last = ranges[cluster].tolist()
            self.leaves.assign(cluster, order[first:last])
            self._where[order[first:last]] = cluster
            if first == last:
                self.leaves.clear(cluster)

    def _spare(self, count: int) -> Ints:
        """Return so many numbers for clusters; those that are not used go back to the free ones."""
        if len(self._free) < count:
            top = len(self.fields)
            more = np.full((max(count, top), FIELDS), -1, np.int32)
            self.fields = np.concatenate([self.fields, more])
            self._free = [*range(len(self.fields) - 1, top - 1, -1), *self._free]
        found = [self._free.pop() for _ in range(count)]
        return np.array(found, np.int32)

    def _doors(self, cluster: int) -> list[tuple[int, int]]:
        flat = self.doors[cluster].tolist()
        return list(zip(flat[::2], flat[1::2], strict=True))

    def _set_doors(self, cluster: int, doors: list[tuple[int, int]]) -> None:
        self.doors.assign(cluster, [number for door in sorted(doors) for number in door])
        if not doors:
            self.doors.clear(cluster)

    def delete(self, position: int) -> None:
        """Take a subscription out, and clusters that are empty then."""
        cluster = int(self._where[position])
        self.leaves.discard(cluster, position)
        while cluster != ROOT and self._is_empty(cluster):
            parent = int(self.fields[cluster, PARENT])
            if self.fields[parent, ATTRIBUTE] == self.fields[cluster, ATTRIBUTE]:
                halves = self.fields[parent, LEFT : RIGHT + 1].tolist()
                if not all(self._is_empty(each) for each in halves):
                    return
                self.fields[parent, MIDDLE : RIGHT + 1] = -1
                self._free += halves
                self.fields[halves] = -1
            else:
                self._set_doors(parent, [door for door in self._doors(parent) if door[1] != cluster])
                self._free.append(cluster)
                self.fields[cluster] = -1
            cluster = parent

    def _is_empty(self, cluster: int) -> bool:
        return bool(self.fields[cluster, MIDDLE] < 0 and not len(self.leaves[cluster]) and not len(self.doors[cluster]))

    def merge(self, kept: int, dropped: int) -> None:
        """Move the cuts at a leaf of a line that went away.

        No subscription's predicate begins or ends there any more, so each still lies on the same side of the cut.
        """
        middle = self.fields[:, MIDDLE]
        middle[middle == dropped] = kept

    @property
    def bytes(self) -> int:
        """How much memory the tree takes."""
        return self.fields.nbytes + self.leaves.bytes + self.doors.bytes + self._where.nbytes

    def check_invariants(self, held: Lists, space: Space) -> None:
        """Raise `AssertionError` if a subscription is not where it belongs, or a leaf could have been divided."""
        rank = space.rank
        seen: list[int] = []
        #: Clusters with the ranks by attribute between which predicates lie.
        clusters: list[tuple[int, dict[int, tuple[int, int]]]] = [(ROOT, {})]
        for cluster, within in clusters:
            own, middle, *halves = self.fields[cluster, ATTRIBUTE:PARENT].tolist()
            doors = self._doors(cluster)
            assert doors == sorted(dict(doors).items())
            assert not any(self._is_empty(each) for _, each in doors)
            below = [(each, {**within, attribute: (1, len(rank))}) for attribute, each in doors]
            if middle >= 0:
                low, high = within[own]
                cut = int(rank[middle])
                below += [(halves[0], {**within, own: (low, cut)}), (halves[1], {**within, own: (cut, high)})]
            assert (self.fields[[each for each, _ in below], PARENT] == cluster).all()
            clusters += below
            hulls = []
            for position in self.leaves[cluster].tolist():
                hull = {
                    int(space.dimension[each]): tuple(rank[space.bounds[each][[0, -1]]].tolist())
                    for each in held[position].tolist()
                    if not space.takes_null[each]
                }
                assert all(low <= hull[each][0] and hull[each][1] <= high for each, (low, high) in within.items())
                assert not hull.keys() & dict(doors).keys()
                assert self._where[position] == cluster
                hulls.append(hull)
            if len(hulls) > self.capacity:
                assert all(hull.keys() == within.keys() for hull in hulls)
                assert own < 0 or middle >= 0 or len({hull[own] for hull in hulls}) == 1
            seen += self.leaves[cluster].tolist()
        assert len(clusters) == len({each for each, _ in clusters}) == len(self.fields) - len(self._free)
        assert len(seen) == len(set(seen))
        self.leaves.check_invariants()
        self.doors.check_invariants()
