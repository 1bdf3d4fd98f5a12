"""What crashes, cuts and partitions do to an overlay, and that all is well again when they are mended."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tamis.routing.registry import strategies
from tamis.simulation import Link, Overlay, topology


def heard_by_all(net: Overlay, brokers: int) -> set[Any]:
    """Publish at each broker that runs; return who got something from all of them."""
    net.run()
    before = len(net.deliveries)
    publishers = [broker for broker in range(brokers) if broker in net.graph]
    for broker in publishers:
        net.publish(broker, {"x": 1}, publisher=f"p{broker}")
    net.run()
    got = [client for client, _ in net.deliveries[before:]]
    assert all(got.count(client) <= len(publishers) for client in got)
    return {client for client in got if got.count(client) == len(publishers)}


@pytest.fixture
def net() -> Overlay:
    net = Overlay(topology("line", 4), "simple")
    for broker in range(4):
        net.subscribe(broker, f"c{broker}", "x = 1")
        net.advertise(broker, f"p{broker}", "true")
    net.run()
    return net


@pytest.mark.parametrize("silent", [False, True])
def test_a_broker_that_comes_back_has_its_links_and_its_clients(net: Overlay, silent: bool) -> None:
    net.crash(1, silent=silent)
    assert net.brokers == [0, 2, 3]
    assert sorted(net.graph.edges) == [(2, 3)]
    for call in (net.subscribe, net.advertise):
        with pytest.raises(ValueError, match="broker 1 is down"):
            call(1, "new", "x = 1")
    with pytest.raises(ValueError, match="broker 1 is down"):
        net.publish(1, {"x": 1}, publisher="p1")
    with pytest.raises(ValueError, match="which is down"):
        net.join(1)
    assert heard_by_all(net, 4) == set()
    net.restart(1)
    assert sorted(map(sorted, net.graph.edges)) == [[0, 1], [1, 2], [2, 3]]
    assert heard_by_all(net, 4) == {"c0", "c1", "c2", "c3"}
    net.check_invariants()


def test_a_link_between_two_brokers_that_are_down_comes_back_with_the_second(net: Overlay) -> None:
    net.crash(1)
    net.crash(2)
    net.restart(1)
    assert sorted(map(sorted, net.graph.edges)) == [[0, 1]]
    net.restart(2)
    assert heard_by_all(net, 4) == {"c0", "c1", "c2", "c3"}


def test_a_client_that_leaves_while_its_broker_is_down_stays_away(net: Overlay) -> None:
    net.crash(1)
    net.detach("c1")
    net.restart(1)
    assert heard_by_all(net, 4) == {"c0", "c2", "c3"}


def test_a_link_that_is_cut_comes_back_as_it_was(net: Overlay) -> None:
    net.change_link(1, 2, Link(latency=50.0))
    net.disconnect(1, 2)
    net.connect(2, 1)
    start = net.now
    net.run()
    # What the two ends have to tell each other takes as long as before; then it goes on to the ends of the line.
    assert net.now == pytest.approx(start + 50.001)
    assert heard_by_all(net, 4) == {"c0", "c1", "c2", "c3"}


def test_a_link_that_was_cut_before_a_crash_stays_cut(net: Overlay) -> None:
    net.disconnect(0, 1)
    net.crash(1)
    net.restart(1)
    assert sorted(map(sorted, net.graph.edges)) == [[1, 2], [2, 3]]
    net.crash(1)
    net.disconnect(1, 2)
    net.connect(0, 1)
    net.restart(1)
    assert sorted(map(sorted, net.graph.edges)) == [[0, 1], [2, 3]]


def test_a_link_cut_in_silence_loses_everything_and_nobody_knows(net: Overlay) -> None:
    net.disconnect(1, 2, silent=True)
    assert heard_by_all(net, 4) == set()
    assert net.metrics.lost_packets == 4
    net.connect(1, 2)
    assert heard_by_all(net, 4) == {"c0", "c1", "c2", "c3"}


def test_a_neighbour_learns_of_a_silent_crash_when_the_link_is_cut(net: Overlay) -> None:
    net.crash(1, silent=True)
    net.disconnect(1, 2)
    net.run()
    lost = net.metrics.lost_packets
    net.publish(3, {"x": 1}, publisher="p3")
    net.run()
    assert net.metrics.lost_packets == lost
    net.check_invariants()


@pytest.mark.parametrize("silent", [False, True])
def test_a_partition_parts_and_reunites(net: Overlay, silent: bool) -> None:
    net.partition([0, 1], silent=silent)
    assert heard_by_all(net, 4) == set()
    assert {client for client, event in net.deliveries if event in (3, 4)} == {"c2", "c3"}
    net.reunite()
    assert heard_by_all(net, 4) == {"c0", "c1", "c2", "c3"}


def test_a_broker_that_left_is_forgotten(net: Overlay) -> None:
    net.disconnect(2, 3)
    net.crash(1)
    net.leave(2)
    net.restart(1)
    net.reunite()
    assert sorted(map(sorted, net.graph.edges)) == [[0, 1]]
    net.check_invariants()


FAULTS = st.sampled_from(["cut", "heal", "crash", "restart", "partition", "reunite", "wait", "subscribe", "publish"])


@pytest.mark.parametrize("name", sorted(strategies()))
@settings(max_examples=15)
@given(history=st.lists(st.tuples(FAULTS, st.integers(0, 99)), max_size=25), mend=st.permutations(range(6)))
def test_when_all_is_mended_everybody_gets_everything_again(
    name: str, history: list[tuple[str, int]], mend: list[int]
) -> None:
    net = Overlay(topology("heap", 6), name)
    for broker in range(6):
        net.subscribe(broker, f"c{broker}", "x = 1")
        net.advertise(broker, f"p{broker}", "true")
    for kind, number in history:
        broker, (one, other) = number % 6, [(0, 1), (0, 2), (1, 3), (1, 4), (2, 5)][number % 5]
        if kind == "crash" and broker in net.graph:
            net.crash(broker)
        elif kind == "restart" and broker not in net.graph:
            net.restart(broker)
        elif kind == "cut" and net.graph.has_edge(one, other):
            net.disconnect(one, other)
        elif kind == "heal" and not net.graph.has_edge(one, other) and {one, other} <= net.graph.nodes:
            net.connect(one, other)
        elif kind == "partition":
            net.partition(range(number % 5))
        elif kind == "reunite":
            net.reunite()
        elif kind == "wait":
            net.run(until=net.now + number / 10_000)
        elif kind == "subscribe" and broker in net.graph:
            net.subscribe(broker, f"c{broker}", f"x > {number % 3}")
        elif kind == "publish" and broker in net.graph:
            net.publish(broker, {"x": number % 4}, publisher=f"p{broker}")
        net._network.check_invariants()
    net.reunite()
    for broker in mend:
        if broker not in net.graph:
            net.restart(broker)
    assert heard_by_all(net, 6) == {f"c{broker}" for broker in range(6)}
    assert len(net.graph.edges) == 5
    summary = net.metrics.summary()
    assert summary.duplicates == 0
    if net.strategy.capabilities.exact:
        assert summary.false_positives == 0
    net.check_invariants()
