"""Where a region belongs below a node: the one step of every walk down a routing tree (specs/004 §4)."""

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from operator import attrgetter
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

from tamis.routing.prefix.odd import Odd
from tamis.routing.prefix.region import BEYOND, Cut, Region

N = TypeVar("N", bound="Parent")

#: One interval of a child without filters: name, low cut, high cut, child. Sorted, for siblings are disjoint.
Entry = tuple[str, Cut, Cut, Any]


class Parent(Protocol):
    """A node with children, to be looked up by name and values."""

    @property
    def region(self) -> Region:
        """The values that lead here."""

    @property
    def order(self) -> int:
        """Grows from the older to the younger among siblings of one name."""

    @property
    def entries(self) -> Sequence[Entry]:
        """The children without filters."""

    @property
    def odd(self) -> Mapping[str, Odd[Any]]:
        """The children with filters, by name."""


class Place(NamedTuple, Generic[N]):
    """What becomes of a region below a node. Halves and rest together are the region."""

    #: Parts that lie in children which also have other values, each with its child.
    halves: list[tuple[N, Region]]
    rest: Region
    #: The child which has all of the rest, if there is one.
    into: N | None
    #: Otherwise: the children of which the rest has all.
    covered: list[N]


def meeting(node: N, region: Region) -> list[N]:
    """Return the children of the region's name that may have a value in common with it, oldest first.

    Those with filters are only there if one may cover the other.
    """
    found = _overlapping(node, region)
    odd = node.odd.get(region.name)
    if odd:
        found += odd.related(region)
    elif len(found) < 2:
        return found
    return sorted(dict.fromkeys(found), key=_order)


_order = attrgetter("order")


def _overlapping(node: N, region: Region) -> list[N]:
    """Return the children without filters, some perhaps several times."""
    name, entries = region.name, node.entries
    found: list[N] = []
    if not entries:
        return found
    cuts = region.cuts
    for run in range(0, len(cuts), 2):
        low, high = cuts[run], cuts[run + 1]
        at = bisect_right(entries, (name, low, BEYOND))
        if at:
            before = entries[at - 1]
            if before[2] > low and before[0] == name:
                found.append(before[3])
        while at < len(entries):
            following = entries[at]
            if following[1] >= high or following[0] != name:
                break
            found.append(following[3])
            at += 1
    return found


def _way_to(node: N, region: Region) -> N | None:
    """Return the child through which a node of exactly this region is reached, if there is one.

    Where siblings overlap, several may cover a region, and which of them is the oldest changes.
    """
    waiting = [(child, child) for child in _covering(node, region)]
    while waiting:
        first, below = waiting.pop()
        if below.region == region:
            return first
        waiting += [(first, child) for child in _covering(below, region)]
    return None


def _covering(node: N, region: Region) -> list[N]:
    found = _overlapping(node, region)
    odd = node.odd.get(region.name)
    if odd:
        found += odd.covering(region)
    return [child for child in found if region.within(child.region)]


def place(node: N, region: Region) -> Place[N]:
    """Return where a region belongs below a node.

    Listing 4.1, corrected: only a *proper* overlap splits, all covered children are found, and what is left of the
    region after the splits is compared once more. A region with filters has no complement, so it neither splits nor
    is split: siblings with filters may overlap.
    """
    if node.odd.get(region.name):
        way = _way_to(node, region)
        if way is not None:
            return Place([], region, way, [])
    halves: list[tuple[N, Region]] = []
    covered: list[N] = []
    rest = region
    for child in meeting(node, region):
        other = child.region
        if rest.within(other):
            return Place(halves, rest, child, covered)
        if other.within(rest):
            covered.append(child)
        elif not other.filters and not rest.filters:
            half = rest.both(other)
            if half is not None:
                halves.append((child, half))
                # Not all of the rest is in the child, so something is left.
                rest = rest.minus(other) or rest
    if halves and covered:
        for child in covered:
            if rest.within(child.region):
                return Place(halves, rest, child, [])
        covered = [child for child in covered if not child.region.filters or child.region.within(rest)]
    return Place(halves, rest, None, covered)
