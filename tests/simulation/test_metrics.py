"""What is counted, on overlays small enough to count by hand."""

import pytest

from tamis.simulation import Link, Overlay, topology
from tamis.simulation.summary import Spread


def test_flooding_a_line_counted_by_hand() -> None:
    net = Overlay(topology("line", 4), "flood")
    net.subscribe(2, "alice", "x > 1")
    net.subscribe(0, "bob", "x > 1")
    net.run()
    for x in (1, 2):
        net.publish(0, {"x": x})
        net.run()
    summary = net.metrics.summary()
    assert (summary.published, summary.deliveries, summary.expected) == (2, 2, 2)
    assert (summary.missed, summary.false_positives, summary.duplicates) == (0, 0, 0)
    assert (summary.packets, summary.lost, summary.packets_by_kind) == (6, 0, {"Plain": 6})
    assert summary.matches_per_event == 4
    assert summary.brokers_per_event == 3
    # Three brokers got each event over a link; alice's, for one of the two events, had a use for it.
    assert summary.accuracy == pytest.approx(1 / 6)
    assert summary.hops == Spread(1.0, 2, {0: 1, 2: 1})
    assert (summary.stored_mean, summary.stored_max) == (0.5, 1)
    assert summary.destinations is None
    assert net.metrics.sent_by_link == {(0, 1): 2, (1, 2): 2, (2, 3): 2}
    assert net.metrics.received_by == {0: 2, 1: 2, 2: 2, 3: 2}
    assert net.metrics.recorded_by["matches"] == {0: 2, 1: 2, 2: 2, 3: 2}


def test_unicast_accuracy_is_one_over_the_hops() -> None:
    net = Overlay(topology("line", 5), "simple")
    net.subscribe(4, "alice", "x > 1")
    net.run()
    net.publish(0, {"x": 2})
    net.run()
    summary = net.metrics.summary()
    assert summary.hops is not None
    assert summary.accuracy == 1 / summary.hops.mean == 1 / 4


def test_latency_is_from_publication_to_delivery() -> None:
    graph = topology("line", 3)
    graph.edges[0, 1]["latency"], graph.edges[1, 2]["latency"] = 1.0, 3.0
    net = Overlay(graph, "flood")
    for broker in range(3):
        net.subscribe(broker, f"c{broker}", "true")
    net.run(until=100.0)
    net.publish(0, {})
    net.run()
    assert list(net.metrics.latencies) == [0.0, 1.0, 4.0]
    latency = net.metrics.summary().latency
    assert latency is not None
    assert latency.mean == pytest.approx(5 / 3)
    assert (latency.p50, latency.max) == (1.0, 4.0)


def test_lost_packets_make_missed_deliveries() -> None:
    net = Overlay(topology("line", 2), "flood", seed=1)
    net.change_link(0, 1, Link(loss=1.0))
    net.subscribe(1, "alice", "x > 1")
    net.run()
    event = net.publish(0, {"x": 2})
    net.run()
    summary = net.metrics.summary()
    assert (summary.lost, summary.expected, summary.missed, summary.deliveries) == (1, 1, 1, 0)
    assert net.missing() == [("alice", event)]
    assert (summary.hops, summary.latency, summary.accuracy) == (None, None, None)


def test_nothing_has_happened() -> None:
    summary = Overlay((1, []), "flood").metrics.summary()
    assert (summary.published, summary.packets, summary.matches_per_event) == (0, 0, 0)
