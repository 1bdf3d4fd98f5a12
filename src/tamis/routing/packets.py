"""What brokers send each other: one union of frozen structs.

A strategy uses some of them. Conditions travel as text in canonical spelling (`conditions.canonical`).
"""

from typing import Any, ClassVar, TypeAlias

import msgspec

#: A broker or a client. Brokers and clients may bear the same name: nothing mixes them.
Name: TypeAlias = str | int


class Event(msgspec.Struct, frozen=True):
    """What a publisher says: an id that is unique in the overlay, and attributes with their values."""

    id: Name
    content: dict[str, Any]


class Packet(msgspec.Struct, frozen=True, tag=True):
    """What goes over a link."""

    #: Whether it is sent for ever, so that an overlay in which nothing else moves is quiet.
    background: ClassVar[bool] = False


class Plain(Packet, frozen=True):
    """An event and nothing else."""

    event: Event


class Subscription(msgspec.Struct, frozen=True):
    """One client's condition, told apart from the same condition of another client."""

    broker: Name
    client: Name
    condition: str


class Subscriptions(Packet, frozen=True):
    """Subscriptions of clients behind the sender, each told of by itself: some are gone, some are new."""

    remove: tuple[Subscription, ...]
    add: tuple[Subscription, ...]


class Filters(Packet, frozen=True):
    """The sender wants other events than before: first forget some conditions, then add some, as one step.

    Sending both at once leaves no moment in which an event could slip through (specs/004 §3).
    """

    remove: tuple[str, ...]
    add: tuple[str, ...]


class Adverts(Packet, frozen=True):
    """Publishers behind the sender announce other events than before; first remove, then add."""

    remove: tuple[str, ...]
    add: tuple[str, ...]


#: Every packet there is; the wire and traces are read with it.
AnyPacket: TypeAlias = Plain | Subscriptions | Filters | Adverts


def carried(packet: AnyPacket) -> Event | None:
    """Return the event that a packet carries, if it carries one."""
    return getattr(packet, "event", None)
