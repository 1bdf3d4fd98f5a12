"""The upper layer of `ddbr` and `merc`: who offers what, who wants what, and who gets an event (specs/002 §3.2, §3.4).

Every broker tells the others of its cluster what it offers, and everybody who offers something what it wants of that.
It numbers what it tells; whoever misses a number asks for everything again. A packet gets lost only together with a
link or a broker, or if it is dropped. Then the topology says so (`Links.losses`), and all check what they have. The
thesis has neither: it knows no end of subscriptions and advertisements, and assumes that messages arrive.
"""

from collections.abc import Iterable
from typing import Any, Final

from tamis.routing.destinations.cluster import Cluster, Id, Peer, id_of
from tamis.routing.destinations.demand import Demand, Group, Side
from tamis.routing.destinations.network import Network, NetworkOptions
from tamis.routing.destinations.order import mark, order
from tamis.routing.destinations.pending import PATIENCE
from tamis.routing.packets import (
    Again,
    Announcement,
    Check,
    Event,
    Heartbeat,
    LinkState,
    Multicast,
    Name,
    Numbered,
    Offered,
    Routed,
    Snapshot,
    Wanted,
)

#: When the topology changes, so many seconds pass before brokers greet and check each other.
SETTLING: Final = 0.1
#: After so many seconds without an answer a broker is asked once more.
ANSWERED: Final = 5.0
#: The packets of both layers.
SPOKEN: Final = (LinkState, Heartbeat, Multicast, Offered, Wanted, Snapshot, Check, Again)


class Matching(Network):
    """Compares events with conditions only where they are published, at the border of clusters and where they go."""

    def __init__(self, name: Name, options: NetworkOptions) -> None:
        super().__init__(name, options)
        self._mark = mark(name)
        self._demand = Demand(self._held)
        #: Who tells each advertisement: cluster and broker, with what it tells.
        self._tellers: dict[Id, dict[tuple[Name, Name], Announcement]] = {}
        #: The sides to which each advertisement goes by way of this broker.
        self._ways: dict[Id, tuple[tuple[Side, Group], ...]] = {}

    # --- clients -----------------------------------------------------------------------------------------

    def on_subscribe(self, client: Name, condition: str) -> None:  # noqa: ARG002
        if len(self.clients.holders(condition)) == 1:
            self._demand.want(None, self.name, condition, 1)
            self._tell()

    def on_unsubscribe(self, client: Name, condition: str) -> None:  # noqa: ARG002
        if condition not in self.clients:
            self._demand.want(None, self.name, condition, -1)
            self._tell()

    def on_advertise(self, client: Name, condition: str) -> None:  # noqa: ARG002
        for cluster in self.clusters.values():
            cluster.tell((self._mark, condition), Announcement(condition, ()))
        self._tell()

    def on_unadvertise(self, client: Name, condition: str) -> None:  # noqa: ARG002
        if condition not in self.adverts:
            for cluster in self.clusters.values():
                cluster.tell((self._mark, condition), None)
            self._tell()

    def _held(self, side: Side) -> Iterable[tuple[Name, str]]:
        if side is None:
            return [(self.name, condition) for condition in self.clients]
        return self.clusters[side].wanted.pairs() if side in self.clusters else ()

    # --- events ------------------------------------------------------------------------------------------

    def on_publish(self, client: Name, event: Event) -> None:
        if self.advertised(client, event) is None:
            self.record("refused")
            return
        self.record("matches")
        self.deliver(event, self.clients.interested(event.content))
        for cluster in self.clusters.values():
            self.spread(cluster, event)

    def spread(self, cluster: Cluster, event: Event) -> None:
        """Send an event to the brokers of a cluster that want it."""
        destinations = tuple(cluster.wanted.interested(event.content))
        if destinations:
            self.emit(Multicast(cluster.name, self.name, destinations, self.time_to_live(cluster), event))

    def emit(self, packet: Routed) -> None:
        """Send a packet that begins here."""
        self.route(packet)

    def on_event(self, cluster: Cluster, event: Event) -> None:  # noqa: ARG002 - others forward it to other clusters
        """An event for this broker came from a cluster."""
        self.record("matches")
        self.deliver(event, self.clients.interested(event.content))

    # --- what others tell --------------------------------------------------------------------------------

    def on_routed(self, cluster: Cluster, packet: Any, place: int) -> None:
        if isinstance(packet, Multicast):
            self.on_event(cluster, packet.event)
            return
        peer = self._peer(cluster, packet.source, packet.epoch)
        if not peer.greeted:
            self.soon("settle", SETTLING)
        if packet.epoch == peer.epoch:
            if isinstance(packet, Numbered):
                self._follow(cluster, peer, packet, packet.previous[place])
            elif isinstance(packet, Snapshot):
                self._replace(cluster, peer, packet)
            elif isinstance(packet, Check):
                self._compare(cluster, peer, packet.source, *packet.numbers[place])
            elif isinstance(packet, Again):
                self._snapshot(cluster, [packet.source])
        self._tell()

    def _peer(self, cluster: Cluster, broker: Name, epoch: int) -> Peer:
        """Return what is known of a broker in its newest epoch."""
        peer = cluster.peers.get(broker)
        if peer is None or peer.epoch < epoch:
            self._forget(cluster, broker)
            peer = cluster.peers[broker] = Peer(epoch)
        return peer

    def _follow(self, cluster: Cluster, peer: Peer, packet: Numbered, previous: int) -> None:
        if packet.number <= peer.heard:
            return
        if previous != peer.heard:
            self._ask(cluster, peer, packet.source)
            return
        peer.heard = packet.number
        if isinstance(packet, Offered):
            self._announced(cluster, peer, packet.source, packet.remove, packet.add)
        elif isinstance(packet, Wanted):
            self._wants(cluster, packet.source, packet.remove, packet.add)

    def _replace(self, cluster: Cluster, peer: Peer, packet: Snapshot) -> None:
        if packet.number <= peer.heard:
            return
        peer.heard = packet.number
        peer.asked = None
        offers = {id_of(packet.source, each): each for each in packet.offers}
        gone = [each for id, each in peer.announced.items() if id not in offers]
        self._announced(cluster, peer, packet.source, gone, packet.offers)
        wanted = dict.fromkeys(packet.conditions)
        gone_conditions = [each for each in cluster.wanted.held_by(packet.source) if each not in wanted]
        self._wants(cluster, packet.source, gone_conditions, wanted)

    def _compare(self, cluster: Cluster, peer: Peer, source: Name, sent: int, heard: int, epoch: int) -> None:
        if sent != peer.heard:
            peer.asked = None
            self._ask(cluster, peer, source)
        if (heard, epoch) != (peer.sent, cluster.epoch):
            self._snapshot(cluster, [source])

    def _ask(self, cluster: Cluster, peer: Peer, broker: Name) -> None:
        # The question, or its answer, may have got lost; or this broker's clock has gone back.
        if peer.asked is None or not 0 <= self.now - peer.asked < ANSWERED:
            peer.asked = self.now
            self.emit(Again(cluster.name, self.name, (broker,), self.time_to_live(cluster), cluster.epoch))

    def _wants(self, cluster: Cluster, broker: Name, remove: Iterable[str], add: Iterable[str]) -> None:
        for condition in remove:
            if cluster.wanted.remove(broker, condition):
                self._demand.want(cluster.name, broker, condition, -1)
        for condition in add:
            if cluster.wanted.add(broker, condition):
                self._demand.want(cluster.name, broker, condition, 1)

    def _announced(
        self,
        cluster: Cluster,
        peer: Peer,
        broker: Name,
        remove: Iterable[Announcement],
        add: Iterable[Announcement],
    ) -> None:
        changed: dict[Id, None] = {}
        for each in remove:
            id = id_of(broker, each)
            if peer.announced.pop(id, None) is not None:
                changed[id] = None
                self._tellers.get(id, {}).pop((cluster.name, broker), None)
        for each in add:
            id = id_of(broker, each)
            if peer.announced.get(id) != each:
                peer.announced[id] = each
                changed[id] = None
                self._tellers.setdefault(id, {})[cluster.name, broker] = each
        for id in changed:
            self._choose(id)

    # --- which way an advertisement comes, and where it goes on ------------------------------------------

    def _choose(self, id: Id) -> None:
        """Choose from whom an advertisement is taken; tell other clusters of it, and the teller who wants it."""
        ways: list[tuple[Side, Group]] = []
        told: Announcement | None = None
        best = self._best(id)
        if best is not None:
            target, announcement = best
            ways.append((None, (target, ())))
            if target[1] in self.clusters[target[0]].reached:
                told = Announcement(id[1], (*announcement.path, mark(target[1])))
        for cluster in self.clusters.values():
            if best is None or told is None or cluster.name == best[0][0]:
                if id[0] != self._mark:
                    cluster.tell(id, None)
                continue
            cluster.tell(id, told)
            tellers = self._tellers_in(cluster, id)
            mine = len(told.path), order(self.name)
            if not any(rank < mine for broker, rank in tellers.items() if broker in cluster.reached):
                ways.append((cluster.name, (best[0], tuple(sorted(tellers, key=order)))))
        before = self._ways.pop(id, ())
        for side, group in ways:
            if (side, group) not in before:
                self._demand.announce(side, id[1], group)
        for side, group in before:
            if (side, group) not in ways:
                self._demand.withdraw(side, id[1], group)
        if ways:
            self._ways[id] = tuple(ways)
        if not self._tellers.get(id, True):
            del self._tellers[id]

    def _best(self, id: Id) -> tuple[tuple[Name, Name], Announcement] | None:
        """Return who tells an advertisement that has come the shortest way, and does not come from here.

        One that cannot be reached is the last resort: it may come back.
        """
        found = None
        for (name, broker), announcement in self._tellers.get(id, {}).items():
            if self._mark not in announcement.path:
                away = broker not in self.clusters[name].reached
                rank = away, len(announcement.path), order(name), order(broker)
                if found is None or rank < found[0]:
                    found = rank, ((name, broker), announcement)
        return None if found is None else found[1]

    def _tellers_in(self, cluster: Cluster, id: Id) -> dict[Name, tuple[int, tuple[bool, Name]]]:
        return {
            broker: (len(announcement.path), order(broker))
            for (name, broker), announcement in self._tellers[id].items()
            if name == cluster.name
        }

    # --- what this broker tells --------------------------------------------------------------------------

    def _tell(self) -> None:
        """Tell all changes: what is offered to all that were greeted, what is wanted to those who offer it."""
        for cluster in self.clusters.values():
            if cluster.retold:
                remove, add = cluster.take_retold()
                if remove or add:
                    greeted = [broker for broker, peer in cluster.peers.items() if peer.greeted]
                    self._emit(Offered, cluster, greeted, remove, add)
        alike: dict[tuple[Name, tuple[str, ...], tuple[str, ...]], list[Name]] = {}
        for (name, broker), gone, new in self._demand.take_changes():
            peer = self.clusters[name].peers.get(broker) if name in self.clusters else None
            if peer is not None and peer.greeted:
                alike.setdefault((name, gone, new), []).append(broker)
        for (name, gone, new), brokers in alike.items():
            self._emit(Wanted, self.clusters[name], brokers, gone, new)

    def _emit(self, kind: Any, cluster: Cluster, brokers: list[Name], remove: Any, add: Any) -> None:
        """Send a change. Those who cannot be reached miss its number and will notice."""
        number = cluster.next_number()
        hops = cluster.topology.hops()
        reached = [broker for broker in brokers if broker in hops]
        previous = tuple([cluster.peers[broker].sent for broker in reached])
        for broker in brokers:
            cluster.peers[broker].sent = number
        if reached:
            ttl = self.time_to_live(cluster)
            head = cluster.name, self.name, tuple(reached), ttl, cluster.epoch, number, previous
            self.emit(kind(*head, remove, add))

    def _snapshot(self, cluster: Cluster, brokers: list[Name]) -> None:
        """Tell brokers everything. Those who are to be told the same get it in one packet."""
        alike: dict[tuple[str, ...], list[Name]] = {}
        for broker in brokers:
            cluster.peers[broker].greeted = True
            alike.setdefault(self._demand.told((cluster.name, broker)), []).append(broker)
        offers = tuple(cluster.telling.values())
        for conditions, those in alike.items():
            number = cluster.next_number()
            for broker in those:
                cluster.peers[broker].sent = number
            head = cluster.name, self.name, tuple(those), self.time_to_live(cluster), cluster.epoch, number
            self.emit(Snapshot(*head, offers, conditions))

    # --- brokers come and go -----------------------------------------------------------------------------

    def make_cluster(self, name: Name) -> Cluster:
        cluster = super().make_cluster(name)
        for condition in self.adverts:
            cluster.telling[self._mark, condition] = Announcement(condition, ())
        return cluster

    def on_new_cluster(self) -> None:
        for id in list(self._tellers):
            self._choose(id)
        self._tell()

    def on_changed(self, cluster: Cluster) -> None:  # noqa: ARG002 - all are looked at together
        self.soon("settle", SETTLING)

    def on_reborn(self, cluster: Cluster) -> None:
        for peer in cluster.peers.values():
            peer.greeted = False
            peer.sent = 0
        self.soon("settle", SETTLING)

    def on_timer(self, timer: str) -> None:
        super().on_timer(timer)
        if timer == "settle":
            for cluster in self.clusters.values():
                self._settle(cluster)
        elif timer == "forget":
            for cluster in list(self.clusters.values()):
                self._forget_lost(cluster)
            self._tell()

    def _settle(self, cluster: Cluster) -> None:
        """Greet those who are new, and check what is known with those who are back, or with all if packets got lost."""
        before, hops = cluster.reached, cluster.topology.hops()
        cluster.reached = dict.fromkeys(hops)
        new: list[Name] = []
        back: list[Name] = []
        for broker in hops:
            peer = self._peer(cluster, broker, cluster.topology.rows[broker].epoch)
            cluster.away.pop(broker, None)
            if not peer.greeted:
                new.append(broker)
            elif (cluster.lossy or broker not in before) and (peer.sent or peer.heard):
                back.append(broker)
        cluster.lossy = False
        for broker in [*hops, *before]:
            if (broker in before) != (broker in hops) and broker in cluster.peers:
                for id in list(cluster.peers[broker].announced):
                    self._choose(id)
        self._tell()
        if cluster.telling or any(self._demand.told((cluster.name, broker)) for broker in new):
            self._snapshot(cluster, new)
        for broker in new:
            cluster.peers[broker].greeted = True
        if back:
            peers = [cluster.peers[broker] for broker in back]
            numbers = tuple([(peer.sent, peer.heard, peer.epoch) for peer in peers])
            head = cluster.name, self.name, tuple(back), self.time_to_live(cluster), cluster.epoch
            self.emit(Check(*head, numbers))
        for broker in cluster.peers:
            if broker not in hops:
                cluster.away.setdefault(broker, self.now)
                self.soon("forget", PATIENCE, background=True)

    def _forget_lost(self, cluster: Cluster) -> None:
        """Forget what those told who could not be reached for long.

        Their rows stay: a neighbour that knows that they were sent would not send them again.
        """
        for broker, since in list(cluster.away.items()):
            if broker in cluster.topology.hops():
                continue
            if self.now - since < PATIENCE:
                self.soon("forget", PATIENCE, background=True)
                continue
            del cluster.away[broker]
            self._forget(cluster, broker)
        if not cluster.links and not cluster.peers:
            del self.clusters[cluster.name]
            for id in list(self._ways):
                self._choose(id)

    def _forget(self, cluster: Cluster, broker: Name) -> None:
        peer = cluster.peers.pop(broker, None)
        if peer is not None:
            self._announced(cluster, peer, broker, list(peer.announced.values()), ())
            self._wants(cluster, broker, cluster.wanted.held_by(broker), ())

    def stored(self) -> int:
        return len(self.clients) + sum(len(cluster.wanted) for cluster in self.clusters.values())

    def check_invariants(self) -> None:
        super().check_invariants()
        self._demand.check_invariants()
        told = {
            (id, cluster.name, broker): announcement
            for cluster in self.clusters.values()
            for broker, peer in cluster.peers.items()
            for id, announcement in peer.announced.items()
        }
        tellers = {(id, *who): each for id, those in self._tellers.items() for who, each in those.items()}
        assert told == tellers
