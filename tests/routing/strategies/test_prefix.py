"""Prefix forwarding in an overlay: few messages, never a loss, whoever makes the trees."""

from typing import Any

import networkx as nx
import pytest

from tamis.routing import make_strategy
from tamis.routing.messages import Arrived, NeighbourUp, Publish, Record, Send, Subscribe
from tamis.routing.packets import Event, Filters, Least, Prefixed, RoutingTreeUpdate
from tamis.routing.prefix.epochs import KEPT
from tamis.simulation import Overlay


def line(brokers: int, latency: float = 0.01, **options: Any) -> Overlay:
    graph: nx.Graph[Any] = nx.Graph()
    graph.add_node(0)
    graph.add_edges_from([(broker, broker + 1, {"latency": latency}) for broker in range(brokers - 1)])
    return Overlay(graph, routing="prefix", **options)


def sent(net: Overlay) -> int:
    return net.metrics.sent_by_kind["Prefixed"]


def test_events_go_only_where_they_are_wanted() -> None:
    net = line(4, threshold=0.0)
    net.subscribe(2, "far", "x > 5 and y < 3")
    net.subscribe(1, "near", "y > 5")
    net.run()
    for event, packets in (({"x": 1}, 0), ({"x": 6, "y": 2}, 2), ({"y": 6}, 1), ({"x": 6, "y": 4}, 0)):
        before = sent(net)
        net.publish(0, event)
        net.run()
        assert sent(net) - before == packets
    assert [client for client, _ in net.deliveries] == ["far", "near"]


def test_before_there_is_a_tree_all_go_where_anything_is_wanted() -> None:
    net = line(4, threshold=1.0)
    net.subscribe(2, "far", "x > 5")
    net.run()
    net.publish(0, {"x": 1})
    wanted = net.publish(0, {"x": 6})
    net.run()
    assert sent(net) == 4
    assert net.deliveries == [("far", wanted)]


def test_a_limited_depth_costs_messages_only() -> None:
    shallow, deep = line(3, threshold=0.0, depth=1), line(3, threshold=0.0)
    for net in (shallow, deep):
        net.subscribe(2, "c", "x > 5 and y < 3")
        net.run()
        net.publish(0, {"x": 6, "y": 4})
        net.run()
        assert net.deliveries == []
    assert (sent(shallow), sent(deep)) == (2, 0)


def test_without_verification_clients_get_what_the_tree_says() -> None:
    net = line(2, threshold=1.0, verify_at_edge=False)
    assert not net.strategy.capabilities.exact
    net.subscribe(1, "c", "x > 5")
    net.run()
    net.publish(0, {"x": 1})
    net.run()
    assert len(net.deliveries) == 1
    assert line(2).strategy.capabilities.exact


@pytest.mark.parametrize("updates", [1, KEPT + 2])
def test_events_in_flight_outlive_new_trees(updates: int) -> None:
    # Broker 0 makes the trees. They come towards the event, which was matched with an older one.
    net = line(5, latency=1.0, threshold=0.0)
    net.subscribe(0, "c", "x > 5")
    net.subscribe(2, "d", "x > 3 and z is null")
    net.run()
    event = net.publish(4, {"x": 6})
    for number in range(updates):
        net.subscribe(0, "other", f"y{number} = {number}")
    net.run()
    assert sorted(net.deliveries) == [("c", event), ("d", event)]
    assert (net.metrics.total("unknown_trees") > 0) is (updates > KEPT)


def test_the_least_broker_makes_the_trees_and_another_takes_over() -> None:
    graph: nx.Graph[Any] = nx.Graph([(1, 2), (2, "a"), (2, 0)])
    net = Overlay(graph, routing="prefix", threshold=0.0)
    net.subscribe("a", "c", "x > 5")
    net.run()
    assert net.metrics.recorded_by["trees"] == {1: 1, 2: 1, "a": 1, 0: 1}
    net.leave(0)
    net.run()
    net.subscribe("a", "c", "y > 5")
    net.run()
    assert net.metrics.recorded_by["trees"] == {1: 2, 2: 2, "a": 2, 0: 1}
    net.publish(1, {"x": 1, "y": 1})
    net.run()
    assert sent(net) == 0


def test_two_parts_that_meet_agree_on_a_tree() -> None:
    net = line(6, threshold=0.0)
    net.disconnect(2, 3)
    net.subscribe(0, "c", "x > 5")
    net.subscribe(5, "d", "x > 3 and y = 1")
    net.run()
    net.connect(2, 3)
    # Nobody knows the tree of the other part yet.
    net.run()
    event = net.publish(3, {"x": 6, "y": 1})
    net.run()
    assert sorted(net.deliveries) == [("c", event), ("d", event)]
    before = sent(net)
    net.publish(1, {"x": 4, "y": 2})
    net.run()
    assert sent(net) == before


def test_after_some_time_small_differences_are_published() -> None:
    net = line(2, threshold=1.0, interval=5.0)
    net.subscribe(1, "c", "x > 5")
    net.run(until=4.9)
    assert net.metrics.total("trees") == 0
    net.run()
    assert net.metrics.total("trees") == 2
    net.publish(0, {"x": 1})
    net.run()
    assert sent(net) == 0


def test_conditions_that_would_explode_are_counted_and_lose_nothing() -> None:
    net = line(2)
    net.subscribe(1, "c", " and ".join(f"(a{i} = 1 or b{i} = 1)" for i in range(10)))
    net.run()
    assert net.metrics.total("coarse") == 1
    net.publish(0, {f"a{i}": 1 for i in range(9)})
    event = net.publish(0, {f"a{i}": 1 for i in range(10)})
    net.run()
    assert net.deliveries == [("c", event)]


def test_an_event_is_matched_once_and_followed_by_numbers() -> None:
    net = line(5, threshold=0.0)
    net.subscribe(4, "c", "x > 5")
    net.run()
    net.publish(0, {"x": 6})
    net.run()
    assert net.metrics.recorded_by["matches"] == {0: 1, 4: 1}


def test_the_packets_of_one_broker() -> None:
    broker = make_strategy("prefix", {"threshold": 0.0}).broker(5)
    assert broker.handle(NeighbourUp(7), 0) == [Send(7, Least(5))]
    added = broker.handle(Arrived(7, Filters((), ("x > 5",))), 0)
    (tree,) = [each.packet for each in added if isinstance(each, Send)]
    assert isinstance(tree, RoutingTreeUpdate)
    (_, out) = broker.handle(Publish("p", Event(1, {"x": 6})), 0)
    assert isinstance(out, Send)
    assert isinstance(out.packet, Prefixed)
    assert out.packet.prefix.code == (1, 0, 0)
    assert broker.handle(Arrived(7, Least(3)), 0) == []
    # Now another broker makes the trees.
    assert broker.handle(Subscribe("c", "y > 5"), 0) == [Send(7, Filters((), ("y > 5",)))]
    assert broker.handle(Arrived(7, RoutingTreeUpdate(b"?")), 0) == [Record("refused")]


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"depth": -1}, "depth"),
        ({"threshold": 1.5}, "from 0 to 1"),
        ({"interval": 0}, "interval"),
        ({"split": "spoon"}, "split"),
        ({"height": 1}, "its options are"),
    ],
)
def test_bad_options_are_refused(options: dict[str, Any], reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        make_strategy("prefix", options)
