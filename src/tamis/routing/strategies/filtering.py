"""Conditions without their owners are offered: what identity, covering and advertisement routing share."""

from collections.abc import Iterator
from typing import ClassVar

from tamis.routing.packets import Filters, Name, Packet, Plain
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
