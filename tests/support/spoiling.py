"""Overlays whose brokers and links contain garbage, and how long they take to become right."""

from collections import deque
from collections.abc import Sequence
from random import Random
from typing import Any

import networkx as nx

from support.overlays import CONDITIONS, EVENTS
from tamis.healing import Healing, Stabilise, broker_of
from tamis.healing.legality import Edge, globally_illegal, locally_illegal, spoilt
from tamis.routing.mendable import Mendable
from tamis.routing.messages import Arrived, Message
from tamis.routing.packets import (
    Adverts,
    AnyPacket,
    Correct,
    Differs,
    Event,
    Filters,
    Heartbeat,
    Held,
    Idle,
    Keyed,
    KeyedSubscription,
    KeyedSubscriptions,
    LastWord,
    Least,
    Marked,
    Name,
    Observe,
    Plain,
    Prefixed,
    Ranges,
    RoutingTreeUpdate,
    Size,
    Sketch,
    Subscription,
    Subscriptions,
    Tree,
    TreeGone,
    unstamped,
)
from tamis.routing.prefix import ForwardingTree
from tamis.simulation import Overlay
from tamis.simulation.observer import Observer

#: All strategies with a table for each neighbour, in all their kinds.
MENDABLE: tuple[tuple[str, dict[str, Any]], ...] = (
    ("identity", {}),
    ("simple", {}),
    ("covering", {}),
    ("covering", {"graph": "poset"}),
    ("mics", {"axes": {"x": (0, 10), "y": (0, 8)}, "bits": 3}),
    ("bloom", {"verify_at_edge": True}),
    ("prefix", {}),
    ("reuse-never", {}),
    ("reuse-always", {}),
    ("reuse-partial", {"covering": True, "keys": 2}),
    ("advertisement", {"trees": False}),
    ("advertisement", {"trees": False, "covering": True}),
)
EVERY = 1.0
#: Longer than an exchange takes, with all its questions and answers.
EXCHANGE = 0.05


def random_tree(random: Random, most: int) -> "nx.Graph[Name]":
    """Return a tree of at least two brokers, of any shape from a chain to a star."""
    tree: nx.Graph[Name] = nx.Graph()
    reach = random.choice((1, 2, most))
    for number in range(1, random.randint(2, most)):
        tree.add_edge(number, random.randint(max(0, number - reach), number - 1))
    return tree


def overlay(random: Random, strategy: tuple[str, dict[str, Any]], stabilise: Stabilise, most: int = 9) -> Overlay:
    """Return an overlay on a random tree, with clients that have subscribed and all is quiet."""
    name, options = strategy
    net = Overlay(random_tree(random, most), name, healing=Healing(stabilise=stabilise), seed=1, **options)
    for number in range(random.randint(0, 8)):
        net.subscribe(random.choice(net.brokers), f"c{number}", random.choice(CONDITIONS))
    for broker in net.brokers:
        net.advertise(broker, f"p{broker}", random.choice(("true", "true", "x > 4")))
    net.run()
    return net


def mendables(net: Overlay) -> dict[Name, Mendable]:
    """Return the brokers themselves."""
    found = {name: broker_of(machine) for name, machine in net.machines.items()}
    return {name: broker for name, broker in found.items() if isinstance(broker, Mendable)}


def all_items(net: Overlay) -> list[str]:
    """Return all items that anybody in an overlay holds."""
    brokers = mendables(net).values()
    return sorted({item for broker in brokers for neighbour in broker.neighbours for item in broker.held(neighbour)})


def is_legal(net: Overlay) -> bool:
    """Say whether every table, and all that is derived, is as it should be."""
    machines = net.machines
    return not (locally_illegal(machines) or globally_illegal(machines) or spoilt(machines))


def publish_all(net: Overlay) -> list[Name]:
    """Publish everything that may be published, everywhere; return the ids."""
    ids = []
    for broker in net.brokers:
        for event in EVENTS:
            try:
                ids.append(net.publish(broker, event, publisher=f"p{broker}"))
            except ValueError:  # not advertised
                continue
    return ids


def put_garbage(net: Overlay, random: Random, items: Sequence[str], within: float) -> None:
    """Let garbage arrive on all links for some seconds. Events in it were published, though not just now."""
    events = [Event(net.publish(0, event, publisher="p0"), event) for event in EVENTS[:1]]
    for one, other in net.graph.edges:
        for source, target in ((one, other), (other, one)):
            for _ in range(random.randint(0, 3)):
                message = Arrived(source, garbage(random, items, events))
                net._world.at(
                    net.now + random.random() * within,
                    lambda target=target, message=message: net._world.tell(target, message),  # type: ignore[misc]
                )


def garbage(random: Random, items: Sequence[str], events: Sequence[Event]) -> AnyPacket:
    """Return any packet."""
    texts = [*CONDITIONS, "((", "x >", "", "@least 1", "@least", "@advert (", "x>3", "3-1", *items]

    def some() -> tuple[str, ...]:
        return tuple(random.sample(texts, random.randint(0, 3)))

    def subscriptions() -> tuple[Subscription, ...]:
        return tuple(Subscription(random.randint(0, 9), f"c{random.randint(0, 9)}", each) for each in some())

    def keyed() -> tuple[KeyedSubscription, ...]:
        return tuple(KeyedSubscription(each, random.randrange(1 << 32)) for each in subscriptions())

    def numbers(low: int, high: int) -> tuple[int, ...]:
        return tuple(random.randint(low, high) for _ in range(random.randint(0, 4)))

    def runs() -> tuple[tuple[int, int], ...]:
        return tuple((random.randint(-2, 70), random.randint(-2, 70)) for _ in range(random.randint(0, 3)))

    def places() -> tuple[tuple[int, int], ...]:
        low = random.randint(0, 60)
        return ((low, random.randint(low, 63)),)

    sketch = Sketch(random.randint(-1, 5), random.randint(-1, 40), random.randint(-1, 90), bytes(8), 7)
    event = random.choice(events)
    return random.choice(
        (
            Filters(some(), some()),
            Filters((), tuple(random.sample(CONDITIONS, 2))),
            Adverts(some(), some()),
            Subscriptions(subscriptions(), subscriptions()),
            KeyedSubscriptions(subscriptions(), keyed()),
            Ranges(runs(), runs()),
            Ranges((), places()),
            Ranges(places(), ()),
            Least(random.choice((-1, 5, "a"))),
            RoutingTreeUpdate(random.randbytes(20)),
            Prefixed(event, ForwardingTree(0, random.randint(0, 1), None, numbers(-1, 3))),
            Marked(event, numbers(-5, 1 << 15)),
            Keyed(event, random.randbytes(random.randint(0, 9)), random.random() < 0.5),
            Plain(event),
            Idle(random.randint(-3, 3), Plain(event)),
            Size(random.randint(-3, 3)),
            Observe(random.randint(0, 3), None),
            Observe(random.randint(0, 3), sketch),
            Held(random.randint(0, 30), some()),
            Differs(random.randint(0, 30), some(), sketch),
            Correct(some(), some(), random.random() < 0.5),
            Correct((), tuple(random.sample(list(items), min(len(items), 2))), random.random() < 0.5),
            TreeGone(Tree(0, 1)),
            Heartbeat(),
            LastWord(),
        )
    )


class Channels(Observer):
    """What is on its way, by who will hold it and from whom; for links that lose nothing."""

    def __init__(self) -> None:
        self.packets: dict[Edge, deque[AnyPacket]] = {}

    def sent(self, now: float, broker: Name, neighbour: Name, packet: AnyPacket) -> None:  # noqa: ARG002
        self.packets.setdefault((neighbour, broker), deque()).append(unstamped(packet))

    def told(self, now: float, broker: Name, message: Message, hops: int) -> None:  # noqa: ARG002
        if isinstance(message, Arrived):
            self.packets[broker, message.neighbour].popleft()
