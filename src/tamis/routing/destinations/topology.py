"""Which links a cluster has, and where a packet goes next on its shortest way (TRT and SPRT of specs/002 §3.2)."""

from collections.abc import Iterable, Sequence
from functools import reduce
from operator import xor
from typing import Final

import msgspec
from xxhash import xxh3_64_intdigest

from tamis.routing.destinations.order import order
from tamis.routing.packets import Links, Name

_ENCODER: Final = msgspec.msgpack.Encoder()


class Topology:
    """The rows that all brokers of a cluster tell about their links, as one broker knows them.

    A link counts if both its ends name it. Next hops are worked out when they are first needed after a change, so a
    burst of changes costs one search. Of several shortest ways, the one with the lowest next hop is taken.
    """

    def __init__(self, me: Name) -> None:
        self.me = me
        self.rows: dict[Name, Links] = {}
        #: Two topologies that differ in this differ in their rows.
        self.digest = 0
        self._hops: dict[Name, Name] | None = None
        self._distances: dict[Name, int] = {}

    def put(self, row: Links) -> None:
        """Take a row in, instead of the broker's present one."""
        known = self.rows.get(row.broker)
        self.digest ^= _digest(row) if known is None else _digest(row) ^ _digest(known)
        self.rows[row.broker] = row
        self._hops = None

    def hops(self) -> dict[Name, Name]:
        """Return the next hop to every broker that can be reached, the nearest first."""
        if self._hops is None:
            self._hops, self._distances = self._searched()
        return self._hops

    def distances(self) -> dict[Name, int]:
        """Return how many links away every broker is that can be reached."""
        self.hops()
        return self._distances

    def split(self, destinations: Sequence[Name]) -> tuple[dict[Name, list[int]], list[int]]:
        """Return which places of a list of destinations go to which next hop, and those that cannot be reached."""
        hops = self.hops()
        parts: dict[Name, list[int]] = {}
        rest: list[int] = []
        for place, destination in enumerate(destinations):
            hop = hops.get(destination)
            if hop is None:
                rest.append(place)
            elif hop in parts:
                parts[hop].append(place)
            else:
                parts[hop] = [place]
        return parts, rest

    def are_linked(self, one: Name, other: Name) -> bool:
        """Say whether there is a link between two brokers."""
        first, second = self.rows.get(one), self.rows.get(other)
        return first is not None and second is not None and other in first.links and one in second.links

    def reachable(self, start: Name, without: Iterable[tuple[Name, ...]] = ()) -> dict[Name, int]:
        """Return how far away all brokers are that can be reached from one of them, if some links were not there."""
        gone = {(one, other) for pair in without for one, other in (pair, pair[::-1])}
        distances = {start: 0}
        queue = [start]
        for near in queue:
            for far in self.rows[near].links if near in self.rows else ():
                if far not in distances and (near, far) not in gone and self.are_linked(near, far):
                    distances[far] = distances[near] + 1
                    queue.append(far)
        return distances

    def _searched(self) -> tuple[dict[Name, Name], dict[Name, int]]:
        me, rows = self.me, self.rows
        hops: dict[Name, Name] = {}
        distances: dict[Name, int] = {me: 0}
        queue: list[Name] = []
        for neighbour in sorted(rows[me].links, key=order) if me in rows else ():
            if neighbour in rows and me in rows[neighbour].links:
                hops[neighbour] = neighbour
                distances[neighbour] = 1
                queue.append(neighbour)
        # Brokers of one distance stand in the order of their next hops, so whoever is first to find a broker
        # is on the way with the lowest next hop.
        for near in queue:
            for far in rows[near].links:
                if far not in distances and far in rows and near in rows[far].links:
                    hops[far] = hops[near]
                    distances[far] = distances[near] + 1
                    queue.append(far)
        return hops, distances

    def check_invariants(self) -> None:
        """Raise `AssertionError` if something does not fit together."""
        assert all(broker == row.broker for broker, row in self.rows.items())
        assert self.digest == reduce(xor, map(_digest, self.rows.values()), 0)
        for broker, hop in self.hops().items():
            assert self.are_linked(self.me, hop)
            assert self._distances[broker] == self.reachable(self.me)[broker]
            assert self.reachable(hop)[broker] == self._distances[broker] - 1


def _digest(row: Links) -> int:
    return xxh3_64_intdigest(_ENCODER.encode(row))


def is_newer(row: Links, known: Links) -> bool:
    """Say whether one row of a broker is newer than another.

    Two lives of a broker may give out rows of the same age, if its clock stood still: then the links decide.
    """
    if row.epoch != known.epoch:
        return row.epoch > known.epoch
    if row.sequence != known.sequence:
        return row.sequence > known.sequence
    return (row.losses, [order(each) for each in row.links]) > (known.losses, [order(each) for each in known.links])
