"""A durable subscription as its subscriber sees it: what is not acknowledged comes again."""

import asyncio
from collections.abc import Callable
from types import TracebackType
from typing import Any, NamedTuple, TypeVar

from tamis.client.batch import settle
from tamis.client.errors import BrokerError, ConnectionLostError
from tamis.client.event import Event
from tamis.client.subscription import Feed, Subscription
from tamis.recent import Recent
from tamis.wire import Acknowledge, Ended, GivenUp, Kept, frame

T = TypeVar("T")


class _Waiting(NamedTuple):
    position: int
    #: None for an event that was given already: it only has to be acknowledged, in its turn.
    event: Event | None


class DurableFeed(Feed):
    """What a client keeps of a durable subscription."""

    def __init__(
        self, number: int, condition: str, window: int, name: str, acknowledge: Callable[["DurableFeed", int], None]
    ) -> None:
        # The broker never sends more than the window: no policy for more is needed.
        super().__init__(number, condition, window, "disconnect")
        self.window = window
        self.name = name
        self._acknowledge = acknowledge
        #: So that none is given twice while the client lives.
        self._seen: Recent[str] = Recent()
        self._taken: int | None = None
        #: So many events were given up by the broker, and by others before it had them.
        self.given_up = 0
        self.unseen = 0

    def put_kept(self, position: int, event: Event) -> None:
        """Let an event wait to be taken."""
        is_new = self._seen.add(str(event.id))
        self.events.append(_Waiting(position, event if is_new else None))  # type: ignore[arg-type]
        self._wake()

    async def take(self) -> Event:
        """Return the next event. The one before has been dealt with: it is acknowledged."""
        while True:
            self.acknowledge()
            waiting: Any = await super().take()
            self._taken = waiting.position
            if waiting.event is not None:
                return waiting.event  # type: ignore[no-any-return]

    async def take_many(self, most: int) -> list[Event]:
        """Return the events that wait, at least one and at most so many; nothing is acknowledged."""
        found: list[Event] = []
        while not found:
            waiting: Any = await super().take()
            while True:
                self._taken = waiting.position
                if waiting.event is not None:
                    found.append(waiting.event)
                if not self.events or len(found) == most:
                    break
                waiting = self.events.popleft()
        return found

    def acknowledge(self) -> None:
        """Acknowledge all events that were taken."""
        if self._taken is not None:
            self._acknowledge(self, self._taken)
            self._taken = None

    def begin_anew(self) -> None:
        """There is another connection: what was not taken will come again, and positions of the last mean nothing."""
        for waiting in self.events:
            if waiting.event is not None:  # type: ignore[attr-defined]
                self._seen.discard(str(waiting.event.id))  # type: ignore[attr-defined]
        self.events.clear()
        self._taken = None


class DurableSide:
    """What a client does about its durable subscriptions together."""

    def __init__(self, say: Callable[[bytes], None]) -> None:
        """Do it by saying something to the broker, if there is a connection."""
        self._say = say
        self._acknowledged: dict[int, int] = {}
        #: Subscriptions that the broker has not yet said it has let go of, and what it means if it never says so.
        self._endings: dict[asyncio.Future[None], Exception | None] = {}

    def acknowledge(self, feed: DurableFeed, position: int) -> None:
        """Acknowledge events at the end of this tick, those of a subscription together."""
        if not self._acknowledged:
            asyncio.get_running_loop().call_soon(self.flush)
        self._acknowledged[feed.number] = position

    def flush(self) -> None:
        """Say what was acknowledged."""
        for number, position in self._acknowledged.items():
            self._say(frame(Acknowledge(number, position)))
        self._acknowledged.clear()

    def ending(self, feed: Feed, leaves: bool) -> "asyncio.Future[None]":
        """Return what is to be settled once the broker has let go of a subscription. Without a connection, ordinary
        ones are gone anyway, and durable ones stay.
        """
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        stays = f"durable subscription {feed.name!r} stays" if isinstance(feed, DurableFeed) else ""
        self._endings[future] = (
            ConnectionLostError(f"{stays}: the connection was lost") if stays and not leaves else None
        )
        future.add_done_callback(self._ended)
        return future

    def _ended(self, future: "asyncio.Future[None]") -> None:
        del self._endings[future]
        if not future.cancelled():
            future.exception()  # nobody has to wait for it

    def lost(self) -> None:
        """There is no connection, or another one: nothing more is heard of what was said on the last."""
        self._acknowledged.clear()
        for future, error in list(self._endings.items()):
            settle(future, error)

    def receive(self, feed: Feed | None, message: Kept | GivenUp | Ended) -> None:
        """Take what the broker says about a subscription."""
        if not isinstance(feed, DurableFeed):
            return
        if isinstance(message, Kept):
            feed.put_kept(message.position, Event(message.id, message.content, trace=message.trace))
        elif isinstance(message, GivenUp):
            feed.given_up, feed.unseen = message.events, message.unseen
        else:
            feed.end(BrokerError(message.code, message.message))


class DurableSubscription(Subscription[T]):
    """Durable events that meet a condition, kept by the broker while nobody takes them and until they are acknowledged.

    An event is acknowledged when the next one is asked for, by `ack()`, or at the end of an `async with` that nothing
    was raised in. Whoever leaves before that gets it again. `unsubscribe()` ends the subscription for good; `leave()`,
    the end of an `async with`, closing the client and losing the connection do not.
    """

    def __init__(
        self,
        feed: DurableFeed,
        leave: Callable[[Feed], "asyncio.Future[None]"],
        end: Callable[[Feed], "asyncio.Future[None]"],
        kind: type[T],
    ) -> None:
        super().__init__(feed, leave, kind)
        self._durable_feed = feed
        self._end = end

    @property
    def name(self) -> str:
        """The durable name."""
        return self._durable_feed.name

    @property
    def given_up(self) -> int:
        """How many events that were wanted the broker has given up, since the subscription was made: too old, or too
        many.
        """
        return self._durable_feed.given_up

    @property
    def unseen(self) -> int:
        """How many events other brokers have given up before they came here; whether they were wanted nobody knows."""
        return self._durable_feed.unseen

    async def take_many(self, most: int) -> list[T]:
        """Return the events that wait, at least one and at most so many. Only `ack()` acknowledges them, once all that
        was taken is dealt with.
        """
        return [self._converted(event) for event in await self._durable_feed.take_many(most)]

    def ack(self) -> None:
        """Acknowledge all events that were taken. The broker has it a little later; an event may still come again."""
        self._durable_feed.acknowledge()

    def leave(self) -> None:
        """Take no more events. The broker keeps them for whoever subscribes with this name."""
        self._leave(self._feed)

    def unsubscribe(self) -> "asyncio.Future[None]":
        """End the subscription for good; the broker drops what it has kept. Wait for what is returned to be sure."""
        return self._end(self._feed)

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is None:
            self.ack()
        self.leave()
