import networkx as nx
import pytest

from tamis.lab.overlays import DDBR, FBR, plain
from tamis.lab.robustness import Failing, arrived, connected, failed, waxman


@pytest.mark.parametrize(("failing", "brokers", "links"), [("brokers", 10, None), ("links", 20, 20)])
def test_half_of_it_fails(failing: Failing, brokers: int, links: int | None) -> None:
    graph = plain(20, 4, 7)
    left = failed(graph, failing, 0.5, 7)
    assert len(left) == brokers
    assert set(left) <= set(graph)
    assert set(left.edges) <= set(graph.edges)
    assert links is None or left.number_of_edges() == links
    assert len(graph) == 20


def test_connected_pairs() -> None:
    assert connected(nx.path_graph(4), 4) == 100
    assert connected(nx.path_graph(4), 8) == 25
    assert connected(nx.Graph([(0, 1), (2, 3)]), 4) == 50


@pytest.mark.parametrize("failing", ["brokers", "links"])
def test_ddbr_finds_every_way_and_fbr_keeps_to_its_own(failing: Failing) -> None:
    graph = plain(16, 4, 7)
    left = failed(graph, failing, 0.4, 7)
    ways = dict(nx.all_pairs_shortest_path_length(graph))
    most = connected(left, 16)
    assert arrived(DDBR, graph, left) == pytest.approx(most)
    fixed = arrived(FBR, graph, left)
    # Whoever is still linked to a publisher is reached by FBR, too; detours are not.
    near = sum(ways[one][other] == 0 or left.has_edge(one, other) for one in left for other in left)
    assert 100 * near / 16**2 <= fixed < most


def test_if_nothing_fails_everything_arrives() -> None:
    graph = plain(10, 3, 7)
    assert arrived(DDBR, graph, graph) == arrived(FBR, graph, graph) == 100


def test_links_of_a_waxman_graph_are_short() -> None:
    graph = waxman(60, 5, 0.1, 7)
    assert nx.is_connected(graph)
    assert graph.number_of_edges() == 150
    assert nx.utils.graphs_equal(graph, waxman(60, 5, 0.1, 7))
    # Of short links, more form triangles.
    near, far = (nx.average_clustering(waxman(60, 5, decay, 7)) for decay in (0.1, 10.0))
    assert near > 1.5 * far
