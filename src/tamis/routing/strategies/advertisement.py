"""Advertisement-based routing: subscriptions go only where publishers of such events are (specs/002 §3.1, 004 §3)."""

from collections import Counter
from typing import Any

from tamis.routing.broker import Broker, Capabilities, Options
from tamis.routing.conditions import Mode, may_meet
from tamis.routing.offers import Everything, Offer, Pruning, Uncovered
from tamis.routing.packets import Adverts, Event, Filters, Name, Plain
from tamis.routing.registry import register
from tamis.routing.strategies.filtering import Filtering
from tamis.routing.strategies.tree_per_advert import TreePerAdvert
from tamis.routing.table import Table


class AdvertisementOptions(Options, frozen=True, kw_only=True):
    """Whether each advertisement has a tree of its own, so that links may form circles."""

    trees: bool = True
    #: Without trees: do not send conditions and advertisements that others cover.
    covering: bool = False
    intersection: Mode = "sound"

    def __post_init__(self) -> None:
        if self.trees and self.covering:
            raise ValueError("covering is for trees=False: a subscription may be needed on one tree and not on another")


@register(
    "advertisement",
    Capabilities(
        exact=True,
        general=True,
        advertisements=True,
        summary="subscriptions follow advertisements back to their publishers (FBR); trees=False for acyclic overlays",
    ),
)
class Advertisement(Filtering):
    """For acyclic overlays: a neighbour is told of the conditions that meet an advertisement from its side.

    Advertisements spread as conditions do. What is advertised later, or no longer, is compared with all conditions
    known: nothing that a client asked for is forgotten because nobody advertised it yet, as it is in the thesis.
    """

    Settings = AdvertisementOptions
    speaks = (Plain, Filters, Adverts)

    def __init__(self, name: Name, options: AdvertisementOptions) -> None:
        super().__init__(name, options)
        self._covering = options.covering
        self._mode = options.intersection
        self._announced = Table(options.engine)
        self._announcements: dict[Name, Offer[str]] = {}

    @classmethod
    def create(cls, name: Name, options: AdvertisementOptions) -> Broker:
        return TreePerAdvert(name, options, options.intersection) if options.trees else cls(name, options)

    @classmethod
    def capabilities(cls, options: Any, default: Capabilities) -> Capabilities:
        return Capabilities(exact=True, general=bool(options.trees), advertisements=True, summary=default.summary)

    def pruning(self) -> Pruning[str]:
        return Uncovered("flat", 1, "kdtree") if self._covering else Everything()

    def may_want(self, neighbour: Name, item: str) -> bool:
        return any(may_meet(advert, item, self._mode) for advert in self._announced.held_by(neighbour))

    # --- advertisements ----------------------------------------------------------------------------------

    def on_advertise(self, client: Name, condition: str) -> None:  # noqa: ARG002
        if len(self.adverts.holders(condition)) == 1:
            self._announce(None, (), (condition,))

    def on_unadvertise(self, client: Name, condition: str) -> None:  # noqa: ARG002
        if condition not in self.adverts:
            self._announce(None, (condition,), ())

    def on_neighbour_up(self, neighbour: Name) -> None:
        super().on_neighbour_up(neighbour)
        offer = self._announcements[neighbour] = Offer(self.pruning())
        for condition in (*self.adverts, *(condition for _, condition in self._announced.pairs())):
            offer.add(condition)
        self._tell_adverts(neighbour)

    def on_neighbour_down(self, neighbour: Name) -> None:
        del self._announcements[neighbour]
        self._announce(neighbour, tuple(self._announced.drop(neighbour)), ())
        super().on_neighbour_down(neighbour)

    def on_packet(self, neighbour: Name, packet: Plain | Filters | Adverts) -> None:
        if not isinstance(packet, Adverts):
            super().on_packet(neighbour, packet)
            return
        gone = tuple(each for each in packet.remove if self._announced.remove(neighbour, each))
        come = tuple(each for each in packet.add if self._announced.add(neighbour, each))
        self._announce(neighbour, gone, come)
        self._reconsider(neighbour)

    def _announce(self, source: Name | None, gone: tuple[str, ...], come: tuple[str, ...]) -> None:
        for neighbour, offer in self._announcements.items():
            if neighbour != source:
                for condition in come:
                    offer.add(condition)
                for condition in gone:
                    offer.remove(condition)
                self._tell_adverts(neighbour)

    def _tell_adverts(self, neighbour: Name) -> None:
        gone, come = self._announcements[neighbour].take()
        if gone or come:
            self.send(neighbour, Adverts(gone, come))

    def _reconsider(self, neighbour: Name) -> None:
        """Offer a neighbour what meets its advertisements now, and no longer what does not."""
        offer = self.offers[neighbour]
        for condition, sides in Counter(self.items_for(neighbour)).items():
            wanted = self.may_want(neighbour, condition)
            if wanted != (condition in offer):
                for _ in range(sides):
                    (offer.add if wanted else offer.remove)(condition)
        self.tell(neighbour)

    # --- subscriptions and events ------------------------------------------------------------------------

    def on_publish(self, client: Name, event: Event) -> None:
        if self.advertised(client, event) is None:
            self.record("refused")
        else:
            self.route(event, None)

    def check_invariants(self) -> None:
        super().check_invariants()
        self._announced.check_invariants()
        for neighbour, offer in self.offers.items():
            for condition in self.items_for(neighbour):
                assert (condition in offer) == self.may_want(neighbour, condition)
