"""Histories of overlays, and what clients must and may get in them."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

import networkx as nx
from hypothesis import strategies as st

from tamis import parse
from tamis.simulation import Overlay

CONDITIONS = (
    "x > 3",
    "x > 5",
    "x = 5",
    "x between 2 and 7",
    "x < 4 and y > 2",
    "x > 3 and y <= 6",
    "y in (1, 3, 5)",
    "y <> 4",
    "s = 'a'",
    "s like 'a%'",
    "s like '%b%' and x > 1",
    "x > 6 or y < 3",
    "not (x between 3 and 6)",
    "(x = 1 or x = 8) and (y = 2 or s = 'ab')",
    "z is null",
    "true",
    "x > 5 and x < 3",
)
ADVERTS = ("true", "x >= 0", "x > 4", "x <= 5 and y is not null", "s like 'a%'", "x > 2 or y > 2")
EVENTS: tuple[dict[str, Any], ...] = (
    {"x": 5, "y": 3},
    {"x": 2, "y": 5},
    {"x": 8, "y": 2, "s": "ab"},
    {"x": 4},
    {"y": 4, "s": "a"},
    {"x": 7, "y": 6, "s": "cab"},
    {"x": 1, "y": 1, "s": "a", "z": 0},
    {},
)
#: What can happen; those that happen more often stand more often.
KINDS: tuple[str, ...] = ("subscribe",) * 5 + ("publish",) * 6 + ("advertise",) * 3 + ("settle",) * 4
KINDS += (
    "wait",
    "wait",
    "wait",
    "unsubscribe",
    "unsubscribe",
    "unsubscribe",
    "unadvertise",
    "detach",
    "cut",
    "link",
    "join",
    "leave",
)

#: A kind of step and two numbers that choose among whatever there is at that moment.
Step = tuple[str, int, int]


def steps(most: int = 40) -> st.SearchStrategy[list[Step]]:
    """Return histories."""
    number = st.integers(0, 1000)
    return st.lists(st.tuples(st.sampled_from(KINDS), number, number), min_size=5, max_size=most)


class Story:
    """An overlay, what was done to it, and for each event who must and who may get it.

    An event *must* reach a client in reach that wants it from the quiet before its publication to the quiet after it,
    if its advertisement stood as long and no link changed meanwhile. It *may* reach a client that wants it at any
    moment from its publication to the next quiet. If all was quiet before and after, both are the same clients.
    """

    def __init__(self, net: Overlay) -> None:
        self.net = net
        self.wants: dict[str, set[str]] = {}
        self.offers: dict[str, set[str]] = {}
        self.home: dict[str, int] = {}
        self.clients = 0
        self.graph: nx.Graph[Any] = nx.Graph(net.graph)
        self.brokers = max(self.graph.nodes) + 1
        self.cut_links: list[tuple[int, int]] = []
        #: Of the present unquiet time.
        self.stable: set[tuple[str, str]] = set()
        self.stable_offers: set[tuple[str, str]] = set()
        self.any_link_changed = False
        self.open: dict[Any, tuple[str, Mapping[str, Any], set[str]]] = {}
        self.must: dict[Any, set[str]] = {}
        self.may: dict[Any, set[str]] = {}

    def do(self, step: Step) -> None:
        """Do one step, if it is possible."""
        kind, one, two = step
        getattr(self, f"_{kind}")(one, two)

    def settle(self) -> None:
        """Let the overlay become quiet, and settle who must and may get what was published."""
        self.net.run()
        for event_id, (publisher, event, may) in self.open.items():
            self.may[event_id] = may
            offered = not self.net.strategy.capabilities.advertisements or any(
                parse(text).matches(event) for client, text in self.stable_offers if client == publisher
            )
            reach = nx.node_connected_component(self.graph, self.home[publisher]) if publisher in self.home else set()
            self.must[event_id] = (
                {client for client, text in self.stable if parse(text).matches(event) and self.home[client] in reach}
                if offered and not self.any_link_changed
                else set()
            )
        self.open.clear()
        self.any_link_changed = False
        self.stable = {(client, text) for client, texts in self.wants.items() for text in texts}
        self.stable_offers = {(client, text) for client, texts in self.offers.items() for text in texts}

    def probe(self) -> None:
        """Let somebody at every broker publish every event in the quiet."""
        for broker in sorted(self.graph.nodes):
            self.net.advertise(broker, f"probe{broker}", "true")
            self.home[f"probe{broker}"] = broker
            self.offers[f"probe{broker}"] = {"true"}
        self.settle()
        for broker in sorted(self.graph.nodes):
            for event in EVENTS:
                self.publish(f"probe{broker}", event)
        self.settle()

    def check(self) -> None:
        """Raise `AssertionError` if a client got too much or too little, or something twice."""
        self.settle()
        self.probe()
        self.net.check_invariants()
        counts = Counter(self.net.deliveries)
        assert not [each for each, count in counts.items() if count > 1], "twice"
        for event_id, must in self.must.items():
            got = {str(client) for client, delivered in counts if delivered == event_id}
            assert must <= got, f"event {event_id} did not reach {must - got}"
            if self.net.strategy.capabilities.exact:
                assert got <= self.may[event_id], f"event {event_id} reached {got - self.may[event_id]}"

    def _settle(self, _one: int, _two: int) -> None:
        self.settle()

    def _wait(self, one: int, _two: int) -> None:
        """Stop while things are on their way."""
        self.net.run(until=self.net.now + one / 10_000)

    def _client(self, one: int, two: int) -> tuple[str, int]:
        """Choose a client that is there, or a new one."""
        if one % 3 and self.home:
            client = sorted(self.home)[one % len(self.home)]
            return client, self.home[client]
        self.clients += 1
        broker = sorted(self.graph.nodes)[two % len(self.graph)]
        return f"c{self.clients}", broker

    def _subscribe(self, one: int, two: int) -> None:
        client, broker = self._client(one, two)
        text = CONDITIONS[two % len(CONDITIONS)]
        self.net.subscribe(broker, client, text)
        self.home[client] = broker
        self.wants.setdefault(client, set()).add(text)
        for _, event, may in self.open.values():
            if parse(text).matches(event):
                may.add(client)

    def _unsubscribe(self, one: int, two: int) -> None:
        held = sorted((client, text) for client, texts in self.wants.items() for text in texts)
        if held:
            client, text = held[(one + two) % len(held)]
            self.net.unsubscribe(self.home[client], client, text)
            self.wants[client].remove(text)
            self.stable.discard((client, text))

    def _advertise(self, one: int, two: int) -> None:
        client, broker = self._client(one, two)
        text = ADVERTS[two % len(ADVERTS)]
        self.net.advertise(broker, client, text)
        self.home[client] = broker
        self.offers.setdefault(client, set()).add(text)

    def _unadvertise(self, one: int, two: int) -> None:
        held = sorted((client, text) for client, texts in self.offers.items() for text in texts)
        if held:
            client, text = held[(one + two) % len(held)]
            self.net.unadvertise(self.home[client], client, text)
            self.offers[client].remove(text)
            self.stable_offers.discard((client, text))

    def _publish(self, one: int, two: int) -> None:
        if not self.home:
            return
        publisher = sorted(self.home)[one % len(self.home)]
        event = EVENTS[two % len(EVENTS)]
        offered = any(parse(text).matches(event) for text in self.offers.get(publisher, ()))
        if self.net.strategy.capabilities.advertisements and not offered:
            return
        self.publish(publisher, event)

    def publish(self, publisher: str, event: Mapping[str, Any]) -> None:
        """Let a client publish an event."""
        event_id = self.net.publish(self.home[publisher], event, publisher=publisher)
        may = {client for client, texts in self.wants.items() if any(parse(text).matches(event) for text in texts)}
        self.open[event_id] = publisher, event, may

    def _detach(self, one: int, _two: int) -> None:
        if self.home:
            client = sorted(self.home)[one % len(self.home)]
            self.net.detach(client)
            self._forget(client)

    def _forget(self, client: str) -> None:
        del self.home[client]
        self.wants.pop(client, None)
        self.offers.pop(client, None)
        self.stable = {pair for pair in self.stable if pair[0] != client}
        self.stable_offers = {pair for pair in self.stable_offers if pair[0] != client}

    def _cut(self, one: int, _two: int) -> None:
        links = sorted(tuple(sorted(link)) for link in self.graph.edges)
        if links:
            link = links[one % len(links)]
            self.net.disconnect(*link)
            self.graph.remove_edge(*link)
            self.cut_links.append(link)
            self.any_link_changed = True

    def _link(self, one: int, two: int) -> None:
        brokers = sorted(self.graph.nodes)
        pair = brokers[one % len(brokers)], brokers[two % len(brokers)]
        if pair[0] == pair[1] or self.graph.has_edge(*pair):
            return
        if not self.net.strategy.capabilities.general and nx.has_path(self.graph, *pair):
            return
        self.net.connect(*pair)
        self.graph.add_edge(*pair)
        self.any_link_changed = True

    def _join(self, one: int, _two: int) -> None:
        brokers = sorted(self.graph.nodes)
        neighbour = brokers[one % len(brokers)]
        self.net.join(self.brokers, [neighbour])
        self.graph.add_edge(self.brokers, neighbour)
        self.brokers += 1
        self.any_link_changed = True

    def _leave(self, one: int, _two: int) -> None:
        if len(self.graph) < 2:
            return
        broker = sorted(self.graph.nodes)[one % len(self.graph)]
        self.net.leave(broker)
        self.graph.remove_node(broker)
        for client in [client for client, home in self.home.items() if home == broker]:
            self._forget(client)
        self.any_link_changed = True
