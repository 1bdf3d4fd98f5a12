"""A content-driven network in which one value is watched: server, brokers, and methods side by side (specs/003 §3)."""

from collections.abc import Iterable, Sequence

import numpy as np

from tamis.notification.circle import Longs
from tamis.notification.labels import STEP
from tamis.notification.structure import Row, Structure, structure_class
from tamis.simulation.content.forest import CAPACITY
from tamis.simulation.content.meter import Cost
from tamis.simulation.content.method import MOST_HANDLES, Members, method_class


class ContentNetwork:
    """Subscriptions to one value, told by several methods at once, each of which counts what it costs.

    Values and radii are whole ticks. Subscriptions are known by handle. Every event is checked: a method that reaches
    others than those affected raises `AssertionError`.
    """

    def __init__(self, server: str, methods: Iterable[str], brokers: int, capacity: int = CAPACITY) -> None:
        """Make a network without subscriptions.

        `server` is the structure that finds out who is affected (`tamis.notification.structures()`); `capacity` is how
        many entries a node of the distributed trees has.
        """
        self.server: Structure = structure_class(server)()
        self.methods = {name: method_class(name)(brokers + 1, capacity) for name in methods}
        #: Whom each method reached at the last event, by handle.
        self.reached: dict[str, Longs] = {}
        for name, method in self.methods.items():
            if self.server.case.radii not in method.cases:
                raise ValueError(f"{name} is not for {self.server.case.radii} radii, as {server!r} is")

    def load(self, radii: Longs, centres: Longs, value: int) -> None:
        """Begin with a value and subscriptions of handles 0, 1, …, each with what it was told last.

        For one radius, centres are less than that apart (specs/003 F6).
        """
        handles = np.arange(len(radii))
        if len(handles) > MOST_HANDLES:
            raise ValueError(f"{len(handles)} subscriptions, but there is room for {MOST_HANDLES}")
        labels = np.empty(len(radii), np.int64)
        order = np.lexsort((centres, radii))
        begins = np.searchsorted(radii[order], radii[order])
        labels[order] = (np.arange(len(radii)) - begins) * STEP + STEP - 1
        columns = (handles, radii.astype(float), radii.astype(float), centres.astype(float), labels, handles * 0)
        self.server.load([Row(*each) for each in zip(*(one.tolist() for one in columns), strict=True)], float(value))
        self._begin(Members(handles, radii.astype(np.int64), centres.astype(np.int64), labels))

    def hand_over(self) -> None:
        """Let all methods begin anew from where the server stands, which has gone on alone; nothing is counted."""
        self._begin(_members(sorted(self.server.rows())))

    def arrive(self, handle: int, radius: int) -> dict[str, Cost]:
        """Add a subscription."""
        if handle >= MOST_HANDLES:
            raise ValueError(f"handle {handle} is above {MOST_HANDLES - 1}")
        self.server.add(handle, float(radius), float(radius))
        changes = self.server.relabellings()
        member = _members([self.server.row(handle)])
        costs = {}
        for name, method in self.methods.items():
            method.meter.begin()
            method.arrive(member, changes)
            costs[name] = method.meter.cost()
        return costs

    def leave(self, handle: int) -> dict[str, Cost]:
        """Remove a subscription."""
        member = _members([self.server.row(handle)])
        self.server.remove(handle)
        costs = {}
        for name, method in self.methods.items():
            method.meter.begin()
            method.leave(member)
            costs[name] = method.meter.cost()
        return costs

    def update(self, value: int) -> dict[str, Cost]:
        """Take a new value, and let every method tell those affected."""
        assert self.server.value is not None
        old = int(self.server.value)
        self.server.update(float(value))
        affected = np.sort(self.server.affected())
        costs = {}
        for name, method in self.methods.items():
            method.meter.begin()
            reached = method.tell(old, value, self.server) if value != old else np.empty(0, np.int64)
            self.reached[name] = np.sort(reached)
            assert np.array_equal(self.reached[name], affected), f"{name} reached others than those affected"
            costs[name] = method.meter.cost()
        return costs

    def check_invariants(self) -> None:
        """Raise `AssertionError` if something does not fit together."""
        self.server.check_invariants()
        for method in self.methods.values():
            method.check_invariants()

    def _begin(self, members: Members) -> None:
        self.server.relabellings()
        for name, method in self.methods.items():
            fresh = type(method)(len(method.meter.stress), method.forest.codes.shape[1] - 1)
            fresh.load(members)
            self.methods[name] = fresh


def _members(rows: Sequence[Row]) -> Members:
    columns = ([getattr(row, name) for row in rows] for name in ("handle", "must", "centre", "label"))
    return Members(*(np.array(column).astype(np.int64) for column in columns))
