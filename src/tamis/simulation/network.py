"""Which brokers and links there are, which of them are down or cut, and how they come back."""

from collections.abc import Iterable, Mapping, Sequence

import msgspec
import networkx as nx

from tamis.routing import Strategy
from tamis.routing.packets import Name
from tamis.simulation.clock import Clock
from tamis.simulation.link import Link
from tamis.simulation.observer import Observer
from tamis.simulation.world import World


class Network(Observer):
    """The brokers and links of a world, and what they were before something went wrong.

    A link stands, or it waits for a broker that is down, or it is cut. One that is dark is cut and nobody knows.
    """

    def __init__(self, world: World, strategy: Strategy, clocks: Mapping[Name, Clock]) -> None:
        self._world = world
        self._strategy = strategy
        self._clocks = clocks
        #: The brokers that run and the links that stand.
        self.graph: nx.Graph[Name] = nx.Graph()
        self._down: dict[Name, None] = {}
        self._waits: dict[tuple[Name, Name], Link] = {}
        self._cut: dict[tuple[Name, Name], Link] = {}
        self._dark: dict[tuple[Name, Name], None] = {}
        world.watch(self)

    def build(self, graph: "nx.Graph[Name]") -> None:
        """Start all brokers and links of a graph."""
        if not self._strategy.capabilities.general and len(graph) and not nx.is_forest(graph):
            self._refuse_circle("the links of the topology")
        for broker in graph.nodes:
            self.join(broker)
        for one, other, attributes in graph.edges(data=True):
            try:
                link = Link(**attributes)
            except TypeError as error:
                raise ValueError(f"the link between {one!r} and {other!r}: {error}") from None
            self._world.link(one, other, link)

    # --- what the world says ---------------------------------------------------------------------------

    def started(self, now: float, broker: Name, clock: Clock) -> None:  # noqa: ARG002
        self.graph.add_node(broker)

    def stopped(self, now: float, broker: Name) -> None:  # noqa: ARG002
        self.graph.remove_node(broker)

    def linked(self, now: float, one: Name, other: Name, link: Link) -> None:  # noqa: ARG002
        self.graph.add_edge(one, other, **msgspec.structs.asdict(link))
        # A broker may open by itself a link that a fault has cut.
        self._cut.pop(_pair(one, other), None)

    def unlinked(self, now: float, one: Name, other: Name) -> None:  # noqa: ARG002
        self.graph.remove_edge(one, other)
        self._dark.pop(_pair(one, other), None)

    # --- brokers ---------------------------------------------------------------------------------------

    def check_known(self, broker: Name) -> None:
        """Raise `ValueError` if there is no such broker, not even one that is down."""
        if broker not in self._down:
            self._world.check_broker(broker)

    def check_runs(self, broker: Name) -> None:
        """Raise `ValueError` if there is no such broker or it is down."""
        if broker in self._down:
            raise ValueError(f"broker {broker!r} is down")
        self._world.check_broker(broker)

    def join(self, broker: Name) -> None:
        """Start a broker."""
        if broker in self._down:
            raise ValueError(f"there is a broker {broker!r} already, which is down")
        self._world.start(broker, self._clocks.get(broker))

    def leave(self, broker: Name) -> None:
        """Stop a broker for good."""
        self._world.stop(broker)
        for links in (self._waits, self._cut):
            for pair in [pair for pair in links if broker in pair]:
                del links[pair]

    def crash(self, broker: Name, silent: bool) -> None:
        """Stop a broker; its links wait for it."""
        self.check_runs(broker)
        for neighbour, attributes in self.graph.adj[broker].items():
            self._waits[_pair(broker, neighbour)] = Link(**attributes)
        # What is dark stays cut when the broker comes back.
        for pair in [pair for pair in self._dark if broker in pair]:
            self._cut[pair] = self._waits.pop(pair)
        self._world.stop(broker, silent)
        self._down[broker] = None

    def restart(self, broker: Name) -> None:
        """Start a broker that crashed, with the links that wait for it alone."""
        if broker not in self._down:
            raise ValueError(f"broker {broker!r} is not down")
        del self._down[broker]
        self._world.start(broker, self._clocks.get(broker))
        for pair, link in list(self._waits.items()):
            if broker in pair and not self._is_down(pair):
                del self._waits[pair]
                self._link(*pair, link)

    # --- links -----------------------------------------------------------------------------------------

    def connect(self, one: Name, other: Name, link: Link | None) -> None:
        """Put a link between two brokers, or bring a cut one back."""
        pair = _pair(one, other)
        self.check_known(one)
        self.check_known(other)
        if pair in self._dark:
            del self._dark[pair]
            self._world.darken(one, other, dark=False)
            if link is not None:
                self.change(one, other, link)
            return
        link = link or self._cut.get(pair) or Link()
        if self._is_down(pair):
            self._waits[pair] = link
            self._cut.pop(pair, None)
        else:
            self._link(one, other, link)

    def disconnect(self, one: Name, other: Name, silent: bool) -> None:
        """Cut a link."""
        pair = _pair(one, other)
        if pair in self._waits:
            self._cut[pair] = self._waits.pop(pair)
            # One end may not know that the other is down.
            if not silent and self._world.is_linked(one, other):
                self._world.cut(one, other)
            return
        if not self.graph.has_edge(one, other):
            raise ValueError(f"there is no link between {one!r} and {other!r}")
        if silent:
            self._dark[pair] = None
            self._world.darken(one, other)
            return
        self._cut[pair] = Link(**self.graph.edges[one, other])
        self._world.cut(one, other)

    def change(self, one: Name, other: Name, link: Link) -> None:
        """Let a link become another, also while it is cut."""
        pair = _pair(one, other)
        for links in (self._waits, self._cut):
            if pair in links:
                links[pair] = link
                return
        self._world.change(one, other, link)
        self.graph.edges[one, other].update(msgspec.structs.asdict(link))

    def partition(self, groups: Sequence[Iterable[Name]], silent: bool) -> None:
        """Cut all links between groups."""
        group_of: dict[Name, int] = {}
        for number, group in enumerate(groups, 1):
            for broker in group:
                self.check_known(broker)
                if group_of.setdefault(broker, number) != number:
                    raise ValueError(f"broker {broker!r} is in two groups")
        for one, other in [*self.graph.edges, *self._waits]:
            if group_of.get(one, 0) != group_of.get(other, 0) and _pair(one, other) not in self._dark:
                self.disconnect(one, other, silent)

    def reunite(self) -> None:
        """Bring all links back that are cut."""
        for pair in [*self._cut, *self._dark]:
            self.connect(*pair, None)

    def _link(self, one: Name, other: Name, link: Link) -> None:
        graph = self.graph
        if (
            not self._strategy.capabilities.general
            and one != other
            and {one, other} <= graph.nodes
            and not graph.has_edge(one, other)
            and nx.has_path(graph, one, other)
        ):
            self._refuse_circle(f"a link between {one!r} and {other!r}")
        self._world.link(one, other, link)

    def _refuse_circle(self, what: str) -> None:
        raise ValueError(f"{what} would close a circle, and strategy {self._strategy.name!r} routes on trees only")

    def _is_down(self, pair: tuple[Name, Name]) -> bool:
        return pair[0] in self._down or pair[1] in self._down

    def check_invariants(self) -> None:
        """Raise `AssertionError` if something does not fit together."""
        standing = {_pair(*edge) for edge in self.graph.edges}
        assert set(self.graph.nodes) == self._world.nodes.keys()
        assert not self._down.keys() & self._world.nodes.keys()
        assert not standing & (self._waits.keys() | self._cut.keys())
        assert not self._waits.keys() & self._cut.keys()
        assert self._dark.keys() <= standing
        assert all(self._is_down(pair) for pair in self._waits)
        linked = {_pair(name, far) for name, node in self._world.nodes.items() for far in node.links}
        assert {pair for pair in linked if not self._is_down(pair)} == standing


def _pair(one: Name, other: Name) -> tuple[Name, Name]:
    """Return two ends in an order that does not depend on which is named first."""
    return (one, other) if (str(one), isinstance(one, str)) <= (str(other), isinstance(other, str)) else (other, one)
