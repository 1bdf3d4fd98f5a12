"""Destination-based routing in clusters (specs/002 §3.4, §10)."""

from typing import Any

import networkx as nx
from hypothesis import given, settings
from hypothesis import strategies as st

from tamis.routing.packets import Name, Routed
from tamis.routing.strategies.merc import Clustered
from tamis.simulation import Overlay
from tamis.simulation.observer import Observer


def brokers(net: Overlay) -> dict[Name, Clustered]:
    found = {name: node.broker for name, node in net._world.nodes.items()}
    assert all(isinstance(each, Clustered) for each in found.values())
    return found  # type: ignore[return-value]


def overlay(graph: "nx.Graph[Any]", clusters: list[list[Any]]) -> Overlay:
    """Return an overlay in which every broker has a client that offers everything and wants what is sent to it."""
    net = Overlay(graph, routing="merc", clusters=clusters)
    net.run()
    for broker in graph.nodes:
        net.advertise(broker, f"p{broker}", "true")
        net.subscribe(broker, f"s{broker}", f"array_contains(to, {broker})")
    net.run()
    return net


def send(net: Overlay, source: Any, *destinations: Any) -> list[Any]:
    event = net.publish(source, {"to": list(destinations)}, publisher=f"p{source}")
    net.run()
    return sorted(client for client, delivered in net.deliveries if delivered == event)


class Named(Observer):
    """Whom the destination lists named, by the broker that they came to."""

    def __init__(self) -> None:
        self.at: dict[Name, set[Name]] = {}

    def sent(self, now: float, broker: Name, neighbour: Name, packet: Any) -> None:  # noqa: ARG002
        if isinstance(packet, Routed):
            self.at.setdefault(neighbour, set()).update((*packet.destinations, packet.source))


@st.composite
def clustered(draw: st.DrawFn) -> tuple["nx.Graph[int]", list[list[int]]]:
    """Return clusters that overlap as they like, each connected by itself and all together."""
    clusters: list[list[int]] = []
    graph: nx.Graph[int] = nx.Graph()
    count = 0
    for number in range(draw(st.integers(2, 4))):
        own = list(range(count, count + draw(st.integers(1, 3))))
        count += len(own)
        shared = (
            draw(st.lists(st.sampled_from(range(count - len(own))), min_size=1, max_size=2, unique=True))
            if number
            else []
        )
        cluster = [*shared, *own]
        clusters.append(cluster)
        graph.add_nodes_from(cluster)
        for place, broker in enumerate(cluster[1:], 1):
            graph.add_edge(broker, cluster[draw(st.integers(0, place - 1))])
    if len(clusters) > 2 and draw(st.booleans()):
        # A circle: the first and the last cluster share a broker.
        broker = clusters[0][0]
        if broker not in clusters[-1]:
            graph.add_edge(broker, clusters[-1][-1])
            clusters[-1].append(broker)
    return graph, clusters


@settings(max_examples=60, deadline=None)
@given(case=clustered())
def test_everybody_gets_it_once_also_where_clusters_form_circles(case: tuple["nx.Graph[int]", list[list[int]]]) -> None:
    graph, clusters = case
    net = overlay(graph, clusters)
    named = Named()
    net.watch(named)
    for source in graph.nodes:
        everybody = sorted(graph.nodes)
        assert send(net, source, *everybody) == sorted(f"s{each}" for each in everybody)
    net.check_invariants()
    for name, broker in brokers(net).items():
        known = {each for cluster in clusters if name in cluster for each in cluster}
        for cluster in broker.clusters.values():
            assert cluster.topology.rows.keys() <= known
            assert cluster.peers.keys() <= known
            assert {each for row in cluster.topology.rows.values() for each in row.links} <= known
            assert {holder for holder, _ in cluster.wanted.pairs()} <= known
        assert named.at.get(name, set()) <= known, "no list names a broker outside own clusters"
    for each in graph.nodes:
        net.unsubscribe(each, f"s{each}", f"array_contains(to, {each})")
    net.run()
    assert [broker.stored() for broker in brokers(net).values()] == [0] * len(graph), "nothing keeps itself alive"
    for each in graph.nodes:
        net.unadvertise(each, f"p{each}", "true")
    net.run()
    assert not any(cluster.telling for broker in brokers(net).values() for cluster in broker.clusters.values())
    net.check_invariants()


def test_on_a_tree_of_clusters_an_advertisement_reaches_everybody_once() -> None:
    graph = nx.path_graph(9)
    net = Overlay(graph, routing="merc", clusters=[[0, 1, 2, 3], [3, 4, 5], [5, 6, 7, 8]])
    net.run()
    net.advertise(0, "p", "x > 1")
    net.run()
    assert net.metrics.sent_by_kind["Offered"] == 8


def test_source_edge_and_destination_compare_an_event() -> None:
    """002-R1: three on a line that is split in the middle."""
    net = overlay(nx.path_graph(9), [[0, 1, 2, 3, 4], [4, 5, 6, 7, 8]])
    assert send(net, 0, 8) == ["s8"]
    assert net.metrics.recorded_by["matches"] == {0: 1, 4: 1, 8: 1}
    assert net.metrics.hops[8] == 1


def test_without_clusters_all_are_in_one() -> None:
    net = overlay(nx.cycle_graph(5), [])
    assert send(net, 0, 2) == ["s2"]
    assert net.metrics.total("matches") == 2
    assert all(broker.clusters.keys() == {"rest"} for broker in brokers(net).values())


def test_a_link_between_clusters_is_a_cluster_by_itself() -> None:
    net = overlay(nx.path_graph(4), [[0, 1], [2, 3]])
    assert send(net, 0, 3) == ["s3"]
    assert [len(broker.clusters) for broker in brokers(net).values()] == [1, 2, 2, 1]
    net.join("new", [0])
    net.subscribe("new", "snew", "array_contains(to, 3)")
    net.run()
    assert send(net, 2, 3) == ["s3", "snew"]


def test_a_cluster_that_falls_apart_is_joined_by_way_of_others() -> None:
    """0, 1 and 2 are one cluster; when the link between 0 and 1 goes, 3 and 4 still connect both halves."""
    graph = nx.cycle_graph(5)
    net = overlay(graph, [[0, 1, 2], [2, 3], [3, 4, 0]])
    assert send(net, 0, 1, 2) == ["s1", "s2"]
    net.disconnect(0, 1)
    net.run()
    assert send(net, 0, 1, 2) == ["s1", "s2"]
    assert net.metrics.hops[4] == 1
    net.connect(0, 1)
    net.run()
    assert send(net, 1, 0) == ["s0"]
    assert net.metrics.hops[4] == 1
    net.check_invariants()


def test_an_edge_broker_leaves_and_another_takes_its_place() -> None:
    graph = nx.Graph([(0, 1), (0, 2), (1, 3), (2, 3), (1, 2)])
    net = overlay(graph, [[0, 1, 2], [1, 2, 3]])
    assert send(net, 0, 3) == ["s3"]
    net.leave(1)
    net.run()
    assert send(net, 0, 3) == ["s3"]
    net.run(until=net.now + 130)
    assert send(net, 0, 3) == ["s3"]
    assert net.deliveries.count(("s3", 3)) == 1
    net.join(1, [0, 3])
    net.subscribe(1, "s1", "array_contains(to, 1)")
    net.run()
    assert send(net, 0, 1) == ["s1"]
    net.check_invariants()
