"""The overlay of 100 brokers, each with one advertisement and 30 subscriptions (specs/002 §9.1, R4 to R8)."""

from collections.abc import Mapping
from functools import cache
from typing import Final

import msgspec
import networkx as nx

from tamis.lab.experiment import Scale
from tamis.lab.overlays import MERC, Lists, clustered, overlay, plain
from tamis.lab.quotes import EXPONENT, STOCKS, SUBSCRIPTIONS, hundred
from tamis.routing.destinations.cluster import id_of
from tamis.routing.destinations.order import mark
from tamis.routing.messages import Arrived, Message
from tamis.routing.packets import Name, Offered, Snapshot, TreeAdvert
from tamis.simulation.observer import Observer

DEGREE: Final = 6.0
#: The share of brokers that advertise what a subscription asks for, where the thesis does not say otherwise.
RATIO: Final = 0.6
#: Brokers, clusters of MERC, events where any are published, and graphs.
SIZES: Final[dict[Scale, tuple[int, int, int, int]]] = {
    Scale.QUICK: (20, 2, 20, 1),
    Scale.FULL: (100, 10, 200, 3),
}


def graph_of(strategy: str, scale: Scale, seed: int) -> "nx.Graph[Name]":
    """Return the overlay of a strategy: stubs with a backbone for MERC, a plain random graph for the others."""
    brokers, clusters, *_ = SIZES[scale]
    return clustered(brokers, clusters, DEGREE, seed) if strategy == MERC else plain(brokers, DEGREE, seed)


class Adverts(Observer):
    """Counts advertisements that reach a broker which has them already."""

    def __init__(self) -> None:
        self.arrived = 0
        self._known: set[tuple[Name, Name, Name, str]] = set()

    @property
    def duplicates(self) -> int:
        """How many of those that arrived were not new."""
        return self.arrived - len(self._known)

    def told(self, now: float, broker: Name, message: Message, hops: int) -> None:  # noqa: ARG002
        """Count what a neighbour sends, if it is for this broker and not only passed on."""
        if not isinstance(message, Arrived):
            return
        packet = message.packet
        if isinstance(packet, TreeAdvert):
            self._note(broker, broker == packet.tree.broker, packet.tree.broker, packet.tree.number, packet.condition)
        elif isinstance(packet, Offered | Snapshot) and broker in packet.destinations:
            for announcement in packet.add if isinstance(packet, Offered) else packet.offers:
                origin, condition = id_of(packet.source, announcement)
                self._note(broker, origin == mark(broker), origin, 0, condition)

    def _note(self, broker: Name, is_own: bool, origin: Name, number: int, condition: str) -> None:
        self.arrived += 1
        if not is_own:
            self._known.add((broker, origin, number, condition))


class Found(msgspec.Struct, frozen=True):
    """What one strategy came to on one overlay."""

    subscriptions: int
    #: Subscriptions kept, by broker.
    stored: list[int]
    advertisements: int
    duplicates: int
    #: How long lists of destinations were and how many there were: all, and those that each broker sent or got.
    lists: dict[int, int]
    lists_by_broker: list[dict[int, int]]
    #: Brokers that had clients for an event and got it over a link, for each event.
    interested: float

    @property
    def stored_mean(self) -> float:
        """Subscriptions that a broker keeps."""
        return sum(self.stored) / len(self.stored)

    @property
    def copies(self) -> float:
        """Brokers that keep a subscription away from home, or how often they do."""
        return sum(self.stored) / self.subscriptions - 1


@cache
def found(strategy: str, scale: Scale, ratio: float, seed: int, events: int = 0) -> Found:
    """Let all clients subscribe and advertise, then publish some events. What was found once is remembered."""
    brokers, *_ = SIZES[scale]
    crowd = hundred(brokers, ratio, seed)
    net = overlay(strategy, graph_of(strategy, scale, seed))
    adverts, lists = Adverts(), Lists()
    net.watch(adverts)
    crowd.settle(net)
    stored = list(net.stored().values())
    net.watch(lists)
    for offer, quote in crowd.quotes(seed, events):
        net.publish(offer.broker, quote, offer.client)
        net.run()
    if net.missing():
        raise AssertionError(f"{len(net.missing())} events did not arrive")
    return Found(
        subscriptions=len(crowd.wishes),
        stored=stored,
        advertisements=len(crowd.offers),
        duplicates=adverts.duplicates,
        lists=dict(lists.all),
        lists_by_broker=[dict(each) for each in lists.by_broker.values()],
        interested=net.metrics.useful / max(events, 1),
    )


def spread(values: Mapping[int, float]) -> str:
    """Return the least and the largest of some numbers in words."""
    return f"{min(values.values()):,.4g} to {max(values.values()):,.4g}"


def notes(scale: Scale) -> list[str]:
    """Say what was done."""
    brokers, clusters, *_ = SIZES[scale]
    return [
        f"{brokers} brokers; FBR and D-DBR: a random tree with random links up to a mean degree of {DEGREE:g}; MERC: "
        f"{clusters} stubs of {brokers // clusters}, each with an edge broker of its own, and a backbone of these "
        f"([ours] of specs/002 §9.1), stubs with the same mean degree. Each broker has one publisher and "
        f"{SUBSCRIPTIONS} subscriptions, no two of them equal.",
        f"[ours] {STOCKS} stocks; a subscription asks for one of them, chosen by Zipf's law with exponent "
        f"{EXPONENT:g}, above a price. An advertisement names the stocks that its publisher has: each stock is had by "
        "exactly the share of brokers that is called ratio. The thesis says neither how many stocks there were nor how "
        "many brokers wanted an event.",
    ]
