"""Destination-based routing: who compares, how far events go, and what failures change (specs/002 §3.2, §3.3, §10)."""

from typing import Any, ClassVar

import msgspec
import networkx as nx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tamis.routing.messages import NeighbourUp
from tamis.routing.packets import AnyPacket, Links, LinkState, Multicast, Name
from tamis.routing.registry import make_strategy
from tamis.routing.strategies.ddbr import EVERYBODY, DestinationBased
from tamis.simulation import Overlay
from tamis.simulation.link import Link
from tamis.simulation.observer import Observer


class Lists(Observer):
    """The destination lists of an event, by the link over which they went."""

    def __init__(self) -> None:
        self.seen: list[tuple[Name, Name, tuple[Name, ...]]] = []

    def sent(self, now: float, broker: Name, neighbour: Name, packet: Any) -> None:  # noqa: ARG002
        if isinstance(packet, Multicast):
            self.seen.append((broker, neighbour, packet.destinations))


@st.composite
def graphs(draw: st.DrawFn, least: int = 3) -> "nx.Graph[int]":
    count = draw(st.integers(least, 9))
    graph: nx.Graph[int] = nx.Graph([(each, draw(st.integers(0, each - 1))) for each in range(1, count)])
    for _ in range(draw(st.integers(0, 6))):
        one, other = draw(st.integers(0, count - 1)), draw(st.integers(0, count - 1))
        if one != other:
            graph.add_edge(one, other)
    return graph


def overlay(graph: "nx.Graph[Any]", **options: Any) -> Overlay:
    """Return an overlay in which every broker has a client that offers everything and wants what is sent to it."""
    net = Overlay(graph, routing="ddbr", **options)
    net.run()
    for broker in graph.nodes:
        net.advertise(broker, f"p{broker}", "true")
        net.subscribe(broker, f"s{broker}", f"array_contains(to, {broker})")
    net.run()
    return net


def send(net: Overlay, source: Any, *destinations: Any) -> set[Any]:
    """Publish an event and return who got it."""
    event = net.publish(source, {"to": list(destinations)}, publisher=f"p{source}")
    net.run()
    return {client for client, delivered in net.deliveries if delivered == event}


def brokers(net: Overlay) -> dict[Name, DestinationBased]:
    found = {name: node.broker for name, node in net._world.nodes.items()}
    assert all(isinstance(each, DestinationBased) for each in found.values())
    return found  # type: ignore[return-value]


def tables(net: Overlay) -> dict[Name, Any]:
    """Return the tables of the matching layer."""
    return {
        name: (
            sorted(broker.clusters[EVERYBODY].wanted.pairs()),
            {other: list(peer.announced) for other, peer in sorted(broker.clusters[EVERYBODY].peers.items())},
        )
        for name, broker in brokers(net).items()
    }


@settings(max_examples=40, deadline=None)
@given(graph=graphs(), data=st.data())
def test_matches_hops_and_lists(graph: "nx.Graph[int]", data: st.DataObject) -> None:
    net = overlay(graph)
    lists = Lists()
    net.watch(lists)
    source = data.draw(st.sampled_from(sorted(graph.nodes)))
    others = [each for each in sorted(graph.nodes) if each != source]
    destinations = data.draw(st.lists(st.sampled_from(others), min_size=1, unique=True))
    before = net.metrics.total("matches")
    assert send(net, source, *destinations) == {f"s{each}" for each in destinations}
    assert net.metrics.total("matches") - before == 1 + len(destinations)
    distances = nx.single_source_shortest_path_length(graph, source)
    assert sum(hops * count for hops, count in net.metrics.hops.items()) == sum(
        distances[each] for each in destinations
    )
    for broker, _, listed in lists.seen:
        came = [each for _, neighbour, each in lists.seen if neighbour == broker]
        gone = [each for near, _, part in lists.seen if near == broker for each in part]
        assert len(gone) == len(set(gone)), "parts are disjoint"
        whole = set(came[0]) - {broker} if came else set(destinations)
        assert set(gone) == whole, "parts together are the whole"
        assert set(listed) <= whole
    assert not net.metrics.total("dropped")


@settings(max_examples=20, deadline=None)
@given(graph=graphs())
def test_the_mean_list_of_a_broadcast_is_the_mean_distance(graph: "nx.Graph[int]") -> None:
    """Each list over a link names those behind it, so a broker is named once for each link on its way."""
    net = overlay(graph)
    lists = Lists()
    net.watch(lists)
    for source in graph.nodes:
        send(net, source, *(each for each in graph.nodes if each != source))
    mean = sum(len(listed) for *_, listed in lists.seen) / len(lists.seen)
    assert mean == pytest.approx(nx.average_shortest_path_length(graph))


@settings(max_examples=40, deadline=None)
@given(graph=graphs(), data=st.data())
def test_after_failures_events_arrive_if_there_is_a_way(graph: "nx.Graph[int]", data: st.DataObject) -> None:
    net = overlay(graph)
    before = tables(net)
    links = data.draw(st.lists(st.sampled_from(sorted(graph.edges)), max_size=4, unique=True))
    dead = data.draw(st.lists(st.sampled_from(sorted(graph.nodes)), max_size=2, unique=True))
    for one, other in links:
        net.disconnect(one, other)
    for broker in dead:
        net.leave(broker)
    net.run()
    assert {name: before[name] for name in net.brokers} == tables(net), "the matching layer is as it was"
    left = nx.Graph(graph)
    left.remove_edges_from(links)
    left.remove_nodes_from(dead)
    for source in left.nodes:
        got = send(net, source, *(each for each in graph.nodes if each != source))
        assert got == {f"s{each}" for each in nx.node_connected_component(left, source) - {source}}
    net.check_invariants()


def test_an_event_waits_for_a_way_but_not_for_ever() -> None:
    net = overlay(nx.path_graph(3))
    net.disconnect(1, 2)
    net.run()
    event = net.publish(0, {"to": [2]}, publisher="p0")
    net.run(until=net.now + 30)
    net.connect(1, 2)
    net.run()
    assert ("s2", event) in net.deliveries
    net.disconnect(1, 2)
    net.run()
    net.publish(0, {"to": [2]}, publisher="p0")
    net.run(until=net.now + 61)
    assert net.metrics.total("dropped") == 1
    net.connect(1, 2)
    net.run()
    assert len(net.deliveries) == 1


def test_who_is_gone_for_long_is_forgotten_and_may_come_back() -> None:
    net = overlay(nx.path_graph(4))
    net.leave(3)
    net.run()
    assert brokers(net)[0].stored() == 4, "its own and those of three others"
    net.run(until=net.now + 130)
    assert brokers(net)[0].stored() == 3
    net.join(3, [0])
    net.advertise(3, "p3", "true")
    net.subscribe(3, "s3", "array_contains(to, 3)")
    net.run()
    assert send(net, 2, 3) == {"s3"}
    assert send(net, 3, 0, 1, 2) == {"s0", "s1", "s2"}
    assert net.metrics.hops == {1: 1, 2: 1, 3: 2}


def test_a_neighbour_that_falls_silent_is_taken_for_dead() -> None:
    """Nobody tells of a dark link or a broker that hangs: three missed heartbeats do."""
    net = overlay(nx.cycle_graph(5))
    net.disconnect(0, 1, silent=True)
    net.run(until=net.now + 6)
    net.run()
    assert send(net, 0, 1) == {"s1"}
    assert net.metrics.hops[4] == 1, "the long way round"
    net.connect(0, 1)
    net.run(until=net.now + 3)
    net.run()
    assert send(net, 0, 1) == {"s1"}
    assert net.metrics.hops[1] == 1
    net.check_invariants()


def test_a_broker_that_crashed_starts_anew() -> None:
    net = overlay(nx.cycle_graph(4))
    for silent in (False, True):
        net.crash(2, silent=silent)
        net.run(until=net.now + 1)
        net.restart(2)
        net.run()
        assert send(net, 0, 2) == {"s2"}
        assert send(net, 2, 0, 1) == {"s0", "s1"}
        net.check_invariants()


def test_lost_changes_are_noticed() -> None:
    """A link takes subscriptions, their ends and advertisements with it; there is another way to tell them again."""
    graph = nx.cycle_graph(4)
    net = overlay(graph)
    net.subscribe(1, "late", "array_contains(to, 9)")
    net.unsubscribe(1, "s1", "array_contains(to, 1)")
    net.run(until=net.now + 0.0005)
    net.disconnect(0, 1)
    net.run()
    assert send(net, 0, 9) == {"late"}
    assert brokers(net)[0].clusters[EVERYBODY].wanted.held_by(1) == ["array_contains(to, 9)"]


@pytest.mark.parametrize("dark", [0.3, 2.3])
def test_what_a_link_loses_while_nobody_misses_it_is_noticed(dark: float) -> None:
    net = overlay(nx.path_graph(4))
    net.disconnect(1, 2, silent=True)
    net.subscribe(3, "late", "array_contains(to, 9)")
    net.unsubscribe(0, "s0", "array_contains(to, 0)")
    net.run(until=net.now + dark)
    assert send(net, 0, 9) == set()
    net.connect(1, 2)
    net.run(until=net.now + 2)
    net.run()
    assert send(net, 0, 9) == {"late"}
    assert brokers(net)[3].clusters[EVERYBODY].wanted.held_by(0) == []


def test_a_row_of_an_earlier_life_is_outlived() -> None:
    """Its clock may have been set back: then the broker begins an epoch above what others remember."""
    broker = make_strategy("ddbr").broker(1)
    broker.handle(NeighbourUp(2), 5.0)
    assert isinstance(broker, DestinationBased)
    old = Links(1, 7_000_000, 4, 0, (2, 3))
    broker.on_packet(2, LinkState(EVERYBODY, (old,)))
    mine = broker.clusters[EVERYBODY].topology.rows[1]
    assert (mine.epoch, mine.links) == (7_000_001, (2,))


def test_setting_up_costs_few_packets() -> None:
    """News about links travel together: fewer than eight packets for each direction of a link."""
    graph = nx.gnm_random_graph(60, 180, seed=3)
    net = Overlay(graph, routing="ddbr")
    net.run()
    assert net.metrics.sent_by_kind["LinkState"] < 8 * 2 * 180
    hops = brokers(net)[0].clusters[EVERYBODY].topology.hops()
    assert len(hops) == len(nx.node_connected_component(graph, 0)) - 1


def test_every_packet_can_be_written_and_read() -> None:
    class Wire(Observer):
        kinds: ClassVar[set[str]] = set()

        def sent(self, now: float, broker: Name, neighbour: Name, packet: Any) -> None:  # noqa: ARG002
            assert msgspec.msgpack.decode(msgspec.msgpack.encode(packet), type=AnyPacket) == packet
            self.kinds.add(type(packet).__name__)

    net = Overlay(nx.relabel_nodes(nx.circular_ladder_graph(4), {1: "one"}), routing="ddbr", max_degree=3, period=5.0)
    net.watch(Wire())
    net.run()
    for broker in net.brokers:
        net.advertise(broker, f"p{broker}", "true")
    net.subscribe(6, "s6", "x > 1")
    net.run()
    for number in range(150):
        net.publish(0, {"x": number}, publisher="p0")
        if number == 120:
            net.crash("one")
        if number == 130:
            net.restart("one")
        net.run(until=net.now + 0.1)
    missing = {kind.__name__ for kind in DestinationBased.speaks} - Wire.kinds
    assert missing <= {"Again"}


def test_bad_options_are_refused() -> None:
    for options in ({"max_degree": -1}, {"period": 0}, {"loss": "none"}, {"heartbeat": -1.0}):
        with pytest.raises(ValueError, match="ddbr"):
            make_strategy("ddbr", options)


# --- self-organisation ------------------------------------------------------------------------------------


class Degrees(Observer):
    """Whether the overlay was connected and how many links the brokers had, at every change."""

    def __init__(self, net: Overlay) -> None:
        self.net = net
        self.changes = 0
        self.worst = 0

    def linked(self, now: float, one: Name, other: Name, link: Link) -> None:  # noqa: ARG002
        self.look()

    def unlinked(self, now: float, one: Name, other: Name) -> None:  # noqa: ARG002
        self.look()

    def look(self) -> None:
        self.changes += 1
        assert nx.is_connected(self.net.graph)
        self.worst = max(self.worst, *(degree for _, degree in self.net.graph.degree))


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 1000), loss=st.sampled_from(["transit", "pair"]), max_degree=st.integers(3, 5))
def test_self_organisation_never_disconnects(seed: int, loss: str, max_degree: int) -> None:
    graph = nx.random_regular_graph(3, 10, seed)
    if not nx.is_connected(graph):
        return
    net = overlay(graph, max_degree=max_degree, period=5.0, loss=loss, heartbeat=0.0)
    degrees = Degrees(net)
    net.watch(degrees)
    wanted = 0
    for number in range(240):
        source, goal = (seed + number % 5) % 10, (seed + 7 * (number % 5) + 3) % 10
        if source != goal:
            net.publish(source, {"to": [goal]}, publisher=f"p{source}")
            wanted += 1
        net.run(until=net.now + 0.1)
    net.run()
    assert degrees.worst <= max_degree
    assert len(net.deliveries) == len(set(net.deliveries)) == wanted, "links go when nothing is on them"
    net.check_invariants()


def test_brokers_that_exchange_much_become_neighbours() -> None:
    net = overlay(nx.cycle_graph(8), max_degree=3, period=5.0)
    for _ in range(200):
        net.publish(0, {"to": [4]}, publisher="p0")
        net.run(until=net.now + 0.1)
    assert net.graph.has_edge(0, 4)
    before = net.metrics.hops[1]
    assert send(net, 0, 4) == {"s4"}
    assert net.metrics.hops[1] == before + 1
