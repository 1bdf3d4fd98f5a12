"""CN(c): the network knows the centre of every subscription, for one radius (specs/003 §3, seed §4.1)."""

from collections.abc import Sequence
from typing import Final

import numpy as np

from tamis.notification.affected import Relabelling
from tamis.notification.circle import Longs
from tamis.notification.structure import Structure
from tamis.simulation.content.forest import CAPACITY, SERVER
from tamis.simulation.content.meter import ATTRIBUTE
from tamis.simulation.content.method import Members, Method, coded, first_code, last_code, register

#: Attributes: of an event, from where to where centres are affected, and the value; of what a leaf answers, the id of
#: each subscription; of a centre that is registered, id and centre.
EVENT: Final = 3
ANSWER: Final = 1
CENTRE: Final = 2


@register("CN(c)", ("same",))
class CentreNetwork(Method):
    """A tree of centres. An event goes to all that are a radius behind it, and moves them.

    The leaves that it reaches give the centres up and tell the root, which registers each anew: `k + 1` messages
    originate there for `k` affected subscriptions, as in the seed (§7.2.2).
    """

    def __init__(self, hosts: int, capacity: int = CAPACITY) -> None:
        super().__init__(hosts, capacity)
        self._radius = 0
        #: By handle.
        self._centres: Longs = np.zeros(0, np.int64)
        self._root = -1

    def load(self, members: Members) -> None:
        self._keep(members)
        codes = coded(members.centres, members.handles)
        order = np.argsort(codes)
        self._root = self.forest.plant(codes[order], members.handles[order], SERVER)

    def tell(self, old: int, new: int, server: Structure) -> Longs:  # noqa: ARG002
        found = self._room(len(self._centres) + 1)
        radius = self._radius
        low, high = (old - radius + 1, new - radius) if new > old else (new + radius, old + radius - 1)
        ends = first_code(low), last_code(high)
        count = self.forest.route(self._root, *ends, EVENT, found, answer=ANSWER * ATTRIBUTE)
        handles = found[:count, 0].copy()
        before, after = coded(self._centres[handles], handles), coded(new, handles)
        self.forest.move(self._root, before, after, CENTRE, told=True)
        self._centres[handles] = new
        return handles

    def _enter(self, member: Members, relabellings: Sequence[Relabelling]) -> None:  # noqa: ARG002
        self._keep(member)
        (code,) = coded(member.centres, member.handles).tolist()
        self.forest.insert(self._root, code, int(member.handles[0]), CENTRE)

    def _withdraw(self, member: Members) -> None:
        (code,) = coded(self._centres[member.handles], member.handles).tolist()
        self.forest.delete(self._root, code, CENTRE)

    def check_invariants(self) -> None:
        self.forest.check_invariants([self._root])
        for code, handle in self.forest.entries(self._root):
            assert code == coded(int(self._centres[handle]), np.array([handle]))[0]

    def _keep(self, members: Members) -> None:
        size = int(members.handles.max(initial=-1)) + 1
        if size > len(self._centres):
            more = max(size, 2 * len(self._centres)) - len(self._centres)
            self._centres = np.pad(self._centres, (0, more))
        self._centres[members.handles] = members.centres
        if len(members.radii):
            self._radius = int(members.radii[0])
