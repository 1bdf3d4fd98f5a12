"""The lower layer of `ddbr` and `merc`: packets find their destinations, whatever links there are (specs/002 §3.2)."""

from abc import abstractmethod
from collections.abc import Iterable
from functools import reduce
from operator import xor
from typing import Annotated, Any, Final

import msgspec

from tamis.routing.broker import Broker, Options
from tamis.routing.destinations.cluster import Cluster
from tamis.routing.destinations.line import Line
from tamis.routing.destinations.order import order
from tamis.routing.destinations.pending import PATIENCE, Pending
from tamis.routing.destinations.topology import is_newer
from tamis.routing.packets import AnyPacket, Heartbeat, Links, LinkState, Multicast, Name, Routed

#: News about links are gathered for so many seconds, so that a burst of them is one packet.
GATHERING: Final = 0.01
#: So many heartbeats are missed before a neighbour is taken for dead.
MISSES: Final = 3


class NetworkOptions(Options, frozen=True):
    """Options of the lower layer."""

    #: Seconds between heartbeats; 0 for none. A neighbour that misses three is taken for dead.
    heartbeat: Annotated[float, msgspec.Meta(ge=0)] = 1.0


class Network(Broker):
    """Keeps the topology of its clusters by link-state updates, and sends packets to lists of brokers.

    The rows of the topology are flooded; the newest of each broker wins. A broker that comes back under its name and
    hears of a row from an earlier life begins a new epoch above it. Packets for brokers that cannot be reached wait.
    """

    def __init__(self, name: Name, options: NetworkOptions) -> None:
        super().__init__(name, options)
        self.clusters: dict[Name, Cluster] = {}
        self._engine = options.engine
        self._heartbeat = options.heartbeat
        self._lines: dict[Name, Line] = {}
        self._suspects: dict[Name, None] = {}
        #: Neighbours whose last heartbeat said that they know other rows.
        self._differing: dict[Name, None] = {}
        self._pending = Pending()
        self._running: dict[str, None] = {}

    # --- what the upper layer says -----------------------------------------------------------------------

    @abstractmethod
    def clusters_of(self, neighbour: Name) -> Iterable[Name]:
        """Return the clusters that a link to a neighbour belongs to."""

    @abstractmethod
    def on_routed(self, cluster: Cluster, packet: Any, place: int) -> None:
        """Take a packet that names this broker at some place of its destinations."""

    @abstractmethod
    def on_changed(self, cluster: Cluster) -> None:
        """The topology of a cluster has changed."""

    @abstractmethod
    def on_reborn(self, cluster: Cluster) -> None:
        """This broker has begun a new epoch in a cluster: all others forget what it told them."""

    @abstractmethod
    def on_new_cluster(self) -> None:
        """There is a cluster that was not there before."""

    def make_cluster(self, name: Name) -> Cluster:
        """Return what is known of a cluster at first: nothing."""
        return Cluster(name, self.name, int(self.now * 1e6), self._engine)

    # --- links -------------------------------------------------------------------------------------------

    def on_neighbour_up(self, neighbour: Name) -> None:
        self._open(neighbour)

    def on_neighbour_down(self, neighbour: Name) -> None:
        self._lines.pop(neighbour, None)
        self._differing.pop(neighbour, None)
        if self._suspects.pop(neighbour, "none") == "none":
            self.close(neighbour, lossy=True)

    def _open(self, neighbour: Name) -> None:
        self._lines[neighbour] = Line(self.now)
        for name in self.clusters_of(neighbour):
            cluster = self.clusters.get(name)
            if cluster is None:
                cluster = self.clusters[name] = self.make_cluster(name)
                self.on_new_cluster()
            cluster.links[neighbour] = dict.fromkeys(cluster.topology.rows)
            self._issue(cluster)
        if self._heartbeat:
            self.soon("beat", self._heartbeat, background=True)

    def close(self, neighbour: Name, lossy: bool) -> None:
        """Send nothing over a link any more."""
        for cluster in self.clusters.values():
            if cluster.links.pop(neighbour, None) is not None:
                self._issue(cluster, lossy)

    def _issue(self, cluster: Cluster, lossy: bool = False) -> None:
        """Tell the cluster of one's own links, and whether packets got lost here: then all check what they know."""
        cluster.losses += lossy
        cluster.lossy |= lossy
        cluster.sequence += 1
        links = tuple(sorted(cluster.links, key=order))
        self._take(cluster, Links(self.name, cluster.epoch, cluster.sequence, cluster.losses, links), None)

    def _take(self, cluster: Cluster, row: Links, source: Name | None) -> None:
        cluster.topology.put(row)
        for neighbour, news in cluster.links.items():
            if neighbour != source:
                news[row.broker] = None
        cluster.changed = True
        self.soon("spread", GATHERING)

    def _hear(self, source: Name, packet: LinkState) -> None:
        cluster = self.clusters.get(packet.cluster)
        if cluster is None:
            self.record("refused")
            return
        rows = cluster.topology.rows
        news = cluster.links.get(source, {})
        for row in packet.rows:
            broker = row.broker
            known = rows.get(broker)
            if known is row or known == row:
                news.pop(broker, None)
            elif known is not None and not is_newer(row, known):
                news[broker] = None
                self.soon("spread", GATHERING)
            elif broker == self.name:
                cluster.epoch = max(cluster.epoch, row.epoch) + 1
                self._issue(cluster)
                self.on_reborn(cluster)
            else:
                before = (0, row.epoch) if known is None else (known.losses, known.epoch)
                cluster.lossy |= (row.losses, row.epoch) != before
                news.pop(broker, None)
                self._take(cluster, row, source)

    def _spread(self) -> None:
        for cluster in self.clusters.values():
            rows = cluster.topology.rows
            for neighbour, news in cluster.links.items():
                if news:
                    self.send(neighbour, LinkState(cluster.name, tuple(rows[each] for each in news if each in rows)))
                    news.clear()
        changed = [cluster for cluster in self.clusters.values() if cluster.changed]
        for cluster in changed:
            cluster.changed = False
        if changed and len(self._pending):
            for until, packet in self._pending.take():
                for rest in self._sent_on(packet):
                    self._pending.keep(until, rest)
        for cluster in changed:
            self.on_changed(cluster)

    # --- packets -----------------------------------------------------------------------------------------

    def on_packet(self, neighbour: Name, packet: Any) -> None:
        if self._heartbeat:
            if neighbour in self._suspects:
                del self._suspects[neighbour]
                self._open(neighbour)
            line = self._lines[neighbour]
            line.alive = self.now
            if type(packet) is not Heartbeat:
                line.came()
        if isinstance(packet, Routed):
            self.on_way(neighbour, packet)
        elif isinstance(packet, LinkState):
            self._hear(neighbour, packet)
        elif isinstance(packet, Heartbeat):
            self._on_heartbeat(neighbour, packet)

    def send(self, neighbour: Name, packet: AnyPacket) -> None:
        super().send(neighbour, packet)
        if neighbour in self._lines and type(packet) is not Heartbeat:
            self._lines[neighbour].sent += 1

    def on_way(self, neighbour: Name, packet: Routed) -> None:  # noqa: ARG002 - some count who sent it
        """Take or pass on what is on its way to some brokers."""
        cluster = self.clusters.get(packet.cluster)
        if cluster is None:
            self._drop(packet)
        elif packet.destinations == (self.name,):
            self.on_routed(cluster, packet, 0)
        elif self.name in packet.destinations:
            mine = packet.destinations.index(self.name)
            others = [place for place in range(len(packet.destinations)) if place != mine]
            self.route(narrowed(packet, others))
            self.on_routed(cluster, packet, mine)
        elif packet.ttl <= 0:
            self._drop(packet)
        else:
            self.route(packet)

    def time_to_live(self, cluster: Cluster) -> int:
        """Return how many links a packet may take: more than any shortest way has."""
        return 2 * len(cluster.topology.rows) + MISSES

    def route(self, packet: Routed) -> None:
        """Send a packet towards its destinations; where there is no way, it waits."""
        for rest in self._sent_on(packet):
            dropped = self._pending.add(rest, self.now)
            if dropped is not None:
                self._drop(dropped)
            self.soon("expire", PATIENCE)

    def _sent_on(self, packet: Routed) -> list[Routed]:
        """Send a packet on as far as possible; return what is left of it, if anything."""
        cluster = self.clusters.get(packet.cluster)
        if cluster is None:
            return [packet]
        parts, rest = cluster.topology.split(packet.destinations)
        for hop, places in parts.items():
            self.send(hop, narrowed(packet, places))  # type: ignore[arg-type]
        if len(rest) == len(packet.destinations):
            return [packet]
        return [narrowed(packet, rest)] if rest else []

    def _drop(self, packet: Routed) -> None:
        self.record("dropped", len(packet.destinations))
        cluster = self.clusters.get(packet.cluster)
        if cluster is not None and not isinstance(packet, Multicast):
            # Events may be lost when there is no way, but brokers have to agree.
            self._issue(cluster, lossy=True)

    # --- time --------------------------------------------------------------------------------------------

    def soon(self, timer: str, after: float, background: bool = False) -> None:
        """Set a timer unless it runs already."""
        if timer not in self._running:
            self._running[timer] = None
            self.set_timer(timer, after, background)

    def on_timer(self, timer: str) -> None:
        del self._running[timer]
        if timer == "spread":
            self._spread()
        elif timer == "beat":
            self._beat()
        elif timer == "expire":
            for packet in self._pending.expired(self.now):
                self._drop(packet)
            until = self._pending.until()
            if until is not None:
                self.soon("expire", max(until - self.now, GATHERING))

    def _beat(self) -> None:
        for neighbour in self.neighbours:
            line = self._lines[neighbour]
            self.send(neighbour, line.heartbeat(self._digest(neighbour)))
            late = self.now - line.alive > (MISSES + 0.5) * self._heartbeat
            if late and neighbour not in self._suspects:
                self._suspects[neighbour] = None
                self.close(neighbour, lossy=True)
        if self.neighbours:
            self.soon("beat", self._heartbeat, background=True)

    def _digest(self, neighbour: Name) -> int:
        """Return the rows of all clusters that a neighbour is in as well, summed up."""
        names = [name for name in self.clusters_of(neighbour) if name in self.clusters]
        return reduce(xor, (self.clusters[name].topology.digest for name in names), 0)

    def _on_heartbeat(self, neighbour: Name, heartbeat: Heartbeat) -> None:
        if self._heartbeat and self._lines[neighbour].lost(heartbeat):
            for cluster in self.clusters.values():
                if neighbour in cluster.links:
                    self._issue(cluster, lossy=True)
        self._compare_rows(neighbour, heartbeat.digest)

    def _compare_rows(self, neighbour: Name, digest: int) -> None:
        """Tell a neighbour all rows if it knows others for two heartbeats: news are not that long on their way."""
        if digest == self._digest(neighbour):
            self._differing.pop(neighbour, None)
        elif neighbour not in self._differing:
            self._differing[neighbour] = None
        else:
            del self._differing[neighbour]
            for cluster in self.clusters.values():
                if neighbour in cluster.links:
                    cluster.links[neighbour] = dict.fromkeys(cluster.topology.rows)
                    self.soon("spread", GATHERING)

    def check_invariants(self) -> None:
        super().check_invariants()
        for cluster in self.clusters.values():
            cluster.check_invariants()
            assert cluster.links.keys() <= self.neighbours.keys() - self._suspects.keys()


def narrowed(packet: Routed, places: list[int]) -> Routed:
    """Return a packet for some of its destinations, with one link less to go."""
    destinations = packet.destinations
    if len(places) < len(destinations):
        destinations = tuple([destinations[place] for place in places])
    if type(packet) is Multicast:
        return Multicast(packet.cluster, packet.source, destinations, packet.ttl - 1, packet.event)
    changes: dict[str, Any] = {"destinations": destinations, "ttl": packet.ttl - 1}
    for field in ("previous", "numbers"):
        values = getattr(packet, field, None)
        if values is not None:
            changes[field] = tuple([values[place] for place in places])
    return msgspec.structs.replace(packet, **changes)
