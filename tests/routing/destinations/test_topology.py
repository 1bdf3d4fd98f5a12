"""Next hops are those of shortest ways, and splitting loses and doubles nobody."""

import networkx as nx
from hypothesis import given
from hypothesis import strategies as st

from tamis.routing.destinations.order import mark, order
from tamis.routing.destinations.topology import Topology, is_newer
from tamis.routing.packets import Links, Name

NAMES: list[Name] = [3, "b", 1, "a", 2, 10, "10", 0]


@st.composite
def graphs(draw: st.DrawFn) -> "nx.Graph[Name]":
    pairs = [(one, other) for one in NAMES for other in NAMES if order(one) < order(other)]
    graph: nx.Graph[Name] = nx.Graph()
    graph.add_nodes_from(NAMES)
    graph.add_edges_from(draw(st.lists(st.sampled_from(pairs), max_size=16)))
    return graph


def topology_of(graph: "nx.Graph[Name]", me: Name) -> Topology:
    topology = Topology(me)
    for broker in graph.nodes:
        topology.put(Links(broker, 0, 1, 0, tuple(sorted(graph[broker], key=order))))
    return topology


@given(graph=graphs(), me=st.sampled_from(NAMES), asked=st.lists(st.sampled_from(NAMES), unique=True))
def test_splitting(graph: "nx.Graph[Name]", me: Name, asked: list[Name]) -> None:
    topology = topology_of(graph, me)
    topology.check_invariants()
    asked = [each for each in asked if each != me]
    parts, rest = topology.split(asked)
    places = [place for part in parts.values() for place in part] + rest
    assert sorted(places) == list(range(len(asked))), "disjoint, and together all"
    reached = nx.single_source_shortest_path_length(graph, me)
    assert {asked[place] for place in rest} == {each for each in asked if each not in reached}
    for hop, part in parts.items():
        from_hop = nx.single_source_shortest_path_length(graph, hop)
        for place in part:
            distance = reached[asked[place]]
            assert from_hop[asked[place]] == distance - 1
            ways = [
                each
                for each in graph[me]
                if nx.has_path(graph, each, asked[place])
                and nx.shortest_path_length(graph, each, asked[place]) == distance - 1
            ]
            assert hop == min(ways, key=order), "the lowest of all shortest ways"
    assert topology.distances() == reached


@given(graph=graphs(), me=st.sampled_from(NAMES), number=st.integers(0, 20))
def test_what_could_be_reached_without_a_link(graph: "nx.Graph[Name]", me: Name, number: int) -> None:
    topology = topology_of(graph, me)
    if graph.edges:
        link = list(graph.edges)[number % len(graph.edges)]
        less = nx.Graph(graph)
        less.remove_edge(*link)
        assert topology.reachable(me, [link]) == nx.single_source_shortest_path_length(less, me)


def test_a_link_counts_if_both_ends_name_it() -> None:
    topology = Topology(1)
    topology.put(Links(1, 0, 1, 0, (2,)))
    assert topology.hops() == {}
    topology.put(Links(2, 0, 1, 0, (1, 3)))
    assert topology.hops() == {2: 2}
    topology.put(Links(2, 0, 2, 0, ()))
    assert topology.hops() == {}


def test_the_newest_row_wins_in_every_order() -> None:
    rows = [
        Links(1, 0, 1, 0, ()),
        Links(1, 0, 2, 0, ()),
        Links(1, 0, 2, 0, (2,)),
        Links(1, 0, 2, 1, ()),
        Links(1, 5, 1, 0, ()),
    ]
    for low, row in enumerate(rows):
        for high, other in enumerate(rows):
            assert is_newer(row, other) == (low > high)


def test_names_of_both_kinds_have_one_order_and_different_marks() -> None:
    assert sorted(NAMES, key=order) == [0, 1, 2, 3, 10, "10", "a", "b"]
    assert len({mark(name) for name in NAMES}) == len(NAMES)
