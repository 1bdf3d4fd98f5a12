"""`tamis.Overlay`: a network of brokers in virtual time."""

from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

import networkx as nx

from tamis.routing import make_strategy
from tamis.routing.conditions import canonical, parsed
from tamis.routing.messages import (
    Advertise,
    ClientLeft,
    Message,
    Publish,
    Subscribe,
    Unadvertise,
    Unsubscribe,
)
from tamis.routing.packets import AnyPacket, Event, Name
from tamis.routing.table import Table
from tamis.simulation.link import Link
from tamis.simulation.metrics import Metrics
from tamis.simulation.world import Service, World

#: A graph whose nodes are brokers, or how many brokers (0, 1, …) and the links between them.
Topology: TypeAlias = "nx.Graph[Name] | tuple[int, Iterable[tuple[int, int]]]"


class Overlay:
    """Brokers that route events by one strategy, clients at these brokers, and what the clients got.

    Every call takes effect at the present virtual time; `run` lets time pass. Links of a networkx graph may have the
    attributes of a `Link`, such as `latency`.
    """

    def __init__(
        self,
        topology: Topology,
        routing: str = "simple",
        *,
        seed: int = 0,
        service: Service | None = None,
        **options: Any,
    ) -> None:
        """Make an overlay. `options` are the strategy's; one that it does not have is a `ValueError`."""
        self.strategy = make_strategy(routing, options)
        self.metrics = Metrics()
        #: Who got which event, in order.
        self.deliveries: list[tuple[Name, Name]] = []
        self._world = World(self.strategy.broker, seed, service)
        self._world.observers += [self.metrics, self]
        self._home: dict[Name, Name] = {}
        self._wanted = Table()
        self._advertised = Table()
        #: The brokers and links that stand.
        self.graph: nx.Graph[Name] = nx.Graph()
        self._events = 0
        graph = _graph(topology)
        for broker in graph.nodes:
            self.join(broker)
        for one, other, attributes in graph.edges(data=True):
            self.connect(one, other, Link(**attributes))

    # --- brokers and links ---------------------------------------------------------------------------

    @property
    def now(self) -> float:
        """The present virtual time, in seconds."""
        return self._world.now

    @property
    def brokers(self) -> list[Name]:
        """The brokers, in the order in which they joined."""
        return list(self._world.nodes)

    def join(self, broker: Name, neighbours: Iterable[Name] = ()) -> None:
        """Let a broker join, with links to others."""
        self._world.start(broker)
        self.graph.add_node(broker)
        for neighbour in neighbours:
            self.connect(broker, neighbour)

    def leave(self, broker: Name) -> None:
        """Let a broker leave, with its clients and its links."""
        self._world.check_broker(broker)
        for client in [client for client, home in self._home.items() if home == broker]:
            self.detach(client)
        self._world.stop(broker)
        self.graph.remove_node(broker)

    def connect(self, one: Name, other: Name, link: Link | None = None) -> None:
        """Put a link between two brokers."""
        if not self.strategy.capabilities.general and self._are_joined(one, other):
            raise ValueError(
                f"a link between {one!r} and {other!r} would close a circle, and strategy "
                f"{self.strategy.name!r} routes on trees only"
            )
        self._world.link(one, other, link)
        self.graph.add_edge(one, other)

    def _are_joined(self, one: Name, other: Name) -> bool:
        """Say whether a way leads from one broker to another, other than a link or none at all."""
        graph = self.graph
        return (
            one != other
            and {one, other} <= graph.nodes
            and not graph.has_edge(one, other)
            and nx.has_path(graph, one, other)
        )

    def disconnect(self, one: Name, other: Name) -> None:
        """Take the link between two brokers away."""
        self._world.cut(one, other)
        self.graph.remove_edge(one, other)

    # --- clients -------------------------------------------------------------------------------------

    def subscribe(self, broker: Name, client: Name, condition: str) -> None:
        """Let a client at a broker subscribe."""
        self._check_home(broker, client)
        self._wanted.add(client, canonical(condition))
        self._world.tell(broker, Subscribe(client, condition))
        self._home[client] = broker

    def unsubscribe(self, broker: Name, client: Name, condition: str) -> None:
        """Let a client take a subscription back that it has."""
        self._check_home(broker, client)
        if not self._wanted.remove(client, canonical(condition)):
            raise ValueError(f"client {client!r} has no subscription {condition!r}")
        self._world.tell(broker, Unsubscribe(client, condition))

    def advertise(self, broker: Name, client: Name, condition: str) -> None:
        """Let a client at a broker announce which events it will publish."""
        self._check_home(broker, client)
        self._advertised.add(client, canonical(condition))
        self._world.tell(broker, Advertise(client, condition))
        self._home[client] = broker

    def unadvertise(self, broker: Name, client: Name, condition: str) -> None:
        """Let a client take an advertisement back that it has made."""
        self._check_home(broker, client)
        if not self._advertised.remove(client, canonical(condition)):
            raise ValueError(f"client {client!r} has made no advertisement {condition!r}")
        self._world.tell(broker, Unadvertise(client, condition))

    def publish(self, broker: Name, event: Mapping[str, Any], publisher: Name = "publisher") -> Name:
        """Let a client at a broker publish an event; return the event's id.

        A strategy that needs advertisements refuses events that meet none of the publisher's.
        """
        self._check_home(broker, publisher)
        if self.strategy.capabilities.advertisements and not any(
            parsed(condition).matches(event) for condition in self._advertised.held_by(publisher)
        ):
            raise ValueError(
                f"strategy {self.strategy.name!r} routes only what is advertised, and {publisher!r} has not "
                f"advertised {dict(event)!r}"
            )
        self._events += 1
        self._world.tell(broker, Publish(publisher, Event(self._events, dict(event))))
        return self._events

    def detach(self, client: Name) -> None:
        """Let a client leave, with all its subscriptions and advertisements."""
        if client not in self._home:
            raise ValueError(f"there is no client {client!r}")
        self._world.tell(self._home.pop(client), ClientLeft(client))
        self._wanted.drop(client)
        self._advertised.drop(client)

    # --- time ----------------------------------------------------------------------------------------

    def run(self, until: float | None = None) -> None:
        """Let time pass until the overlay is quiet, or until a time."""
        self._world.run(until)

    def check_invariants(self) -> None:
        """Raise `AssertionError` if something in a broker does not fit together."""
        for node in self._world.nodes.values():
            node.broker.check_invariants()

    # --- what the overlay sees as an observer of its world ---------------------------------------------

    def told(self, now: float, broker: Name, message: Message, hops: int) -> None:
        """Nothing to note."""

    def sent(self, now: float, broker: Name, neighbour: Name, packet: AnyPacket, lost: bool) -> None:
        """Nothing to note."""

    def delivered(self, now: float, broker: Name, client: Name, event: Event, hops: int) -> None:  # noqa: ARG002
        """Note who got what."""
        self.deliveries.append((client, event.id))

    def recorded(self, now: float, broker: Name, metric: str, value: float) -> None:
        """Nothing to note."""

    def _check_home(self, broker: Name, client: Name) -> None:
        self._world.check_broker(broker)
        home = self._home.get(client, broker)
        if home != broker:
            raise ValueError(f"client {client!r} is at broker {home!r}, not at {broker!r}")


def _graph(topology: Topology) -> "nx.Graph[Name]":
    if not isinstance(topology, tuple):
        return topology
    count, links = topology
    graph: nx.Graph[Name] = nx.Graph()
    graph.add_nodes_from(range(count))
    for one, other in links:
        if not (0 <= one < count and 0 <= other < count):
            raise ValueError(f"a link from {one} to {other}: the {count} brokers are 0 to {count - 1}")
        graph.add_edge(one, other)
    return graph
