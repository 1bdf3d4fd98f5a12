"""Whatever brokers and links contain, tables become right within diameter rounds, and stay so (specs/000 §7, §10.9)."""

from random import Random
from typing import Any, Literal

import networkx as nx
import pytest

from support.overlays import EVENTS
from support.spoiling import (
    EVERY,
    EXCHANGE,
    MENDABLE,
    Channels,
    all_items,
    is_legal,
    mendables,
    overlay,
    publish_all,
    put_garbage,
)
from tamis.healing import Healing, Stabilise
from tamis.healing.legality import globally_illegal, locally_illegal
from tamis.healing.spoiling import spoil
from tamis.routing.messages import Arrived
from tamis.routing.packets import Correct, Name, Observe
from tamis.simulation import Overlay
from tamis.simulation.observer import Observer

#: How many trees there are for each strategy, tried with both exchanges: 300 in all.
TREES = 25


def check_heals(seed: int, strategy: tuple[str, dict[str, Any]], exchange: Literal["full", "sketch"]) -> None:
    random = Random(seed)
    net = overlay(random, strategy, Stabilise(every=EVERY, exchange=exchange, propagate=seed % 4 == 0))
    assert is_legal(net)
    items = all_items(net)
    net.run(until=net.now + 2 * EVERY)
    assert net.metrics.total("corrections") == 0
    put_garbage(net, random, items, within=0.5 * EVERY)
    for machine in net.machines.values():
        spoil(machine, random, items)
    publish_all(net)
    net.run(until=net.now + 0.5 * EVERY + EXCHANGE)
    # With advertisements, what is announced has to be right before what is wanted can be.
    rounds = nx.diameter(net.graph) * (2 if strategy[0] == "advertisement" else 1)
    net.run(until=net.now + rounds * EVERY + EXCHANGE)
    assert not locally_illegal(net.machines)
    assert not globally_illegal(net.machines)
    assert is_legal(net)
    corrected = net.metrics.total("corrections")
    seen = set(net.deliveries)
    late = publish_all(net)
    net.run(until=net.now + 3 * EVERY)
    net.run()
    assert is_legal(net)
    assert net.metrics.total("corrections") == corrected
    net.check_invariants()
    summary = net.metrics.summary()
    assert summary.false_positives == summary.duplicates == 0
    assert not {event for _, event in net.missing()} & set(late)
    assert seen <= set(net.deliveries)


@pytest.mark.parametrize("exchange", ["full", "sketch"])
@pytest.mark.parametrize("number", range(len(MENDABLE)))
def test_from_any_state_tables_are_right_after_as_many_rounds_as_the_diameter(
    number: int, exchange: Literal["full", "sketch"]
) -> None:
    for tree in range(TREES):
        check_heals(1000 * number + tree, MENDABLE[number], exchange)


class Kinds(Observer):
    """Counts packets of the protocol."""

    def __init__(self) -> None:
        self.sent_kinds: list[str] = []

    def sent(self, now: float, broker: Name, neighbour: Name, packet: Any) -> None:  # noqa: ARG002
        self.sent_kinds.append(type(packet).__name__)


@pytest.mark.parametrize(
    ("exchange", "kinds"), [("full", {"Observe", "Held"}), ("sketch", {"Observe"})], ids=["full", "sketch"]
)
def test_where_all_is_right_nobody_is_corrected_and_sketches_need_no_answer(
    exchange: Literal["full", "sketch"], kinds: set[str]
) -> None:
    net = overlay(Random(3), MENDABLE[0], Stabilise(every=EVERY, exchange=exchange))
    seen = Kinds()
    net.watch(seen)
    net.run(until=9 * EVERY)
    assert set(seen.sent_kinds) == kinds
    net.run()


def test_of_sketches_each_so_manieth_exchange_is_full() -> None:
    stabilise = Stabilise(every=EVERY, exchange="sketch", full_every=3)
    net = Overlay((2, [(0, 1)]), "identity", healing=Healing(stabilise=stabilise))
    seen = Kinds()
    net.watch(seen)
    net.run(until=6 * EVERY + EXCHANGE)
    assert seen.sent_kinds.count("Observe") == 2 * 6
    assert seen.sent_kinds.count("Held") == 2 * 2


def test_what_changes_while_the_question_is_on_its_way_is_not_undone() -> None:
    # Broker 1 holds `x > 3` from 0, which 0 does not owe; 0 comes to owe it after it has asked. The answer to the
    # question says that it is too much, but now it is right (specs/000 §7, note c).
    net = Overlay((2, [(0, 1)]), "identity", healing=Healing(stabilise=Stabilise(every=EVERY)))
    net.run()
    broker = mendables(net)[1]
    broker.hold(0, ["x > 3", "x > 4"])
    broker.derive()
    net.run(until=EVERY)
    net.subscribe(0, "alice", "x > 3")
    net.run()
    assert broker.held(0) == ["x > 3"]
    assert is_legal(net)


def test_while_clients_come_and_go_edges_stay_locally_legal_and_nobody_is_corrected() -> None:
    for number, strategy in enumerate(MENDABLE):
        random = Random(number)
        net = overlay(random, strategy, Stabilise(every=0.01, exchange=random.choice(("full", "sketch"))), most=6)
        channels = Channels()
        net.run(until=(net.now // 0.01 + 1) * 0.01 + 0.006)  # between two rounds
        net.watch(channels)
        for step in range(30):
            broker = random.choice(net.brokers)
            text = random.choice(("x > 3", "x > 5", "y in (1, 3, 5)", "x = 5", "x between 2 and 7"))
            if step % 3:
                net.subscribe(broker, f"s{step}", text)
            elif step:
                net.detach(f"s{step - 1}")
            net.run(until=net.now + random.random() * 0.008)
            if strategy[0] != "advertisement":  # what is wanted of it depends on what is on its way to the other end
                assert not locally_illegal(net.machines, channels.packets)
        net.run()
        assert is_legal(net)
        assert net.metrics.total("corrections") == 0


@pytest.mark.parametrize("number", range(len(MENDABLE)))
def test_a_broker_that_stumbles_over_spoilt_state_makes_it_anew(number: int) -> None:
    random = Random(number)
    net = overlay(random, MENDABLE[number], Stabilise(every=EVERY))
    for name, broker in mendables(net).items():
        for neighbour in broker.neighbours:
            broker.hold(neighbour, [])
        broker.derive()
        net.subscribe(name, f"late{name}", "x > 1")
        net.subscribe(name, f"late{name}", "x > 2")
    for machine in net.machines.values():
        spoil(machine, random, all_items(net))
    for name in net.brokers:
        net.unsubscribe(name, f"late{name}", "x > 1")
    publish_all(net)
    net.run(until=net.now + 2 * nx.diameter(net.graph) * EVERY + EVERY)
    assert is_legal(net)
    net.check_invariants()


def test_texts_that_are_no_conditions_are_thrown_out_of_tables() -> None:
    net = Overlay((3, [(0, 1), (1, 2)]), "identity", healing=Healing(stabilise=Stabilise(every=EVERY)))
    net.subscribe(0, "alice", "x > 3")
    net.run()
    broker: Any = mendables(net)[1]
    broker.wanted.add(0, "x > (")
    event = net.publish(2, {"x": 5})
    net.run()
    assert net.deliveries == [("alice", event)]
    assert net.metrics.total("rebuilt") == 1
    assert broker.held(0) == ["x > 3"]


def test_an_index_that_lacks_conditions_is_made_anew() -> None:
    net = Overlay((2, [(0, 1)]), "identity", healing=Healing(stabilise=Stabilise(every=EVERY)))
    for number in range(20):
        net.subscribe(0, "alice", f"x = {number}")
    net.run()
    net.publish(1, {"x": 7})
    net.run()
    broker: Any = mendables(net)[1]
    broker.wanted._index.remove(broker.wanted._number["x = 7"])
    net.publish(1, {"x": 7})
    net.run(until=EVERY)
    assert len(net.missing()) == 1
    net.publish(1, {"x": 7})
    net.run()
    assert len(net.missing()) == 1


def test_of_an_unknown_neighbour_nothing_is_taken() -> None:
    net = Overlay((2, [(0, 1)]), "identity", healing=Healing(stabilise=Stabilise(every=EVERY)))
    net.run()
    for packet in (Observe(0, None), Correct((), ("x > 3",), True)):
        net._world.tell(0, Arrived(7, packet))
    net.run()
    assert net.metrics.total("refused") == 2
    assert is_legal(net)


def test_a_strategy_without_such_tables_is_refused() -> None:
    for routing in ("flood", "merc", "ddbr", "advertisement"):
        with pytest.raises(ValueError, match="cannot be stabilised: they have no table for each neighbour"):
            Overlay((2, [(0, 1)]), routing, healing=Healing(stabilise=Stabilise()))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"every": 0}, "more than 0 seconds apart, not 0"),
        ({"bits_per_item": 0}, "bits_per_item is at least 1, not 0"),
        ({"hashes": 0}, "hashes is at least 1, not 0"),
        ({"full_every": 0}, "full_every is at least 1, not 0"),
    ],
)
def test_settings_that_make_no_sense_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Stabilise(**options)


def test_events_reach_everybody_again_after_all_tables_were_lost() -> None:
    net = Overlay((5, [(0, 1), (1, 2), (2, 3), (3, 4)]), "covering", healing=Healing(stabilise=Stabilise(every=EVERY)))
    net.subscribe(0, "alice", "x > 3")
    net.run()
    for broker in mendables(net).values():
        for neighbour in broker.neighbours:
            broker.hold(neighbour, [])
    lost = net.publish(4, EVENTS[0])
    net.run(until=4 * EVERY + EXCHANGE)
    event = net.publish(4, EVENTS[0])
    net.run()
    assert net.deliveries == [("alice", event)]
    assert net.missing() == [("alice", lost)]
