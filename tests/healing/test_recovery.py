"""Links that go and come back: tables are kept as long as that is cheaper, and right in the end (specs/000 §9)."""

from collections.abc import Iterable
from random import Random
from typing import Any, Literal

import networkx as nx
import pytest

from support.overlays import CONDITIONS, EVENTS
from support.spoiling import MENDABLE, is_legal, mendables, publish_all, random_tree
from tamis.healing import Healing, Recovery
from tamis.healing.recovery import RecoveryLayer
from tamis.routing.packets import Name
from tamis.simulation import Overlay

Policy = Literal["strawman", "static", "adaptive"]
CHAIN = (6, [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5)])


def chain(**settings: Any) -> Overlay:
    """Return six brokers in a row; somebody at the last one wants everything."""
    net = Overlay(CHAIN, "identity", healing=Healing(recovery=Recovery(**settings)))
    net.subscribe(5, "zoe", "true")
    net.run()
    return net


def kinds(net: Overlay, names: Iterable[str] = ("Filters", "Differs", "Held", "Correct")) -> int:
    """Return how many packets have been sent that change tables."""
    return sum(net.metrics.sent_by_kind[name] for name in names)


@pytest.mark.parametrize("policy", ["strawman", "static", "adaptive"])
@pytest.mark.parametrize("number", range(len(MENDABLE)))
def test_whatever_happens_while_links_are_gone_all_is_right_once_they_are_back(number: int, policy: Policy) -> None:
    routing, options = MENDABLE[number]
    for seed in range(3):
        random = Random(100 * number + seed)
        recovery = Recovery(policy=policy, period=0.5, threshold_mult=random.choice((0, 1, 2)))
        net = Overlay(random_tree(random, 8), routing, healing=Healing(recovery=recovery), **options)
        for broker in net.brokers:
            net.advertise(broker, f"p{broker}", "true")
        cut: list[tuple[Name, Name]] = []
        for step in range(25):
            chance = random.random()
            if chance < 0.2 and net.graph.number_of_edges():
                cut.append(random.choice(list(net.graph.edges)))
                net.disconnect(*cut[-1])
            elif chance < 0.4 and cut:
                net.connect(*cut.pop(random.randrange(len(cut))))
            elif chance < 0.7:
                net.subscribe(random.choice(net.brokers), f"c{step}", random.choice(CONDITIONS))
            elif chance < 0.8 and f"c{step - 1}" in net._home:
                net.detach(f"c{step - 1}")
            else:
                broker = random.choice(net.brokers)
                net.publish(broker, random.choice(EVENTS), publisher=f"p{broker}")
            net.run(until=net.now + random.random() / 4)
        for link in cut:
            net.connect(*link)
        net.run()
        assert is_legal(net)
        late = publish_all(net)
        net.run()
        assert not {event for _, event in net.missing()} & set(late)
        summary = net.metrics.summary()
        assert summary.false_positives == summary.duplicates == 0
        net.check_invariants()


def test_a_link_that_is_back_soon_costs_a_question_and_a_size_from_each_end() -> None:
    net = chain()
    before = net.metrics.sent_by_kind.copy()
    net.disconnect(2, 3)
    net.publish(0, {"x": 1})
    net.run()
    net.connect(2, 3)
    net.run()
    assert net.metrics.sent_by_kind - before == {"Observe": 2, "Size": 2, "Plain": 1, "Idle": 1}
    event = net.publish(0, {"x": 2})
    net.run()
    assert net.deliveries == [("zoe", event)]
    assert net.metrics.total("in_vain") == 2
    assert net.metrics.total("withdrawals") == 0


def test_it_withdraws_when_more_hops_were_in_vain_than_brokers_are_to_be_told() -> None:
    net = chain()
    net.disconnect(3, 4)
    before = kinds(net)
    # The side of broker 3 has four brokers, and an event of broker 0 comes over three links in vain.
    net.publish(0, {"x": 1})
    net.run()
    assert net.metrics.total("in_vain") == 3
    assert kinds(net) == before
    net.publish(0, {"x": 2})
    net.run()
    assert net.metrics.total("in_vain") == 6
    assert kinds(net) == before + 3
    assert not mendables(net)[0].held(1)
    events = net.metrics.received_by.total()
    net.publish(0, {"x": 3})
    net.run()
    assert net.metrics.received_by.total() == events + 1
    net.connect(3, 4)
    net.run()
    assert is_legal(net)


@pytest.mark.parametrize(
    ("settings", "events"),
    [
        ({"threshold_mult": 0}, 1),
        ({"threshold_mult": 2}, 3),
        ({"threshold_mode": "estimated_unsub_cost"}, 5),
    ],
)
def test_the_threshold_can_be_set(settings: dict[str, Any], events: int) -> None:
    net = chain(**settings)
    for number in range(2):
        net.subscribe(5, "zoe", f"x > {number}")
    net.run()
    net.disconnect(3, 4)
    for number in range(events):
        assert net.metrics.total("withdrawals") == 0
        net.publish(0, {"x": number + 5})
        net.run()
    # The other side has no events in vain, so it waits on.
    assert net.metrics.total("withdrawals") == 1


def test_hops_that_were_of_use_are_not_in_vain() -> None:
    net = chain()
    net.subscribe(1, "ann", "x = 1")
    net.run()
    net.disconnect(3, 4)
    net.publish(0, {"x": 1})
    net.run()
    assert net.metrics.total("in_vain") == 2
    # At the end of the link itself nothing is in vain.
    net.publish(3, {"x": 2})
    net.run()
    assert net.metrics.total("in_vain") == 2
    # Nor is an event that somebody there wants.
    net.subscribe(3, "bob", "x = 3")
    net.run()
    net.publish(0, {"x": 3})
    net.run()
    assert net.metrics.total("in_vain") == 2


def test_static_withdraws_at_the_next_tick_whatever_happened() -> None:
    net = chain(policy="static", period=10)
    net.run(until=3)
    net.disconnect(3, 4)
    net.run(until=9.9)
    assert net.metrics.total("withdrawals") == 0
    net.run(until=10.1)
    assert net.metrics.total("withdrawals") == 2
    net.connect(3, 4)
    net.run()
    assert is_legal(net)
    net.run(until=13)
    net.disconnect(3, 4)
    net.run(until=17)
    net.connect(3, 4)
    net.run(until=40)
    assert net.metrics.total("withdrawals") == 2


def test_strawman_withdraws_at_once() -> None:
    net = chain(policy="strawman")
    net.disconnect(3, 4)
    net.run()
    assert net.metrics.total("withdrawals") == 2
    assert not mendables(net)[0].held(1)


def sizes_are_right(net: Overlay) -> bool:
    """Say whether every broker knows how many are behind each neighbour."""
    for name, machine in net.machines.items():
        assert isinstance(machine, RecoveryLayer)
        for neighbour in net.graph.adj[name]:
            rest = nx.Graph(net.graph)
            rest.remove_node(name)
            if machine._sizes.get(neighbour) != len(nx.node_connected_component(rest, neighbour)):
                return False
    return True


def test_brokers_know_how_many_are_behind_each_link() -> None:
    for seed in range(20):
        random = Random(seed)
        net = Overlay(
            random_tree(random, 12), "identity", healing=Healing(recovery=Recovery(threshold_mult=0)), seed=seed
        )
        for broker in net.brokers:
            net.subscribe(broker, f"c{broker}", "true")
        net.run()
        assert sizes_are_right(net)
        link = random.choice(list(net.graph.edges))
        net.disconnect(*link)
        publish_all(net)
        net.run()
        if net.metrics.total("withdrawals") == 2:
            assert sizes_are_right(net)
        net.connect(*link)
        net.join(99, [0])
        net.run()
        assert sizes_are_right(net)


@pytest.mark.parametrize("policy", ["strawman", "static", "adaptive"])
def test_a_broker_that_crashes_and_forgets_is_told_again(policy: Policy) -> None:
    net = Overlay(CHAIN, "covering", healing=Healing(recovery=Recovery(policy=policy)))
    net.subscribe(0, "ann", "x > 1")
    net.subscribe(2, "bob", "x > 2")
    net.subscribe(5, "zoe", "true")
    net.run()
    net.crash(2)
    net.unsubscribe(5, "zoe", "true")
    net.subscribe(5, "zoe", "y = 3")
    net.run(until=net.now + 0.1)
    net.restart(2)
    net.run()
    assert is_legal(net)
    late = publish_all(net)
    net.run()
    assert not {event for _, event in net.missing()} & set(late)


def test_settings_that_make_no_sense_are_refused() -> None:
    with pytest.raises(ValueError, match="more than 0 seconds apart, not 0"):
        Recovery(policy="static", period=0)
    with pytest.raises(ValueError, match="a threshold is not negative: -1"):
        Recovery(threshold_mult=-1)
