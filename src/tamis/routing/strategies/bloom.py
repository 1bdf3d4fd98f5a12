"""Bloom-filter routing: an event is matched by content once and forwarded by bits (specs/004 §5, thesis §5.1)."""

from typing import Final

from tamis.routing.bloom import Places, Store, filters_of, tables
from tamis.routing.broker import Capabilities, Options
from tamis.routing.packets import Event, Filters, Marked, Name
from tamis.routing.registry import register
from tamis.routing.strategies.identity import Identity
from tamis.sketches import Hashes

_CLIENT: Final = "client"
_NEIGHBOUR: Final = "neighbour"


class BloomOptions(Options, frozen=True, kw_only=True):
    """How events are forwarded by bits."""

    #: The forwarding table: `sbstree`, `counting`, `skiptree` or `matrix`.
    table: str = "counting"
    #: How many bits there are, and how many a predicate has.
    bits: int = 1 << 14
    hashes: int = 2
    #: Whether a broker compares an event with its clients' conditions before it delivers.
    verify_at_edge: bool = False

    def __post_init__(self) -> None:
        Hashes(self.bits, self.hashes)
        if self.table not in tables():
            raise ValueError(f"there is no forwarding table {self.table!r}; there are: {', '.join(sorted(tables()))}")


@register(
    "bloom",
    Capabilities(
        exact=False,
        general=False,
        advertisements=False,
        summary="matched by content once, forwarded by the bits of a Bloom filter; exact with verify_at_edge",
    ),
)
class Bloom(Identity):
    """Knows every condition of the overlay. The first broker finds the bits of an event, all forward by them alone.

    Conditions spread by identity, never by covering: where a condition were kept back, its bits would be unknown to
    the broker that an event enters by, and the event be lost. Bits that predicates share lead events astray, which
    costs messages and, unless verified, brings clients what they did not ask for. Nothing is ever lost by that.
    """

    Settings = BloomOptions
    speaks = (Marked, Filters)

    def __init__(self, name: Name, options: BloomOptions) -> None:
        super().__init__(name, options)
        self._options = options
        self._store = self._empty_store()
        self._verifies = options.verify_at_edge

    def _empty_store(self) -> Store:
        hashes = Hashes(self._options.bits, self._options.hashes)
        return Store(self._options.table, hashes.bits, hashes.places)

    @classmethod
    def capabilities(cls, options: Options, default: Capabilities) -> Capabilities:
        assert isinstance(options, BloomOptions)
        return Capabilities(
            exact=options.verify_at_edge,
            general=default.general,
            advertisements=default.advertisements,
            summary=default.summary,
        )

    # --- conditions --------------------------------------------------------------------------------------

    def on_subscribe(self, client: Name, condition: str) -> None:
        if filters_of(condition).blunt:
            self.record("blunt")
        self._store.add(condition, (_CLIENT, client))
        super().on_subscribe(client, condition)

    def on_unsubscribe(self, client: Name, condition: str) -> None:
        self._store.remove(condition, (_CLIENT, client))
        super().on_unsubscribe(client, condition)

    def on_neighbour_down(self, neighbour: Name) -> None:
        for condition in self.wanted.held_by(neighbour):
            self._store.remove(condition, (_NEIGHBOUR, neighbour))
        super().on_neighbour_down(neighbour)

    def on_packet(self, neighbour: Name, packet: Marked | Filters) -> None:  # type: ignore[override] # of `speaks`
        if isinstance(packet, Marked):
            if packet.places and not 0 <= min(packet.places) <= max(packet.places) < self._options.bits:
                self.record("refused")
                return
            self._forward(packet.event, packet.places, neighbour)
            return
        for condition in packet.remove:
            self._store.remove(condition, (_NEIGHBOUR, neighbour))
        for condition in packet.add:
            self._store.add(condition, (_NEIGHBOUR, neighbour))
        super().on_packet(neighbour, packet)

    def derive(self) -> None:
        super().derive()
        self._store = self._empty_store()
        for condition, interface in self._stored():
            self._store.add(condition, interface)

    def fits(self) -> bool:
        stored = self._stored()
        filters = sum(len(filters_of(condition).filters) for condition, _ in stored)
        return (
            filters == len(self._store.table)
            and all(self._store.holds(condition, interface) for condition, interface in stored)
            and super().fits()
        )

    def _stored(self) -> list[tuple[str, tuple[str, Name]]]:
        """Return what the store has to have."""
        clients = [(condition, (_CLIENT, client)) for client, condition in self.clients.pairs()]
        return clients + [(condition, (_NEIGHBOUR, neighbour)) for neighbour, condition in self.wanted.pairs()]

    # --- events ------------------------------------------------------------------------------------------

    def route(self, event: Event, source: Name | None) -> None:
        self.record("matches")
        self._forward(event, self._store.bits_of(event.content), source)

    def _forward(self, event: Event, places: Places, source: Name | None) -> None:
        found = self._store.interfaces(places)
        clients = [name for kind, name in found if kind == _CLIENT]
        if clients and self._verifies:
            self.record("matches")
            clients = self.clients.interested(event.content)
        self.deliver(event, clients)
        for kind, name in found:
            if kind == _NEIGHBOUR and name != source:
                self.send(name, Marked(event, places))

    def check_invariants(self) -> None:
        super().check_invariants()
        self._store.check_invariants()
        held = [condition for table in (self.clients, self.wanted) for _, condition in table.pairs()]
        assert len(self._store.table) == sum(len(filters_of(condition).filters) for condition in held)
