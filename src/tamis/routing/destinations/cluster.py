"""What a broker knows of one cluster that it is in. With `ddbr` the whole overlay is one cluster."""

from typing import TypeAlias

from tamis.routing.destinations.order import mark
from tamis.routing.destinations.topology import Topology
from tamis.routing.packets import Announcement, Name
from tamis.routing.table import Table

#: An advertisement in the whole overlay: the mark of the broker whose clients made it, and its condition.
Id: TypeAlias = tuple[int, str]


def id_of(teller: Name, announcement: Announcement) -> Id:
    """Return which advertisement it is that a broker tells."""
    return announcement.path[0] if announcement.path else mark(teller), announcement.condition


class Peer:
    """Another broker of the cluster: what it told, and how far both sides have followed each other."""

    __slots__ = ("announced", "asked", "epoch", "greeted", "heard", "sent")

    def __init__(self, epoch: int) -> None:
        #: Which of its lives this is about.
        self.epoch = epoch
        #: The advertisements that it told: its rows of the remote subscription routing table (R-SRT).
        self.announced: dict[Id, Announcement] = {}
        #: The number of the last change heard from it, and of the last one sent to it.
        self.heard = 0
        self.sent = 0
        #: Whether it was told what was there before it came, and when it was asked to tell everything again.
        self.greeted = False
        self.asked: float | None = None


class Cluster:
    """The brokers of one cluster with their links, what they offer and what they want."""

    def __init__(self, name: Name, me: Name, epoch: int, engine: str) -> None:
        self.name = name
        self.topology = Topology(me)
        #: Own links in this cluster, and the rows that each neighbour is to be sent next, by broker.
        self.links: dict[Name, dict[Name, None]] = {}
        self.epoch = epoch
        self.sequence = 0
        self.losses = 0
        #: Whether the topology has changed since packets that wait were tried last.
        self.changed = False
        #: Whether packets got lost somewhere since everything was checked last.
        self.lossy = False
        #: Who could be reached when everything was checked last, and since when all others cannot.
        self.reached: dict[Name, None] = {}
        self.away: dict[Name, float] = {}
        self.peers: dict[Name, Peer] = {}
        #: What the others want: the remote publication routing table (R-PRT).
        self.wanted = Table(engine)
        #: What all others of the cluster are told, and what of it has changed and was how before.
        self.telling: dict[Id, Announcement] = {}
        self.retold: dict[Id, Announcement | None] = {}
        self._number = 0

    def next_number(self) -> int:
        """Return the number of the next change."""
        self._number += 1
        return self._number

    def tell(self, id: Id, announcement: Announcement | None) -> None:
        """Let an advertisement be told, or no longer be told."""
        present = self.telling.get(id)
        if present == announcement:
            return
        self.retold.setdefault(id, present)
        if announcement is None:
            del self.telling[id]
        else:
            self.telling[id] = announcement

    def take_retold(self) -> tuple[tuple[Announcement, ...], tuple[Announcement, ...]]:
        """Return which announcements are gone and which are new or different since this was asked last."""
        gone = tuple(old for id, old in self.retold.items() if old is not None and id not in self.telling)
        new = tuple(self.telling[id] for id, old in self.retold.items() if self.telling.get(id) not in (None, old))
        self.retold.clear()
        return gone, new

    def check_invariants(self) -> None:
        """Raise `AssertionError` if something does not fit together."""
        self.topology.check_invariants()
        self.wanted.check_invariants()
        assert not self.retold, "changes were not told"
        assert {holder for holder, _ in self.wanted.pairs()} <= self.peers.keys()
        if self.links:
            assert set(self.topology.rows[self.topology.me].links) == self.links.keys()
