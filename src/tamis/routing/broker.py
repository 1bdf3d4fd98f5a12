"""What a broker is: a state machine without sockets, clock or chance. `handle(message, now)` gives back what to do.

The simulator and the server run the same object. A strategy is a subclass that says, for each kind of message, what
to send; the clients and what they asked for are kept here, for all strategies alike.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from typing import Any, ClassVar

import msgspec

from tamis.recent import Recent
from tamis.routing.clauses import Clauses
from tamis.routing.conditions import asked, canonical, parsed
from tamis.routing.messages import (
    Action,
    Advertise,
    Arrived,
    ClientLeft,
    Deliver,
    Fired,
    Message,
    NeighbourDown,
    NeighbourUp,
    Publish,
    Record,
    Send,
    SetTimer,
    Subscribe,
    Unadvertise,
    Unsubscribe,
)
from tamis.routing.packets import AnyPacket, Event, Name, Packet
from tamis.routing.table import Table


class Capabilities(msgspec.Struct, frozen=True, kw_only=True):
    """What a strategy promises."""

    #: Clients get only what they asked for; otherwise they may get more, but never less.
    exact: bool
    #: Links may form circles; otherwise the overlay is a tree, or several.
    general: bool
    #: Only events that meet an advertisement of their publisher are routed.
    advertisements: bool
    #: One line on how it works and where it comes from.
    summary: str


class Options(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What can be set for a strategy: all have `engine`, the engine that matches events (see `tamis.engines()`)."""

    engine: str = "auto"


class Broker(ABC):
    """One broker. Subclasses answer by calling `send`, `deliver`, `set_timer` and `record` while they handle a message.

    To give the same answer in every run, nothing may depend on the order of a set of strings: keep dictionaries.
    """

    #: The struct of options that this strategy takes.
    Settings: ClassVar[type[Options]] = Options
    #: The packets that it understands. Others are counted as `refused` and dropped.
    speaks: ClassVar[tuple[type[Packet], ...]]

    #: Whether its tables can be leased (`tamis.routing.leasable`).
    soft: ClassVar[bool] = False

    def __init__(self, name: Name, options: Options) -> None:
        self.name = name
        self.now = 0.0
        #: Links that stand, in the order in which they came.
        self.neighbours: dict[Name, None] = {}
        #: What local clients subscribed to, and what they advertised.
        self.clients = Table(options.engine)
        self.adverts = Table(options.engine)
        #: Those subscriptions of local clients that have a `notify` clause. Only their conditions are in `clients`.
        self._clauses = Clauses(options.engine)
        self._delivered: Recent[Name] = Recent()
        self._actions: list[Action] = []
        self._handlers: dict[type, Callable[[Any], None]] = {
            Subscribe: self._subscribe,
            Unsubscribe: self._unsubscribe,
            Advertise: self._advertise,
            Unadvertise: self._unadvertise,
            Publish: lambda message: self.on_publish(message.client, message.event),
            ClientLeft: self._client_left,
            NeighbourUp: self._neighbour_up,
            NeighbourDown: self._neighbour_down,
            Arrived: self._arrived,
            Fired: lambda message: self.on_timer(message.timer),
        }

    def handle(self, message: Message, now: float) -> list[Action]:
        """Take a message at a time of this broker's clock; return what is to be done, in order.

        A condition that is none is an `ExpressionError`; then nothing has changed.
        """
        self.now = now
        self._actions = []
        self._handlers[type(message)](message)
        return self._actions

    # --- what a strategy says --------------------------------------------------------------------------

    @classmethod
    def capabilities(cls, options: Options, default: Capabilities) -> Capabilities:  # noqa: ARG003 - some differ
        """Return what the strategy promises with these options, given what it promises without any."""
        return default

    @classmethod
    def create(cls, name: Name, options: Any) -> "Broker":
        """Return a new broker; some strategies are of several kinds, and the options say which."""
        return cls(name, options)

    @abstractmethod
    def on_subscribe(self, client: Name, condition: str) -> None:
        """A local client holds a new condition; `self.clients` knows it already."""

    @abstractmethod
    def on_unsubscribe(self, client: Name, condition: str) -> None:
        """A local client no longer holds a condition; `self.clients` has forgotten it."""

    def on_advertise(self, client: Name, condition: str) -> None:  # noqa: B027 - some need nothing
        """A local client advertises a new condition; `self.adverts` knows it already."""

    def on_unadvertise(self, client: Name, condition: str) -> None:  # noqa: B027 - some need nothing
        """A local client no longer advertises a condition; `self.adverts` has forgotten it."""

    @abstractmethod
    def on_publish(self, client: Name, event: Event) -> None:
        """A local client publishes an event."""

    @abstractmethod
    def on_packet(self, neighbour: Name, packet: Any) -> None:
        """A packet of a kind in `speaks` came from a neighbour."""

    def on_neighbour_up(self, neighbour: Name) -> None:  # noqa: B027 - some need nothing
        """A link has come; `self.neighbours` has it already."""

    def on_neighbour_down(self, neighbour: Name) -> None:  # noqa: B027 - some need nothing
        """A link has gone; `self.neighbours` has forgotten it."""

    def on_timer(self, timer: str) -> None:  # noqa: B027 - some need nothing
        """A timer has run out."""

    def stored(self) -> int:
        """Return how many subscriptions this broker keeps, its clients' included."""
        return len(self.clients)

    def check_invariants(self) -> None:
        """Raise `AssertionError` if something does not fit together."""
        self.clients.check_invariants()
        self.adverts.check_invariants()
        self._clauses.check_invariants(self.clients)

    def advertised(self, client: Name, event: Event) -> str | None:
        """Return an advertisement of a client that an event of its meets, if there is one."""
        for condition in self.adverts.held_by(client):
            if parsed(condition).matches(event.content):
                return condition
        return None

    # --- what a strategy answers with ------------------------------------------------------------------

    def send(self, neighbour: Name, packet: AnyPacket) -> None:
        """Send a packet to a neighbour."""
        self._actions.append(Send(neighbour, packet))

    def deliver(self, event: Event, clients: Iterable[Name]) -> None:
        """Hand an event to local clients, unless it was here already or their `notify` clauses hold it back.

        While links come and go, an event can reach a broker by an old way and by a new one.
        """
        listed = list(clients)
        if listed and self._delivered.add(event.id):
            if self._clauses.held and any(client in self._clauses for client in listed):
                self.record("matches")
                listed, unmeasured = self._clauses.told(event.content, listed)
                if unmeasured:
                    self.record("unmeasured", unmeasured)
            self._actions += [Deliver(client, event) for client in listed]

    def set_timer(self, timer: str, after: float, background: bool = False) -> None:
        """Be called by `on_timer` after so many seconds."""
        self._actions.append(SetTimer(timer, after, background))

    def record(self, metric: str, value: float = 1) -> None:
        """Count something. `matches` counts how often a broker compared an event with conditions."""
        self._actions.append(Record(metric, value))

    # --- the clients -----------------------------------------------------------------------------------

    def _subscribe(self, message: Subscribe) -> None:
        client = message.client
        condition, notify = asked(message.condition)
        if notify is not None or client in self._clauses:
            self._clauses.add(client, condition, notify, self.clients)
        if self.clients.add(client, condition):
            self.on_subscribe(client, condition)

    def _unsubscribe(self, message: Unsubscribe) -> None:
        client = message.client
        condition, notify = asked(message.condition)
        # A condition goes with the last subscription that has it, whatever clauses they have.
        goes = self._clauses.remove(client, condition, notify) if client in self._clauses else notify is None
        if goes and self.clients.remove(client, condition):
            self.on_unsubscribe(client, condition)

    def _advertise(self, message: Advertise) -> None:
        condition = canonical(message.condition)
        if self.adverts.add(message.client, condition):
            self.on_advertise(message.client, condition)

    def _unadvertise(self, message: Unadvertise) -> None:
        condition = canonical(message.condition)
        if self.adverts.remove(message.client, condition):
            self.on_unadvertise(message.client, condition)

    def _client_left(self, message: ClientLeft) -> None:
        self._clauses.drop(message.client)
        for condition in self.clients.held_by(message.client):
            self.clients.remove(message.client, condition)
            self.on_unsubscribe(message.client, condition)
        for condition in self.adverts.held_by(message.client):
            self.adverts.remove(message.client, condition)
            self.on_unadvertise(message.client, condition)

    def abandon(self, client: Name, condition: str) -> None:
        """Let a local client no longer hold a condition, whatever clauses it has with it."""
        self._clauses.abandon(client, condition)
        if self.clients.remove(client, condition):
            self.on_unsubscribe(client, condition)

    def abandon_advert(self, client: Name, condition: str) -> None:
        """Let a local client no longer advertise a condition."""
        if self.adverts.remove(client, condition):
            self.on_unadvertise(client, condition)

    # --- the links -------------------------------------------------------------------------------------

    def _neighbour_up(self, message: NeighbourUp) -> None:
        if message.neighbour not in self.neighbours:
            self.neighbours[message.neighbour] = None
            self.on_neighbour_up(message.neighbour)

    def _neighbour_down(self, message: NeighbourDown) -> None:
        if message.neighbour in self.neighbours:
            del self.neighbours[message.neighbour]
            self.on_neighbour_down(message.neighbour)

    def _arrived(self, message: Arrived) -> None:
        # What was sent over a link that has gone since is of an earlier time.
        if message.neighbour in self.neighbours and isinstance(message.packet, self.speaks):
            self.on_packet(message.neighbour, message.packet)
        else:
            self.record("refused")
