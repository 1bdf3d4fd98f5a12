"""Who looks on. Metrics and traces are made by observers, not by brokers."""

from tamis.routing.messages import Connect, Disconnect, Message, SetTimer
from tamis.routing.packets import AnyPacket, Event, Name
from tamis.simulation.clock import Clock
from tamis.simulation.link import Link


class Observer:
    """Somebody who looks on. Override what is to be seen; what is not overridden costs nothing."""

    def started(self, now: float, broker: Name, clock: Clock) -> None:
        """A broker has started that knows nothing."""

    def stopped(self, now: float, broker: Name) -> None:
        """A broker has stopped, and all that it knew is gone."""

    def linked(self, now: float, one: Name, other: Name, link: Link) -> None:
        """There is a link between two brokers."""

    def unlinked(self, now: float, one: Name, other: Name) -> None:
        """A link has gone, or one of its ends."""

    def told(self, now: float, broker: Name, message: Message, hops: int) -> None:
        """A broker is about to handle a message; `hops` links lie between it and what caused it."""

    def sent(self, now: float, broker: Name, neighbour: Name, packet: AnyPacket) -> None:
        """A broker has sent a packet."""

    def lost(self, now: float, broker: Name, neighbour: Name, packet: AnyPacket) -> None:
        """A packet that was sent does not arrive: it got lost, or its link or the other end has gone."""

    def delivered(self, now: float, broker: Name, client: Name, event: Event, hops: int, age: float | None) -> None:
        """A broker has handed an event to a client; it is at most so old, if anybody measures that."""

    def recorded(self, now: float, broker: Name, metric: str, value: float) -> None:
        """A broker has counted something."""

    def timed(self, now: float, broker: Name, timer: SetTimer) -> None:
        """A broker has set a timer."""

    def stepped(self, now: float, broker: Name, by: float) -> None:
        """The clock of a broker has jumped."""

    def asked(self, now: float, broker: Name, action: Connect | Disconnect) -> None:
        """A broker has asked for a link to be opened or closed."""
