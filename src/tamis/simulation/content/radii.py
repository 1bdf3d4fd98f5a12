"""CN(r): the network knows the radius of every subscription, which no event changes (specs/003 §3, seed §3.3)."""

from collections.abc import Sequence
from typing import Final

import numpy as np

from tamis.notification.affected import Relabelling
from tamis.notification.circle import Longs
from tamis.notification.structure import Structure
from tamis.simulation.content.forest import CAPACITY, SERVER
from tamis.simulation.content.method import Members, Method, coded, first_code, last_code, register

#: Attributes: of an event, from where to where radii are affected, and the value; of a subscription, id, radius and
#: the value that it is told.
EVENT: Final = 3
MEMBER: Final = 3


@register("CN(r)", ("different",))
class RadiusNetwork(Method):
    """A tree of radii. The server sends an event as one message for each maximal range of affected radii."""

    def __init__(self, hosts: int, capacity: int = CAPACITY) -> None:
        super().__init__(hosts, capacity)
        self._size = 0
        self._root = -1

    def load(self, members: Members) -> None:
        codes = coded(members.radii, members.handles)
        order = np.argsort(codes)
        self._root = self.forest.plant(codes[order], members.handles[order], SERVER)
        self._size = len(codes)

    def tell(self, old: int, new: int, server: Structure) -> Longs:  # noqa: ARG002
        found = self._room(self._size)
        count = 0
        for each in server.ranges():
            ends = first_code(int(each.low)), last_code(int(each.high))
            count = self.forest.route(self._root, *ends, EVENT, found, count)
        return found[:count, 0].copy()

    def _enter(self, member: Members, relabellings: Sequence[Relabelling]) -> None:  # noqa: ARG002
        (code,) = coded(member.radii, member.handles).tolist()
        self.forest.insert(self._root, code, int(member.handles[0]), MEMBER)
        self._size += 1

    def _withdraw(self, member: Members) -> None:
        (code,) = coded(member.radii, member.handles).tolist()
        self.forest.delete(self._root, code, MEMBER)
        self._size -= 1

    def check_invariants(self) -> None:
        self.forest.check_invariants([self._root])
