"""Match at edge, route intra-cluster: destination-based routing in clusters that overlap (MERC, specs/002 §3.4)."""

from tamis.recent import Recent
from tamis.routing.broker import Capabilities
from tamis.routing.destinations.cluster import Cluster
from tamis.routing.destinations.matching import SPOKEN, Matching
from tamis.routing.destinations.network import NetworkOptions
from tamis.routing.destinations.order import order
from tamis.routing.packets import Event, Name
from tamis.routing.registry import register


class ClusterOptions(NetworkOptions, frozen=True):
    """Which brokers form a cluster."""

    #: The brokers of each cluster. One that is in several is an edge broker; those in none form one cluster together.
    clusters: tuple[tuple[Name, ...], ...] = ()


@register(
    "merc",
    Capabilities(
        exact=True,
        general=True,
        advertisements=True,
        summary="destination-based routing within clusters; brokers in several clusters match events and pass them on",
    ),
)
class Clustered(Matching):
    """Knows only the members of its own clusters. Clusters may form circles.

    A link belongs to all clusters that both its ends are in. If there is none, the link is a cluster by itself, and
    its two ends are edge brokers. So a broker that joins beside one of another cluster is served, too.

    What the thesis leaves open on circles is done by the rules of specs/002 §3.4, which have to hold under changes:
    (a) of the copies of an advertisement, the one that came over the fewest clusters counts; a copy names the marks of
    those who passed it on, so nobody takes back its own; (b) `Demand`; (c) an event goes to clients once, and to each
    cluster once.
    """

    Settings = ClusterOptions
    speaks = SPOKEN

    def __init__(self, name: Name, options: ClusterOptions) -> None:
        super().__init__(name, options)
        self._lists = [frozenset(cluster) for cluster in options.clusters]
        self._listed = frozenset().union(*self._lists)
        self._seen: Recent[Name] = Recent()
        self._passed: dict[Name, Recent[Name]] = {}

    def clusters_of(self, neighbour: Name) -> tuple[Name, ...]:
        ends = {self.name, neighbour}
        shared = tuple(number for number, members in enumerate(self._lists) if ends <= members)
        if not shared and not ends & self._listed:
            return ("rest",)
        return shared or ("-".join(repr(end) for end in sorted(ends, key=order)),)

    def on_event(self, cluster: Cluster, event: Event) -> None:
        """Hand an event to clients and pass it on to other clusters, each once."""
        new = self._seen.add(event.id)
        others = [each for each in self.clusters.values() if each is not cluster and self._is_new(each, event)]
        if new or others:
            self.record("matches")
        if new:
            self.deliver(event, self.clients.interested(event.content))
        for other in others:
            self.spread(other, event)

    def on_publish(self, client: Name, event: Event) -> None:
        self._seen.add(event.id)
        for cluster in self.clusters.values():
            self._is_new(cluster, event)
        super().on_publish(client, event)

    def _is_new(self, cluster: Cluster, event: Event) -> bool:
        return self._passed.setdefault(cluster.name, Recent()).add(event.id)
