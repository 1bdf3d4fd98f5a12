"""Flooding: every event goes everywhere, and only local clients are compared with it (specs/004 §3, 002 F5)."""

from tamis.routing.broker import Broker, Capabilities
from tamis.routing.packets import Event, Name, Plain
from tamis.routing.registry import register


@register(
    "flood",
    Capabilities(
        exact=True,
        general=False,
        advertisements=False,
        summary="events go everywhere, subscriptions nowhere",
    ),
)
class Flood(Broker):
    """Keeps nothing but its own clients' subscriptions."""

    speaks = (Plain,)

    def on_subscribe(self, client: Name, condition: str) -> None:
        """Nobody else needs to know."""

    def on_unsubscribe(self, client: Name, condition: str) -> None:
        """Nobody else needs to know."""

    def on_publish(self, client: Name, event: Event) -> None:  # noqa: ARG002
        self._spread(event, None)

    def on_packet(self, neighbour: Name, packet: Plain) -> None:
        self._spread(packet.event, neighbour)

    def _spread(self, event: Event, source: Name | None) -> None:
        self.record("matches")
        self.deliver(event, self.clients.interested(event.content))
        for neighbour in self.neighbours:
            if neighbour != source:
                self.send(neighbour, Plain(event))
