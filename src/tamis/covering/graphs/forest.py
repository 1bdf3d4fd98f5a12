"""The forest derived from the POSET (specs/000 §5): every subscription has at most one coverer above it.

The source only cites the algorithms; these are reconstructed. The parent need not be an immediate coverer of the POSET,
though the source says so. When a subscription goes, its children are placed anew, beginning at its parent: to move them
there as they are would leave siblings of which one covers the other.
"""

from collections.abc import Collection, Iterable

from tamis.covering.detectors import NOBODY
from tamis.covering.graphs.crowd import Crowd
from tamis.covering.graphs.graph import Change, Graph, Relation, register

#: The parent of the roots.
_GROUND = NOBODY


@register("forest")
class Forest(Graph):
    """Trees in which no sibling covers another; the roots are those that nobody covers, and they are forwarded.

    A subscription is compared with all children of another at once.
    """

    def __init__(self, relation: Relation) -> None:
        super().__init__(relation)
        self._parent: dict[int, int] = {}
        #: Only of those that ever had any.
        self._children: dict[int, Crowd] = {_GROUND: Crowd()}

    def add(self, handle: int) -> Change:
        withdraw = self._place(handle, _GROUND)
        return Change((handle,), tuple(withdraw)) if self._parent[handle] == _GROUND else Change()

    def _place(self, handle: int, start: int) -> list[int]:
        """Put a subscription with all that is below it at its place; return which roots it pushed down."""
        pushed: list[int] = []
        waiting = [(handle, start)]
        while waiting:
            placing, parent = waiting.pop()
            under: list[int] = []
            while parent in self._children:
                coverer, under = self.relation.placed(self._children[parent].array(), placing)
                if coverer == NOBODY:
                    break
                parent = coverer
            for each in under:
                self._children[parent].remove(each)
            if parent not in self._children:
                self._children[parent] = Crowd()
            self._children[parent].add(placing)
            self._parent[placing] = parent
            # It may have children already, so those it pushed down have to find their place among these.
            waiting += [(each, placing) for each in under]
            if parent == _GROUND:
                pushed = under
        return pushed

    def remove(self, handle: int) -> Change:
        parent = self._parent.pop(handle)
        self._children[parent].remove(handle)
        orphans = list(self._children.pop(handle, ()))
        pushed: list[int] = []
        for each in orphans:
            pushed += self._place(each, parent)
        if parent != _GROUND:
            return Change()
        # Nobody is pushed down here unless the relation missed something earlier.
        withdraw = (handle, *(each for each in pushed if each not in orphans))
        return Change(tuple(each for each in orphans if self._parent[each] == _GROUND), withdraw)

    def forwarded(self) -> Collection[int]:
        return set(self._children[_GROUND])

    def above(self, handle: int) -> Iterable[int]:
        parent = self._parent[handle]
        return () if parent == _GROUND else (parent,)

    def check_invariants(self) -> None:
        listed = [(each, parent) for parent, children in self._children.items() for each in children]
        assert len(listed) == len(self._parent)
        assert dict(listed) == self._parent
        for parent, children in self._children.items():
            assert parent == _GROUND or parent in self._parent
            for each in children:
                assert parent == _GROUND or self.relation.covers(parent, each)
                assert self.relation.covering(children.array(), each) in ([], [each])
        for each, parent in self._parent.items():
            assert each != parent
