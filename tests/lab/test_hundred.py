import networkx as nx
import pytest

from tamis.lab.experiment import Scale
from tamis.lab.hundred import Adverts, found, graph_of
from tamis.lab.overlays import DDBR, FBR, MERC, overlay
from tamis.lab.quotes import hundred


@pytest.mark.parametrize(("strategy", "each"), [(FBR, 2), (DDBR, 0), (MERC, 0)])
def test_duplicate_advertisements_are_counted_in_a_circle(strategy: str, each: int) -> None:
    graph = nx.cycle_graph(5)
    graph.graph["clusters"] = [[0, 1, 2, 3, 4]]
    net = overlay(strategy, graph)
    adverts = Adverts()
    net.watch(adverts)
    hundred(5, 1.0, 7).settle(net)
    # 2 x links - 2 x (brokers - 1) for each advertisement of FBR.
    assert adverts.duplicates == 5 * each
    assert adverts.arrived == 5 * (4 + each)


def test_subscriptions_are_kept_where_the_specification_says() -> None:
    graph = graph_of(FBR, Scale.QUICK, 7)
    brokers = len(graph)
    distance = nx.average_shortest_path_length(graph) * (brokers - 1) / brokers
    by_name = {name: found(name, Scale.QUICK, 0.6, 7, 5) for name in (FBR, DDBR, MERC)}
    assert by_name[FBR].copies == pytest.approx(0.6 * brokers * distance, rel=0.1)
    assert by_name[DDBR].copies == pytest.approx(0.6 * (brokers - 1), rel=0.1)
    assert by_name[DDBR].copies < by_name[MERC].copies < by_name[FBR].copies
    for each in by_name.values():
        assert each.subscriptions == 30 * brokers
        assert each.stored_mean == pytest.approx(30 * (1 + each.copies))
    assert not by_name[FBR].lists
    assert by_name[DDBR].interested > 0
