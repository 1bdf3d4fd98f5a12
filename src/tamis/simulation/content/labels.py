"""CN(lid): the network knows the label of every subscription, for one radius (specs/003 §3, seed §4.4)."""

from collections.abc import Sequence
from typing import Final

import numpy as np

from tamis.notification.affected import Relabelling
from tamis.notification.circle import Longs
from tamis.notification.labels import TOP
from tamis.notification.structure import Structure
from tamis.simulation.content.forest import CAPACITY, SERVER
from tamis.simulation.content.method import Members, Method, register

#: Attributes: of an event, from where to where labels are affected, and the value; of a subscription, id, label and
#: the value that it is told.
EVENT: Final = 3
MEMBER: Final = 3


@register("CN(lid)", ("same",))
class LabelNetwork(Method):
    """A tree of labels, which no event changes.

    The server sends an event as one arc of labels; the tree is a line, so an arc that goes through the end of the
    labels is two messages. New subscriptions may shift labels: that is one message, of which each node gets its part.
    """

    def __init__(self, hosts: int, capacity: int = CAPACITY) -> None:
        super().__init__(hosts, capacity)
        self._size = 0
        self._root = -1

    def load(self, members: Members) -> None:
        order = np.argsort(members.labels)
        self._root = self.forest.plant(members.labels[order], members.handles[order], SERVER)
        self._size = len(order)

    def tell(self, old: int, new: int, server: Structure) -> Longs:  # noqa: ARG002
        found = self._room(self._size)
        count = 0
        for each in server.ranges() if server.affected_count else ():
            for low, high in intervals(each.arcs[0].start, each.arcs[0].stop) if each.arcs else [(0, TOP)]:
                if high >= self.forest.least(self._root):
                    count = self.forest.route(self._root, low, high, EVENT, found, count)
        return found[:count, 0].copy()

    def _enter(self, member: Members, relabellings: Sequence[Relabelling]) -> None:
        for each in relabellings:
            self.forest.relabel(self._root, each.shifts)
        self.forest.insert(self._root, int(member.labels[0]), int(member.handles[0]), MEMBER)
        self._size += 1

    def _withdraw(self, member: Members) -> None:
        self.forest.delete(self._root, int(member.labels[0]), MEMBER)
        self._size -= 1

    def check_invariants(self) -> None:
        self.forest.check_invariants([self._root])


def intervals(start: int, stop: int) -> list[tuple[int, int]]:
    """Return an arc of labels as intervals, both ends inside."""
    return [(start, stop - 1)] if start < stop else [(start, TOP), (0, stop - 1)]
