"""The forwarding tree (FT): the prefix that an event carries (specs/004 §4; Jerzak §4.3, Listing 4.2).

The first broker matches an event once; every broker on its way only follows the numbers.
"""

from bisect import bisect_right
from collections.abc import Mapping
from operator import attrgetter
from typing import Any

import msgspec

from tamis.language import Kind
from tamis.language.values import read, typed
from tamis.routing.prefix.region import BEYOND, NULL, Cut, point
from tamis.routing.prefix.snapshot import Snapshot, Spot


class ForwardingTree(msgspec.Struct, frozen=True):
    """The part of a routing tree that an event meets, down to a depth."""

    #: The tree that it belongs to: its epoch, and its seal, for an optimiser that has lost its memory may count anew.
    epoch: int
    seal: int
    #: Below this depth nothing was matched; none if all was.
    depth: int | None
    #: How many children the root has here; then for each its place among its siblings, how many children it has here,
    #: and those children in the same way.
    code: tuple[int, ...]

    def __len__(self) -> int:
        """Return the number of nodes, the root not counted."""
        return len(self.code) // 2

    def paths(self) -> list[tuple[int, ...]]:
        """Return the places on the way to each node, parents before children."""
        found: list[tuple[int, ...]] = []
        path: list[int] = []
        left = [self.code[0]]
        at = 1
        while left:
            if not left[-1]:
                left.pop()
                if path:
                    path.pop()
                continue
            left[-1] -= 1
            path.append(self.code[at])
            left.append(self.code[at + 1])
            found.append(tuple(path))
            at += 2
        return found

    @property
    def height(self) -> int:
        """The length of the longest path."""
        return max(map(len, self.paths()), default=0)


def extract(snapshot: Snapshot, event: Mapping[str, Any], depth: int | None = None) -> ForwardingTree:
    """Return what an event meets of a tree, whether or not anything ends there: other brokers tag other nodes.

    One value may satisfy several nodes of a path, one below the other.
    """
    reader = _Reader(snapshot, event)
    code: list[int] = []
    waiting = [(snapshot.root, 0)]
    while waiting:
        spot, height = waiting.pop()
        met = reader.met(spot) if spot.children and height != depth else []
        if height:
            code.append(spot.order)
        code.append(len(met))
        waiting += [(child, height + 1) for child in reversed(met)]
    return ForwardingTree(snapshot.epoch, snapshot.seal, depth, tuple(code))


_order = attrgetter("order")


class _Reader:
    """The values of an event that a tree asks for."""

    def __init__(self, snapshot: Snapshot, event: Mapping[str, Any]) -> None:
        self._event = event
        #: The place of each value that is not null.
        self._points: dict[str, Cut] = {}
        self._values: dict[str, Any] = {}
        known = snapshot.names
        for name in event:
            if name in known:
                self._take(name, *typed(event[name]))
        for name in snapshot.nested:
            self._take(name, *read(event, name))

    def _take(self, name: str, kind: Kind, value: Any) -> None:
        if kind is not Kind.NULL:
            self._points[name] = point(kind, value)
            self._values[name] = value

    def met(self, spot: Spot) -> list[Spot]:
        """Return the children of a node that the event meets, in order."""
        points, entries = self._points, spot.entries
        if len(entries) <= len(points):
            found = [child for name, low, high, child in entries if low <= points.get(name, NULL) < high]
        else:
            found = []
            for name, at in points.items():
                before = bisect_right(entries, (name, at, BEYOND)) - 1
                if before >= 0:
                    entry = entries[before]
                    if at < entry[2] and entry[0] == name:
                        found.append(entry[3])
            for child in spot.nullable:
                if child.region.name not in points:
                    found.append(child)
        for name, odd in spot.odd.items():
            if name in points:
                found += odd.met(points[name], self._values[name], self._event)
        if len(found) > 1:
            found.sort(key=_order)
        return found
