"""The links under the overlay: which ones a message between two hosts goes over (specs/003 §3, phase 2)."""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from tamis.compiled import kernel
from tamis.notification.circle import Longs
from tamis.simulation.topologies import Topology, graph_of, power_law


class Carried(NamedTuple):
    """What a trace means for the links: all hops over links, and how many messages the busiest one carried."""

    hops: int
    busiest: int


class Underlay:
    """A network of routers with links, at some of which stand hosts. Messages take shortest paths.

    Hosts are known by number. One that comes first among equals is always taken, so paths are the same in every run.
    """

    def __init__(self, topology: Topology, hosts: Iterable[int]) -> None:
        """Take a graph of routers 0, 1, … and the router of each host."""
        graph = graph_of(topology)
        count = graph.number_of_nodes()
        if set(graph.nodes) != set(range(count)):
            raise ValueError(f"the {count} routers of an underlay are to be named 0 to {count - 1}")
        self.hosts: Longs = np.array(list(hosts), np.int64)
        if len(self.hosts) and not (self.hosts.min() >= 0 and self.hosts.max() < count):
            raise ValueError(f"a host is at router {self.hosts.max()}, but there are {count}")
        ends = np.array([*graph.edges, *((two, one) for one, two in graph.edges)], np.int64).reshape(-1, 2)
        ends = ends[np.lexsort((ends[:, 1], ends[:, 0]))]
        self._targets = np.ascontiguousarray(ends[:, 1])
        self._offsets = np.searchsorted(ends[:, 0], np.arange(count + 1)).astype(np.int64)

    def carry(self, trace: Longs) -> Carried:
        """Lay the messages from host to host over the links."""
        loads, hops = _carry(self._offsets, self._targets, self.hosts, trace)
        if hops < 0:
            raise ValueError("there is no path between two hosts of the trace")
        return Carried(hops, int(loads.max(initial=0)))


def internet(routers: int, hosts: int, seed: int) -> Underlay:
    """Return a power-law graph with hosts at some routers, for that of INET (specs/003 §4, [INF])."""
    graph = power_law(routers, 2, seed)
    chosen = np.random.default_rng(seed).choice(routers, hosts, replace=False)
    return Underlay(graph, chosen.tolist())


@kernel
def _carry(offsets: Longs, targets: Longs, hosts: Longs, trace: Longs) -> tuple[Longs, int]:
    """Return how many messages each directed link carries, and the sum; -1 for that if something is out of reach."""
    count = len(offsets) - 1
    loads = np.zeros(len(targets), np.int64)
    order, parent_link, parent = np.empty(count, np.int64), np.empty(count, np.int64), np.empty(count, np.int64)
    seen, through = np.full(count, -1), np.empty(count, np.int64)
    hops = 0
    for source in range(len(hosts)):
        if trace[source].sum() == 0:
            continue
        order[0] = hosts[source]
        seen[hosts[source]] = source
        through[hosts[source]] = 0
        done, found = 0, 1
        while done < found:
            router = order[done]
            done += 1
            for link in range(offsets[router], offsets[router + 1]):
                target = targets[link]
                if seen[target] != source:
                    seen[target] = source
                    through[target] = 0
                    parent[target], parent_link[target] = router, link
                    order[found] = target
                    found += 1
        for target in range(len(hosts)):
            if trace[source, target] > 0:
                if seen[hosts[target]] != source:
                    return loads, -1
                through[hosts[target]] += trace[source, target]
        # From the farthest inwards, so that each passes on what it and those behind it get.
        for place in range(found - 1, 0, -1):
            router = order[place]
            if through[router] > 0:
                loads[parent_link[router]] += through[router]
                hops += through[router]
                through[parent[router]] += through[router]
    return loads, hops
