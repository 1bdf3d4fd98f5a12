"""Brokers whose tables can be leased: what is not told again in time is forgotten in silence (specs/004 §7)."""

from abc import abstractmethod
from collections.abc import Iterable, Iterator
from typing import Any, ClassVar, Literal, NamedTuple, Protocol, TypeAlias, runtime_checkable

from tamis.routing.broker import Broker
from tamis.routing.conditions import asked, canonical
from tamis.routing.mendable import Mendable
from tamis.routing.messages import (
    Action,
    Advertise,
    Arrived,
    ClientLeft,
    Message,
    NeighbourDown,
    Send,
    Subscribe,
    Unadvertise,
    Unsubscribe,
)
from tamis.routing.packets import AnyPacket, Name

#: What local clients want, what they advertise, and what other brokers told.
Kind: TypeAlias = Literal["client", "advert", "broker"]


class Row(NamedTuple):
    """One thing that a broker knows, and from whom."""

    kind: Kind
    side: Any
    text: str


#: What is no longer told, and what is told, new or again.
Spoken: TypeAlias = tuple[list[Row], list[Row]]


@runtime_checkable
class Leasable(Protocol):
    """A broker that can be told again what it knows, tell it on, and forget it without a word."""

    #: Whether it is prepared for that: not all that inherit the methods are.
    soft: ClassVar[bool]

    def rows(self) -> Iterable[Row]:
        """Return all that has to be leased."""

    def holds(self, row: Row) -> bool:
        """Say whether something is known."""

    def spoken(self, message: Message) -> Spoken:
        """Return what a message that is about to be handled speaks of."""

    def retell(self, row: Row) -> list[Action]:
        """Tell everybody once more who was told because of a row."""

    def lapse(self, row: Row) -> list[Action]:
        """Forget a row. Nobody is told, not even what comes to light without it: that is told when it is refreshed."""

    def fits(self) -> bool:
        """Say whether what follows from rows looks right."""

    def derive(self) -> None:
        """Make everything that follows from rows anew, in silence."""


class LeasableTables(Mendable):
    """What strategies have in common that keep a set of items for each neighbour."""

    soft: ClassVar[bool] = True

    @abstractmethod
    def holds_from(self, neighbour: Name, text: str) -> bool:
        """Say whether an item is held from a neighbour."""

    @abstractmethod
    def tells(self, neighbour: Name, text: str) -> bool:
        """Say whether a neighbour was told of an item."""

    @abstractmethod
    def texts(self, packet: AnyPacket) -> tuple[list[str], list[str]]:
        """Return the items that a packet takes back, and those that it tells."""

    @abstractmethod
    def text_of(self, row: Row) -> str | None:
        """Return the item that others are told of because of a row, if there is one."""

    @abstractmethod
    def fits(self) -> bool:
        """Say whether what is derived from clients and tables looks right. It takes much less than `derive`."""

    def rows(self) -> Iterator[Row]:
        """Return all that has to be leased."""
        yield from client_rows(self)
        for neighbour in self.neighbours:
            for text in self.held(neighbour):
                yield Row("broker", neighbour, text)

    def holds(self, row: Row) -> bool:
        """Say whether something is known."""
        if row.kind == "broker":
            return self.holds_from(row.side, row.text)
        return client_holds(self, row)

    def spoken(self, message: Message) -> Spoken:
        """Return what a message that is about to be handled speaks of."""
        if isinstance(message, Arrived):
            gone, come = self.texts(message.packet) if message.neighbour in self.neighbours else ([], [])
            return (
                [Row("broker", message.neighbour, each) for each in gone],
                [Row("broker", message.neighbour, each) for each in come],
            )
        if isinstance(message, NeighbourDown):
            return [Row("broker", message.neighbour, each) for each in self.held(message.neighbour)], []
        return client_spoken(self, message)

    def retell(self, row: Row) -> list[Action]:
        """Tell everybody once more who was told because of a row."""
        text = self.text_of(row)
        if text is None:
            return []
        return [
            Send(neighbour, packet)
            for neighbour in self.neighbours
            if (row.kind != "broker" or neighbour != row.side) and self.tells(neighbour, text)
            for packet in self.news((), (text,))
        ]

    def lapse(self, row: Row) -> list[Action]:
        """Forget a row. Nobody is told, not even what comes to light without it: that is told when it is refreshed."""
        self._actions = []
        if row.kind == "client":
            self.abandon(row.side, row.text)
        elif row.kind == "advert":
            self.abandon_advert(row.side, row.text)
        else:
            for packet in self.news((row.text,), ()):
                self.on_packet(row.side, packet)
        return [each for each in self._actions if not (isinstance(each, Send) and any(self.texts(each.packet)))]


def client_rows(broker: Broker) -> Iterator[Row]:
    """Go through what local clients want and advertise."""
    for client, condition in broker.clients.pairs():
        yield Row("client", client, condition)
    for client, condition in broker.adverts.pairs():
        yield Row("advert", client, condition)


def client_holds(broker: Broker, row: Row) -> bool:
    """Say whether a local client wants or advertises something."""
    return row.side in (broker.clients if row.kind == "client" else broker.adverts).holders(row.text)


def client_spoken(broker: Broker, message: Message) -> Spoken:
    """Return what a message of a client speaks of. A condition that is none is an `ExpressionError`."""
    match message:
        case Subscribe():
            return [], [Row("client", message.client, asked(message.condition).condition)]
        case Advertise():
            return [], [Row("advert", message.client, canonical(message.condition))]
        case Unsubscribe():
            return [Row("client", message.client, asked(message.condition).condition)], []
        case Unadvertise():
            return [Row("advert", message.client, canonical(message.condition))], []
        case ClientLeft(client):
            wanted = [Row("client", client, each) for each in broker.clients.held_by(client)]
            return [*wanted, *(Row("advert", client, each) for each in broker.adverts.held_by(client))], []
        case _:
            return [], []
