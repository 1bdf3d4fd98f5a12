"""Brokers that exchange much become neighbours (overlay self-organisation, specs/002 §3.3)."""

from typing import Any, Final, Protocol

from tamis.routing.destinations.cluster import Cluster
from tamis.routing.destinations.loads import Loads, Loss, stay_connected
from tamis.routing.destinations.order import order
from tamis.routing.packets import Name, Plan, Proposal, Ready, Routed, Verdict

#: A broker that negotiates is not open to others for so many seconds at most.
LOCK: Final = 10.0


class Links(Protocol):
    """What the organiser needs of its broker."""

    name: Name
    now: float

    def emit(self, packet: Routed) -> None:
        """Send a packet."""

    def time_to_live(self, cluster: Cluster) -> int:
        """Return how far a packet may go."""

    def retire(self, neighbour: Name) -> None:
        """Take a link away once nothing is on it."""

    def ask_for(self, neighbour: Name) -> None:
        """Ask for a link."""


class Organiser:
    """Negotiates at most one new link at a time, as the end that proposes it or as the other.

    The one proposes, the other weighs the gain against what both lose, and the lowest broker of all says whether the
    overlay stays connected, taking as gone what it allowed to be dropped before. Then both drop what they have to, and
    only then is the new link made: so no broker ever has more than `max_degree` links, and none is ever cut off.
    """

    def __init__(self, broker: Links, max_degree: int, loss: Loss) -> None:
        self.loads = Loads()
        self._broker = broker
        self._max_degree = max_degree
        self._loss = loss
        self._until = 0.0
        self._pair: tuple[Name, Name] | None = None
        self._drop: tuple[Name, ...] = ()
        self._accepted = False
        self._partner_ready = False
        self._allowed: dict[tuple[Name, ...], float] = {}

    def reconsider(self, cluster: Cluster) -> None:
        """Begin a new period, and propose the link that would have gained most in the last one."""
        self.loads.next_period()
        best = self.loads.best_gain(cluster.topology)
        if best is None or self._is_busy():
            return
        gain, other = best
        loss, drop = self._sacrifice(cluster)
        if gain > loss:
            self._begin((self._broker.name, other), drop)
            self._send(Proposal, cluster, [other], gain, loss, drop)

    def on_packet(self, cluster: Cluster, packet: Any) -> None:
        """Take what another organiser says."""
        if isinstance(packet, Proposal):
            self._answer(cluster, packet)
        elif isinstance(packet, Plan):
            self._judge(cluster, packet.pair, packet.drops)
        elif isinstance(packet, Verdict):
            self._obey(cluster, packet.pair, packet.accepted)
        elif self._pair is not None and packet.source == self._pair[0]:
            self._partner_ready = True
            self._proceed(cluster)

    def link_came(self, neighbour: Name) -> None:
        """A link stands: if it is the one that was negotiated, that is done."""
        if self._pair is not None and neighbour in self._pair:
            self._pair = None

    def link_went(self, cluster: Cluster, neighbour: Name) -> None:
        """A link has gone: if it is the one to be dropped, go on."""
        if neighbour in self._drop:
            self._drop = ()
            self._proceed(cluster)

    def _is_busy(self) -> bool:
        if self._pair is not None and self._broker.now >= self._until:
            self._pair = None
        return self._pair is not None

    def _begin(self, pair: tuple[Name, Name], drop: tuple[Name, ...]) -> None:
        self._pair, self._drop = pair, drop
        self._until = self._broker.now + LOCK
        self._accepted = self._partner_ready = False

    def _sacrifice(self, cluster: Cluster) -> tuple[float, tuple[Name, ...]]:
        """Return what it costs to have room for one link more, and which link goes for it."""
        if len(cluster.links) < self._max_degree:
            return 0.0, ()
        return self.loads.least_loss(cluster.topology, self._loss)

    def _answer(self, cluster: Cluster, packet: Proposal) -> None:
        me = self._broker.name
        pair = packet.source, me
        if not self._is_busy() and packet.source not in cluster.links:
            loss, drop = self._sacrifice(cluster)
            if packet.gain > packet.loss + loss:
                self._begin(pair, drop)
                drops = tuple([each for each in (packet.drop, drop) if each])
                lowest = min([me, *cluster.topology.hops()], key=order)
                if lowest == me:
                    self._judge(cluster, pair, drops)
                else:
                    self._send(Plan, cluster, [lowest], pair, drops)
                return
        self._send(Verdict, cluster, [packet.source], pair, False)

    def _judge(self, cluster: Cluster, pair: tuple[Name, Name], drops: tuple[tuple[Name, ...], ...]) -> None:
        me, now, topology = self._broker.name, self._broker.now, cluster.topology
        waiting = {drop: until for drop, until in self._allowed.items() if until > now and topology.are_linked(*drop)}
        accepted = (
            all(order(me) <= order(broker) for broker in topology.hops())
            and not any(drop in waiting or drop[::-1] in waiting for drop in drops)
            and stay_connected(topology, [*waiting, *drops])
        )
        self._allowed = {**waiting, **dict.fromkeys(drops, now + 2 * LOCK)} if accepted else waiting
        self._send(Verdict, cluster, [broker for broker in pair if broker != me], pair, accepted)
        if me in pair:
            self._obey(cluster, pair, accepted)

    def _obey(self, cluster: Cluster, pair: tuple[Name, Name], accepted: bool) -> None:
        if pair != self._pair or self._accepted:
            return
        if not accepted:
            self._pair = None
            return
        self._accepted = True
        if self._drop:
            self._broker.retire(self._drop[1])
        else:
            self._proceed(cluster)

    def _proceed(self, cluster: Cluster) -> None:
        """Make the link once both ends have room for it. The end that was asked makes it."""
        if self._pair is None or not self._accepted or self._drop:
            return
        proposer, asked = self._pair
        if proposer == self._broker.name:
            self._send(Ready, cluster, [asked])
        elif self._partner_ready:
            self._broker.ask_for(proposer)

    def _send(self, kind: Any, cluster: Cluster, brokers: list[Name], *content: Any) -> None:
        ttl = self._broker.time_to_live(cluster)
        self._broker.emit(kind(cluster.name, self._broker.name, tuple(brokers), ttl, *content))
