"""Pictures of a routing tree that never change: what the tree optimiser publishes and brokers keep (specs/004 §4).

Stamps on nodes alone do not tell which tree an event was matched with, because nodes change their parents. So brokers
keep whole trees, and an event names the one that its prefix belongs to.
"""

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import zip_longest
from operator import itemgetter
from typing import Final
from weakref import WeakValueDictionary

import msgspec
from xxhash import xxh3_64_intdigest

from tamis.routing.prefix.filters import Filter
from tamis.routing.prefix.odd import Odd
from tamis.routing.prefix.places import Entry
from tamis.routing.prefix.region import BEYOND, NULL, Region
from tamis.routing.prefix.wire import WireRegion, from_wire, to_wire

_ROOT: Final = Region("", (NULL, BEYOND))
_BY_CUT: Final = itemgetter(0, 1)


class Layout(msgspec.Struct, array_like=True):
    """A tree written down: its nodes from the root, parents before children, siblings in order."""

    epoch: int
    #: The regions that occur.
    regions: list[WireRegion]
    #: For each node but the root, the number of its region.
    which: list[int]
    #: For each node, the root included, how many children it has.
    children: list[int]


class Spot:
    """A node of a snapshot."""

    __slots__ = ("children", "end", "entries", "nullable", "number", "odd", "order", "region")

    def __init__(self, region: Region, order: int, number: int) -> None:
        self.region = region
        #: The place among all siblings, which a prefix names it by.
        self.order = order
        #: Nodes are numbered parents first; `number` to before `end` is the subtree.
        self.number = number
        self.end = number + 1
        self.children: tuple[Spot, ...] = ()
        self.entries: Sequence[Entry] = ()
        self.odd: Mapping[str, Odd[Spot]] = _NO_ODD
        #: Children that accept null, and so events without the attribute.
        self.nullable: tuple[Spot, ...] = ()

    def close(self, children: list["Spot"], end: int) -> None:
        """Take the children, once and for all."""
        self.end = end
        self.children = tuple(children)
        entries: list[Entry] = []
        odd: dict[str, Odd[Spot]] = {}
        for child in children:
            region = child.region
            cuts = region.cuts
            if region.filters:
                if region.name not in odd:
                    odd[region.name] = Odd()
                odd[region.name].add(child)
                continue
            entries += [(region.name, cuts[run], cuts[run + 1], child) for run in range(0, len(cuts), 2)]
            if cuts[0] == NULL:
                self.nullable += (child,)
        entries.sort(key=_BY_CUT)
        self.entries = tuple(entries)
        if odd:
            self.odd = odd

    def find(self, region: Region) -> "Spot | None":
        """Return the child with exactly this region."""
        if region.filters:
            odd = self.odd.get(region.name)
            return None if odd is None else odd.find(region)
        at = bisect_right(self.entries, (region.name, region.low, BEYOND)) - 1
        if at < 0:
            return None
        found: Spot = self.entries[at][3]
        return found if found.region == region else None


_NO_ODD: Final[dict[str, Odd[Spot]]] = {}


class Snapshot:
    """A routing tree of one epoch."""

    def __init__(self, epoch: int, regions: Sequence[Region], which: Sequence[int], children: Sequence[int]) -> None:
        self.epoch = epoch
        self._regions = regions
        self._which = which
        self._children = children
        self.root = Spot(_ROOT, 0, 0)
        #: How many nodes there are at each height, the root not counted.
        self.levels = [0]
        #: Where filters were found to belong (`tags.nearest`).
        self.nearest: dict[tuple[Filter, str], list[Spot]] = {}
        self._build()
        names = {region.name for region in regions}
        #: Attributes that an event has by this very name, and those that have to be looked for inside.
        self.names = frozenset(name for name in names if "." not in name and "`" not in name)
        self.nested = tuple(sorted(names - self.names))

    def _build(self) -> None:
        if not self._which:
            return
        path: list[tuple[Spot, int, list[Spot]]] = [(self.root, self._children[0], [])]
        for number, (which, count) in enumerate(zip(self._which, self._children[1:], strict=True), 1):
            height = len(path)
            if height == len(self.levels):
                self.levels.append(0)
            self.levels[height] += 1
            siblings = path[-1][2]
            spot = Spot(self._regions[which], len(siblings), number)
            siblings.append(spot)
            path.append((spot, count, []))
            while path and len(path[-1][2]) == path[-1][1]:
                spot, _, children = path.pop()
                if children:
                    spot.close(children, number + 1)

    def __len__(self) -> int:
        """Return the number of nodes, the root not counted."""
        return len(self._which)

    @property
    def height(self) -> int:
        """The length of the longest path."""
        return len(self.levels) - 1

    def spots(self) -> Iterator[Spot]:
        """Go through the nodes from the root, in the order of their numbers."""
        waiting = [self.root]
        while waiting:
            spot = waiting.pop()
            yield spot
            waiting += reversed(spot.children)

    @cached_property
    def encoded(self) -> bytes:
        """The tree as it goes over a link."""
        regions = [to_wire(region) for region in self._regions]
        return msgspec.msgpack.encode(Layout(self.epoch, regions, list(self._which), list(self._children)))

    @cached_property
    def seal(self) -> int:
        """A number that no other tree has, whatever its epoch."""
        seal = xxh3_64_intdigest(self.encoded)
        _shared.setdefault(seal, self)
        return seal


#: The trees that somebody in this process has, by their seals.
_shared: WeakValueDictionary[int, Snapshot] = WeakValueDictionary()


def decoded(encoded: bytes) -> Snapshot:
    """Return the tree that came over a link; `ValueError` if that is none. Brokers of one process share it."""
    known = _shared.get(xxh3_64_intdigest(encoded))
    if known is not None:
        return known
    layout = msgspec.msgpack.decode(encoded, type=Layout)
    if len(layout.children) != len(layout.which) + 1 or sum(layout.children) != len(layout.which):
        raise ValueError("the encoded tree has other nodes than its layout says")
    regions = [from_wire(each) for each in layout.regions]
    snapshot = Snapshot(layout.epoch, regions, layout.which, layout.children)
    # Whatever wrote it, all brokers have to know it by the same seal.
    snapshot.encoded = encoded
    return _shared.setdefault(snapshot.seal, snapshot)


def wdiff(a: Snapshot, b: Snapshot) -> float:
    """Return how different two trees are: 0 if they have the same paths, 1 if they have no node in common.

    A node is the path of regions that leads to it. The nearer it is to the root, the more it counts (Eq. 4.2 to 4.4).
    """
    shared = [0] * max(len(a.levels), len(b.levels))
    waiting = [(a.root, b.root, 1)]
    while waiting:
        left, right, height = waiting.pop()
        for child in left.children:
            twin = right.find(child.region)
            if twin is not None:
                shared[height] += 1
                waiting.append((child, twin, height + 1))
    return weighted_difference(a.levels, b.levels, shared)


def weighted_difference(a: Sequence[int], b: Sequence[int], shared: Sequence[int]) -> float:
    """Return `wdiff` of two trees of which the numbers of nodes at each height are known, and of those in both."""
    different = size = 0.0
    for height, (left, right, both) in enumerate(zip_longest(a, b, shared, fillvalue=0)):
        if height:
            different += (left + right - 2 * both) / height
            size += (left + right) / height
    return different / size if size else 0.0


def snapshot_of(epoch: int, nodes: Iterator[tuple[Region, int]]) -> Snapshot:
    """Return the tree of these nodes: parents before children, siblings in order, each with how many children it has.

    The first is the root; its region is of no account.
    """
    numbers: dict[Region, int] = {}
    _, count = next(nodes)
    which: list[int] = []
    children = [count]
    for region, count in nodes:
        which.append(numbers.setdefault(region, len(numbers)))
        children.append(count)
    return Snapshot(epoch, tuple(numbers), which, children)


EMPTY: Final = Snapshot(0, (), (), (0,))
