"""Spoils all tables of brokers: right rows go, wrong ones come, and what is derived from them fits no more."""

from random import Random
from typing import Any

from support.overlays import ADVERTS, CONDITIONS
from tamis.healing import broker_of
from tamis.routing.broker import Broker
from tamis.routing.conditions import canonical
from tamis.routing.destinations.cluster import id_of
from tamis.routing.destinations.matching import Matching
from tamis.routing.offers import Offer
from tamis.routing.packets import Announcement, Subscription
from tamis.routing.spelling import spelt
from tamis.routing.strategies.advertisement import Advertisement
from tamis.routing.strategies.simple import Simple
from tamis.routing.strategies.spreading import Spreading
from tamis.simulation import Overlay


def corrupt(net: Overlay, random: Random, clients: bool = False) -> None:
    """Spoil what every broker knows of others and, if wanted, what it knows of its own clients."""
    for machine in net.machines.values():
        broker = broker_of(machine)
        if clients:
            _corrupt_clients(broker, random)
        if isinstance(broker, Spreading):
            _corrupt_neighbours(broker, random)
        else:
            assert isinstance(broker, Matching)
            _corrupt_clusters(broker, random)


def _some(random: Random, texts: tuple[str, ...]) -> list[str]:
    return [canonical(each) for each in random.sample(texts, random.randint(0, 3))]


def _corrupt_clients(broker: Broker, random: Random) -> None:
    for table, texts in ((broker.clients, CONDITIONS), (broker.adverts, ADVERTS)):
        for client, condition in list(table.pairs()):
            if random.random() < 0.3:
                table.remove(client, condition)
        for condition in _some(random, texts):
            table.add(f"ghost at {broker.name}", condition)


def _corrupt_neighbours(broker: Spreading[Any], random: Random) -> None:
    for neighbour in list(broker.neighbours):
        kept = [each for each in broker.held(neighbour) if random.random() < 0.5]
        wrong = _some(random, CONDITIONS)
        if isinstance(broker, Simple):
            wrong = [spelt(Subscription(neighbour, "ghost", each)) for each in wrong]
        if isinstance(broker, Advertisement):
            wrong += [f"@advert {each}" for each in _some(random, ADVERTS)]
        broker.hold(neighbour, dict.fromkeys([*kept, *wrong]))
        if random.random() < 0.5:
            offer: Offer[Any] = Offer(broker.pruning())
            for text in dict.fromkeys(each for each in kept + wrong if not each.startswith("@")):
                offer.add(broker.read(text))
            offer.take()
            broker.offers[neighbour] = offer


def _corrupt_clusters(broker: Matching, random: Random) -> None:
    for cluster in broker.clusters.values():
        for name, peer in cluster.peers.items():
            for condition in cluster.wanted.held_by(name):
                if random.random() < 0.5:
                    cluster.wanted.remove(name, condition)
            for id in list(peer.announced):
                if random.random() < 0.5:
                    del peer.announced[id]
            for condition in _some(random, CONDITIONS):
                cluster.wanted.add(name, condition)
            for condition in _some(random, ADVERTS):
                announcement = Announcement(condition, ())
                peer.announced[id_of(name, announcement)] = announcement
