from collections.abc import Iterable
from itertools import pairwise
from math import dist
from statistics import fmean

import networkx as nx
import pytest

from tamis.routing.packets import Name
from tamis.simulation import topology
from tamis.simulation.layout import MOST_BROKERS, by_forces, by_rows, places


def test_a_tree_stands_in_rows_and_links_do_not_cross() -> None:
    graph = topology("heap", 31)
    at = places(graph)
    assert at == by_rows(graph)
    rows: dict[float, list[float]] = {}
    for x, y in at.values():
        rows.setdefault(y, []).append(x)
    assert sorted(map(len, rows.values())) == [1, 2, 4, 8, 16]
    assert all(len(set(row)) == len(row) for row in rows.values())
    # Children of brokers from left to right stand from left to right.
    for number in range(1, 5):
        parents = sorted((at[broker][0], broker) for broker in graph.nodes if at[broker][1] == 1 - number)
        below = [
            sorted(at[child][0] for child in graph.adj[broker] if at[child][1] == -number) for _, broker in parents
        ]
        assert all(left[-1] < right[0] for left, right in pairwise(below))


def test_linked_brokers_stand_closer_than_others() -> None:
    graph = topology("degree", 60, degree=3)
    at = by_forces(graph)
    assert at == by_forces(graph)

    def mean(pairs: Iterable[tuple[Name, Name]]) -> float:
        return fmean(dist(at[one], at[other]) for one, other in pairs)

    assert mean(graph.edges) < 0.6 * mean(nx.non_edges(graph))


def test_one_or_no_broker_has_a_place_too() -> None:
    assert set(places(topology("line", 1))) == {0}
    assert places(nx.Graph()) == {}


def test_too_many_are_refused() -> None:
    with pytest.raises(ValueError, match="too many"):
        places(topology("line", MOST_BROKERS + 1))
