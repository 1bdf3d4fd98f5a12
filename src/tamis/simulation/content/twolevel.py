"""CN(r,lid): a network of radii, at each of which is a network of labels (specs/003 §3 and F10, seed §5)."""

from collections.abc import Sequence
from typing import Final

import numpy as np

from tamis.notification.affected import Relabelling
from tamis.notification.circle import Longs
from tamis.notification.labels import TOP
from tamis.notification.structure import Structure
from tamis.simulation.content.forest import CAPACITY, SERVER
from tamis.simulation.content.method import Members, Method, register

#: Attributes: of an event to secondaries, from where to where radii are affected, and the value; of an event to labels,
#: from where to where, and the value; of a subscription, id, radius or label, and the value that it is told.
TO_RADII: Final = 3
TO_LABELS: Final = 3
MEMBER: Final = 3


@register("CN(r,lid)", ("all",))
class TwoLevelNetwork(Method):
    """A tree of radii from the server, and for each radius a tree of labels from its secondary server, on a broker.

    The server sends an event as ranges of radii. The leaves of the tree of radii pass it on to the secondary of each
    radius in a range, which sends it to the labels that are affected. A secondary finds these as the server did, from
    the values that it was told; here both are one.
    """

    def __init__(self, hosts: int, capacity: int = CAPACITY) -> None:
        super().__init__(hosts, capacity)
        self._root = -1
        #: By radius: the number of its tree; and by that number: its root and how many it has.
        self._trees: dict[int, int] = {}
        self._roots: Longs = np.zeros(4, np.int64)
        self._sizes: list[int] = []
        self._free: list[int] = []

    def load(self, members: Members) -> None:
        order = np.lexsort((members.labels, members.radii))
        radii, first = np.unique(members.radii[order], return_index=True)
        bounds = [*first.tolist(), len(order)]
        for number, radius in enumerate(radii.tolist()):
            some = order[bounds[number] : bounds[number + 1]]
            self._grow(radius, members.labels[some], members.handles[some])
        trees = np.array([self._trees[radius] for radius in radii.tolist()], np.int64)
        self._root = self.forest.plant(radii, trees, SERVER)

    def tell(self, old: int, new: int, server: Structure) -> Longs:  # noqa: ARG002
        secondaries = self._room(len(self._trees) + 1)
        count = 0
        arcs: dict[int, tuple[int, int]] = {}
        for each in server.ranges() if server.affected_count else ():
            count = self.forest.route(self._root, int(each.low), int(each.high), TO_RADII, secondaries, count)
            arcs |= {self._trees[int(arc.must)]: (arc.start, arc.stop) for arc in each.arcs}
        parts = sorted(arcs)
        ends = np.array([arcs[tree] for tree in parts], np.int64).reshape(-1, 2)
        found = np.empty((server.affected_count, 2), np.int64)
        self.forest.reach_labels(
            secondaries[:count], self._roots, np.array(parts, np.int64), ends, (TO_RADII, TO_LABELS), TOP, found
        )
        return found[:, 0].copy()

    def _enter(self, member: Members, relabellings: Sequence[Relabelling]) -> None:
        radius, label, handle = (int(each[0]) for each in (member.radii, member.labels, member.handles))
        if radius in self._trees:
            root = self._visit(radius)
            for each in relabellings:
                self.forest.relabel(root, each.shifts)
            self.forest.insert(root, label, handle, MEMBER)
            self._sizes[self._trees[radius]] += 1
        else:
            self._grow(radius, member.labels, member.handles)
            self.forest.insert(self._root, radius, self._trees[radius], MEMBER)
            self._visit(radius)

    def _withdraw(self, member: Members) -> None:
        radius = int(member.radii[0])
        tree, root = self._trees[radius], self._visit(radius)
        self.forest.delete(root, int(member.labels[0]), MEMBER)
        self._sizes[tree] -= 1
        if not self._sizes[tree]:
            self.forest.delete(self._root, radius, MEMBER)
            self.forest.fell(root)
            del self._trees[radius]
            self._free.append(tree)

    def check_invariants(self) -> None:
        self.forest.check_invariants([self._root, *(int(self._roots[tree]) for tree in self._trees.values())])
        assert self.forest.entries(self._root) == sorted(self._trees.items())
        for tree in self._trees.values():
            assert len(self.forest.entries(int(self._roots[tree]))) == self._sizes[tree]

    def _visit(self, radius: int) -> int:
        """Send a message to the secondary of a radius, and return the root of its labels."""
        found = self._room(len(self._trees) + 1)
        self.forest.route(self._root, radius, radius, MEMBER, found)
        root = int(self._roots[self._trees[radius]])
        self.meter.pass_on(int(found[0, 1]), self.forest.host(root), MEMBER)
        return root

    def _grow(self, radius: int, labels: Longs, handles: Longs) -> None:
        """Make a tree of labels for a radius."""
        tree = self._free.pop() if self._free else len(self._sizes)
        if tree == len(self._sizes):
            self._sizes.append(0)
        if tree == len(self._roots):
            self._roots = np.concatenate((self._roots, self._roots))
        self._roots[tree] = self.forest.plant(labels, handles)
        self._sizes[tree] = len(labels)
        self._trees[radius] = tree
