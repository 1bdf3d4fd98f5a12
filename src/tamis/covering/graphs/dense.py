"""G*: all pairs (specs/000 §5). The oracle of the other graphs."""

from collections.abc import Collection, Iterable

from tamis.covering.graphs.crowd import Crowd
from tamis.covering.graphs.graph import Change, Graph, Relation, register


@register("dense")
class Dense(Graph):
    """Every subscription knows all that cover it and all that it covers; those that nobody covers are forwarded."""

    def __init__(self, relation: Relation) -> None:
        super().__init__(relation)
        self._nodes = Crowd()
        self._coverers: dict[int, set[int]] = {}
        self._covered: dict[int, set[int]] = {}
        self._forwarded: set[int] = set()

    def add(self, handle: int) -> Change:
        above = set(self.relation.covering(self._nodes.array(), handle))
        below = set(self.relation.covered(self._nodes.array(), handle))
        self._nodes.add(handle)
        self._coverers[handle], self._covered[handle] = above, below
        for each in above:
            self._covered[each].add(handle)
        for each in below:
            self._coverers[each].add(handle)
        withdraw = self._forwarded & below
        self._forwarded -= withdraw
        if not above:
            self._forwarded.add(handle)
        return Change(() if above else (handle,), tuple(withdraw))

    def remove(self, handle: int) -> Change:
        self._nodes.remove(handle)
        for each in self._coverers.pop(handle):
            self._covered[each].remove(handle)
        freed: list[int] = []
        for each in self._covered.pop(handle):
            self._coverers[each].remove(handle)
            if not self._coverers[each]:
                freed.append(each)
        withdraw = self._forwarded & {handle}
        self._forwarded -= withdraw
        self._forwarded.update(freed)
        return Change(tuple(freed), tuple(withdraw))

    def forwarded(self) -> Collection[int]:
        return self._forwarded

    def above(self, handle: int) -> Iterable[int]:
        return self._coverers[handle]

    def check_invariants(self) -> None:
        everybody = self._nodes.array()
        assert self._coverers.keys() == self._covered.keys() == set(self._nodes)
        for each in self._nodes:
            assert self._coverers[each] == set(self.relation.covering(everybody, each)) - {each}
            assert self._covered[each] == set(self.relation.covered(everybody, each)) - {each}
        assert self._forwarded == {each for each in self._nodes if not self._coverers[each]}
