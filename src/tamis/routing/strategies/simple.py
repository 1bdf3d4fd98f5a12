"""Simple routing: every subscription goes everywhere, every event only where somebody wants it (specs/004 §3)."""

from collections import Counter
from collections.abc import Iterable, Iterator

from tamis.routing.broker import Capabilities, Options
from tamis.routing.conditions import is_canonical
from tamis.routing.offers import Everything
from tamis.routing.packets import AnyPacket, Name, Plain, Subscription, Subscriptions
from tamis.routing.registry import register
from tamis.routing.spelling import is_subscription, read, spelt
from tamis.routing.strategies.spreading import Spreading


@register(
    "simple",
    Capabilities(
        exact=True,
        general=False,
        advertisements=False,
        summary="subscriptions go everywhere, events only where they are wanted",
    ),
)
class Simple(Spreading[Subscription]):
    """Keeps every subscription of the overlay with the neighbour behind which it lies."""

    speaks = (Plain, Subscriptions)

    def __init__(self, name: Name, options: Options) -> None:
        super().__init__(name, options)
        self._behind: dict[Name, dict[Subscription, None]] = {}
        self._clients_of: Counter[tuple[Name, str]] = Counter()

    def pruning(self) -> Everything[Subscription]:
        return Everything()

    def item(self, client: Name, condition: str) -> Subscription:
        return Subscription(self.name, client, condition)

    def packet(self, gone: tuple[Subscription, ...], come: tuple[Subscription, ...]) -> Subscriptions:
        return Subscriptions(gone, come)

    def items(self) -> Iterator[tuple[Name, Subscription]]:
        for neighbour, behind in self._behind.items():
            for each in behind:
                yield neighbour, each

    def behind(self, neighbour: Name) -> list[Subscription]:
        return list(self._behind.get(neighbour, ()))

    def text(self, item: Subscription) -> str:
        return spelt(item)

    def read(self, text: str) -> Subscription:
        return read(text)

    def is_item(self, text: str) -> bool:
        return is_subscription(text)

    def hold(self, neighbour: Name, items: Iterable[str]) -> None:
        self._behind[neighbour] = dict.fromkeys(map(read, items))

    def derive(self) -> None:
        self._behind = {
            side: {each: None for each in behind if is_canonical(each.condition)}
            for side, behind in self._behind.items()
            if side in self.neighbours
        }
        self._clients_of = Counter((side, each.condition) for side, each in self.items())
        self.wanted = self.wanted.mended(dict.fromkeys(self._clients_of))
        super().derive()

    def holds_from(self, neighbour: Name, text: str) -> bool:
        return read(text) in self._behind.get(neighbour, ())

    def fits(self) -> bool:
        counts = Counter((side, each.condition) for side, each in self.items())
        return counts == self._clients_of and counts.keys() == set(self.wanted.pairs()) and super().fits()

    def texts(self, packet: AnyPacket) -> tuple[list[str], list[str]]:
        if not isinstance(packet, Subscriptions):
            return [], []
        return list(map(spelt, packet.remove)), list(map(spelt, packet.add))

    def forget(self, neighbour: Name) -> tuple[Subscription, ...]:
        gone = tuple(self._behind.pop(neighbour, ()))
        for each in gone:
            self._count(neighbour, each.condition, -1)
        return gone

    def on_packet(self, neighbour: Name, packet: Plain | Subscriptions) -> None:
        if isinstance(packet, Plain):
            self.route(packet.event, neighbour)
            return
        behind = self._behind.setdefault(neighbour, {})
        gone = tuple(each for each in packet.remove if each in behind)
        for each in gone:
            del behind[each]
            self._count(neighbour, each.condition, -1)
        come = tuple(each for each in packet.add if each not in behind)
        for each in come:
            behind[each] = None
            self._count(neighbour, each.condition, 1)
        self.change(neighbour, gone, come)

    def stored(self) -> int:
        return len(self.clients) + sum(map(len, self._behind.values()))

    def check_invariants(self) -> None:
        super().check_invariants()
        held = {(neighbour, each.condition) for neighbour, each in self.items()}
        assert held == set(self.wanted.pairs()) == self._clients_of.keys()
        assert self._behind.keys() <= self.neighbours.keys()

    def _count(self, neighbour: Name, condition: str, change: int) -> None:
        """Several clients behind a neighbour may have the same condition."""
        self._clients_of[neighbour, condition] += change
        if self._clients_of[neighbour, condition]:
            self.wanted.add(neighbour, condition)
        else:
            del self._clients_of[neighbour, condition]
            self.wanted.remove(neighbour, condition)
