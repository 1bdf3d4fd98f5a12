"""Clients of any overlay are told what a watch says."""

from collections import Counter
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tamis import Overlay, Watch
from tamis.routing.messages import Message, Subscribe
from tamis.routing.packets import Name
from tamis.simulation.observer import Observer
from tamis.simulation.value_network import ValueNetwork

STRATEGIES = ["flood", "simple", "identity", "covering", "advertisement", "reuse-partial", "bloom", "prefix", "ddbr"]
TREE = (6, [(0, 1), (1, 2), (1, 3), (3, 4), (3, 5)])
ASKED: list[dict[str, float]] = [
    {"radius": 2},
    {"radius": 2},
    {"radius": 5},
    {"radius": 5},
    {"radius": 8},
    {"radius": 9, "may": 4},
    {"relative": 0.03},
    {"factor": 1.05},
    {"factor": 1.05},
]
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("come"), st.integers(0, 53)),
        st.tuples(st.just("come"), st.integers(0, 53)),
        st.tuples(st.just("go"), st.integers(0, 50)),
        st.tuples(st.just("move"), st.sampled_from([1, -1, 2, -2, 5, -5, 8, -8])),
        st.tuples(st.just("move"), st.sampled_from([1, -1, 2, -2, 5, -5, 8, -8])),
        st.tuples(st.just("run"), st.none()),
    ),
    max_size=30,
)


class Asked(Observer):
    """Counts what clients ask for."""

    def __init__(self) -> None:
        self.count = 0

    def told(self, now: float, broker: Name, message: Message, hops: int) -> None:  # noqa: ARG002
        self.count += isinstance(message, Subscribe)


def sequences(told: list[tuple[Any, float]]) -> dict[Any, list[float]]:
    found: dict[Any, list[float]] = {}
    for client, value in told:
        found.setdefault(client, []).append(value)
    return found


def play(net: ValueNetwork, steps: list[tuple[str, Any]], relaxed: bool) -> None:
    """Play a history, and compare with what the oracle says to the same calls."""
    oracle = Watch("oracle", relaxed)
    expected: list[tuple[Any, float]] = []
    live: list[str] = []
    fresh, value = 0, 100
    for what, detail in steps:
        if what == "come":
            client, asked = f"c{fresh}", ASKED[detail % len(ASKED)]
            told = oracle.subscribe(client, **asked)
            assert net.subscribe(detail // len(ASKED), client, **asked) == told
            expected += [] if told is None else [(client, told)]
            live.append(client)
            fresh += 1
        elif what == "go" and live:
            # Who goes while something is on its way may or may not get it.
            net.run()
            client = live.pop(detail % len(live))
            oracle.unsubscribe(client)
            net.unsubscribe(client)
        elif what == "move":
            value = max(50, value + detail)
            expected += [(str(client), float(value)) for client in oracle.update(value)]
            net.update(value)
        elif what == "run":
            net.run()
    net.run()
    net.check_invariants()
    assert sequences(net.told) == sequences(expected)


@pytest.mark.parametrize("strategy", STRATEGIES)
@settings(max_examples=12, deadline=None)
@given(steps=STEPS, relaxed=st.booleans())
def test_clients_are_told_what_the_watch_says(strategy: str, steps: list[tuple[str, Any]], relaxed: bool) -> None:
    play(ValueNetwork(Overlay(TREE, strategy), 2, "ACME", relaxed=relaxed), steps, relaxed)


@pytest.mark.parametrize("strategy", ["covering", "ddbr"])
def test_events_register_nothing_anew(strategy: str) -> None:
    overlay = Overlay(TREE, strategy)
    asked = Asked()
    overlay.watch(asked)
    radii = ValueNetwork(overlay, 0, "radii", engine="radius-tree")
    labels = ValueNetwork(overlay, 5, "labels", engine="label-tree")
    both = ValueNetwork(overlay, 3, "both")
    for net in (radii, labels, both):
        net.update(100)
        net.run()
    for number in range(20):
        radii.subscribe(number % 6, f"r{number}", radius=1 + number % 7)
        labels.subscribe(number % 6, f"l{number}", radius=6)
        both.subscribe(number % 6, f"b{number}", radius=1 + number % 3)
        for net in (radii, labels, both):
            net.update(100 + number % 4)
            net.run()
    # For radii one condition each; with labels one more for these, and one for new ones.
    assert asked.count == 20 * (1 + 3 + 3)
    before = {net.item: len(net.told) for net in (radii, labels, both)}
    for value in (104, 99, 107, 93, 110):
        for net in (radii, labels, both):
            net.update(value)
            net.run()
    assert asked.count == 20 * (1 + 3 + 3)
    assert all(len(net.told) > before[net.item] + 20 for net in (radii, labels, both))


@pytest.mark.parametrize("settle", [True, False])
@pytest.mark.parametrize("strategy", ["identity", "covering", "bloom", "ddbr"])
def test_labels_that_change_while_events_are_on_their_way(strategy: str, settle: bool) -> None:
    overlay = Overlay(TREE, strategy)
    asked = Asked()
    overlay.watch(asked)
    net = ValueNetwork(overlay, 0, "ACME")
    oracle = Watch("oracle")
    expected: list[tuple[Any, float]] = []

    def update(value: float) -> None:
        expected.extend((client, value) for client in oracle.update(value))
        net.update(value)

    def subscribe(client: str, broker: int) -> None:
        expected.append((client, oracle.subscribe(client, 10) or 0.0))
        net.subscribe(broker, client, 10)

    update(0.0)
    subscribe("first", 4)
    update(5.0)
    subscribe("last", 5)
    # Each belongs just before the one that came before it, until there is no label between two of them.
    for number in range(60):
        update(4.0 - number / 100)
        subscribe(f"c{number}", number % 6)
        if settle:
            net.run()
    # Some of the circle, some more, and round its end.
    for value in (10.5, 13.75, 3.7, -6.0, 14.1):
        update(value)
    net.run()
    net.check_invariants()
    assert sequences(net.told) == sequences(expected)
    # Three conditions each, and one more for each who had to change its label.
    assert asked.count > 3 * 62
    assert max(len(each) for each in sequences(net.told).values()) > 2


def test_an_arc_for_other_labels_reaches_nobody() -> None:
    overlay = Overlay(TREE, "identity")
    net = ValueNetwork(overlay, 0, "ACME")
    net.update(0.0)
    for number in range(5):
        net.subscribe(number, f"c{number}", radius=10)
        net.update(float(number))
    net.run()
    before = len(overlay.deliveries)
    stray = {"item": "ACME", "kind": "absolute", "radius": "10.0", "epoch": 1, "first": 0, "last": 2**62, "value": 11.0}
    overlay.publish(0, stray | {"update": 99}, publisher="server of ACME")
    overlay.publish(0, stray | {"update": 99, "epoch": 0}, publisher="server of ACME")
    overlay.run()
    assert Counter(client for client, _ in overlay.deliveries[before:]) == dict.fromkeys(
        (f"c{number}" for number in range(5)), 1
    )


def test_several_items_share_an_overlay_with_other_events() -> None:
    overlay = Overlay(TREE, "covering")
    one, two = ValueNetwork(overlay, 0, "one"), ValueNetwork(overlay, 5, 2)
    overlay.subscribe(3, "alice", "price > 10")
    for net, radius in ((one, 3), (two, 5)):
        assert net.subscribe(2, "bob", radius) is None
        net.update(100)
        net.run()
    price = overlay.publish(1, {"price": 12}, publisher="carl")
    one.update(103)
    two.update(104)
    one.run()
    two.run()
    two.update(106)
    two.run()
    assert one.told == [("bob", 100.0), ("bob", 103.0)]
    assert two.told == [("bob", 100.0), ("bob", 106.0)]
    assert [event for client, event in overlay.deliveries if client == "alice"] == [price]


def test_an_engine_without_ranges_is_refused() -> None:
    with pytest.raises(ValueError, match="'endpoints' makes lists"):
        ValueNetwork(Overlay(TREE), 0, engine="endpoints")
