from collections import Counter

import networkx as nx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tamis.lab.overlays import (
    DDBR,
    MERC,
    Tables,
    clustered,
    edges,
    in_world,
    journeys,
    mean,
    plain,
    share_below,
)


def test_edge_brokers_are_those_in_several_clusters() -> None:
    assert edges(clustered(20, 4, 3, 7)) == {0, 1, 2, 3}
    assert edges(plain(20, 3, 7)) == set()


def test_journeys_go_from_one_broker_to_others() -> None:
    drawn = list(journeys(10, 4, 50, 7))
    assert drawn == list(journeys(10, 4, 50, 7))
    for source, destinations in drawn:
        assert len({source, *destinations}) == 5
    assert {source for source, _ in drawn} == set(range(10))


def test_mean_and_share() -> None:
    counts = Counter({1: 6, 2: 3, 8: 1})
    assert mean(counts) == pytest.approx(2.0)
    assert share_below(counts, 2) == pytest.approx(60)
    assert share_below(counts, 9) == pytest.approx(100)


@settings(max_examples=15, deadline=None)
@given(brokers=st.integers(4, 14), degree=st.floats(2, 3), wanted=st.integers(1, 3), seed=st.integers(0, 1_000))
def test_lists_by_tables_are_those_in_the_world(brokers: int, degree: float, wanted: int, seed: int) -> None:
    graph = plain(brokers, degree, seed)
    events = list(journeys(brokers, wanted, 6, seed))
    assert in_world(DDBR, graph, events).all == Tables(graph).lists(events)


def test_if_all_want_an_event_the_mean_list_is_the_mean_distance() -> None:
    graph = plain(40, 4, 7)
    everybody = [(source, [each for each in range(40) if each != source]) for source in range(40)]
    tables = Tables(graph)
    distance = nx.average_shortest_path_length(graph)
    assert tables.distance() == pytest.approx(distance)
    assert mean(tables.lists(everybody)) == pytest.approx(distance)


def test_lists_are_counted_by_broker_and_at_the_source() -> None:
    # A line of two clusters: 0 publishes, 1 passes on, 2 is the edge broker and sends a list of its own.
    graph = nx.path_graph(5)
    graph.graph["clusters"] = [[0, 1, 2], [2, 3, 4]]
    lists = in_world(MERC, graph, [(0, [1, 3, 4])])
    assert lists.by_broker == {0: {2: 1}, 1: {2: 1, 1: 1}, 2: {1: 1, 2: 1}, 3: {2: 1, 1: 1}, 4: {1: 1}}
    assert lists.at_source == {2: 1}
    assert lists.all == {1: 2, 2: 2}
