"""Messages over links."""

import networkx as nx
import numpy as np
import pytest

from tamis.simulation.content.underlay import Carried, Underlay, internet


def test_messages_take_shortest_paths() -> None:
    graph: nx.Graph[str | int] = nx.barabasi_albert_graph(60, 2, seed=3)
    hosts = [5, 17, 40, 41, 8]
    trace = np.random.default_rng(1).integers(0, 4, (5, 5))
    carried = Underlay(graph, hosts).carry(trace)
    expected = sum(
        int(trace[one, two]) * nx.shortest_path_length(graph, hosts[one], hosts[two])
        for one in range(5)
        for two in range(5)
    )
    assert carried.hops == expected
    assert carried.hops / (2 * graph.number_of_edges()) <= carried.busiest <= trace.sum()


def test_the_busiest_link_is_where_paths_meet() -> None:
    # Hosts 0, 1 and 2 on one side of a bridge, host 3 on the other.
    underlay = Underlay((6, [(0, 3), (1, 3), (2, 3), (3, 4), (4, 5)]), [0, 1, 2, 5])
    trace = np.zeros((4, 4), np.int64)
    trace[:3, 3] = 2, 3, 4
    assert underlay.carry(trace) == Carried(3 * 9, 9)
    assert underlay.carry(np.zeros((4, 4), np.int64)) == Carried(0, 0)


def test_what_cannot_be_reached_or_is_not_there_is_refused() -> None:
    trace = np.ones((2, 2), np.int64)
    with pytest.raises(ValueError, match="no path"):
        Underlay((4, [(0, 1), (2, 3)]), [0, 3]).carry(trace)
    with pytest.raises(ValueError, match="router 4"):
        Underlay((4, [(0, 1)]), [0, 4])
    with pytest.raises(ValueError, match="named 0 to 1"):
        Underlay(nx.path_graph(["a", "b"]), [0])


def test_the_same_seed_gives_the_same_internet() -> None:
    trace = np.arange(100).reshape(10, 10)
    assert internet(200, 10, 3).carry(trace) == internet(200, 10, 3).carry(trace) != internet(200, 10, 4).carry(trace)
