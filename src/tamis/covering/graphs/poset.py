"""Siena's POSET (specs/000 §5): the Hasse diagram of covering.

The source only cites the algorithms; these are reconstructed and checked against a brute-force diagram.
"""

from collections.abc import Collection, Iterable

import numpy as np
import numpy.typing as npt

from tamis.covering.detectors.detector import Longs
from tamis.covering.graphs.crowd import Crowd
from tamis.covering.graphs.graph import Change, Graph, Relation, register


@register("poset")
class Poset(Graph):
    """Every subscription knows its immediate coverers and whom it covers immediately; the roots are forwarded.

    A subscription is compared with all immediate successors of another at once.
    """

    def __init__(self, relation: Relation) -> None:
        super().__init__(relation)
        self._roots = Crowd()
        self._predecessors: dict[int, set[int]] = {}
        #: Only of those that have any.
        self._successors: dict[int, Crowd] = {}
        #: By handle: whether it has successors.
        self._inner: npt.NDArray[np.bool_] = np.zeros(16, np.bool_)

    def add(self, handle: int) -> Change:
        if handle >= len(self._inner):
            self._inner = np.pad(self._inner, (0, max(handle, len(self._inner))))
        above = self._lowest_above(handle)
        below = self._highest_below(handle, above)
        self._predecessors[handle] = set()
        for low in below:
            for high in self._predecessors[low].intersection(above):
                self._unlink(high, low)
        for high in above:
            self._link(high, handle)
        withdraw = [low for low in below if low in self._roots]
        for low in withdraw:
            self._roots.remove(low)
        for low in below:
            self._link(handle, low)
        if not above:
            self._roots.add(handle)
        return Change(() if above else (handle,), tuple(withdraw))

    def _lowest_above(self, handle: int) -> list[int]:
        """Return the coverers without a successor that covers it too."""
        lowest: list[int] = []
        waiting = self.relation.covering(self._roots.array(), handle)
        seen = set(waiting)
        while waiting:
            high = waiting.pop()
            further = []
            if high in self._successors:
                further = self.relation.covering(self._successors[high].array(), handle)
            if not further:
                lowest.append(high)
            waiting += [each for each in further if each not in seen]
            seen.update(further)
        return lowest

    def _highest_below(self, handle: int, above: list[int]) -> list[int]:
        """Return the maximal ones that it covers: they are below every one that covers it."""
        inner = [high for high in above if high in self._successors]
        if len(inner) < len(above):
            return []
        start = min((self._successors[high] for high in inner), key=len, default=self._roots)
        covered: set[int] = set()
        seen: set[int] = set()
        frontier = start.array()
        while len(frontier):
            covered.update(self.relation.covered(frontier, handle))
            following: set[int] = set()
            for each in frontier[self._inner[frontier]].tolist():
                if each not in covered:
                    following.update(self._successors[each])
            following -= seen
            seen |= following
            frontier = np.fromiter(following, np.int64, len(following))
        among: Longs = np.fromiter(covered, np.int64, len(covered))
        # One that was reached first may lie below another.
        return [low for low in covered if not set(self.relation.covering(among, low)) - {low}]

    def remove(self, handle: int) -> Change:
        above = list(self._predecessors[handle])
        below = list(self._successors.get(handle, ()))
        for high in above:
            self._unlink(high, handle)
        for low in below:
            self._unlink(handle, low)
        del self._predecessors[handle]
        for low in below:
            for high in above:
                others = self._successors.get(high)
                if others is None or not self.relation.covering(others.array(), low):
                    self._link(high, low)
        freed = [low for low in below if not self._predecessors[low]]
        for low in freed:
            self._roots.add(low)
        if not above:
            self._roots.remove(handle)
        return Change(tuple(freed), () if above else (handle,))

    def _link(self, high: int, low: int) -> None:
        self._predecessors[low].add(high)
        if high not in self._successors:
            self._successors[high] = Crowd()
            self._inner[high] = True
        self._successors[high].add(low)

    def _unlink(self, high: int, low: int) -> None:
        self._predecessors[low].remove(high)
        self._successors[high].remove(low)
        if not self._successors[high]:
            del self._successors[high]
            self._inner[high] = False

    def forwarded(self) -> Collection[int]:
        return set(self._roots)

    def above(self, handle: int) -> Iterable[int]:
        return self._predecessors[handle]

    def edges(self) -> set[tuple[int, int]]:
        """Return who covers whom immediately."""
        return {(high, low) for low, highs in self._predecessors.items() for high in highs}

    def check_invariants(self) -> None:
        assert set(self._roots) == {each for each, highs in self._predecessors.items() if not highs}
        assert self.edges() == {(high, low) for high, lows in self._successors.items() for low in lows}
        assert set(np.flatnonzero(self._inner).tolist()) == self._successors.keys()
        everybody: Longs = np.fromiter(self._predecessors, np.int64, len(self._predecessors))
        over = {each: set(self.relation.covering(everybody, each)) - {each} for each in self._predecessors}
        for each, highs in over.items():
            assert self._predecessors[each] == highs - {far for high in highs for far in over[high]}
