"""Destination-based routing whose tables can be leased: what others offer (R-SRT) and what they want (R-PRT).

A refresh is a change that changes nothing: it has a number like any other, so whoever missed something sees that, too.
"""

from collections.abc import Iterable, Iterator
from typing import Any, ClassVar, Final

from tamis.routing.destinations.cluster import Cluster, Id, id_of
from tamis.routing.destinations.demand import Demand
from tamis.routing.destinations.matching import Matching
from tamis.routing.leasable import Row, Spoken, client_holds, client_rows, client_spoken
from tamis.routing.messages import Action, Arrived, Message
from tamis.routing.packets import Announcement, Name, Offered, Routed, Snapshot, Wanted

#: What an advertisement is known by among rows; no condition begins like that.
_ADVERT: Final = "@advert "


class LeasedMatching(Matching):
    """For a single cluster: nothing that somebody told is told on to another one.

    A row of the kind `broker` has a cluster and a broker as its side, and a condition or an advertisement as its text.
    """

    soft: ClassVar[bool] = True

    def rows(self) -> Iterator[Row]:
        """Return all that has to be leased."""
        yield from client_rows(self)
        for cluster in self.clusters.values():
            for broker in cluster.peers:
                yield from self._told_by(cluster.name, broker)

    def holds(self, row: Row) -> bool:
        """Say whether something is known."""
        if row.kind != "broker":
            return client_holds(self, row)
        name, broker = row.side
        cluster = self.clusters.get(name)
        if cluster is None:
            return False
        if not row.text.startswith(_ADVERT):
            return broker in cluster.wanted.holders(row.text)
        return broker in cluster.peers and _id(broker, row.text) in cluster.peers[broker].announced

    def spoken(self, message: Message) -> Spoken:
        """Return what a message that is about to be handled speaks of."""
        if not isinstance(message, Arrived):
            return client_spoken(self, message)
        packet = message.packet
        if not isinstance(packet, Routed) or self.name not in packet.destinations:
            return [], []
        side = packet.cluster, packet.source
        match packet:
            case Wanted():
                return _rows(side, packet.remove), _rows(side, packet.add)
            case Offered():
                return _rows(side, map(_text, packet.remove)), _rows(side, map(_text, packet.add))
            case Snapshot():
                come = _rows(side, [*packet.conditions, *map(_text, packet.offers)])
                there = set(come)
                return [row for row in self._told_by(*side) if row not in there], come
            case _:
                return [], []

    def retell(self, row: Row) -> list[Action]:
        """Tell everybody once more who was told because of a row."""
        self._actions = []
        for cluster in self.clusters.values():
            if row.kind == "client":
                targets = [broker for name, broker in self._demand.targets(row.text) if name == cluster.name]
                self._repeat(Wanted, cluster, targets, row.text)
            elif row.kind == "advert" and (self._mark, row.text) in cluster.telling:
                self._repeat(Offered, cluster, list(cluster.peers), cluster.telling[self._mark, row.text])
        return self._actions

    def _repeat(self, kind: Any, cluster: Cluster, brokers: list[Name], what: str | Announcement) -> None:
        greeted = [broker for broker in brokers if broker in cluster.peers and cluster.peers[broker].greeted]
        if greeted:
            self._emit(kind, cluster, greeted, (), (what,))

    def lapse(self, row: Row) -> list[Action]:
        """Forget a row. Nobody is told."""
        if row.kind == "client":
            self._clauses.abandon(row.side, row.text)
            if self.clients.remove(row.side, row.text) and row.text not in self.clients:
                self._demand.want(None, self.name, row.text, -1)
        elif row.kind == "advert":
            if self.adverts.remove(row.side, row.text) and row.text not in self.adverts:
                for cluster in self.clusters.values():
                    cluster.tell((self._mark, row.text), None)
        elif self.holds(row):
            name, broker = row.side
            cluster = self.clusters[name]
            if row.text.startswith(_ADVERT):
                gone = cluster.peers[broker].announced[_id(broker, row.text)]
                self._announced(cluster, cluster.peers[broker], broker, (gone,), ())
            else:
                self._wants(cluster, broker, (row.text,), ())
        self._keep_quiet()
        return []

    def fits(self) -> bool:
        """Say whether what follows from rows looks right."""
        own = {(self._mark, each): Announcement(each, ()) for each in self.adverts}
        return (
            all(cluster.telling == own for cluster in self.clusters.values())
            and all(
                broker in cluster.peers for cluster in self.clusters.values() for broker, _ in cluster.wanted.pairs()
            )
            and self._tellers == self._who_tells()
            and self._demand.fits()
        )

    def derive(self) -> None:
        """Make everything that follows from rows anew, in silence."""
        self._demand = Demand(self._held)
        self._ways = {}
        self._tellers = self._who_tells()
        for cluster in self.clusters.values():
            cluster.wanted = cluster.wanted.mended(pair for pair in cluster.wanted.pairs() if pair[0] in cluster.peers)
            cluster.telling = {(self._mark, each): Announcement(each, ()) for each in self.adverts}
        for id in list(self._tellers):
            self._choose(id)
        self._keep_quiet()

    def _who_tells(self) -> dict[Id, dict[tuple[Name, Name], Announcement]]:
        tellers: dict[Id, dict[tuple[Name, Name], Announcement]] = {}
        for cluster in self.clusters.values():
            for broker, peer in cluster.peers.items():
                for id, announcement in peer.announced.items():
                    tellers.setdefault(id, {})[cluster.name, broker] = announcement
        return tellers

    def _keep_quiet(self) -> None:
        """Tell nobody of what has changed. Leases of what others were told before run out by themselves."""
        for cluster in self.clusters.values():
            cluster.take_retold()
        self._demand.take_changes()

    def _told_by(self, name: Name, broker: Name) -> list[Row]:
        cluster = self.clusters.get(name)
        if cluster is None:
            return []
        adverts = map(_text, cluster.peers[broker].announced.values()) if broker in cluster.peers else ()
        return _rows((name, broker), [*cluster.wanted.held_by(broker), *adverts])


def _text(announcement: Announcement) -> str:
    return _ADVERT + announcement.condition


def _id(broker: Name, text: str) -> Id:
    return id_of(broker, Announcement(text.removeprefix(_ADVERT), ()))


def _rows(side: tuple[Name, Name], texts: Iterable[str]) -> list[Row]:
    return [Row("broker", side, text) for text in texts]
