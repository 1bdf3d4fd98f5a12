"""CN(lr): the network knows both ends of every interval (specs/003 §3, seed §2.3)."""

from collections.abc import Sequence
from typing import Final

import numpy as np

from tamis.notification.affected import Relabelling
from tamis.notification.circle import Longs
from tamis.notification.structure import Structure
from tamis.simulation.content.forest import CAPACITY, SERVER
from tamis.simulation.content.meter import ATTRIBUTE
from tamis.simulation.content.method import Members, Method, coded, first_code, last_code, register

#: Attributes: of an event, the old and the new value; of what a leaf answers, for each subscription its id and its
#: radius; of an end that is registered, id, radius and value, and of one that has to be found first, the old value too.
EVENT: Final = 2
ANSWER: Final = 2
END: Final = 3
OTHER_END: Final = 4


@register("CN(lr)", ("same", "different", "all"))
class EndpointNetwork(Method):
    """A tree of ends. An event goes to all ends between the old value and the new one, and moves both of each.

    The leaves that it reaches give up the ends that were passed and tell the root, which registers both ends of every
    subscription anew. For the end that was not passed, the same message takes the old one out. So `2k + 1` messages
    originate at the root for `k` affected subscriptions, as in the seed (§7.2.1, §7.2.2).
    """

    def __init__(self, hosts: int, capacity: int = CAPACITY) -> None:
        super().__init__(hosts, capacity)
        #: By handle.
        self._radii: Longs = np.zeros(0, np.int64)
        self._centres: Longs = np.zeros(0, np.int64)
        self._root = -1

    def load(self, members: Members) -> None:
        self._keep(members)
        handles = np.concatenate((members.handles, members.handles))
        codes = np.concatenate((self._lows(members.handles), self._highs(members.handles)))
        order = np.argsort(codes)
        self._root = self.forest.plant(codes[order], handles[order], SERVER)

    def tell(self, old: int, new: int, server: Structure) -> Longs:  # noqa: ARG002
        found = self._room(2 * len(self._radii) + 1)
        up = new > old
        low, high = (old + 1, new) if up else (new, old - 1)
        ends = first_code(low), last_code(high)
        count = self.forest.route(self._root, *ends, EVENT, found, answer=ANSWER * ATTRIBUTE)
        handles = found[:count, 0].copy()
        lows, highs = self._lows(handles), self._highs(handles)
        self._centres[handles] = new
        new_lows, new_highs = self._lows(handles), self._highs(handles)
        passed, others = ((highs, new_highs), (lows, new_lows)) if up else ((lows, new_lows), (highs, new_highs))
        self.forest.move(self._root, *passed, END, told=True)
        self.forest.move(self._root, *others, OTHER_END, told=False)
        return handles

    def _enter(self, member: Members, relabellings: Sequence[Relabelling]) -> None:  # noqa: ARG002
        self._keep(member)
        for code in (*self._lows(member.handles).tolist(), *self._highs(member.handles).tolist()):
            self.forest.insert(self._root, code, int(member.handles[0]), END)

    def _withdraw(self, member: Members) -> None:
        for code in (*self._lows(member.handles).tolist(), *self._highs(member.handles).tolist()):
            self.forest.delete(self._root, code, END)

    def check_invariants(self) -> None:
        self.forest.check_invariants([self._root])
        handles = np.array(sorted({item for _, item in self.forest.entries(self._root)}), np.int64)
        expected = sorted([*self._lows(handles).tolist(), *self._highs(handles).tolist()])
        assert [code for code, _ in self.forest.entries(self._root)] == expected

    def _keep(self, members: Members) -> None:
        size = int(members.handles.max(initial=-1)) + 1
        if size > len(self._radii):
            more = max(size, 2 * len(self._radii)) - len(self._radii)
            self._radii, self._centres = np.pad(self._radii, (0, more)), np.pad(self._centres, (0, more))
        self._radii[members.handles], self._centres[members.handles] = members.radii, members.centres

    def _lows(self, handles: Longs) -> Longs:
        return coded(self._centres[handles] - self._radii[handles], handles)

    def _highs(self, handles: Longs) -> Longs:
        return coded(self._centres[handles] + self._radii[handles], handles)
