"""The routing tree (RT) with filter splitting (specs/004 §4; Jerzak §4.2.2, Listing 4.1 with five corrections).

A node is a region, a path from the root a conjunction, branching a disjunction. Names never decrease along a path, and
siblings of one name without filters are disjoint, so that one value of an event picks one of them.
"""

from bisect import bisect_left, insort
from collections.abc import Iterator
from itertools import pairwise
from typing import Final

from tamis.routing.prefix.filters import Filter, chain
from tamis.routing.prefix.odd import Odd
from tamis.routing.prefix.places import Entry, place
from tamis.routing.prefix.region import BEYOND, NULL, Region
from tamis.routing.prefix.snapshot import Snapshot, Spot, snapshot_of

#: A filter that is split into more pieces is left out of the tree; brokers then tag a node above (`Tags`).
MOST_PIECES: Final = 1_000

_ROOT: Final = Region("", (NULL, BEYOND))
#: What a node without children has in their place; nothing is ever put into it.
_NONE: Final[list[Entry]] = []
_NO_ODD: Final[dict[str, Odd["Node"]]] = {}


class Node:
    """One node. `ends` counts the filters that end here."""

    __slots__ = ("ends", "entries", "height", "odd", "order", "parent", "region", "twin")

    def __init__(self, region: Region, parent: "Node | None", height: int, order: int) -> None:
        self.region = region
        self.parent = parent
        #: The distance from the root.
        self.height = height
        self.order = order
        self.entries = _NONE
        self.odd = _NO_ODD
        self.ends = 0
        #: The node on the same path in the tree that this one is compared with.
        self.twin: Spot | None = None

    def children(self) -> list["Node"]:
        """Return the children, by name and then by age."""
        entries = self.entries
        if len(entries) < 2 and not self.odd:
            return [entries[0][3]] if entries else []
        found: dict[Node, None] = dict.fromkeys(entry[3] for entry in entries)
        for odd in self.odd.values():
            found.update(dict.fromkeys(odd))
        return sorted(found, key=lambda node: (node.region.name, node.order))


class RoutingTree:
    """The structure that filters make together. Filters are counted: the same one twice changes nothing."""

    def __init__(self) -> None:
        self.root = Node(_ROOT, None, 0, 0)
        #: How many nodes there are at each height, and how many of them have a twin. The root is not counted.
        self.levels = [0]
        self.shared = [0]
        #: Filters that were split into too many pieces.
        self.left_out = 0
        self._count: dict[Filter, int] = {}
        self._ends: dict[Filter, list[Node]] = {}
        self._births = 0

    def __len__(self) -> int:
        """Return the number of nodes, the root not counted."""
        return sum(self.levels)

    def __contains__(self, wanted: object) -> bool:
        return wanted in self._count

    @property
    def height(self) -> int:
        """The length of the longest path."""
        return max((height for height, count in enumerate(self.levels) if count), default=0)

    def insert(self, wanted: Filter) -> bool:
        """Add a filter; return whether it was not there yet."""
        count = self._count.get(wanted, 0)
        self._count[wanted] = count + 1
        if count:
            return False
        ends = self._ends[wanted] = []
        waiting = [(self.root, chain(wanted))]
        while waiting:
            if len(ends) + len(waiting) > MOST_PIECES:
                self.left_out += 1
                self._withdraw(ends)
                ends.clear()
                break
            node, cell = waiting.pop()
            while cell is not None:
                region, following = cell
                halves, rest, into, covered = place(node, region)
                # The inner halves go right into their children: from here they would meet them again.
                waiting += [(child, (half, following)) for child, half in halves]
                if into is None:
                    node, cell = self._grow(node, rest, covered), following
                else:
                    node, cell = into, following if into.region == rest else (rest, following)
            node.ends += 1
            ends.append(node)
        return True

    def remove(self, wanted: Filter) -> bool:
        """Take a filter back; return whether it was the last of its kind. One that is not there is a `KeyError`."""
        if wanted not in self._count:
            raise KeyError(f"there is no filter {wanted!r} in the tree")
        self._count[wanted] -= 1
        if self._count[wanted]:
            return False
        del self._count[wanted]
        ends = self._ends.pop(wanted)
        if not ends:
            self.left_out -= 1
        self._withdraw(ends)
        return True

    def _withdraw(self, ends: list[Node]) -> None:
        for end in ends:
            end.ends -= 1
            node = end
            while node.parent is not None and not (node.ends or node.entries or node.odd):
                above = node.parent
                self._detach(node)
                self._count_node(node, -1)
                node.parent = None
                node = above

    # --- edges -----------------------------------------------------------------------------------------

    def _grow(self, parent: Node, region: Region, covered: list[Node]) -> Node:
        """Make a child, and let it take over all children that it covers."""
        self._births += 1
        node = Node(region, parent, parent.height + 1, self._births)
        for child in covered:
            self._detach(child)
        self._attach(node)
        if parent.twin is not None:
            node.twin = parent.twin.find(region)
        self._count_node(node, 1)
        for child in covered:
            child.parent = node
            self._attach(child)
            self._sink(child)
        return node

    def _sink(self, top: Node) -> None:
        """Count a subtree anew that has got one more node above it."""
        waiting = [top]
        while waiting:
            node = waiting.pop()
            self._count_node(node, -1)
            above = node.parent
            assert above is not None
            node.height += 1
            node.twin = None if above.twin is None else above.twin.find(node.region)
            self._count_node(node, 1)
            waiting += node.children()

    def _count_node(self, node: Node, change: int) -> None:
        height = node.height
        if height == len(self.levels):
            self.levels.append(0)
            self.shared.append(0)
        self.levels[height] += change
        if node.twin is not None:
            self.shared[height] += change

    def _attach(self, node: Node) -> None:
        parent, region = node.parent, node.region
        assert parent is not None
        if region.filters:
            if not parent.odd:
                parent.odd = {}
            if region.name not in parent.odd:
                parent.odd[region.name] = Odd()
            parent.odd[region.name].add(node)
            return
        if not parent.entries:
            parent.entries = []
        cuts = region.cuts
        for run in range(0, len(cuts), 2):
            insort(parent.entries, (region.name, cuts[run], cuts[run + 1], node))

    def _detach(self, node: Node) -> None:
        parent, region = node.parent, node.region
        assert parent is not None
        if region.filters:
            siblings = parent.odd[region.name]
            siblings.remove(node)
            if not siblings:
                del parent.odd[region.name]
            return
        for low in region.cuts[::2]:
            del parent.entries[bisect_left(parent.entries, (region.name, low))]

    # --- pictures of it --------------------------------------------------------------------------------

    def nodes(self) -> Iterator[tuple[Node, list[Node]]]:
        """Go through the nodes from the root, each with its children: parents before children, siblings in order."""
        waiting = [self.root]
        while waiting:
            node = waiting.pop()
            children = node.children()
            yield node, children
            waiting += reversed(children)

    def snapshot(self, epoch: int = 0) -> Snapshot:
        """Return the tree as it is now, to be kept."""
        return snapshot_of(epoch, ((node.region, len(children)) for node, children in self.nodes()))

    def compare_with(self, snapshot: Snapshot) -> None:
        """Count from now on the nodes that are on a path of a snapshot, too."""
        self.shared = [0] * len(self.levels)
        self.root.twin = snapshot.root
        waiting = self.root.children()
        while waiting:
            node = waiting.pop()
            above = node.parent
            assert above is not None
            node.twin = None if above.twin is None else above.twin.find(node.region)
            self.shared[node.height] += node.twin is not None
            waiting += node.children()

    def check_invariants(self) -> None:
        """Raise `AssertionError` if something does not fit together."""
        levels = [0] * len(self.levels)
        shared = [0] * len(self.levels)
        ends = 0
        for node, children in self.nodes():
            ends += node.ends
            assert children or node.ends or node is self.root, "a node without a purpose"
            assert len(children) == len({child.region for child in children}), "siblings are equal"
            entries = node.entries
            assert entries == sorted(entries, key=lambda entry: entry[:2])
            for (name, _, high, _), (following, low, _, _) in pairwise(entries):
                assert name != following or high <= low, "siblings of one name overlap"
            for child in children:
                assert child.parent is node
                assert child.height == node.height + 1
                levels[child.height] += 1
                shared[child.height] += child.twin is not None
                twin = None if node.twin is None else node.twin.find(child.region)
                assert child.twin is twin
                assert child.region.name >= node.region.name, "names decrease along a path"
                if child.region.name == node.region.name:
                    assert child.region.within(node.region)
                    assert child.region != node.region
        assert (levels, shared) == (self.levels, self.shared)
        assert ends == sum(map(len, self._ends.values()))
        assert self._count.keys() == self._ends.keys()
