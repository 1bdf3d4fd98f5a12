"""Conditions without their owners are offered: what identity, covering and advertisement routing share."""

from collections.abc import Iterable, Iterator
from typing import ClassVar

from tamis.routing.conditions import is_canonical
from tamis.routing.packets import AnyPacket, Filters, Name, Packet, Plain
from tamis.routing.strategies.spreading import Spreading


class Filtering(Spreading[str]):
    """Knows the conditions behind each neighbour, but not whose they are."""

    speaks: ClassVar[tuple[type[Packet], ...]] = (Plain, Filters)

    def item(self, client: Name, condition: str) -> str:  # noqa: ARG002
        return condition

    def packet(self, gone: tuple[str, ...], come: tuple[str, ...]) -> Filters:
        return Filters(gone, come)

    def items(self) -> Iterator[tuple[Name, str]]:
        return self.wanted.pairs()

    def behind(self, neighbour: Name) -> list[str]:
        return self.wanted.held_by(neighbour)

    def text(self, item: str) -> str:
        return item

    def read(self, text: str) -> str:
        return text

    def is_item(self, text: str) -> bool:
        return is_canonical(text)

    def hold(self, neighbour: Name, items: Iterable[str]) -> None:
        others = [(side, item) for side, item in self.wanted.pairs() if side != neighbour]
        self.wanted = self.wanted.mended([*others, *((neighbour, item) for item in items)])

    def derive(self) -> None:
        known = self.neighbours
        self.wanted = self.wanted.mended(
            (side, item) for side, item in self.items() if side in known and is_canonical(item)
        )
        super().derive()

    def holds_from(self, neighbour: Name, text: str) -> bool:
        return neighbour in self.wanted.holders(text)

    def texts(self, packet: AnyPacket) -> tuple[list[str], list[str]]:
        return (list(packet.remove), list(packet.add)) if isinstance(packet, Filters) else ([], [])

    def forget(self, neighbour: Name) -> tuple[str, ...]:
        return tuple(self.wanted.drop(neighbour))

    def on_packet(self, neighbour: Name, packet: Plain | Filters) -> None:
        if isinstance(packet, Plain):
            self.route(packet.event, neighbour)
            return
        gone = tuple(each for each in packet.remove if self.wanted.remove(neighbour, each))
        come = tuple(each for each in packet.add if self.wanted.add(neighbour, each))
        self.change(neighbour, gone, come)

    def stored(self) -> int:
        return len(self.clients) + len(self.wanted)
