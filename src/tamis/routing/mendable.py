"""Brokers whose knowledge of each neighbour can be compared with what that neighbour ought to have told them."""

from abc import abstractmethod
from collections.abc import Collection, Iterable

from tamis.routing.broker import Broker
from tamis.routing.packets import AnyPacket, Name


class Mendable(Broker):
    """Holds a set of items from each neighbour, and owes each neighbour what follows from its own clients and the rest.

    That is F and S(a, b) of specs/000 §7. Items are texts here, so that all strategies can be observed, corrected and
    summarised alike: a condition, or something else that the strategy reads again. What a broker has besides, such as
    offers, counters and indexes, is derived from clients and tables and can be made anew; clients are to be trusted.
    """

    @abstractmethod
    def own(self) -> list[str]:
        """Return what local clients alone make this broker owe, before anything is kept back."""

    @abstractmethod
    def held(self, neighbour: Name) -> list[str]:
        """Return what is held from a neighbour, each item once."""

    @abstractmethod
    def hold(self, neighbour: Name, items: Iterable[str]) -> None:
        """Hold just these from a neighbour. What is derived stays as it was: that is how tables are spoilt."""

    @abstractmethod
    def owed(self, neighbour: Name) -> list[str]:
        """Return what a neighbour ought to hold, found anew from clients and tables; nothing changes."""

    @abstractmethod
    def told(self, neighbour: Name) -> list[str]:
        """Return what a neighbour ought to hold by what is derived: what is `owed`, unless that is spoilt."""

    @abstractmethod
    def derive(self) -> None:
        """Make everything that is derived anew, in silence."""

    @abstractmethod
    def is_item(self, text: str) -> bool:
        """Say whether a text is an item at all."""

    @abstractmethod
    def news(self, gone: Collection[str], come: Collection[str]) -> list[AnyPacket]:
        """Return the packets by which this broker would be told of changes."""

    @abstractmethod
    def after(self, held: Collection[str], packet: AnyPacket) -> list[str]:
        """Return what would be held after a packet has come from the neighbour."""

    def agrees(self, held: Collection[str], there: Collection[str], here: Collection[str]) -> bool:  # noqa: ARG002
        """Say whether it is right to hold some items from a neighbour.

        `there` are the `own` items of all brokers behind that neighbour, `here` those of all others.
        """
        return set(held) == set(there)
