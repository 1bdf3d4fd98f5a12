"""What is counted in the world, by looking on."""

from array import array
from collections import Counter
from collections.abc import Callable

import numpy as np

from tamis.routing.messages import Arrived, Message, Publish
from tamis.routing.packets import AnyPacket, Event, Name, carried, unstamped
from tamis.simulation.observer import Observer
from tamis.simulation.reference import Reference
from tamis.simulation.summary import Latency, Spread, Summary


class Metrics(Observer):
    """Counts what happens. Nothing here is told by brokers except what only they can see (`recorded_by`)."""

    def __init__(self, reference: Reference, stored: Callable[[], dict[Name, int]]) -> None:
        """Count nothing yet. The reference judges deliveries; `stored` says how much each broker keeps."""
        #: Packets sent, by kind, and how many of all got lost.
        self.sent_by_kind: Counter[str] = Counter()
        self.lost_packets = 0
        #: Packets sent, by link and direction.
        self.sent_by_link: Counter[tuple[Name, Name]] = Counter()
        #: Events that reached a broker, its clients' own included.
        self.received_by: Counter[Name] = Counter()
        self.published = 0
        self.deliveries = 0
        #: Deliveries by the number of links between publisher and subscriber, and how long each took.
        self.hops: Counter[int] = Counter()
        self.latencies = array("d")
        #: How many destinations packets named that name any.
        self.destinations: Counter[int] = Counter()
        #: What brokers counted, by metric and broker.
        self.recorded_by: dict[str, Counter[Name]] = {}
        #: Pairs of an event and a broker that it reached over a link, and how many of them were of use.
        self.reached = 0
        self.useful = 0
        self._reference = reference
        self._stored = stored
        self._names_destinations: dict[type, bool] = {}

    def told(self, now: float, broker: Name, message: Message, hops: int) -> None:  # noqa: ARG002
        """Count events as they come in."""
        kind = type(message)
        if kind is Arrived:
            event = carried(message.packet)  # type: ignore[union-attr]
            if event is not None:
                self.received_by[broker] += 1
                fate = self._reference.fates[event.id]
                if broker not in fate.brokers and broker != fate.source:
                    fate.brokers[broker] = False
                    self.reached += 1
        elif kind is Publish:
            self.published += 1
            self.received_by[broker] += 1

    def sent(self, now: float, broker: Name, neighbour: Name, packet: AnyPacket) -> None:  # noqa: ARG002
        """Count packets."""
        packet = unstamped(packet)
        kind = type(packet)
        self.sent_by_kind[kind.__name__] += 1
        self.sent_by_link[broker, neighbour] += 1
        names = self._names_destinations.get(kind)
        if names is None:
            names = self._names_destinations[kind] = hasattr(packet, "destinations")
        if names:
            self.destinations[len(packet.destinations)] += 1  # type: ignore[union-attr]

    def lost(self, now: float, broker: Name, neighbour: Name, packet: AnyPacket) -> None:  # noqa: ARG002
        """Count packets that do not arrive."""
        self.lost_packets += 1

    def delivered(self, now: float, broker: Name, client: Name, event: Event, hops: int, age: float | None) -> None:  # noqa: ARG002
        """Count deliveries."""
        self.deliveries += 1
        fate = self._reference.deliver(client, event)
        if fate is not None:
            self.hops[hops] += 1
            self.latencies.append(now - fate.time)
            if fate.brokers.get(broker) is False:
                fate.brokers[broker] = True
                self.useful += 1

    def recorded(self, now: float, broker: Name, metric: str, value: float) -> None:  # noqa: ARG002
        """Count what brokers counted."""
        if metric not in self.recorded_by:
            self.recorded_by[metric] = Counter()
        self.recorded_by[metric][broker] += value  # type: ignore[assignment]

    def total(self, metric: str) -> float:
        """Return what all brokers together counted."""
        return sum(self.recorded_by.get(metric, Counter()).values())

    @property
    def false_positives(self) -> int:
        """How many deliveries there were that nobody wanted."""
        return self._reference.false_positives

    def summary(self) -> Summary:
        """Return all that was counted, in figures."""
        stored = list(self._stored().values())
        events = max(self.published, 1)
        lists = self.destinations.total()
        return Summary(
            published=self.published,
            deliveries=self.deliveries,
            expected=self._reference.expected,
            missed=self._reference.missed,
            false_positives=self._reference.false_positives,
            duplicates=self._reference.duplicates,
            packets=self.sent_by_kind.total(),
            lost=self.lost_packets,
            packets_by_kind=dict(sorted(self.sent_by_kind.items())),
            matches_per_event=self.total("matches") / events,
            recorded={metric: self.total(metric) for metric in sorted(self.recorded_by)},
            destinations=Spread.of(self.destinations) if lists else None,
            stored_mean=sum(stored) / max(len(stored), 1),
            stored_max=max(stored, default=0),
            hops=Spread.of(self.hops) if self.hops else None,
            latency=Latency.of(np.frombuffer(self.latencies)) if self.latencies else None,
            brokers_per_event=self.reached / events,
            accuracy=self.useful / self.reached if self.reached else None,
        )
