"""What a broker is told and what it answers: the two sides of `handle(message, now) -> list[Action]`."""

from typing import TypeAlias

import msgspec

from tamis.routing.packets import AnyPacket, Event, Name

# --- told by clients ------------------------------------------------------------------------------------


class Subscribe(msgspec.Struct, frozen=True, tag=True):
    """A client wants the events that meet a condition. Asked twice, it is as if asked once.

    The condition may be followed by a `notify` clause. With other clauses, or with none, it is another subscription.
    """

    client: Name
    condition: str


class Unsubscribe(msgspec.Struct, frozen=True, tag=True):
    """A client takes one subscription back, as it was made: with its clause, if it had one."""

    client: Name
    condition: str


class Advertise(msgspec.Struct, frozen=True, tag=True):
    """A client announces that the events it will publish meet a condition."""

    client: Name
    condition: str


class Unadvertise(msgspec.Struct, frozen=True, tag=True):
    """A client takes one announcement back."""

    client: Name
    condition: str


class Publish(msgspec.Struct, frozen=True, tag=True, omit_defaults=True):
    """A client publishes an event."""

    client: Name
    event: Event
    #: What the broker's clock showed when the client did so; None if that is now, and nothing has waited since.
    created: float | None = None


class ClientLeft(msgspec.Struct, frozen=True, tag=True):
    """A client is gone, and with it all its subscriptions and advertisements. It joins by asking for anything."""

    client: Name


# --- told by the world ----------------------------------------------------------------------------------


class NeighbourUp(msgspec.Struct, frozen=True, tag=True):
    """There is a link to a broker now. Both ends know nothing of what was on an earlier link."""

    neighbour: Name


class NeighbourDown(msgspec.Struct, frozen=True, tag=True):
    """The link to a broker is gone, with all that was on its way."""

    neighbour: Name


class Arrived(msgspec.Struct, frozen=True, tag=True, omit_defaults=True):
    """A packet came over a link. Links keep the order."""

    neighbour: Name
    packet: AnyPacket
    #: At most so many seconds have passed since somebody caused it; None if nobody measures that.
    age: float | None = None


class Fired(msgspec.Struct, frozen=True, tag=True):
    """A timer that was set has run out."""

    timer: str


Message: TypeAlias = (
    Subscribe
    | Unsubscribe
    | Advertise
    | Unadvertise
    | Publish
    | ClientLeft
    | NeighbourUp
    | NeighbourDown
    | Arrived
    | Fired
)


# --- answered by a broker -------------------------------------------------------------------------------


class Send(msgspec.Struct, frozen=True, tag=True):
    """Send a packet over the link to a neighbour."""

    neighbour: Name
    packet: AnyPacket


class Deliver(msgspec.Struct, frozen=True, tag=True, omit_defaults=True):
    """Hand an event to a client."""

    client: Name
    event: Event
    #: At most so many seconds have passed since it was published; None if nobody measures that.
    age: float | None = None

    def age_after(self, seconds: float) -> float | None:
        """Return how old the event is if this is done at most so many seconds after the broker answered."""
        return None if self.age is None else self.age + seconds


class SetTimer(msgspec.Struct, frozen=True, tag=True):
    """Tell me when so many seconds have passed by my own clock. A timer of the same name is set anew.

    An overlay in which only `background` timers run is quiet.
    """

    timer: str
    after: float
    background: bool = False


class Record(msgspec.Struct, frozen=True, tag=True):
    """Count something that only the broker can see, such as how often it matched an event by its content."""

    metric: str
    value: float = 1


class Connect(msgspec.Struct, frozen=True, tag=True):
    """Open a link to a broker, if there is none. Both ends will be told when it stands."""

    neighbour: Name


class Disconnect(msgspec.Struct, frozen=True, tag=True):
    """Close the link to a neighbour, if it stands. Both ends will be told."""

    neighbour: Name


Action: TypeAlias = Send | Deliver | SetTimer | Record | Connect | Disconnect
