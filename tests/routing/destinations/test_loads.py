"""What a new link gains and an old one loses (specs/002 §3.3)."""

from math import inf

import networkx as nx

from tamis.routing.destinations.loads import Loads, stay_connected
from tamis.routing.destinations.topology import Topology
from tamis.routing.packets import Links


def topology_of(graph: "nx.Graph[int]", me: int) -> Topology:
    topology = Topology(me)
    for broker in graph.nodes:
        topology.put(Links(broker, 0, 1, 0, tuple(sorted(graph[broker]))))
    return topology


def test_gain_is_traffic_times_links_saved() -> None:
    loads = Loads()
    loads.with_brokers.update({1: 100, 2: 10, 4: 4, 9: 50})
    topology = topology_of(nx.path_graph(6), 0)
    assert loads.best_gain(topology) is None, "nothing is known before a period has passed"
    loads.next_period()
    assert loads.best_gain(topology) == (12, 4), "2 saves 10 x 1, 4 saves 4 x 3; 1 is a neighbour, 9 cannot be reached"
    loads.next_period()
    assert loads.best_gain(topology) is None


def test_the_loss_of_a_link_is_the_detour_of_what_crosses_it() -> None:
    graph = nx.cycle_graph(5)
    graph.add_edge(0, 9)
    topology = topology_of(graph, 0)
    loads = Loads()
    loads.over_links.update({1: 8, 4: 7})
    loads.with_brokers.update({1: 1, 4: 2, 9: 0})
    loads.next_period()
    assert loads.least_loss(topology, "transit") == (7 * 3, (0, 4))
    assert loads.least_loss(topology, "pair") == (1 * 3, (0, 1))


def test_a_bridge_is_never_given_up() -> None:
    assert Loads().least_loss(topology_of(nx.path_graph(3), 1), "transit") == (inf, ())


def test_links_may_go_as_long_as_all_stay_connected() -> None:
    topology = topology_of(nx.cycle_graph(4), 0)
    assert stay_connected(topology, [])
    assert stay_connected(topology, [(1, 2)])
    assert not stay_connected(topology, [(1, 2), (3, 0)])
    assert not stay_connected(topology, [(0, 2)]), "there is no such link"
