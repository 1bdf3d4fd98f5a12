from pathlib import Path

import networkx as nx
import pytest

from tamis.simulation import topology
from tamis.simulation.topology_files import load_topology, save_topology


@pytest.mark.parametrize("suffix", [".json", ".graphml"])
@pytest.mark.parametrize("names", [str, int])
def test_a_topology_that_is_saved_is_read_again(tmp_path: Path, suffix: str, names: type) -> None:
    graph = nx.relabel_nodes(
        topology("transit-stub", 20, stubs=3), lambda number: names(number) if names is int else f"b{number}"
    )
    graph.add_node(names(20) if names is int else "alone")
    one, other = next(iter(graph.edges))
    graph.edges[one, other]["latency"] = 0.5
    path = tmp_path / f"net{suffix}"
    save_topology(graph, path)
    read = load_topology(path)
    assert list(read.nodes) == list(graph.nodes)
    assert {frozenset(edge) for edge in read.edges} == {frozenset(edge) for edge in graph.edges}
    assert read.edges[one, other]["latency"] == 0.5


def test_clusters_are_kept_in_json(tmp_path: Path) -> None:
    graph = topology("transit-stub", 20, stubs=3)
    save_topology(graph, tmp_path / "net.json")
    assert load_topology(tmp_path / "net.json").graph["clusters"] == graph.graph["clusters"]


def test_an_edge_list(tmp_path: Path) -> None:
    path = tmp_path / "net.txt"
    path.write_text("# two links\n0 1\n\n1,10  # the second\n")
    assert sorted(load_topology(path).edges) == [(0, 1), (1, 10)]
    path.write_text("a b\nb 1\n")
    assert sorted(load_topology(path).edges) == [("a", "b"), ("b", "1")]


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("net.txt", "a b\na b c\n", 'line 2: two brokers make a link, here are 3: "a b c"'),
        ("net.txt", "# nothing\n", "no brokers"),
        ("net.json", '{"links": [[1]]}', "not a topology"),
        ("net.json", '{"links": [[1, 2, {"length": 3}]]}', "length"),
        ("net.json", '{"links": [[1, 2, {"loss": 3}]]}', "between 0 and 1"),
        ("net.graphml", "<graph", "not a topology"),
    ],
)
def test_what_is_no_topology_is_refused_with_the_place(tmp_path: Path, name: str, text: str, said: str) -> None:
    path = tmp_path / name
    path.write_text(text)
    with pytest.raises(ValueError, match=said) as caught:
        load_topology(path)
    assert str(caught.value).startswith(str(path))


def test_links_have_the_attributes_of_links_only(tmp_path: Path) -> None:
    graph = topology("line", 2)
    graph.edges[0, 1]["weight"] = 3
    nx.write_graphml(graph, tmp_path / "net.graphml")
    with pytest.raises(ValueError, match=r"the link from 0 to 1: .*weight.*links have: latency"):
        load_topology(tmp_path / "net.graphml")


def test_other_files_are_not_written(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"\.json or \.graphml"):
        save_topology(topology("line", 2), tmp_path / "net.txt")
