"""`tamis.Overlay`: clients, brokers, and what is refused."""

from typing import Any

import networkx as nx
import pytest

from tamis import ExpressionError
from tamis.healing import broker_of
from tamis.simulation import Clock, Link, Overlay


def test_events_reach_exactly_those_who_want_them() -> None:
    net = Overlay((3, [(0, 1), (1, 2)]), routing="simple", seed=7)
    net.subscribe(2, "alice", "price > 10")
    net.subscribe(0, "bob", "price > 100")
    net.run()
    event = net.publish(0, {"price": 12}, publisher="carol")
    net.run()
    assert net.deliveries == [("alice", event)]
    net.unsubscribe(2, "alice", "price > 10")
    net.run()
    net.publish(0, {"price": 12}, publisher="carol")
    net.run()
    assert net.deliveries == [("alice", event)]
    assert net.brokers == [0, 1, 2]


def test_a_graph_may_say_what_its_links_are_like() -> None:
    graph: nx.Graph[Any] = nx.Graph()
    graph.add_edge("x", "y", latency=7.0)
    net = Overlay(graph, "flood")
    net.subscribe("y", "alice", "true")
    net.run()
    net.publish("x", {})
    net.run()
    assert net.now == 7.0
    graph.add_edge("y", "z", weight=3)
    with pytest.raises(ValueError, match=r"between 'y' and 'z'.*weight"):
        Overlay(graph, "flood")


def test_the_graph_of_an_overlay_is_a_topology_again() -> None:
    net = Overlay((3, [(0, 1), (1, 2)]), "flood")
    net.change_link(0, 1, Link(latency=7.0))
    again = Overlay(net.graph, "flood")
    assert again.graph.edges[0, 1]["latency"] == 7.0
    assert sorted(again.graph.edges) == sorted(net.graph.edges)


def test_clocks_are_those_of_the_brokers() -> None:
    net = Overlay((2, [(0, 1)]), "flood", clocks={1: Clock(offset=1000.0)})
    net.run()
    assert [broker_of(machine).now for machine in net.machines.values()] == [0.0, 1000.0]


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda net: net.subscribe(9, "alice", "x > 1"), "no broker 9"),
        (lambda net: net.subscribe(1, "alice", "x > 1"), "client 'alice' is at broker 0, not at 1"),
        (lambda net: net.unsubscribe(0, "alice", "x > 7"), "no subscription 'x > 7'"),
        (lambda net: net.unadvertise(0, "alice", "x > 7"), "no advertisement 'x > 7'"),
        (lambda net: net.detach("nobody"), "no client 'nobody'"),
        (lambda net: net.join(1), "a broker 1 already"),
        (lambda net: net.leave(9), "no broker 9"),
        (lambda net: net.connect(0, 2), "close a circle, and strategy 'simple' routes on trees only"),
        (lambda net: net.disconnect(0, 2), "no link between 0 and 2"),
        (lambda net: net.change_link(0, 2, Link()), "no link between 0 and 2"),
        (lambda net: net.crash(9), "no broker 9"),
        (lambda net: net.restart(1), "broker 1 is not down"),
        (lambda net: net.partition([0], [0, 1]), "broker 0 is in two groups"),
        (lambda net: net.partition([9]), "no broker 9"),
        (lambda _net: Overlay((2, [(0, 2)])), "the 2 brokers are 0 to 1"),
        (lambda _net: Overlay((3, [(0, 1), (1, 2), (2, 0)])), "circle"),
        (lambda _net: Overlay((1, []), "simpel"), "no strategy 'simpel'"),
        (lambda _net: Overlay((1, []), "simple", colour=1), "colour"),
    ],
)
def test_what_cannot_be_is_refused_and_nothing_changes(call: Any, said: str) -> None:
    net = Overlay((3, [(0, 1), (1, 2)]), "simple")
    net.subscribe(0, "alice", "x > 1")
    with pytest.raises(ValueError, match=said):
        call(net)
    net.run()
    net.publish(2, {"x": 2})
    net.run()
    assert net.deliveries == [("alice", 1)]
    net.check_invariants()


def test_a_condition_that_is_none_is_an_expression_error() -> None:
    net = Overlay((1, []))
    with pytest.raises(ExpressionError):
        net.subscribe(0, "alice", "x >")
    net.check_invariants()


def test_what_is_not_advertised_is_refused_where_advertisements_are_needed() -> None:
    net = Overlay((2, [(0, 1)]), "advertisement")
    net.advertise(0, "bob", "x > 5")
    net.publish(0, {"x": 6}, publisher="bob")
    with pytest.raises(ValueError, match=r"'bob' has not advertised \{'x': 4\}"):
        net.publish(0, {"x": 4}, publisher="bob")


def prices(net: Overlay, *values: float) -> list[Any]:
    """Publish prices one after another; return those that alice got."""
    got = []
    for value in values:
        event = net.publish(2, {"price": value})
        net.run()
        got += [value for client, delivered in net.deliveries if (client, delivered) == ("alice", event)]
    return got


def test_a_subscription_may_have_a_clause() -> None:
    net = Overlay((3, [(0, 1), (1, 2)]), "covering")
    net.subscribe(0, "alice", "price > 0 notify price moves 2")
    net.subscribe(0, "alice", "price > 0 notify price moves 50%")
    net.run()
    assert prices(net, 10, 11, 12, 15, 13, 12) == [10, 12, 15, 13]
    with pytest.raises(ValueError, match="no subscription 'price > 0'"):
        net.unsubscribe(0, "alice", "price > 0")
    net.unsubscribe(0, "alice", "price > 0 notify price moves 2")
    net.run()
    assert prices(net, 20, 23) == [23]  # 15 was told by the share too
    net.subscribe(0, "alice", "price > 0")
    net.run()
    assert prices(net, 24, 24) == [24, 24]
    net.detach("alice")
    net.run()
    assert prices(net, 99) == []
    assert (net.missing(), net.metrics.summary().false_positives) == ([], 0)
    with pytest.raises(ExpressionError, match="belongs to a subscription"):
        net.advertise(0, "alice", "price > 0 notify price moves 2")
    net.check_invariants()


def test_after_a_restart_clauses_begin_anew() -> None:
    net = Overlay((3, [(0, 1), (1, 2)]), "simple")
    net.subscribe(0, "alice", "price > 0 notify price moves 2")
    net.run()
    assert prices(net, 10, 11) == [10]
    net.crash(0)
    assert prices(net, 20) == []
    assert net.missing() == [("alice", 3)]
    net.restart(0)
    net.run()
    assert prices(net, 11, 12) == [11]
    assert (net.missing(), net.metrics.summary().false_positives) == ([("alice", 3)], 0)


def test_one_who_is_not_told_is_missed_and_one_who_is_told_too_much_is_seen() -> None:
    """The judge looks at deliveries, not at brokers: here it looks at an overlay that loses, and at one that lies."""
    lossy: nx.Graph[Any] = nx.Graph([(0, 1, {"loss": 1.0})])
    net = Overlay(lossy, "flood")
    net.subscribe(0, "alice", "true notify price moves 2")
    net.run()
    net.publish(1, {"price": 10})
    net.run()
    assert net.missing() == [("alice", 1)]
    liar = Overlay((1, []), "flood")
    liar.subscribe(0, "alice", "true notify price moves 2")
    liar.run()
    broker: Any = liar._world.nodes[0].broker
    for price in (10, 11):
        liar.publish(0, {"price": price})
        broker._clauses.drop("alice")
        liar.run()
    assert liar.deliveries == [("alice", 1), ("alice", 2)]
    assert liar.metrics.summary().false_positives == 1
