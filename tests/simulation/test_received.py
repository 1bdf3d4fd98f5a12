"""Ages of events from end to end: what brokers know against what the world knows."""

import math
from pathlib import Path
from random import Random
from typing import Any

import networkx as nx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.overlays import CONDITIONS, EVENTS, Story, steps
from tamis.healing import Ages, Healing
from tamis.routing.packets import Name
from tamis.routing.registry import strategies
from tamis.simulation import Link, Overlay, TraceWriter, topology
from tamis.simulation.clock import Clock, random_clocks
from tamis.simulation.faults import Crash, Cut, Faults, Heal, Partition, Restart, Reunite
from tamis.simulation.replay import replay
from tamis.simulation.service import busy
from tamis.simulation.trace import Delivered, read_trace


def aged(net: Overlay) -> list[tuple[float, float]]:
    """Return the true age and the bound of everything received. The reference knows when it was published."""
    return [(each.time - net._reference.fates[each.event].time, each.age_bound) for each in net.received]


def line(brokers: int, link: Link, ages: Ages, **options: Any) -> Overlay:
    graph = topology("line", brokers)
    for _, _, attributes in graph.edges(data=True):
        attributes.update(latency=link.latency, jitter=link.jitter, ordered=link.ordered, bandwidth=link.bandwidth)
    net = Overlay(graph, "simple", healing=Healing(ages=ages), **options)
    net.subscribe(brokers - 1, "client", "true")
    net.run()
    return net


def test_an_event_is_timely_or_late() -> None:
    net = line(4, Link(latency=0.1), Ages(max_age=1.0))
    assert net.publish(0, {"x": 1}) == 1
    net.run()
    (got,) = net.received
    assert (got.client, got.event, got.timely) == ("client", 1, True)
    # Three links, of each of which nothing is known but that there and back takes 0.2 s.
    assert 0.3 <= got.age_bound <= 0.601
    for one in range(3):
        net.change_link(one, one + 1, Link(latency=1.0))
    net.publish(0, {"x": 2})
    net.run()
    late = net.received[-1]
    assert late.timely is False
    # The error is as it was.
    assert late.age_bound - 3 == pytest.approx(got.age_bound - 0.3, abs=1e-3)
    assert net.deliveries == [("client", 1), ("client", 2)]


def test_nobody_asks_for_ages() -> None:
    net = line(2, Link(), Ages())
    net.publish(0, {})
    net.run()
    assert net.received[0].timely is None
    without = Overlay(topology("line", 2), "simple")
    without.subscribe(1, "client", "true")
    without.run()
    without.publish(0, {})
    without.run()
    assert without.deliveries == net.deliveries
    assert without.received == []


def test_time_in_queues_counts() -> None:
    net = line(3, Link(latency=0.001), Ages(drift=0.01), service=busy(1.0), clocks=random_clocks(range(3), 0.01, 100))
    for number in range(5):
        net.publish(0, {"x": number})
    net.run()
    ages = aged(net)
    assert all(age >= 3 + number for number, (age, _) in enumerate(ages))
    # Helpers wait in queues too, and how long is not known.
    assert all(age <= bound <= age + 20 for age, bound in ages)


def test_a_silent_link_does_not_make_bounds_worse_than_pings_allow() -> None:
    net = line(2, Link(latency=0.01), Ages(drift=1e-3, ping=1.0), clocks={0: Clock(drift=1e-3), 1: Clock(drift=-1e-3)})
    net.run(until=10_000.0)
    net.publish(0, {})
    net.run()
    ((age, bound),) = aged(net)
    assert age <= bound <= age + 0.01 + 4 * 1e-3 * 1.1


def test_a_known_bandwidth_makes_the_bound_smaller() -> None:
    errors = []
    for bandwidth in (None, 1e4):
        net = line(3, Link(latency=0.001, bandwidth=1e4), Ages(bandwidth=bandwidth))
        for _ in range(3):
            net.publish(0, {"x": 1})
            net.run()
        age, bound = aged(net)[-1]
        errors.append(bound - age)
    assert 0 <= errors[1] < errors[0] / 2


def test_what_waited_for_a_way_is_as_old_as_it_is() -> None:
    net = Overlay(
        topology("line", 4),
        "ddbr",
        healing=Healing(ages=Ages(max_age=5.0)),
        clocks=random_clocks(range(4), 1e-4, 1e3),
    )
    net.subscribe(3, "client", "x > 0")
    net.advertise(0, "publisher", "true")
    net.run()
    net.publish(0, {"x": 1}, "publisher")
    net.run()
    net.plan(Faults((Partition(at=0.0, groups=((0, 1),)), Reunite(at=20.0))))
    net.run(until=net.now + 0.5)
    net.publish(0, {"x": 2}, "publisher")
    net.run(until=net.now + 60)
    assert [(each.event, each.timely) for each in net.received] == [(1, True), (2, False)]
    (_, _), (age, bound) = aged(net)
    assert 19 < age <= bound < age + 0.1


def test_a_broker_that_started_anew_is_late_until_it_has_a_helper() -> None:
    net = line(3, Link(latency=0.01), Ages(max_age=1.0))
    net.crash(1)
    net.run()
    net.restart(1)
    net.run()
    net.publish(0, {"x": 1})
    net.run()
    assert [each.timely for each in net.received] == [True]


@pytest.mark.parametrize("step", [5.0, -5.0, 1e6])
@pytest.mark.parametrize("broker", [0, 1, 2])
def test_a_clock_that_steps_far_makes_nothing_timely_that_is_not(broker: int, step: float) -> None:
    net = line(3, Link(latency=0.01), Ages(max_age=1.0, ping=1.0))
    for number in range(40):
        if number == 10:
            net.step_clock(broker, step)
        net.publish(0, {"x": number})
        net.run(until=net.now + 0.2)
    assert all(age <= bound for age, bound in aged(net))
    timely = [each.timely for each in net.received]
    assert timely[:10] == [True] * 10
    # Within two pings all is as it was.
    assert timely[21:] == [True] * 19


def test_packets_are_counted_as_what_they_are() -> None:
    plain, stamped = (Overlay(topology("heap", 7), "ddbr", healing=each) for each in (None, Healing(ages=Ages())))
    for net in (plain, stamped):
        for broker in range(7):
            net.subscribe(broker, f"c{broker}", "x > 1")
            net.advertise(broker, f"p{broker}", "true")
        net.run()
        net.publish(3, {"x": 2}, "p3")
        net.run()
    ours, theirs = stamped.metrics.summary(), plain.metrics.summary()
    kinds = dict(ours.packets_by_kind)
    assert kinds.pop("Ping") == 12
    assert kinds.pop("Pong") >= 12
    assert kinds == theirs.packets_by_kind
    assert (ours.destinations, ours.hops, ours.accuracy) == (theirs.destinations, theirs.hops, theirs.accuracy)
    assert ours.deliveries == theirs.deliveries == 7


@pytest.mark.parametrize("name", ["simple", "ddbr", "prefix"])
def test_a_replay_compares_ages(tmp_path: Path, name: str) -> None:
    path = tmp_path / "run.trace"
    plan = Faults((Crash(at=0.2, broker=1), Restart(at=0.3, broker=1), Cut(at=0.5, one=0, other=2)))
    with TraceWriter(path) as trace:
        net = Overlay(
            topology("heap", 5),
            name,
            healing=Healing(ages=Ages(max_age=1.0, ping=0.1)),
            clocks=random_clocks(range(5), 1e-4, 100),
            service=busy(1e-3),
            faults=plan,
            trace=trace,
        )
        for broker in range(5):
            net.subscribe(broker, f"c{broker}", "true")
            net.advertise(broker, f"p{broker}", "true")
        for _ in range(8):
            net.publish(2, {"x": math.inf}, "p2")
            net.run(until=net.now + 0.1)
    assert replay(path).difference is None
    written = [record.age for _, record in read_trace(path) if isinstance(record, Delivered)]
    assert written == [None if each.age_bound == math.inf else each.age_bound for each in net.received]
    assert any(age is not None for age in written)
    tampered = path.read_bytes().replace(b'"age":', b'"age":1', 1)
    path.write_bytes(tampered)
    assert replay(path).difference is not None


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6))
def test_ages_are_never_too_small(seed: int) -> None:
    random = Random(seed)
    name = random.choice(sorted(strategies()))
    drift = random.choice((0.0, 1e-4, 1e-2))
    graph: nx.Graph[Name] = topology("random-tree", random.randint(2, 7), seed=seed)
    for _, _, attributes in graph.edges(data=True):
        attributes.update(latency=random.choice((0.0, 1e-3, 0.2)), jitter=random.choice((0.0, 0.01, 0.3)))
        attributes.update(bandwidth=random.choice((None, None, 1e5)))
        if name in ("flood", "ddbr", "merc"):
            attributes.update(loss=random.choice((0.0, 0.2)), ordered=random.random() < 0.5)
    net = Overlay(
        graph,
        name,
        healing=Healing(ages=Ages(drift=drift, max_age=0.5, ping=random.choice((0.05, 10.0)))),
        seed=seed,
        service=random.choice((None, busy(0.01), busy(0.0, 0.02))),
        clocks=random_clocks(graph, drift, random.choice((0.0, 1e3, 1e9)), seed),
    )
    brokers = list(graph)
    for number in range(10):
        broker = random.choice(brokers)
        net.subscribe(broker, f"c{number}", random.choice(CONDITIONS))
        net.advertise(broker, f"c{number}", "true")
    for _ in range(30):
        if random.random() < 0.1 and net.graph.edges:
            one, other = random.choice(list(net.graph.edges))
            net.plan(
                Faults(
                    (Cut(at=0.0, one=one, other=other, silent=False), Heal(at=random.random(), one=one, other=other))
                )
            )
        if random.random() < 0.1:
            broker = random.choice(brokers)
            net.plan(Faults((Crash(at=0.0, broker=broker, silent=False), Restart(at=0.5, broker=broker))))
            net.run(until=net.now + 2)
        client = f"c{random.randrange(10)}"
        net.publish(net._home[client], random.choice(EVENTS), client)
        net.run(until=net.now + random.random())
    net.run(until=net.now + 30)
    for age, bound in aged(net):
        assert age <= bound
    assert all(each.timely == (each.age_bound <= 0.5) for each in net.received)
    net.check_invariants()


@settings(max_examples=15, deadline=None)
@given(steps(), st.sampled_from(sorted(strategies())))
def test_stamps_change_nothing_in_what_is_delivered(history: list[Any], name: str) -> None:
    story = Story(Overlay(topology("heap", 5), name, healing=Healing(ages=Ages(ping=0.01))))
    for step in history:
        story.do(step)
        story.net.check_invariants()
    story.check()
    assert all(age <= bound for age, bound in aged(story.net))
    # Once all was quiet, nobody is without a helper.
    assert story.net.received[-1].age_bound < 1.0 if story.net.received else True
