"""What became of events, by class of subscription: what is not counted per delivery on the way over TCP."""

from collections import Counter
from typing import Final, Literal, TypeAlias

from tamis.routing.conditions import asked

Protocol: TypeAlias = Literal["tcp", "websocket", "sse", "http"]
Kind: TypeAlias = Literal["plain", "notify", "durable"]
#: The class of a subscription.
Class: TypeAlias = tuple[Protocol, Kind]

#: The most frequent one, which nobody counts: it is what is left of all.
PLAIN_TCP: Final[Class] = ("tcp", "plain")


def kind_of(condition: str) -> Kind:
    """Return of which kind a subscription is. A text that is none is an `ExpressionError`."""
    return "notify" if "notify" in condition.lower() and asked(condition).notify is not None else "plain"


class Traffic:
    """Counters of one broker."""

    def __init__(self) -> None:
        #: Events that met subscriptions, but for plain ones over TCP.
        self.matched: Counter[Class] = Counter()
        #: Events that were not delivered to those who have left since, by protocol and reason.
        self.dropped: Counter[tuple[Protocol, str]] = Counter()
