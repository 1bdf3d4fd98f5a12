"""Who takes the events of a durable subscription now: so many are on their way, the others wait on disk."""

from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeAlias

from tamis.routing.conditions import asked, parsed
from tamis.server.changes import Entry
from tamis.wire import Code, Decoder, ProtocolError

if TYPE_CHECKING:
    from tamis.server.durable import Durable
    from tamis.server.requests import Subscription

#: Is told that something is done, or why it is not.
Done: TypeAlias = Callable[[ProtocolError | None], None]

#: Not many more bytes than that are on their way to a consumer.
MOST_BYTES: Final = 1 << 22
#: So many events are read from disk at a time.
AT_ONCE: Final = 256

_decode: Final = Decoder(dict[str, Any])


class KeptTaker(Protocol):
    """Takes events of a durable subscription, by whatever protocol."""

    @property
    def has_room(self) -> bool:
        """Whether it takes another event now; when it does again, `Consumer.pump` is to be called."""

    def take(self, entry: Entry) -> None:
        """Let an event be written."""

    def tell_given_up(self, events: int, unseen: int) -> None:
        """Tell how many events the subscription has lost since it was made (`tamis.wire.GivenUp`)."""

    def end(self, code: Code, message: str) -> None:
        """Nothing more will come, and why."""


class Consumer:
    """The one who takes the events of a durable subscription, from when it asks until it leaves or another one asks."""

    def __init__(self, durable: "Durable", taker: KeptTaker, window: int) -> None:
        self._durable = durable
        self.taker = taker
        self._window = window
        self.subscription: Subscription | None = None
        #: Whether nothing goes to it any more.
        self.is_over = False
        #: What to do once it has begun: it was told to end before that.
        self.ending: Done | None = None
        #: Events up to this position have been sent, or were not wanted any more.
        self._read = 0
        self._flying: deque[tuple[int, int]] = deque()
        self._bytes = 0
        #: Whether there may be more on disk than was sent.
        self._behind = True

    @property
    def flying(self) -> int:
        """How many events are on their way, not acknowledged."""
        return len(self._flying)

    def begin(self, subscription: "Subscription") -> None:
        """Send what has waited."""
        self.subscription = subscription
        self._read = subscription.acknowledged
        if subscription.given_up or subscription.unseen:
            self.taker.tell_given_up(subscription.given_up, subscription.unseen)
        self.pump()

    def offer(self, entry: Entry) -> None:
        """Send an event that has just been stored, if it is its turn."""
        # What is on disk can be read before this broker has heard that it is there.
        if self._behind or self.is_over or entry.position <= self._read:
            return
        if self._has_room:
            self._send(entry)
        else:
            self._behind = True

    def acknowledge(self, position: int) -> None:
        """All events up to a position have been dealt with, of those that were sent."""
        if self.is_over or self.subscription is None:
            return
        if position > self._read:
            raise ProtocolError("bad-frame", f"position {position} was acknowledged, but not sent")
        while self._flying and self._flying[0][0] <= position:
            self._bytes -= self._flying.popleft()[1]
        self._settle()
        self.pump()

    def pump(self) -> None:
        """Send what is on disk, as much as may be on its way."""
        while self._behind and not self.is_over and self.subscription is not None and self._has_room:
            most = min(self._window - len(self._flying), AT_ONCE)
            size = MOST_BYTES - self._bytes
            entries = self._durable.store.wanted_by(self.subscription.number, self._read, most, size)
            condition = parsed(asked(self.subscription.condition).condition)
            for entry in entries:
                # It was wanted when it came; the condition may have changed since.
                if condition.matches(_decode(entry.content)):
                    self._send(entry)
                else:
                    self._read = entry.position
            self._behind = bool(entries)
            if entries and not self._flying:
                self._settle()

    @property
    def _has_room(self) -> bool:
        return len(self._flying) < self._window and self._bytes < MOST_BYTES and self.taker.has_room

    def _send(self, entry: Entry) -> None:
        size = len(entry.content)
        self._read = entry.position
        self._flying.append((entry.position, size))
        self._bytes += size
        self.taker.take(entry)

    def _settle(self) -> None:
        """Let the store know what has been dealt with."""
        assert self.subscription is not None
        position = self._flying[0][0] - 1 if self._flying else self._read
        if position > self.subscription.acknowledged:
            self._durable.acknowledged(self.subscription, position)
