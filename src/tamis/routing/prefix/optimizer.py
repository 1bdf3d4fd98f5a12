"""The tree optimiser: it alone edits the structure of the routing tree (specs/004 §4; Jerzak §4.4)."""

from typing import Final

from tamis.routing.prefix.filters import Filter
from tamis.routing.prefix.snapshot import EMPTY, Snapshot, weighted_difference
from tamis.routing.prefix.tree import RoutingTree

#: A new tree is published when it differs by more from the last one (Jerzak §9.1.1: 30 %).
THRESHOLD: Final = 0.3


class Optimizer:
    """Gets the filters of the whole overlay, without interfaces, and says when brokers should have a new tree."""

    def __init__(self, threshold: float = THRESHOLD, interval: float | None = None) -> None:
        """`interval`: after so many seconds a tree is published even if it differs by less."""
        if not 0 <= threshold <= 1:
            raise ValueError(f"the threshold is a difference from 0 to 1, not {threshold}")
        self.tree = RoutingTree()
        self.published = EMPTY
        self._threshold = threshold
        self._interval = interval
        self._since = 0.0
        self.tree.compare_with(EMPTY)

    @property
    def difference(self) -> float:
        """How much the tree differs from the one that was published last (`wdiff`)."""
        return weighted_difference(self.tree.levels, self.published.levels, self.tree.shared)

    def add(self, wanted: Filter) -> None:
        """Take in a filter."""
        self.tree.insert(wanted)

    def remove(self, wanted: Filter) -> None:
        """Take a filter out. One that is not there is a `KeyError`."""
        self.tree.remove(wanted)

    def update(self, now: float) -> Snapshot | None:
        """Return a new tree if brokers should have one now; it counts as published."""
        difference = self.difference
        late = self._interval is not None and now - self._since >= self._interval
        if difference <= self._threshold and not (late and difference > 0):
            return None
        self._since = now
        self._compare_with(self.tree.snapshot(self.published.epoch + 1))
        return self.published

    def learn(self, published: Snapshot) -> None:
        """Hear of a tree that brokers have: an optimiser that has lost its memory goes on from there."""
        if published.epoch > self.published.epoch:
            self._compare_with(published)

    def _compare_with(self, published: Snapshot) -> None:
        self.published = published
        self.tree.compare_with(published)
