"""Which link would gain, and which could be spared: the decisions of overlay self-organisation (specs/002 §3.3)."""

from collections import Counter
from math import inf
from typing import Literal, TypeAlias

from tamis.routing.destinations.order import order
from tamis.routing.destinations.topology import Topology
from tamis.routing.packets import Name

#: Which traffic a link loses when it is dropped: all that crosses it, or that between its two ends alone. The thesis
#: leaves it open; the first comes nearer to its figures.
Loss: TypeAlias = Literal["transit", "pair"]


class Loads:
    """How many packets a broker exchanged with every other, and over each of its links, in the last full period."""

    def __init__(self) -> None:
        #: Packets that begin here and end there, or the other way round; and packets over own links. Of this period.
        self.with_brokers: Counter[Name] = Counter()
        self.over_links: Counter[Name] = Counter()
        self._last: tuple[Counter[Name], Counter[Name]] = Counter(), Counter()

    def next_period(self) -> None:
        """Begin a new period."""
        self._last = self.with_brokers, self.over_links
        self.with_brokers, self.over_links = Counter(), Counter()

    def best_gain(self, topology: Topology) -> tuple[float, Name] | None:
        """Return the new link that would save most, and the links that packets would be spared in a period."""
        best: tuple[float, Name] | None = None
        for broker, count in sorted(self._last[0].items(), key=lambda item: order(item[0])):
            gain = count * (topology.distances().get(broker, 1) - 1)
            if gain > 0 and (best is None or gain > best[0]):
                best = gain, broker
        return best

    def least_loss(self, topology: Topology, kind: Loss) -> tuple[float, tuple[Name, ...]]:
        """Return the own link that could be dropped at the least cost, by its ends; infinite if all are bridges."""
        rates = self._last[kind == "transit"]
        best: tuple[float, tuple[Name, ...]] = inf, ()
        for neighbour, hop in topology.hops().items():
            if neighbour == hop:
                link = topology.me, neighbour
                around = topology.reachable(topology.me, [link]).get(neighbour)
                loss = inf if around is None else rates[neighbour] * (around - 1.0)
                if loss < best[0]:
                    best = loss, link
        return best


def stay_connected(topology: Topology, drops: list[tuple[Name, ...]]) -> bool:
    """Say whether all brokers can still be reached if some links are dropped, all of which are there."""
    return all(topology.are_linked(*drop) for drop in drops) and len(topology.reachable(topology.me, drops)) == len(
        topology.distances()
    )
