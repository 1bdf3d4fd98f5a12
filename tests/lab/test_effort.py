import networkx as nx
import pytest

from tamis.lab.effort import COMPARISON, MESSAGE, BusyOverlay, poisson, steady
from tamis.lab.overlays import DDBR, FBR, MERC
from tamis.lab.quotes import on_line
from tamis.routing.packets import Name
from tamis.simulation import topology

LINK = 0.001
BROKERS, SUBSCRIPTIONS = 4, 400
MATCH = COMPARISON * SUBSCRIPTIONS


def line() -> "nx.Graph[Name]":
    graph = topology("line", BROKERS)
    graph.graph["clusters"] = [[0, 1, 2], [2, 3]]
    return graph


@pytest.mark.parametrize(("strategy", "matching"), [(FBR, [0, 1, 2, 3]), (DDBR, [0, 3]), (MERC, [0, 2, 3])])
def test_the_latency_of_a_line_is_what_its_brokers_and_links_take(strategy: str, matching: list[int]) -> None:
    gaps = steady(50, 0.4)
    load = BusyOverlay(strategy, line(), on_line(BROKERS, SUBSCRIPTIONS, 7)).load(7, gaps)
    assert load.events == len(gaps) == 20
    assert load.matches == len(matching)
    latency = BROKERS * MESSAGE + len(matching) * MATCH + (BROKERS - 1) * LINK
    assert (load.latency, load.latency_99) == pytest.approx((latency, latency))
    assert load.capacity == pytest.approx(1 / (MESSAGE + MATCH))
    elapsed = sum(gaps) + latency
    for broker, share in load.shares.items():
        busy = MESSAGE + MATCH * (broker in matching)
        assert share == pytest.approx(100 * 20 * busy / elapsed)


def test_events_wait_for_brokers_that_are_busy() -> None:
    net = BusyOverlay(FBR, line(), on_line(BROKERS, SUBSCRIPTIONS, 7))
    alone = net.load(7, [1.0] * 10)
    together = net.load(7, [0.0] * 10)
    assert together.matches == alone.matches
    # The last of ten waits for all others at the first broker, and for nobody after that.
    assert together.latency_99 == pytest.approx(alone.latency + 9 * (MESSAGE + MATCH))


def test_a_fast_broker_is_busy_for_less_time() -> None:
    crowd = on_line(BROKERS, SUBSCRIPTIONS, 7)
    slow = BusyOverlay(MERC, line(), crowd).load(7, [1.0] * 5)
    fast = BusyOverlay(MERC, line(), crowd, {2: 8.0}).load(7, [1.0] * 5)
    assert slow.latency - fast.latency == pytest.approx((MESSAGE + MATCH) * 7 / 8)


def test_gaps() -> None:
    assert steady(50, 2) == [0.02] * 100
    gaps = poisson(50, 20, 7)
    assert gaps == poisson(50, 20, 7)
    assert len(gaps) == 1_000
    assert sum(gaps) == pytest.approx(20, rel=0.15)
