"""Advertisement-based routing: subscriptions go only where publishers of such events are (specs/002 §3.1, 004 §3)."""

from collections import Counter
from collections.abc import Collection, Iterable
from typing import Any, Final

from tamis.routing.broker import Broker, Capabilities, Options
from tamis.routing.conditions import Mode, is_canonical, may_meet
from tamis.routing.leasable import Row
from tamis.routing.offers import Everything, Offer, Pruning, Uncovered, suffice
from tamis.routing.packets import Adverts, AnyPacket, Event, Filters, Name, Plain
from tamis.routing.registry import register
from tamis.routing.strategies.filtering import Filtering
from tamis.routing.strategies.tree_per_advert import TreePerAdvert
from tamis.routing.table import Table

#: What an advertisement is known by among items; no condition begins like that.
_ADVERT: Final = "@advert "


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
        self._announcements[neighbour] = self._announcement_to(neighbour, ())
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

    def _announced_to(self, neighbour: Name) -> Counter[str]:
        """Return what is to be announced to a neighbour, and from how many sides."""
        others = (condition for side, condition in self._announced.pairs() if side != neighbour)
        return Counter((*self.adverts, *others))

    def _announcement_to(self, neighbour: Name, first: Iterable[str]) -> Offer[str]:
        """Return what is to be announced to a neighbour; where there is a choice, what comes `first` is told."""
        sides = self._announced_to(neighbour)
        offer = Offer(self.pruning())
        for condition in dict.fromkeys((*(each for each in first if each in sides), *sides)):
            for _ in range(sides[condition]):
                offer.add(condition)
        return offer

    def _announce(self, source: Name | None, gone: tuple[str, ...], come: tuple[str, ...]) -> None:
        for neighbour, offer in self._announcements.items():
            if neighbour != source:
                for condition in come:
                    offer.add(condition)
                for condition in gone:
                    if condition in offer:
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

    # --- what can be mended ------------------------------------------------------------------------------

    def own(self) -> list[str]:
        return [*super().own(), *map(_spelt, self.adverts)]

    def held(self, neighbour: Name) -> list[str]:
        return [*super().held(neighbour), *map(_spelt, self._announced.held_by(neighbour))]

    def hold(self, neighbour: Name, items: Iterable[str]) -> None:
        conditions, adverts = _parted(items)
        super().hold(neighbour, conditions)
        others = [(side, advert) for side, advert in self._announced.pairs() if side != neighbour]
        self._announced = self._announced.mended([*others, *((neighbour, advert) for advert in adverts)])

    def owed(self, neighbour: Name) -> list[str]:
        adverts = self._announcement_to(neighbour, self._announcements[neighbour].told).told
        return [*super().owed(neighbour), *map(_spelt, adverts)]

    def told(self, neighbour: Name) -> list[str]:
        return [*super().told(neighbour), *map(_spelt, self._announcements[neighbour].told)]

    def derive(self) -> None:
        known = self.neighbours
        self._announced = self._announced.mended(
            (side, advert) for side, advert in self._announced.pairs() if side in known and is_canonical(advert)
        )
        for neighbour in self.neighbours:
            offer = self._announcement_to(neighbour, self._announcements[neighbour].told)
            offer.take()
            self._announcements[neighbour] = offer
        super().derive()

    def is_item(self, text: str) -> bool:
        return super().is_item(text.removeprefix(_ADVERT))

    def news(self, gone: Collection[str], come: Collection[str]) -> list[AnyPacket]:
        (conditions_gone, gone), (conditions_come, come) = _parted(gone), _parted(come)
        adverts: list[AnyPacket] = [Adverts(tuple(gone), tuple(come))] if gone or come else []
        return [*adverts, *super().news(conditions_gone, conditions_come)]

    def after(self, held: Collection[str], packet: AnyPacket) -> list[str]:
        if not isinstance(packet, Adverts):
            return super().after(held, packet)
        gone = set(map(_spelt, packet.remove))
        return list(dict.fromkeys((*(each for each in held if each not in gone), *map(_spelt, packet.add))))

    def agrees(self, held: Collection[str], there: Collection[str], here: Collection[str]) -> bool:
        conditions, adverts = _parted(held)
        conditions_there, adverts_there = _parted(there)
        _, adverts_here = _parted(here)
        wanted = [each for each in conditions_there if any(may_meet(one, each, self._mode) for one in adverts_here)]
        return self._suffice(conditions, wanted) and self._suffice(adverts, adverts_there)

    def _suffice(self, told: Collection[str], needed: Collection[str]) -> bool:
        if not self._covering:
            return set(told) == set(needed)
        return set(told) <= set(needed) and suffice(told, needed)

    def holds_from(self, neighbour: Name, text: str) -> bool:
        if text.startswith(_ADVERT):
            return neighbour in self._announced.holders(text.removeprefix(_ADVERT))
        return super().holds_from(neighbour, text)

    def tells(self, neighbour: Name, text: str) -> bool:
        if text.startswith(_ADVERT):
            return self._announcements[neighbour].tells(text.removeprefix(_ADVERT))
        return super().tells(neighbour, text)

    def fits(self) -> bool:
        return super().fits() and all(
            offer.fits(self._announced_to(neighbour)) for neighbour, offer in self._announcements.items()
        )

    def texts(self, packet: AnyPacket) -> tuple[list[str], list[str]]:
        if isinstance(packet, Adverts):
            return list(map(_spelt, packet.remove)), list(map(_spelt, packet.add))
        return super().texts(packet)

    def text_of(self, row: Row) -> str | None:
        return _spelt(row.text) if row.kind == "advert" else super().text_of(row)

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


def _spelt(advert: str) -> str:
    return _ADVERT + advert


def _parted(items: Iterable[str]) -> tuple[list[str], list[str]]:
    """Return the conditions and the advertisements among items."""
    listed = list(items)
    adverts = [each.removeprefix(_ADVERT) for each in listed if each.startswith(_ADVERT)]
    return [each for each in listed if not each.startswith(_ADVERT)], adverts
