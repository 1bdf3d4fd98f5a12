"""What the durable side of a broker is asked for, and the subscriptions that this is about."""

from typing import Any, NamedTuple, TypeAlias

from tamis.server.changes import Entry, Kept
from tamis.server.consumer import Consumer, Done


class Subscription:
    """A durable subscription while the broker runs."""

    def __init__(self, kept: Kept) -> None:
        self.number = kept.number
        self.owner = kept.owner
        self.name = kept.name
        self.condition = kept.condition
        self.given_up = kept.given_up
        self.unseen = kept.unseen
        #: Events up to this position have been dealt with.
        self.acknowledged = 0
        self.consumer: Consumer | None = None

    def tell_given_up(self) -> None:
        """Tell whoever takes the events how many were lost."""
        if self.consumer is not None:
            self.consumer.taker.tell_given_up(self.given_up, self.unseen)


class Publishing(NamedTuple):
    """Somebody publishes a durable event."""

    id: str
    content: dict[str, Any]
    data: bytes
    trace: str | None
    done: Done


class HandedOver(NamedTuple):
    """An event from another broker; so many before it were given up elsewhere."""

    entry: Entry
    unseen: int


class Subscribing(NamedTuple):
    """Somebody wants to take the events of a durable subscription."""

    owner: str
    name: str
    condition: str
    consumer: Consumer
    done: Done


class Ending(NamedTuple):
    """Somebody ends a durable subscription."""

    consumer: Consumer
    done: Done


#: What is asked for is done in order.
Request: TypeAlias = Publishing | HandedOver | Subscribing | Ending
