from typing import Any

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis.simulation import topologies, topology
from tamis.simulation.topologies import graph_of

SEED = st.integers(0, 1000)


def edges(graph: "nx.Graph[Any]") -> list[Any]:
    return sorted(sorted(edge) for edge in graph.edges)


def test_small_ones_by_hand() -> None:
    assert edges(topology("line", 4)) == [[0, 1], [1, 2], [2, 3]]
    assert edges(topology("heap", 7)) == [[0, 1], [0, 2], [1, 3], [1, 4], [2, 5], [2, 6]]
    assert edges(topology("heap", 5, arity=4)) == [[0, 1], [0, 2], [0, 3], [0, 4]]


@given(name=st.sampled_from(sorted(topologies())), count=st.integers(1, 60), seed=SEED)
def test_all_are_connected_and_come_from_the_seed(name: str, count: int, seed: int) -> None:
    parameters: dict[str, float] = {}
    if name == "degree":
        parameters = {"degree": min(3, count - 1)}
    if name == "transit-stub":
        parameters = {"stubs": min(5, count)}
    if name == "power-law":
        parameters = {"links": min(2, max(count - 1, 1))}
    graph = topology(name, count, seed=seed, **parameters)
    assert list(graph.nodes) == list(range(count))
    assert nx.is_connected(graph)
    assert not list(nx.selfloop_edges(graph))
    assert edges(topology(name, count, seed=seed, **parameters)) == edges(graph)
    if name in ("line", "heap", "random-tree"):
        assert nx.is_tree(graph)


@pytest.mark.parametrize("name", ["random-tree", "degree", "power-law", "transit-stub"])
def test_another_seed_gives_another_graph(name: str) -> None:
    assert edges(topology(name, 50, seed=1)) != edges(topology(name, 50, seed=2))


@given(count=st.integers(10, 100), degree=st.floats(2, 9), seed=SEED)
def test_the_mean_degree_is_as_given(count: int, degree: float, seed: int) -> None:
    graph = topology("degree", count, seed=seed, degree=degree)
    assert graph.number_of_edges() == round(count * degree / 2)


def test_mean_distances_are_those_of_the_prototype() -> None:
    """Full broadcast: the mean destination list is the mean distance, 3.8 and 3.2 (specs/002 §9.2, S2 and S3)."""
    for degree, hops in ((6, 3.8), (9, 3.2)):
        graph = topology("degree", 700, seed=1, degree=degree)
        assert nx.average_shortest_path_length(graph) == pytest.approx(hops, rel=0.05)


def test_a_power_law_has_few_brokers_with_many_links() -> None:
    degrees = sorted(degree for _, degree in topology("power-law", 500, seed=3).degree)
    assert degrees[250] <= 3
    assert degrees[-1] > 20


@given(stubs=st.integers(1, 10), count=st.integers(10, 60), seed=SEED)
def test_clusters_of_a_transit_stub_overlap_in_edge_brokers(stubs: int, count: int, seed: int) -> None:
    graph = topology("transit-stub", count, seed=seed, stubs=stubs, degree=4)
    clusters = [set(cluster) for cluster in graph.graph["clusters"]]
    backbone, rest = (clusters[0], clusters[1:]) if stubs > 1 else ({0}, clusters)
    assert backbone == set(range(stubs))
    assert [cluster & backbone for cluster in rest] == [{edge} for edge in range(stubs)]
    assert sum(map(len, rest)) == count
    sizes = [len(cluster) for cluster in rest]
    assert max(sizes) - min(sizes) <= 1
    for cluster in clusters:
        assert nx.is_connected(graph.subgraph(cluster))
    for one, other in graph.edges:
        assert any({one, other} <= cluster for cluster in clusters)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: topology("ring", 3), "no topology 'ring'; there are: degree, heap"),
        (lambda: topology("line", 0), "at least 1 broker"),
        (lambda: topology("line", 3, degree=2), "topology 'line' has no parameter 'degree'; it has: none"),
        (lambda: topology("degree", 10, degree=12), r"mean degree of 1\.8 to 9, not 12"),
        (lambda: topology("degree", 10, degree=1), "not 1"),
        (lambda: topology("transit-stub", 5, stubs=6), "5 brokers cannot form 6 stubs"),
        (lambda: topology("power-law", 2, links=2), "2 brokers cannot come with 2 links each"),
        (lambda: topology("heap", 2, arity=0), "at least 1 child"),
        (lambda: graph_of((2, [(0, 2)])), "the 2 brokers are 0 to 1"),
    ],
)
def test_what_cannot_be_is_refused(call: Any, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        call()


def test_parameters_are_listed_with_their_defaults() -> None:
    assert topologies()["transit-stub"] == {"stubs": 10, "degree": 4}
    assert topologies()["line"] == {}
