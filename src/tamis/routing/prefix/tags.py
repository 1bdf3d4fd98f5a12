"""Who wants what of a snapshot: tags of interfaces at its nodes, and forwarding by a prefix (specs/004 §4).

A broker cannot change the tree that the optimiser published. It tags the nodes nearest to a filter instead (`insertR`),
so that more events than necessary may go to an interface, but never less.
"""

import itertools
from bisect import bisect_left
from collections.abc import Hashable, Mapping
from typing import Final, Generic, Literal, TypeAlias, TypeVar

from tamis.routing.prefix.filters import Filter, chain
from tamis.routing.prefix.forwarding import ForwardingTree
from tamis.routing.prefix.places import place
from tamis.routing.prefix.snapshot import Snapshot, Spot
from tamis.routing.remembered import MANY

Interface = TypeVar("Interface", bound=Hashable)

#: What `insertR` does where a filter would be split: tag the node above, or go on with both halves.
Split: TypeAlias = Literal["stop", "fork"]

#: A filter that would be tagged at more nodes is tagged at the root alone.
MOST_TAGS: Final = 1_000
#: So many nodes may be tagged before their numbers are sorted again.
_MOST_LATE: Final = 256


class _Counts(dict[Interface, int]):
    """The interfaces that have tags at a node, with how many filters gave them."""


class Tags(Generic[Interface]):
    """The tags of one broker at the nodes of one snapshot, counted: two filters may end at one node.

    An interface is anything but `None`.
    """

    def __init__(self, snapshot: Snapshot, split: Split = "fork") -> None:
        self.snapshot = snapshot
        self._split = split
        #: How many filters each interface has.
        self.holders: dict[Interface, int] = {}
        #: By the number of a node. Most have one tag, so that is kept without a dictionary: there may be a million.
        self._at: dict[int, Interface | _Counts[Interface]] = {}
        #: The numbers in `_at` in order, if somebody asked for them, and those that have come since.
        self._sorted: list[int] | None = None
        self._late: list[int] = []

    def add(self, interface: Interface, wanted: Filter) -> None:
        """Let an interface get at least the events that meet a filter."""
        self.holders[interface] = self.holders.get(interface, 0) + 1
        for spot in nearest(self.snapshot, wanted, self._split):
            number = spot.number
            tags = self._at.get(number)
            if tags is None:
                self._at[number] = interface
                if self._sorted is not None:
                    self._late.append(number)
                continue
            if not isinstance(tags, _Counts):
                tags = self._at[number] = _Counts({tags: 1})
            tags[interface] = tags.get(interface, 0) + 1

    def remove(self, interface: Interface, wanted: Filter) -> None:
        """Take a filter of an interface back. The tree does not change, so the way to its tags is the same."""
        for spot in nearest(self.snapshot, wanted, self._split):
            number = spot.number
            tags = self._at[number]
            if not isinstance(tags, _Counts):
                del self._at[number]
                continue
            tags[interface] -= 1
            if not tags[interface]:
                del tags[interface]
            if not tags:
                del self._at[number]
        self.holders[interface] -= 1
        if not self.holders[interface]:
            del self.holders[interface]

    def forward(self, prefix: ForwardingTree) -> set[Interface]:
        """Return the interfaces that an event with a prefix of this very snapshot goes to.

        Listing 4.3, corrected: the root's tags count, too. Where the prefix ends because of its depth, all tags below
        count. The search ends early when all interfaces are found.
        """
        root, code, depth, everyone = self.snapshot.root, prefix.code, prefix.depth, len(self.holders)
        if depth == 0:
            return self.below(root)
        at = self._at
        found = set(self.at(root))
        path, left = [root], [code[0]]
        after = 1
        while left and len(found) < everyone:
            if not left[-1]:
                path.pop()
                left.pop()
                continue
            left[-1] -= 1
            spot = path[-1].children[code[after]]
            count = code[after + 1]
            after += 2
            tags = at.get(spot.number)
            if tags is not None:
                if isinstance(tags, _Counts):
                    found.update(tags)
                else:
                    found.add(tags)
            if count:
                path.append(spot)
                left.append(count)
            elif len(path) == depth:
                found |= self.below(spot)
        return found

    def below(self, spot: Spot) -> set[Interface]:
        """Return the interfaces with a tag at a node or below it."""
        if self._sorted is None or len(self._late) > _MOST_LATE:
            self._sorted = sorted(self._at)
            self._late.clear()
        found: set[Interface] = set()
        first, end = bisect_left(self._sorted, spot.number), bisect_left(self._sorted, spot.end)
        late = [number for number in self._late if spot.number <= number < spot.end]
        for number in itertools.chain(late, itertools.islice(self._sorted, first, end)):
            if len(found) == len(self.holders):
                break
            tags = self._at.get(number)
            if isinstance(tags, _Counts):
                found.update(tags)
            elif tags is not None:
                found.add(tags)
        return found

    def at(self, spot: Spot) -> Mapping[Interface, int]:
        """Return the tags of a node, with how many filters gave them."""
        tags = self._at.get(spot.number)
        return tags if isinstance(tags, _Counts) else {} if tags is None else {tags: 1}

    def check_invariants(self) -> None:
        """Raise `AssertionError` if something does not fit together."""
        tags = [each if isinstance(each, _Counts) else {each: 1} for each in self._at.values()]
        assert all(tags)
        assert all(count > 0 for each in tags for count in each.values())
        assert {interface for each in tags for interface in each} == self.holders.keys()
        assert self._sorted is None or self._at.keys() <= {*self._sorted, *self._late}


def nearest(snapshot: Snapshot, wanted: Filter, split: Split) -> list[Spot]:
    """Return the nodes that a filter is tagged at (`insertR`): every event that meets it goes through one of them.

    It is the way of `RoutingTree.insert`, which ends where a node would have to be made. Brokers of one process share
    the snapshot, and so what was found there.
    """
    known = snapshot.nearest.get((wanted, split))
    if known is None:
        if len(snapshot.nearest) >= MANY:
            snapshot.nearest.clear()
        known = snapshot.nearest[wanted, split] = _search(snapshot.root, wanted, split)
    return known


def _search(root: Spot, wanted: Filter, split: Split) -> list[Spot]:
    found: list[Spot] = []
    waiting = [(root, chain(wanted))]
    while waiting:
        if len(found) + len(waiting) > MOST_TAGS:
            return [root]
        spot, cell = waiting.pop()
        while cell is not None:
            region, following = cell
            halves, rest, into, _ = place(spot, region)
            if into is None or (halves and split == "stop"):
                # This node has all of the region, so its halves need no tags of their own.
                break
            waiting += [(child, (half, following)) for child, half in halves]
            spot, cell = into, following if into.region == rest else (rest, following)
        found.append(spot)
    return found
