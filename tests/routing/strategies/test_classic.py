"""How much the classic strategies send (specs/004 §3)."""

from collections import Counter
from typing import Any

import networkx as nx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.overlays import CONDITIONS
from tamis.routing.packets import Filters, Subscriptions
from tamis.simulation import Overlay


def told(net: Overlay) -> int:
    """Return how many conditions were sent over links in all."""
    return net.metrics.sent_by_kind[Filters.__name__] + net.metrics.sent_by_kind[Subscriptions.__name__]


@settings(max_examples=50, deadline=None)
@given(st.integers(1, 12), st.lists(st.tuples(st.integers(0, 11), st.sampled_from(CONDITIONS)), max_size=12), st.data())
def test_messages_of_simple_identity_and_covering(
    brokers: int, wishes: list[tuple[int, str]], data: st.DataObject
) -> None:
    """Simple routing costs (N - 1) messages for each subscription (Eq. 2.52, corrected), the others not more."""
    parents = [data.draw(st.integers(0, broker - 1)) for broker in range(1, brokers)]
    links = [(broker, parent) for broker, parent in enumerate(parents, start=1)]
    counts: dict[str, int] = {}
    for routing in ("simple", "identity", "covering"):
        net = Overlay((brokers, links), routing=routing)
        for number, (broker, condition) in enumerate(wishes):
            net.subscribe(broker % brokers, f"c{number}", condition)
            net.run()
        counts[routing] = told(net)
    assert counts["simple"] == (brokers - 1) * len(wishes)
    assert counts["identity"] <= counts["simple"]
    assert counts["covering"] <= counts["identity"]


def test_flooding_sends_every_event_over_every_link() -> None:
    net = Overlay((7, [(0, 1), (0, 2), (1, 3), (1, 4), (2, 5), (2, 6)]), routing="flood")
    net.subscribe(3, "alice", "x > 3")
    net.publish(6, {"x": 1})
    net.run()
    assert net.metrics.sent_by_kind == Counter(Plain=6)
    assert net.deliveries == []


def test_a_covered_condition_goes_only_as_far_as_its_coverer_is_not() -> None:
    net = Overlay((4, [(0, 1), (1, 2), (2, 3)]), routing="covering")
    net.subscribe(0, "alice", "x > 3")
    net.run()
    assert told(net) == 3
    net.subscribe(1, "bob", "x > 5")
    net.run()
    assert told(net) == 4  # to broker 0 alone
    net.unsubscribe(0, "alice", "x > 3")
    net.run()
    assert told(net) == 7  # three replacements, each of one packet
    net.publish(3, {"x": 6})
    net.run()
    assert net.deliveries == [("bob", 1)]


def test_a_stable_subscriber_misses_nothing_while_its_coverer_goes() -> None:
    """The order of the thesis leaves a gap between unsubscribe and subscribe; one packet does not."""
    net = Overlay((5, [(0, 1), (1, 2), (2, 3), (3, 4)]), routing="covering")
    net.subscribe(0, "alice", "x > 3")
    net.subscribe(0, "bob", "x > 5")
    net.run()
    net.unsubscribe(0, "alice", "x > 3")
    events = []
    for _ in range(20):
        events.append(net.publish(4, {"x": 9}))
        net.run(until=net.now + 0.0003)
    net.run()
    assert [event for client, event in net.deliveries if client == "bob"] == events


@pytest.mark.parametrize("options", [{}, {"trees": False}, {"trees": False, "covering": True}])
def test_subscriptions_follow_advertisements_only(options: dict[str, Any]) -> None:
    net = Overlay((7, [(0, 1), (0, 2), (1, 3), (1, 4), (2, 5), (2, 6)]), routing="advertisement", **options)
    net.advertise(3, "bob", "x > 5")
    net.run()
    before = sum(net.metrics.sent_by_kind.values())
    assert before == 6
    net.subscribe(6, "alice", "x between 4 and 8")
    net.subscribe(5, "carl", "x < 3")
    net.run()
    assert sum(net.metrics.sent_by_kind.values()) - before == 4  # 6 - 2 - 0 - 1 - 3, and nothing of carl's
    event = net.publish(3, {"x": 7}, publisher="bob")
    net.run()
    assert net.deliveries == [("alice", event)]
    with pytest.raises(ValueError, match="has not advertised"):
        net.publish(3, {"x": 2}, publisher="bob")


def test_what_nobody_advertised_yet_is_not_forgotten() -> None:
    """The thesis drops a filter without an advertisement; only a refresh brings it back."""
    net = Overlay((3, [(0, 1), (1, 2)]), routing="advertisement", trees=False)
    net.subscribe(0, "alice", "x > 3")
    net.run()
    net.advertise(2, "bob", "true")
    net.run()
    event = net.publish(2, {"x": 7}, publisher="bob")
    net.run()
    assert net.deliveries == [("alice", event)]


def test_duplicate_advertisements_are_counted_in_general_overlays() -> None:
    """Each advertisement crosses every link from both ends, but for the links of its tree: 2 |E| - 2 (n - 1)."""
    graph: nx.Graph[Any] = nx.gnm_random_graph(20, 50, seed=3)
    assert nx.is_connected(graph)
    net = Overlay(graph, routing="advertisement")
    for broker in range(5):
        net.advertise(broker, f"p{broker}", f"x > {broker}")
    net.run()
    assert net.metrics.total("duplicate advertisements") == 5 * (2 * 50 - 2 * 19)


def test_a_tree_whose_link_goes_is_planted_anew() -> None:
    net = Overlay((4, [(0, 1), (1, 2), (2, 3), (3, 0)]), routing="advertisement")
    net.advertise(0, "bob", "true")
    net.subscribe(2, "alice", "x > 3")
    net.run()
    for one, other in [(0, 1), (2, 3)]:
        net.disconnect(one, other)
        net.run()
        net.check_invariants()
        net.publish(0, {"x": 5}, publisher="bob")
        net.run()
    assert net.deliveries == [("alice", 1)]  # after the second cut nobody reaches broker 2
    net.connect(2, 3)
    net.run()
    net.publish(0, {"x": 5}, publisher="bob")
    net.run()
    assert net.deliveries == [("alice", 1), ("alice", 3)]


def test_mics_sends_an_event_only_where_its_cell_is_wanted() -> None:
    net = Overlay((5, [(0, 1), (0, 2), (0, 3), (3, 4)]), routing="mics", axes={"x": (0, 100)}, bits=6)
    net.subscribe(1, "alice", "x between 10 and 20")
    net.subscribe(4, "bob", "x > 90")
    net.run()
    assert net.metrics.sent_by_kind["Ranges"] == 8
    net.subscribe(1, "carl", "x between 12 and 18")
    net.run()
    assert net.metrics.sent_by_kind["Ranges"] == 8
    net.publish(2, {"x": 15})
    net.run()
    assert net.deliveries == [("alice", 1), ("carl", 1)]
    assert net.metrics.sent_by_kind["Plain"] == 2


@pytest.mark.parametrize("routing", ["identity", "covering"])
def test_figure_2_13_equal_filters_on_four_sides(routing: str) -> None:
    """Equal filters f1 to f4 on four sides: by the thesis f1 goes to 2, 3, 4 and f2 to 1, f3 and f4 nowhere.

    When f1 is taken back, f2 has to go to 1, 3, 4 and f3 to 2: every side is told of the filter as before. The thesis
    unsubscribes and subscribes anew for that; here nobody who has it hears anything.
    """
    net = Overlay((5, [(0, 1), (0, 2), (0, 3), (0, 4)]), routing=routing)
    for broker in range(1, 5):
        net.subscribe(broker, f"c{broker}", "x > 3")
        net.run()
    assert net.metrics.sent_by_link[0, 1] == 1
    assert [net.metrics.sent_by_link[0, broker] for broker in (2, 3, 4)] == [1, 1, 1]
    net.unsubscribe(1, "c1", "x > 3")
    net.run()
    assert [net.metrics.sent_by_link[0, broker] for broker in (1, 2, 3, 4)] == [1, 1, 1, 1]
    event = net.publish(1, {"x": 5})
    net.run()
    assert sorted(net.deliveries) == [(f"c{broker}", event) for broker in (2, 3, 4)]
