"""Events that wait for somebody who takes them over HTTP: bounded, and what happens to more was agreed before."""

import asyncio
from collections import deque
from time import monotonic
from typing import Final, NamedTuple

from tamis.server.outbox import MAX_BYTES
from tamis.server.traffic import Class, Protocol, Traffic, kind_of
from tamis.wire import Code, DeliveryFrames, Slow

#: So many bytes of events are handed out at a time, and at least one event.
PORTION: Final = 1 << 16


class Ending(NamedTuple):
    """Why no more events come."""

    code: Code
    message: str


class Waiting(NamedTuple):
    """An event that waits: the how-manieth of its mailbox it is, and what its taker calls the subscription."""

    number: int
    subscription: str
    event: DeliveryFrames
    age: float | None
    since: float

    @property
    def age_now(self) -> float | None:
        """At most so many seconds have passed since it was published; None if nobody measures that."""
        return None if self.age is None else self.age + monotonic() - self.since


class Mailbox:
    """At most `limit` events and `max_bytes` wait; then the oldest or the newest go, or the mailbox ends as `slow`.

    Who takes them either takes them for good (`take`), or looks at them (`after`) and says later up to which it has
    them (`forget`). Those that were looked at go first where there is no room, and do not count as dropped.
    """

    def __init__(
        self, limit: int, slow: Slow, traffic: Traffic, protocol: Protocol, max_bytes: int = MAX_BYTES
    ) -> None:
        """Make a mailbox; what becomes of events is counted in `traffic` under a protocol."""
        self.limit = limit
        self.traffic = traffic
        self.protocol: Protocol = protocol
        self.slow: Slow = slow
        self._max_bytes = max_bytes
        #: With ascending numbers, of which none is left out.
        self._waiting: deque[Waiting] = deque()
        self._bytes = 0
        self._news = asyncio.Event()
        #: The number of the last event that came, and of the last one that was handed out.
        self.last = self.seen = 0
        #: So many events were dropped because there was no room.
        self.dropped = 0
        #: Why it has ended, if it has.
        self.ending: Ending | None = None

    def __len__(self) -> int:
        """Return how many events wait that nobody has seen yet."""
        return min(len(self._waiting), self.last - self.seen)

    @property
    def size(self) -> int:
        """How many bytes of events are here."""
        return self._bytes

    def taker(self, condition: str, subscription: str = "") -> "Slot":
        """Return who takes the events of one subscription for this mailbox.

        A condition that is none is an `ExpressionError`.
        """
        return Slot(self, subscription, (self.protocol, kind_of(condition)))

    def put(self, subscription: str, event: DeliveryFrames, age: float | None) -> None:
        """Let an event wait."""
        if self.ending is not None:
            self.traffic.dropped[self.protocol, self.ending.code] += 1
            return
        waiting = self._waiting
        while self._has_no_room(event):
            if not waiting or waiting[0].number > self.seen:
                if self.slow == "disconnect":
                    self.traffic.dropped[self.protocol, "slow"] += 1
                    self.end("slow", f"{len(waiting):,} events wait, and nobody takes them", drops=True)
                    return
                self.dropped += 1
                if self.slow == "drop-newest" or not waiting:
                    return
            self._drop_first()
        self.last += 1
        waiting.append(Waiting(self.last, subscription, event, age, 0.0 if age is None else monotonic()))
        self._bytes += event.length
        self._news.set()

    def end(self, code: Code, message: str, drops: bool = False) -> None:
        """Let no more events come. Those that wait can still be taken, unless they are dropped as well."""
        if self.ending is None:
            self.ending = Ending(code, message)
            if drops:
                self.traffic.dropped[self.protocol, code] += len(self)
                self._waiting.clear()
                self._bytes = 0
            self._news.set()

    def close(self) -> None:
        """Count what nobody will take any more."""
        self.end("stopping", "nobody is there any more")
        self.traffic.dropped[self.protocol, self.slow] += self.dropped
        self.traffic.dropped[self.protocol, "left"] += len(self)

    def take(self) -> list[Waiting]:
        """Return the next events and forget them; none if none wait."""
        found = self.after(0)
        if found:
            self.forget(found[-1].number)
        return found

    def after(self, number: int, most: int | None = None) -> list[Waiting]:
        """Return the next events after one that was seen, as many as are handed out at a time and asked for."""
        found: list[Waiting] = []
        size = 0
        waiting = self._waiting
        begin = max(0, number - waiting[0].number + 1) if waiting else 0
        for index in range(begin, len(waiting)):
            each = waiting[index]
            size += each.event.length
            if found and (size > PORTION or len(found) == most):
                break
            found.append(each)
        if found:
            self.seen = max(self.seen, found[-1].number)
        return found

    def forget(self, number: int) -> None:
        """Forget all events up to one."""
        while self._waiting and self._waiting[0].number <= number:
            self._drop_first()

    def number_of(self, id: str) -> int:
        """Return the number of the event with an id, or 0 if it does not wait here any more."""
        return next((each.number for each in self._waiting if str(each.event.fields()[0]) == id), 0)

    async def news(self, after: int = 0) -> None:
        """Wait until there is an event after one that was seen, the mailbox has ended, or somebody nudges."""
        if self.ending is None and not (self._waiting and self._waiting[-1].number > after):
            self._news.clear()
            await self._news.wait()

    def nudge(self) -> None:
        """Wake all who wait for news, although there are none: something else has changed for them."""
        self._news.set()

    def _has_no_room(self, event: DeliveryFrames) -> bool:
        return len(self._waiting) >= self.limit or self._bytes + event.length > self._max_bytes

    def _drop_first(self) -> None:
        self._bytes -= self._waiting.popleft().event.length

    def check_invariants(self) -> None:
        """Raise `AssertionError` if something does not fit together."""
        assert len(self._waiting) <= self.limit
        assert self._bytes == sum(each.event.length for each in self._waiting) <= self._max_bytes
        assert [each.number for each in self._waiting] == list(range(self.last - len(self._waiting) + 1, self.last + 1))
        assert self.seen <= self.last


class Slot:
    """Takes the events of one subscription for a mailbox, as a `tamis.server.runner.Taker`."""

    __slots__ = ("_class", "_mailbox", "_subscription")

    def __init__(self, mailbox: Mailbox, subscription: str, class_: Class) -> None:
        self._mailbox = mailbox
        self._subscription = subscription
        self._class = class_

    def deliver(self, event: DeliveryFrames, age: float | None) -> None:
        """Let an event wait. Nothing here may fail: others get the same event after this one."""
        self._mailbox.traffic.matched[self._class] += 1
        self._mailbox.put(self._subscription, event, age)
