"""What is counted in the world, by looking on."""

from collections import Counter

from tamis.routing.messages import Arrived, Message, Publish
from tamis.routing.packets import AnyPacket, Event, Name, carried


class Metrics:
    """Counts what happens. Nothing here is told by brokers except what only they can see (`recorded_by`)."""

    def __init__(self) -> None:
        #: Packets sent, by kind, and how many of all got lost.
        self.sent_by_kind: Counter[str] = Counter()
        self.lost = 0
        #: Packets sent, by link and direction.
        self.sent_by_link: Counter[tuple[Name, Name]] = Counter()
        #: Events that reached a broker, its clients' own included.
        self.received_by: Counter[Name] = Counter()
        self.published = 0
        self.deliveries = 0
        #: Deliveries by the number of links between publisher and subscriber, and how long they took in all.
        self.hops: Counter[int] = Counter()
        self.latency = 0.0
        self.longest = 0.0
        #: How many destinations packets named that name any.
        self.destinations: Counter[int] = Counter()
        #: What brokers counted, by metric and broker.
        self.recorded_by: dict[str, Counter[Name]] = {}
        self._published_at: dict[Name, float] = {}

    def told(self, now: float, broker: Name, message: Message, hops: int) -> None:  # noqa: ARG002
        """Count events as they come in."""
        if isinstance(message, Publish):
            self.published += 1
            self._published_at[message.event.id] = now
            self.received_by[broker] += 1
        elif isinstance(message, Arrived) and carried(message.packet) is not None:
            self.received_by[broker] += 1

    def sent(self, now: float, broker: Name, neighbour: Name, packet: AnyPacket, lost: bool) -> None:  # noqa: ARG002
        """Count packets."""
        self.sent_by_kind[type(packet).__name__] += 1
        self.sent_by_link[broker, neighbour] += 1
        self.lost += lost
        destinations = getattr(packet, "destinations", None)
        if destinations is not None:
            self.destinations[len(destinations)] += 1

    def delivered(self, now: float, broker: Name, client: Name, event: Event, hops: int) -> None:  # noqa: ARG002
        """Count deliveries."""
        self.deliveries += 1
        self.hops[hops] += 1
        took = now - self._published_at[event.id]
        self.latency += took
        self.longest = max(self.longest, took)

    def recorded(self, now: float, broker: Name, metric: str, value: float) -> None:  # noqa: ARG002
        """Count what brokers counted."""
        self.recorded_by.setdefault(metric, Counter())[broker] += value  # type: ignore[assignment]

    def total(self, metric: str) -> float:
        """Return what all brokers together counted."""
        return sum(self.recorded_by.get(metric, Counter()).values())
