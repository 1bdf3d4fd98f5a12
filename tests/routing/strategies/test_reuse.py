from collections import Counter, deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
from typing import Any

import networkx as nx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.overlays import EVENTS, Step, Story, steps
from tamis.routing import make_strategy
from tamis.routing.keys import key_of
from tamis.routing.messages import Action, Arrived, Deliver, Message, NeighbourUp, Publish, Record, Send, Subscribe
from tamis.routing.packets import Event, Filters, Keyed, KeyedSubscription, KeyedSubscriptions, Plain, Subscription
from tamis.routing.strategies import reuse
from tamis.routing.strategies.reuse import KEYS, KEYS_UNDER_COVERING, PartialReuse
from tamis.simulation import Overlay

LINE = ((0, 1), (1, 2), (2, 3))
EVENT = Event(1, {"x": 5})


class Net:
    """Brokers that hand messages to each other at once, and what they sent, delivered and counted."""

    def __init__(self, links: Sequence[tuple[int, int]], routing: str, **options: Any) -> None:
        strategy = make_strategy(routing, options)
        self.brokers: dict[int, Any] = {name: strategy.broker(name) for name in {0, *chain.from_iterable(links)}}
        self.packets: list[tuple[int, int, Keyed]] = []
        self.deliveries: list[tuple[Any, Any]] = []
        self.counted: Counter[str] = Counter()
        for one, other in links:
            self.tell(one, NeighbourUp(other))
            self.tell(other, NeighbourUp(one))

    def tell(self, broker: int, message: Message) -> None:
        waiting = deque([(broker, message)])
        while waiting:
            name, told = waiting.popleft()
            for action in self.brokers[name].handle(told, 0.0):
                match action:
                    case Send(int(neighbour), packet):
                        waiting.append((neighbour, Arrived(name, packet)))
                        if isinstance(packet, Keyed):
                            self.packets.append((name, neighbour, packet))
                    case Deliver(client, event):
                        self.deliveries.append((client, event.id))
                    case Record(metric, value):
                        self.counted[metric] += int(value)
            self.brokers[name].check_invariants()

    def subscribe(self, broker: int, client: str, condition: str) -> None:
        self.tell(broker, Subscribe(client, condition))

    def publish(self, broker: int, x: int, id: int = 1) -> None:
        self.tell(broker, Publish("publisher", Event(id, {"x": x})))


def line(strategy: str, subscriptions: int, **options: Any) -> Net:
    """Return four brokers in a line, the last of which has so many clients that want the same."""
    net = Net(LINE, strategy, **options)
    for number in range(subscriptions):
        net.subscribe(3, f"c{number}", f"x > {-number}")
    return net


# --- options -------------------------------------------------------------------------------------------------


def test_always_with_covering_is_refused_with_the_reason() -> None:
    with pytest.raises(ValueError, match=r"'reuse-always'.*does not work with covering.*would lose events"):
        make_strategy("reuse-always", {"covering": True})


def test_always_with_covering_would_indeed_lose_events() -> None:
    """The first broker knows the key of the wide condition alone; the narrow one behind it is found by comparing."""
    net = Net(LINE, "reuse-partial", covering=True, keys=100)
    net.subscribe(2, "wide", "x > 0")
    net.subscribe(3, "narrow", "x > 1")
    net.publish(0, 5)
    assert sorted(net.deliveries) == [("narrow", 1), ("wide", 1)]
    assert [len(packet.keys) for _, _, packet in net.packets] == [4, 4, 4]
    assert not any(packet.complete for _, _, packet in net.packets)
    assert net.packets[1][2].keys != net.packets[2][2].keys


@pytest.mark.parametrize(
    ("strategy", "options", "message"),
    [
        ("reuse-partial", {"keys": 0}, ">= 1"),
        ("reuse-partial", {"engine": "kindex"}, "cannot be used"),
        ("reuse-never", {"keys": 3}, "keys"),
        ("reuse-always", {"keys": 3}, "keys"),
    ],
)
def test_options_that_make_no_sense_are_refused(strategy: str, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make_strategy(strategy, options)


def test_messages_have_500_keys_at_most_and_20_with_covering() -> None:
    def most(**options: Any) -> int | None:
        broker = make_strategy("reuse-partial", options).broker("b")
        assert isinstance(broker, PartialReuse)
        return broker.most

    assert most() == KEYS == 500
    assert most(covering=True) == KEYS_UNDER_COVERING == 20
    assert most(keys=7) == most(keys=7, covering=True) == 7


# --- who compares ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("engine", ["auto", "counting", "kdtree"])
def test_never_compares_everywhere_and_always_where_keys_name_several_clients(engine: str) -> None:
    counted = {}
    for strategy in ("reuse-never", "reuse-always", "reuse-partial"):
        net = line(strategy, 5, engine=engine)
        net.publish(0, 5)
        assert sorted(net.deliveries) == [(f"c{number}", 1) for number in range(5)]
        names = ("source_matches", "downstream_matches", "key_lookups", "matches")
        counted[strategy] = [net.counted[name] for name in names]
    # Broker 0 compares with its own clients and the link; then 2 + 2 + 1 indexes, or 5 keys at each of 3 brokers: they
    # all lie at the last one, which compares with its clients.
    assert counted["reuse-never"] == [2, 5, 0, 4]
    assert counted["reuse-always"] == counted["reuse-partial"] == [2, 1, 15, 2]


def test_a_single_client_that_a_key_names_is_found_without_a_search() -> None:
    net = line("reuse-always", 1)
    net.publish(0, 5)
    assert net.deliveries == [("c0", 1)]
    assert net.counted["downstream_matches"] == 0


@pytest.mark.parametrize(("keys", "complete"), [(4, False), (5, False), (6, True)])
def test_an_incomplete_list_is_told_apart_from_a_complete_one(keys: int, complete: bool) -> None:
    net = line("reuse-partial", 5, keys=keys)
    net.publish(0, 5)
    assert [packet.complete for _, _, packet in net.packets] == [complete] * 3
    assert [len(packet.keys) // 4 for _, _, packet in net.packets] == [min(keys, 5)] * 3
    assert net.counted["downstream_matches"] == (1 if complete else 3)
    # The last broker compares anyway, so it looks nothing up.
    assert net.counted["key_lookups"] == (3 if complete else 2) * min(keys, 5)
    assert len(net.deliveries) == 5


def test_where_no_key_helps_the_next_broker_compares_and_its_list_may_be_complete() -> None:
    net = Net(((0, 1), (1, 2), (1, 3)), "reuse-partial", keys=2)
    for number in range(2):
        net.subscribe(2, f"c{number}", f"x > {number}")
    net.subscribe(3, "late", "x > 1")
    net.publish(0, 5)
    packets = {(broker, neighbour): packet for broker, neighbour, packet in net.packets}
    assert not packets[0, 1].complete
    assert not packets[1, 2].complete
    assert packets[1, 3].complete
    assert len(net.deliveries) == 3


@settings(max_examples=30)
@given(
    wants=st.lists(st.tuples(st.integers(0, 6), st.integers(0, 9)), max_size=25),
    says=st.lists(st.tuples(st.integers(0, 6), st.integers(0, 9)), max_size=8),
    parents=st.tuples(*(st.integers(0, broker) for broker in range(6))),
    keys=st.integers(1, 5),
)
def test_messages_are_as_short_as_promised(
    wants: list[tuple[int, int]], says: list[tuple[int, int]], parents: tuple[int, ...], keys: int
) -> None:
    tree = [(parent, broker + 1) for broker, parent in enumerate(parents)]
    always = Net(tree, "reuse-always")
    enough = Net(tree, "reuse-partial", keys=len(wants) + 1)
    few = Net(tree, "reuse-partial", keys=keys)
    for net in (always, enough, few):
        for number, (broker, low) in enumerate(wants):
            net.subscribe(broker, f"c{number}", f"x > {low}")
        for number, (broker, x) in enumerate(says):
            net.publish(broker, x, number)
    expected = {
        (f"c{client}", number) for client, (_, low) in enumerate(wants) for number, (_, x) in enumerate(says) if x > low
    }
    assert sorted(always.deliveries) == sorted(few.deliveries) == sorted(expected)
    assert enough.packets == always.packets
    assert enough.counted["downstream_matches"] == always.counted["downstream_matches"]
    assert all(len(packet.keys) <= 4 * keys for _, _, packet in few.packets)


# --- keys ------------------------------------------------------------------------------------------------------


@contextmanager
def few_keys(bits: int) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reuse, "key_of", lambda text, salt=0: key_of(text, salt) % (1 << bits))
        yield


@pytest.mark.parametrize(
    ("strategy", "options"),
    [("reuse-always", {}), ("reuse-partial", {"keys": 2}), ("reuse-partial", {"keys": 2, "covering": True})],
)
@settings(max_examples=40)
@given(parents=st.tuples(*(st.integers(0, broker) for broker in range(4))), history=steps(30))
def test_keys_that_collide_lose_nothing_and_deliver_nothing_wrong(
    strategy: str, options: dict[str, Any], parents: tuple[int, ...], history: list[Step]
) -> None:
    tree: nx.Graph[Any] = nx.Graph([(parent, broker + 1) for broker, parent in enumerate(parents)])
    with few_keys(bits=2):
        story = Story(Overlay(tree, routing=strategy, **options))
        for step in history:
            # What went on before a link came is not known at its other end, nor which keys were in use then.
            if step[0] not in ("cut", "link", "join", "leave"):
                story.do(step)
        story.check()


def test_a_new_subscription_gets_a_key_that_is_not_in_use() -> None:
    with few_keys(bits=8):
        net = Net(((0, 1),), "reuse-always")
        for number in range(60):
            net.subscribe(number % 2, f"c{number}", "x > 1")
    keys = [entry.key for broker in net.brokers.values() for entry in broker.interfaces.local.entries()]
    assert len(keys) == len(set(keys)) == 60


# --- packets ---------------------------------------------------------------------------------------------------


def told(strategy: str, packet: Any, **options: Any) -> list[Action]:
    """Return what a broker with a client and two neighbours does with a packet."""
    made = make_strategy(strategy, options).broker("b")
    for message in (Subscribe("c", "x > 1"), NeighbourUp("left"), NeighbourUp("right")):
        made.handle(message, 0.0)
    actions = made.handle(Arrived("left", packet), 0.0)
    made.check_invariants()
    return actions


@pytest.mark.parametrize(
    ("strategy", "options", "packet"),
    [
        ("reuse-always", {}, Keyed(EVENT, b"abc", True)),
        ("reuse-always", {}, Plain(EVENT)),
        ("reuse-partial", {}, Filters((), ("x > 1",))),
        ("reuse-partial", {"covering": True}, KeyedSubscriptions((), ())),
    ],
)
def test_packets_that_do_not_belong_here_are_refused(strategy: str, options: dict[str, Any], packet: Any) -> None:
    assert told(strategy, packet, **options) == [Record("refused")]


def test_a_complete_list_is_not_believed_under_covering() -> None:
    actions = told("reuse-partial", Keyed(EVENT, b"", True), covering=True)
    assert [action.client for action in actions if isinstance(action, Deliver)] == ["c"]


def test_what_a_neighbour_says_twice_is_news_once() -> None:
    keyed = KeyedSubscription(Subscription("far", "d", "x > 2"), 9)
    made = make_strategy("reuse-partial").broker("b")
    for message in (NeighbourUp("left"), NeighbourUp("right")):
        made.handle(message, 0.0)
    packet = KeyedSubscriptions((keyed.subscription, keyed.subscription), (keyed, keyed))
    (send,) = made.handle(Arrived("left", packet), 0.0)
    assert send == Send("right", KeyedSubscriptions((), (keyed,)))
    assert made.handle(Arrived("left", packet), 0.0) == []
    made.check_invariants()
    assert made.stored() == 1


def test_the_first_broker_delivers_to_its_own_clients_once_each() -> None:
    made = make_strategy("reuse-partial").broker("b")
    for condition in ("x > 1", "x > 2"):
        made.handle(Subscribe("c", condition), 0.0)
    actions = made.handle(Publish("p", Event(1, EVENTS[0])), 0.0)
    assert [action.client for action in actions if isinstance(action, Deliver)] == ["c"]
