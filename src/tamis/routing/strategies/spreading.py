"""What one side wants is offered to all other sides: how subscriptions spread over a tree of brokers."""

from abc import abstractmethod
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from typing import Generic

from tamis.routing.broker import Options
from tamis.routing.leasable import LeasableTables, Row
from tamis.routing.offers import Item, Offer, Pruning
from tamis.routing.packets import AnyPacket, Event, Filters, Name, Plain, Subscriptions
from tamis.routing.table import Table


class Spreading(LeasableTables, Generic[Item]):
    """Knows what lies behind each neighbour, and offers each neighbour what all other sides want.

    What is offered are items: conditions, or subscriptions with their owners. An item may be known from several sides,
    also because links come and go: a neighbour hears of it when the first of them has it, and when the last has not.
    """

    def __init__(self, name: Name, options: Options) -> None:
        super().__init__(name, options)
        #: Which conditions lie behind each neighbour.
        self.wanted = Table(options.engine)
        self.offers: dict[Name, Offer[Item]] = {}

    @abstractmethod
    def pruning(self) -> Pruning[Item]:
        """Return what decides which items a neighbour has to be told of."""

    @abstractmethod
    def item(self, client: Name, condition: str) -> Item:
        """Return what is offered of a local client's subscription."""

    @abstractmethod
    def packet(self, gone: tuple[Item, ...], come: tuple[Item, ...]) -> AnyPacket:
        """Return the packet that tells a neighbour of changes."""

    @abstractmethod
    def items(self) -> Iterator[tuple[Name, Item]]:
        """Go through all neighbours with the items behind them."""

    @abstractmethod
    def behind(self, neighbour: Name) -> list[Item]:
        """Return the items behind a neighbour."""

    @abstractmethod
    def text(self, item: Item) -> str:
        """Return an item as a text."""

    @abstractmethod
    def read(self, text: str) -> Item:
        """Return the item that a text is."""

    @abstractmethod
    def forget(self, neighbour: Name) -> tuple[Item, ...]:
        """Forget what lies behind a neighbour; return what it was."""

    def may_want(self, neighbour: Name, item: Item) -> bool:  # noqa: ARG002 - advertisements decide
        """Say whether an item is offered to a neighbour at all."""
        return True

    # --- what is wanted ----------------------------------------------------------------------------------

    def on_subscribe(self, client: Name, condition: str) -> None:
        self.change(None, (), (self.item(client, condition),))

    def on_unsubscribe(self, client: Name, condition: str) -> None:
        self.change(None, (self.item(client, condition),), ())

    def on_neighbour_up(self, neighbour: Name) -> None:
        self.offers[neighbour] = self.offer_to(neighbour, ())
        self.tell(neighbour)

    def on_neighbour_down(self, neighbour: Name) -> None:
        del self.offers[neighbour]
        self.change(neighbour, self.forget(neighbour), ())

    def offer_to(self, neighbour: Name, first: Iterable[Item]) -> Offer[Item]:
        """Return what is to be offered to a neighbour. Where there is a choice, items that come `first` are told."""
        wanted = self.sides_for(neighbour)
        offer = Offer(self.pruning())
        for item in dict.fromkeys((*(each for each in first if each in wanted), *wanted)):
            for _ in range(wanted[item]):
                offer.add(item)
        return offer

    def sides_for(self, neighbour: Name) -> Counter[Item]:
        """Return what is to be offered to a neighbour, and of how many sides."""
        return Counter(item for item in self.items_for(neighbour) if self.may_want(neighbour, item))

    def items_for(self, neighbour: Name) -> list[Item]:
        """Return the items of all sides but one, those of several sides several times."""
        own = [self.item(client, condition) for client, condition in self.clients.pairs()]
        return own + [item for side, item in self.items() if side != neighbour]

    def tell(self, neighbour: Name) -> None:
        """Tell a neighbour what has changed."""
        gone, come = self.offers[neighbour].take()
        if gone or come:
            self.send(neighbour, self.packet(gone, come))

    def change(self, source: Name | None, gone: tuple[Item, ...], come: tuple[Item, ...]) -> None:
        """Offer what has changed on one side to all others."""
        for neighbour, offer in self.offers.items():
            if neighbour == source:
                continue
            for item in come:
                if self.may_want(neighbour, item):
                    offer.add(item)
            for item in gone:
                if item in offer:
                    offer.remove(item)
            self.tell(neighbour)

    # --- what can be mended ------------------------------------------------------------------------------

    def own(self) -> list[str]:
        return list(dict.fromkeys(self.text(self.item(*pair)) for pair in self.clients.pairs()))

    def held(self, neighbour: Name) -> list[str]:
        return list(map(self.text, self.behind(neighbour)))

    def owed(self, neighbour: Name) -> list[str]:
        return list(map(self.text, self.offer_to(neighbour, self.offers[neighbour].told).told))

    def told(self, neighbour: Name) -> list[str]:
        return list(map(self.text, self.offers[neighbour].told))

    def derive(self) -> None:
        for neighbour in self.neighbours:
            offer = self.offers[neighbour] = self.offer_to(neighbour, self.offers[neighbour].told)
            offer.take()

    def news(self, gone: Collection[str], come: Collection[str]) -> list[AnyPacket]:
        if not (gone or come):
            return []
        return [self.packet(tuple(map(self.read, gone)), tuple(map(self.read, come)))]

    # --- what can be leased ------------------------------------------------------------------------------

    def tells(self, neighbour: Name, text: str) -> bool:
        return self.offers[neighbour].tells(self.read(text))

    def fits(self) -> bool:
        return self.offers.keys() == self.neighbours.keys() and all(
            offer.fits(self.sides_for(neighbour)) for neighbour, offer in self.offers.items()
        )

    def text_of(self, row: Row) -> str | None:
        if row.kind == "client":
            return self.text(self.item(row.side, row.text))
        return row.text if row.kind == "broker" else None

    def after(self, held: Collection[str], packet: AnyPacket) -> list[str]:
        if not isinstance(packet, Filters | Subscriptions):
            return list(held)
        gone = {self.text(each) for each in packet.remove}  # type: ignore[arg-type] # a strategy has packets of its items
        come = [self.text(each) for each in packet.add]  # type: ignore[arg-type]
        return list(dict.fromkeys((*(each for each in held if each not in gone), *come)))

    # --- events ------------------------------------------------------------------------------------------

    def on_publish(self, client: Name, event: Event) -> None:  # noqa: ARG002 - advertisements ask who it is
        self.route(event, None)

    def route(self, event: Event, source: Name | None) -> None:
        """Send an event to all who want it, except where it came from."""
        self.record("matches")
        self.deliver(event, self.clients.interested(event.content))
        for neighbour in self.wanted.interested(event.content):
            if neighbour != source:
                self.send(neighbour, Plain(event))

    def check_invariants(self) -> None:
        super().check_invariants()
        self.wanted.check_invariants()
        assert self.offers.keys() == self.neighbours.keys()
        for neighbour, offer in self.offers.items():
            wanted = {each for each in self.items_for(neighbour) if self.may_want(neighbour, each)}
            assert all(each in offer for each in wanted)
