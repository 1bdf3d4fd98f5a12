"""What is in a store, and what is written to it together."""

from dataclasses import dataclass, field
from typing import NamedTuple

import msgspec


class Entry(NamedTuple):
    """An event in the log."""

    position: int
    origin: str
    sequence: int
    id: str
    #: As msgpack.
    content: bytes
    trace: str | None = None


class Kept(NamedTuple):
    """A durable subscription."""

    number: int
    owner: str
    name: str
    condition: str
    #: So many events that it wanted were given up here, and so many elsewhere, of which nobody knows who wanted them.
    given_up: int = 0
    unseen: int = 0


class Told(NamedTuple):
    """What a subscription with a `notify` clause was told last for a key: as much of the event as matters."""

    subscription: int
    key: bytes
    content: bytes
    position: int


class Member(msgspec.Struct, frozen=True, array_like=True):
    """A store of the overlay, as far as it is known here."""

    id: str
    #: The broker's name. Of two stores with the same name only the one that was made later counts.
    name: str
    made: int
    #: When its broker was there for the last time; on links, how many seconds ago that is.
    seen: float
    #: Of each origin, how many events it has.
    vector: dict[str, int]


class Origin(NamedTuple):
    """What is known of the events of one origin: how many are here or were, are everywhere, and were given up."""

    have: int
    stable: int
    given_up: int


class GivenUp(NamedTuple):
    """What was given up for want of room, or because it was too old."""

    #: How many events each subscription lost.
    events: dict[int, int]
    #: Up to where events of an origin went before all stores had them.
    origins: dict[str, int]


@dataclass
class Changes:
    """What is written together. All of it is on disk afterwards, or nothing."""

    entries: list[Entry] = field(default_factory=list)
    wanted: list[tuple[int, int]] = field(default_factory=list)
    told: dict[tuple[int, bytes], Told] = field(default_factory=dict)
    subscriptions: list[Kept] = field(default_factory=list)
    #: These come first: nothing else here is about them, and their names may be used anew.
    ended: list[int] = field(default_factory=list)
    have: dict[str, int] = field(default_factory=dict)
    #: So many events were given up elsewhere: all subscriptions are told.
    unseen: int = 0
    members: list[Member] = field(default_factory=list)
    forgotten: list[str] = field(default_factory=list)
    stable: dict[str, int] = field(default_factory=dict)
    #: Of each subscription, up to which position it has acknowledged.
    acknowledged: dict[int, int] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return any(getattr(self, name) for name in self.__dataclass_fields__)

    def releasing(self) -> "Changes":
        """Return only what makes room."""
        return Changes(stable=self.stable, acknowledged=self.acknowledged)
