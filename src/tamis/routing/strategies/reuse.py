"""Lookup reuse: an event travels with the keys of subscriptions that it meets (specs/000 §3, thesis §3.3-3.6).

The first broker compares an event with the subscriptions behind each link. What it finds goes along as keys of 32 bits,
so that the brokers that follow look keys up instead of comparing the event again:

- `reuse-never` sends no keys: every broker compares, until the first match behind each link;
- `reuse-always` finds and sends the keys of all matches: others compare events only with what their own clients want,
  if at all, but messages are long;
- `reuse-partial` finds and sends n keys at most, and says whether these are all. If not, clients are compared, and so
  is a link behind which none of the keys lies.

Subscriptions are spread to everybody, or, with `covering`, only those that no other covers (specs/000 §5). Then keys
do not name all that an event meets, so Always-Reuse would lose events and is refused.

[O] The thesis supposes that no two subscriptions have the same key. Here the broker of a new subscription gives it a
key that it does not know. Two brokers may still choose the same key at the same time: then both subscriptions lie under
that key, an event may take a needless way, and is compared with the client's condition before the client gets it. With
covering, a key belongs to a condition, whoever holds it, because several brokers have to agree on it.
"""

from abc import abstractmethod
from collections import Counter
from collections.abc import Collection, Iterable
from typing import Annotated, Any, ClassVar, Final

import msgspec

from tamis.routing.broker import Capabilities, Options
from tamis.routing.conditions import is_canonical
from tamis.routing.interface import Entry, check_engine
from tamis.routing.interfaces import Interfaces
from tamis.routing.keys import KEY_BYTES, MOST, Keys, from_wire, key_of, to_wire
from tamis.routing.mendable import Mendable
from tamis.routing.offers import Everything, Offer, Uncovered, suffice
from tamis.routing.packets import (
    AnyPacket,
    Event,
    Filters,
    Keyed,
    KeyedSubscription,
    KeyedSubscriptions,
    Name,
    Packet,
    Plain,
    Subscription,
)
from tamis.routing.registry import register
from tamis.routing.spelling import is_subscription, read, spelt

#: Keys in a message, at most: about as many as a match costs. In the thesis 40 to 60 serve best, under covering 20
#: (L1798). Here a key costs much less beside a match (docs/results/000-reuse.md).
KEYS: Final = 500
KEYS_UNDER_COVERING: Final = 20
#: [ours] Of so many subscriptions of its own clients that keys name a broker compares each with the event. To search
#: the index of all of them takes no longer than two of them do.
FEW: Final = 1
#: So many keys are tried for a new subscription; then it shares one.
TRIES: Final = 16


class ReuseOptions(Options, frozen=True, kw_only=True):
    """`engine` is the index of each interface. `covering`: conditions that others cover are not spread."""

    covering: bool = False

    def __post_init__(self) -> None:
        check_engine(self.engine)


class AlwaysOptions(ReuseOptions, frozen=True, kw_only=True):
    """Covering is refused."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.covering:
            raise ValueError(
                "reuse-always does not work with covering: keys name only subscriptions that no other covers, so "
                "clients with covered ones would lose events; use reuse-partial"
            )


class PartialOptions(ReuseOptions, frozen=True, kw_only=True):
    """`keys`: how many keys a message has at most; 500 if not given, 20 with covering."""

    keys: Annotated[int, msgspec.Meta(ge=1)] | None = None


class Reuse(Mendable):
    """Keeps the subscriptions behind each neighbour in an index of their own.

    Counted are the indexes that an event was compared with, at its first broker (`source_matches`) and at others
    (`downstream_matches`), and the keys looked up (`key_lookups`).
    """

    Settings: ClassVar[type[ReuseOptions]] = ReuseOptions
    speaks: ClassVar[tuple[type[Packet], ...]] = (Plain, Keyed, KeyedSubscriptions, Filters)

    def __init__(self, name: Name, options: ReuseOptions) -> None:
        super().__init__(name, options)
        self._covering = options.covering
        #: Behind a neighbour lie subscriptions, or conditions if there is covering.
        self.interfaces: Interfaces[Any] = Interfaces(options.engine)
        #: What each neighbour is told: subscriptions with their keys, or conditions.
        self.offers: dict[Name, Offer[Any]] = {}

    # --- subscriptions -----------------------------------------------------------------------------------

    def on_subscribe(self, client: Name, condition: str) -> None:
        subscription = Subscription(self.name, client, condition)
        key = self._key(subscription)
        self.interfaces.add_local(subscription, key)
        self._offer(None, (), (self._item(subscription, key),))

    def on_unsubscribe(self, client: Name, condition: str) -> None:
        subscription = Subscription(self.name, client, condition)
        key = self.interfaces.remove_local(subscription)
        self._offer(None, (self._item(subscription, key),), ())

    def on_neighbour_up(self, neighbour: Name) -> None:
        self.interfaces.open(neighbour)
        self.offers[neighbour] = self._offer_to(neighbour)
        self._tell(neighbour)

    def on_neighbour_down(self, neighbour: Name) -> None:
        del self.offers[neighbour]
        gone = self.interfaces.close(neighbour)
        self._offer(neighbour, tuple(self._item(entry.item, entry.key) for entry in gone), ())

    def on_packet(self, neighbour: Name, packet: Any) -> None:
        if isinstance(packet, KeyedSubscriptions) and not self._covering:
            self._learn(neighbour, packet.remove, [(each.subscription, each.key) for each in packet.add])
        elif isinstance(packet, Filters) and self._covering:
            self._learn(neighbour, packet.remove, [(each, key_of(each)) for each in packet.add])
        elif isinstance(packet, Plain | Keyed):
            self.pass_on(neighbour, packet)
        else:
            self.record("refused")

    def _learn(self, neighbour: Name, remove: Iterable[Any], add: Iterable[tuple[Any, int]]) -> None:
        """Note what lies behind a neighbour no longer, and what does now, and offer it to the others."""
        behind = self.interfaces.behind[neighbour]
        gone = [each for each in dict.fromkeys(remove) if each in behind]
        keys = self.interfaces.remove(neighbour, gone)
        come = {each: key for each, key in add if each not in behind}
        self.interfaces.add(neighbour, [Entry(each, self._condition(each), key) for each, key in come.items()])
        self._offer(
            neighbour,
            tuple(self._item(each, key) for each, key in zip(gone, keys, strict=True)),
            tuple(self._item(each, key) for each, key in come.items()),
        )

    def _condition(self, what: Subscription | str) -> str:
        return what if isinstance(what, str) else what.condition

    def _item(self, what: Any, key: int) -> Any:
        """Return what is offered of a subscription or condition."""
        return self._condition(what) if self._covering else KeyedSubscription(what, key)

    def _offer(self, source: Name | None, gone: tuple[Any, ...], come: tuple[Any, ...]) -> None:
        """Offer what has changed on one side to all others (specs/000 §5, network rule)."""
        for neighbour, offer in self.offers.items():
            if neighbour != source:
                for item in come:
                    offer.add(item)
                for item in gone:
                    if item in offer:
                        offer.remove(item)
                self._tell(neighbour)

    def _tell(self, neighbour: Name) -> None:
        gone, come = self.offers[neighbour].take()
        if not (gone or come):
            return
        if self._covering:
            self.send(neighbour, Filters(gone, come))
        else:
            self.send(neighbour, KeyedSubscriptions(tuple(each.subscription for each in gone), come))

    def _key(self, subscription: Subscription) -> int:
        if self._covering:
            return key_of(subscription.condition)
        text = msgspec.json.encode(subscription).decode()
        keys = [key_of(text)]
        while keys[-1] in self.interfaces.keys and len(keys) < TRIES:
            keys.append(key_of(text, len(keys)))
        return keys[-1]

    # --- what can be mended ------------------------------------------------------------------------------

    def own(self) -> list[str]:
        local = self.interfaces.local.entries()
        return list(dict.fromkeys(self._spelt(entry.item, entry.key) for entry in local))

    def held(self, neighbour: Name) -> list[str]:
        return [self._spelt(entry.item, entry.key) for entry in self.interfaces.behind[neighbour].entries()]

    def hold(self, neighbour: Name, items: Iterable[str]) -> None:
        self.interfaces.behind[neighbour] = self.interfaces.interface(self._read(items))

    def owed(self, neighbour: Name) -> list[str]:
        return self._texts(self._offer_to(neighbour))

    def told(self, neighbour: Name) -> list[str]:
        return self._texts(self.offers[neighbour])

    def derive(self) -> None:
        known = {entry.item: entry.key for entry in self.interfaces.local.entries()}
        local = [Subscription(self.name, client, condition) for client, condition in self.clients.pairs()]
        self.interfaces = self.interfaces.emptied()
        for subscription in local:
            key = known.get(subscription)
            self.interfaces.add_local(subscription, self._key(subscription) if key is None else key)
        for neighbour in self.neighbours:
            offer = self.offers[neighbour] = self._offer_to(neighbour)
            offer.take()

    def is_item(self, text: str) -> bool:
        if self._covering:
            return is_canonical(text)
        key, _, subscription = text.partition(" ")
        if not (key.isascii() and key.isdecimal() and is_subscription(subscription)):
            return False
        return str(int(key)) == key and int(key) <= MOST

    def news(self, gone: Collection[str], come: Collection[str]) -> list[AnyPacket]:
        if self._covering:
            return [Filters(tuple(gone), tuple(come))]
        add = tuple(KeyedSubscription(entry.item, entry.key) for entry in self._read(come))
        return [KeyedSubscriptions(tuple(entry.item for entry in self._read(gone)), add)]

    def after(self, held: Collection[str], packet: AnyPacket) -> list[str]:
        known = {entry.item: entry.key for entry in self._read(held)}
        if isinstance(packet, Filters if self._covering else KeyedSubscriptions):
            for item in packet.remove:
                known.pop(item, None)
            for each in packet.add:
                item, key = (each, key_of(each)) if isinstance(each, str) else (each.subscription, each.key)
                known.setdefault(item, key)
        return [self._spelt(item, key) for item, key in known.items()]

    def agrees(self, held: Collection[str], there: Collection[str], here: Collection[str]) -> bool:
        if not self._covering:
            return super().agrees(held, there, here)
        return set(held) <= set(there) and suffice(held, there)

    def _offer_to(self, neighbour: Name) -> Offer[Any]:
        """Return what is to be offered to a neighbour; where there is a choice, what it was told already."""
        own = [self._item(entry.item, entry.key) for entry in self.interfaces.local.entries()]
        behind = [each for side, each in self.interfaces.behind.items() if side != neighbour]
        wanted = Counter([*own, *(self._item(entry.item, entry.key) for each in behind for entry in each.entries())])
        told = self.offers[neighbour].told if neighbour in self.offers else []
        offer: Offer[Any] = Offer(Uncovered("flat", 1, "kdtree") if self._covering else Everything())
        for item in dict.fromkeys((*(each for each in told if each in wanted), *wanted)):
            for _ in range(wanted[item]):
                offer.add(item)
        return offer

    def _texts(self, offer: Offer[Any]) -> list[str]:
        return offer.told if self._covering else [self._spelt(each.subscription, each.key) for each in offer.told]

    def _spelt(self, what: Any, key: int) -> str:
        return self._condition(what) if self._covering else f"{key} {spelt(what)}"

    def _read(self, texts: Iterable[str]) -> list[Entry[Any]]:
        if self._covering:
            return [Entry(text, text, key_of(text)) for text in texts]
        parts = (text.partition(" ") for text in texts)
        entries = ((read(subscription), int(key)) for key, _, subscription in parts)
        # A subscription has one key: of several, which can only be by mistake, the last one counts.
        return [Entry(each, each.condition, key) for each, key in dict(entries).items()]

    # --- events ------------------------------------------------------------------------------------------

    @abstractmethod
    def forward(self, neighbour: Name, event: Event) -> None:
        """Compare an event with what lies behind a neighbour, and send it there if something is met."""

    @abstractmethod
    def pass_on(self, neighbour: Name, packet: Plain | Keyed) -> None:
        """Do with an event that came from a neighbour what is to be done."""

    def on_publish(self, client: Name, event: Event) -> None:  # noqa: ARG002
        self.record("matches")
        self.record("source_matches", 1 + len(self.neighbours))
        self.deliver_met(event)
        for neighbour in self.neighbours:
            self.forward(neighbour, event)

    def deliver_met(self, event: Event) -> None:
        """Compare an event with what local clients want."""
        met = self.interfaces.local.met(event.content)
        self.deliver(event, dict.fromkeys(subscription.client for subscription in met))

    def stored(self) -> int:
        return len(self.interfaces)

    def check_invariants(self) -> None:
        super().check_invariants()
        self.interfaces.check_invariants()
        local = {(entry.item.client, entry.condition) for entry in self.interfaces.local.entries()}
        assert local == set(self.clients.pairs())
        assert self.interfaces.behind.keys() == self.neighbours.keys()
        assert self.offers.keys() == self.neighbours.keys()
        for neighbour, offer in self.offers.items():
            own = [self._item(entry.item, entry.key) for entry in self.interfaces.local.entries()]
            others = [each for other, each in self.interfaces.behind.items() if other != neighbour]
            behind = [self._item(entry.item, entry.key) for each in others for entry in each.entries()]
            assert all(item in offer for item in own + behind)


@register(
    "reuse-never",
    Capabilities(
        exact=True,
        general=False,
        advertisements=False,
        summary="every broker compares events with what lies behind each link, until the first match",
    ),
)
class NeverReuse(Reuse):
    """Compares at every broker (specs/000 §3, NEVER)."""

    def forward(self, neighbour: Name, event: Event) -> None:
        if self.interfaces.behind[neighbour].any(event.content):
            self.send(neighbour, Plain(event))

    def pass_on(self, neighbour: Name, packet: Plain | Keyed) -> None:
        self.record("matches")
        self.record("downstream_matches", len(self.neighbours))
        self.deliver_met(packet.event)
        for other in self.neighbours:
            if other != neighbour:
                self.forward(other, packet.event)


class KeyReuse(Reuse):
    """Sends keys along (specs/000 §3, ALWAYS and PARTIAL; Alg. 3.6 under covering).

    [O] Two subscriptions may have the same key, so what a key names is compared with the event before it is delivered.
    """

    #: How many keys a message has at most; None for as many as there are.
    most: int | None = None

    def forward(self, neighbour: Name, event: Event) -> None:
        keys = self.interfaces.behind[neighbour].find(event.content, self.most)
        if len(keys):
            complete = not self._covering and (self.most is None or len(keys) < self.most)
            self.send(neighbour, Keyed(event, to_wire(keys), complete))

    def pass_on(self, neighbour: Name, packet: Plain | Keyed) -> None:
        if not isinstance(packet, Keyed) or len(packet.keys) % KEY_BYTES:
            self.record("refused")
        elif packet.complete and not self._covering:
            self._all_known(neighbour, packet.event, from_wire(packet.keys))
        else:
            self._some_known(neighbour, packet.event, from_wire(packet.keys))

    def _all_known(self, source: Name, event: Event, keys: Keys) -> None:
        self.record("key_lookups", len(keys))
        local, behind = self.interfaces.look_up(keys, source)
        if len(local) > FEW:
            self.record("matches")
            self.record("downstream_matches")
            self.deliver_met(event)
        elif len(local):
            named = self.interfaces.named(local, event.content)
            self.deliver(event, dict.fromkeys(subscription.client for subscription in named))
        for neighbour, some in behind.items():
            self.send(neighbour, Keyed(event, to_wire(some), True))

    def _some_known(self, source: Name, event: Event, keys: Keys) -> None:
        self.record("matches")
        compared = 1
        self.deliver_met(event)
        if len(self.neighbours) > 1:
            self.record("key_lookups", len(keys))
            _, behind = self.interfaces.look_up(keys, source)
            for neighbour in self.neighbours:
                if neighbour in behind:
                    self.send(neighbour, Keyed(event, to_wire(behind[neighbour]), False))
                elif neighbour != source:
                    compared += 1
                    self.forward(neighbour, event)
        self.record("downstream_matches", compared)


@register(
    "reuse-always",
    Capabilities(
        exact=True,
        general=False,
        advertisements=False,
        summary="events carry the keys of all subscriptions that they meet; only the first broker compares for others",
    ),
)
class AlwaysReuse(KeyReuse):
    """Sends all keys."""

    Settings = AlwaysOptions


@register(
    "reuse-partial",
    Capabilities(
        exact=True,
        general=False,
        advertisements=False,
        summary="events carry the keys of some subscriptions that they meet; brokers compare where these do not help",
    ),
)
class PartialReuse(KeyReuse):
    """Sends so many keys at most."""

    Settings = PartialOptions

    def __init__(self, name: Name, options: PartialOptions) -> None:
        super().__init__(name, options)
        self.most = options.keys or (KEYS_UNDER_COVERING if options.covering else KEYS)
