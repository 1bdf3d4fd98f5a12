"""Simple routing: every subscription goes everywhere, every event only where somebody wants it (specs/004 §3)."""

from collections import Counter

from tamis.routing.broker import Broker, Capabilities, Options
from tamis.routing.packets import Event, Name, Plain, Subscription, Subscriptions
from tamis.routing.registry import register
from tamis.routing.table import Table


@register(
    "simple",
    Capabilities(
        exact=True,
        general=False,
        advertisements=False,
        summary="subscriptions go everywhere, events only where they are wanted",
    ),
)
class Simple(Broker):
    """Keeps every subscription of the overlay with the neighbour behind which it lies."""

    speaks = (Plain, Subscriptions)

    def __init__(self, name: Name, options: Options) -> None:
        super().__init__(name, options)
        self._behind: dict[Name, dict[Subscription, None]] = {}
        self._clients_of: Counter[tuple[Name, str]] = Counter()
        self._wanted = Table(options.engine)

    def on_subscribe(self, client: Name, condition: str) -> None:
        self._tell(None, (), (Subscription(self.name, client, condition),))

    def on_unsubscribe(self, client: Name, condition: str) -> None:
        self._tell(None, (Subscription(self.name, client, condition),), ())

    def on_neighbour_up(self, neighbour: Name) -> None:
        known = [Subscription(self.name, client, condition) for client, condition in self.clients.pairs()]
        for subscriptions in self._behind.values():
            known.extend(subscriptions)
        self._behind[neighbour] = {}
        if known:
            self.send(neighbour, Subscriptions((), tuple(known)))

    def on_neighbour_down(self, neighbour: Name) -> None:
        gone = self._behind.pop(neighbour)
        for each in gone:
            self._count(neighbour, each.condition, -1)
        if gone:
            self._tell(neighbour, tuple(gone), ())

    def on_publish(self, client: Name, event: Event) -> None:  # noqa: ARG002
        self._route(event, None)

    def on_packet(self, neighbour: Name, packet: Plain | Subscriptions) -> None:
        if isinstance(packet, Plain):
            self._route(packet.event, neighbour)
            return
        behind = self._behind[neighbour]
        removed = tuple(each for each in packet.remove if each in behind)
        for each in removed:
            del behind[each]
        added = tuple(each for each in packet.add if each not in behind)
        behind.update(dict.fromkeys(added))
        for each in removed:
            self._count(neighbour, each.condition, -1)
        for each in added:
            self._count(neighbour, each.condition, 1)
        if removed or added:
            self._tell(neighbour, removed, added)

    def stored(self) -> int:
        return len(self.clients) + sum(map(len, self._behind.values()))

    def check_invariants(self) -> None:
        super().check_invariants()
        self._wanted.check_invariants()
        held = {(neighbour, each.condition) for neighbour, behind in self._behind.items() for each in behind}
        assert held == set(self._wanted.pairs()) == self._clients_of.keys()
        assert self._behind.keys() == self.neighbours.keys()

    def _count(self, neighbour: Name, condition: str, change: int) -> None:
        """Several clients behind a neighbour may have the same condition."""
        self._clients_of[neighbour, condition] += change
        if not self._clients_of[neighbour, condition]:
            del self._clients_of[neighbour, condition]
            self._wanted.remove(neighbour, condition)
        else:
            self._wanted.add(neighbour, condition)

    def _tell(self, source: Name | None, removed: tuple[Subscription, ...], added: tuple[Subscription, ...]) -> None:
        for neighbour in self.neighbours:
            if neighbour != source:
                self.send(neighbour, Subscriptions(removed, added))

    def _route(self, event: Event, source: Name | None) -> None:
        self.record("matches")
        self.deliver(event, self.clients.interested(event.content))
        for neighbour in self._wanted.interested(event.content):
            if neighbour != source:
                self.send(neighbour, Plain(event))
