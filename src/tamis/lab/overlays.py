"""The overlays of specs/002 §9.1 and §9.2: three ways of routing, and the lists of destinations that events carry.

Everything is counted in the world in virtual time, by looking on. Where so many events would take too long there, lists
are worked out with the tables of next hops that `ddbr` itself keeps.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, Final

import networkx as nx
import numpy as np

from tamis.routing.destinations.order import order
from tamis.routing.destinations.topology import Topology
from tamis.routing.messages import Message, Publish
from tamis.routing.packets import AnyPacket, Links, Multicast, Name
from tamis.simulation import Overlay, topology
from tamis.simulation.observer import Observer
from tamis.simulation.world import Service

#: The names that the thesis has, and ours.
FBR: Final = "FBR"
DDBR: Final = "D-DBR"
MERC: Final = "MERC"
STRATEGIES: Final = {FBR: "advertisement", DDBR: "ddbr", MERC: "merc"}

#: An event: the broker that publishes it, and those that want it.
Journey = tuple[int, list[int]]


def plain(brokers: int, degree: float, seed: int) -> "nx.Graph[Name]":
    """Return a random tree with random links up to a mean degree (the prototype of specs/002 §9.2)."""
    return topology("degree", brokers, seed=seed, degree=degree)


def clustered(brokers: int, clusters: int, degree: float, seed: int) -> "nx.Graph[Name]":
    """Return stubs, each with an edge broker of its own, and a backbone of these (specs/002 §9.1, [ours])."""
    return topology("transit-stub", brokers, seed=seed, stubs=clusters, degree=degree)


def edges(graph: "nx.Graph[Name]") -> set[Name]:
    """Return the brokers that are in several clusters."""
    members = Counter(broker for cluster in graph.graph.get("clusters", ()) for broker in cluster)
    return {broker for broker, clusters in members.items() if clusters > 1}


def overlay(
    strategy: str, graph: "nx.Graph[Name]", service: Service | None = None, *, heartbeat: float = 0.0
) -> Overlay:
    """Return an overlay that routes by one of `STRATEGIES`. Without heartbeats nobody notices silent faults."""
    options: dict[str, Any] = {} if strategy == FBR else {"heartbeat": heartbeat}
    if strategy == MERC:
        options["clusters"] = graph.graph["clusters"]
    return Overlay(graph, STRATEGIES[strategy], service=service, **options)


class Lists(Observer):
    """Counts how many destinations events carry from broker to broker."""

    def __init__(self) -> None:
        #: All, those that each broker sends or gets, and those that the publisher's own broker sends.
        self.all: Counter[int] = Counter()
        self.by_broker: dict[Name, Counter[int]] = {}
        self.at_source: Counter[int] = Counter()
        self._sources: dict[Name, Name] = {}

    def told(self, now: float, broker: Name, message: Message, hops: int) -> None:  # noqa: ARG002
        """Note where an event is published."""
        if isinstance(message, Publish):
            self._sources[message.event.id] = broker

    def sent(self, now: float, broker: Name, neighbour: Name, packet: AnyPacket) -> None:  # noqa: ARG002
        """Count a list."""
        if isinstance(packet, Multicast):
            size = len(packet.destinations)
            self.all[size] += 1
            for end in (broker, neighbour):
                self.by_broker.setdefault(end, Counter())[size] += 1
            if self._sources[packet.event.id] == broker:
                self.at_source[size] += 1


def mean(counts: "Counter[int]") -> float:
    """Return the mean of numbers, of each of which there are so many."""
    return sum(number * count for number, count in counts.items()) / counts.total()


def share_below(counts: "Counter[int]", limit: int) -> float:
    """Return the share of numbers that are below a limit, in per cent."""
    return 100 * sum(count for number, count in counts.items() if number < limit) / counts.total()


def journeys(brokers: int, destinations: int, count: int, seed: int) -> Iterator[Journey]:
    """Draw events: any broker publishes, and any others want it. The same seed gives the same events."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        source, *wanted = rng.choice(brokers, destinations + 1, replace=False).tolist()
        yield source, wanted


def in_world(strategy: str, graph: "nx.Graph[Name]", events: Sequence[Journey]) -> Lists:
    """Let events go to given brokers, one after the other, and count their lists."""
    net = overlay(strategy, graph)
    wanted: dict[int, list[int]] = {}
    for number, (_, destinations) in enumerate(events):
        for broker in destinations:
            wanted.setdefault(broker, []).append(number)
    for broker, numbers in sorted(wanted.items()):
        net.subscribe(broker, f"subscriber {broker}", f"event in ({', '.join(map(str, numbers))})")
    net.run()
    for broker in sorted({source for source, _ in events}):
        net.advertise(broker, f"publisher {broker}", "event >= 0")
    net.run()
    lists = Lists()
    net.watch(lists)
    for number, (source, _) in enumerate(events):
        net.publish(source, {"event": number}, f"publisher {source}")
        net.run()
    if net.missing():
        raise AssertionError(f"{len(net.missing())} events did not arrive")
    return lists


class Tables:
    """The next hops that every broker of a `ddbr` overlay works out once all links are known."""

    def __init__(self, graph: "nx.Graph[Name]") -> None:
        rows = [Links(broker, 0, 1, 0, tuple(sorted(graph.adj[broker], key=order))) for broker in graph]
        self._of: dict[Name, Topology] = {}
        for broker in graph:
            known = self._of[broker] = Topology(broker)
            for row in rows:
                known.put(row)

    def lists(self, events: Sequence[Journey]) -> "Counter[int]":
        """Return how long the lists of events are: they are split at every broker, as `ddbr` does."""
        sizes: Counter[int] = Counter()
        for source, destinations in events:
            on_way: list[tuple[Name, list[Name]]] = [(source, [*destinations])]
            for broker, wanted in on_way:
                parts, _ = self._of[broker].split([each for each in wanted if each != broker])
                others = [each for each in wanted if each != broker]
                for hop, places in parts.items():
                    sizes[len(places)] += 1
                    on_way.append((hop, [others[place] for place in places]))
        return sizes

    def distance(self) -> float:
        """Return how many links lie between two brokers, as a mean."""
        lengths = [length for each in self._of.values() for length in each.distances().values()]
        return sum(lengths) / (len(self._of) * (len(self._of) - 1))
