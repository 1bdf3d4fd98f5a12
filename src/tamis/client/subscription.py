"""A subscription as its subscriber sees it: an asynchronous iterator with a queue that is bounded."""

import asyncio
from collections import deque
from collections.abc import Callable, Generator
from types import TracebackType
from typing import Any, Generic, Self, TypeVar

import msgspec

from tamis.client.errors import ClientError, EventTypeError, SlowConsumerError
from tamis.client.event import Event
from tamis.wire import Slow

T = TypeVar("T")


class Feed:
    """What a client keeps of a subscription: the condition to ask for again, and the events that wait."""

    def __init__(self, number: int, condition: str, limit: int, slow: Slow) -> None:
        self.number = number
        self.condition = condition
        self.events: deque[Event] = deque()
        self._limit = limit
        self._slow = slow
        self._waiter: asyncio.Future[None] | None = None
        #: Is done once the broker has accepted the subscription for the first time, or refused it.
        self.accepted: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        #: Why there will be no more events.
        self.error: Exception | None = None
        self.is_over = False
        #: So many events were dropped here because nobody took them.
        self.dropped = 0

    def put(self, event: Event) -> None:
        """Let an event wait to be taken; if too many do, do what was agreed."""
        if self.is_over:
            return
        if len(self.events) >= self._limit:
            if self._slow == "disconnect":
                text = f"{len(self.events):,} events of {self.condition!r} wait, and nobody takes them"
                self.end(SlowConsumerError("slow", text))
                return
            self.dropped += 1
            if self._slow == "drop-newest":
                return
            self.events.popleft()
        self.events.append(event)
        self._wake()

    def end(self, error: Exception | None) -> None:
        """Let no more events come. Those that wait can still be taken; then the error is raised, if there is one."""
        if self.is_over:
            return
        self.is_over = True
        self.error = error
        if not self.accepted.done():
            if error is None:
                self.accepted.cancel()
            else:
                self.accepted.set_exception(error)
                self.accepted.exception()  # whoever waits gets it; if nobody does, that is no mistake
        self._wake()

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    async def take(self) -> Event:
        """Return the next event; wait for it if need be."""
        while not self.events:
            if self.is_over:
                if self.error is not None:
                    raise self.error
                raise StopAsyncIteration
            if self._waiter is not None:
                raise ClientError("somebody waits for the next event of this subscription already")
            self._waiter = asyncio.get_running_loop().create_future()
            try:
                await self._waiter
            finally:
                self._waiter = None
        return self.events.popleft()


class Subscription(Generic[T]):
    """Events that meet a condition, as they come: `async for event in subscription`.

    It begins when it is made; `await subscription` waits until the broker has it. It ends with `unsubscribe()`, with
    an `async with` around it, or when nobody has it any more: after leaving `async for event in client.subscribe(…)`.
    """

    def __init__(self, feed: Feed, leave: Callable[[Feed], "asyncio.Future[None]"], kind: type[T]) -> None:
        self._feed = feed
        self._leave = leave
        self._kind = kind
        self._loop = asyncio.get_running_loop()

    @property
    def condition(self) -> str:
        """The condition as it was given."""
        return self._feed.condition

    @property
    def dropped(self) -> int:
        """How many events were dropped on this side because nobody took them in time."""
        return self._feed.dropped

    @property
    def is_over(self) -> bool:
        """Whether no more events will come, but for those that wait."""
        return self._feed.is_over

    def __await__(self) -> Generator[Any, None, Self]:
        yield from asyncio.shield(self._feed.accepted).__await__()
        return self

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> T:
        """Return the next event. One that is not of the type asked for is an `EventTypeError`; one may go on."""
        return self._converted(await self._feed.take())

    def _converted(self, event: Event) -> T:
        if self._kind is Event:
            return event  # type: ignore[return-value]
        try:
            return msgspec.convert(event.content, self._kind)
        except msgspec.ValidationError as error:
            raise EventTypeError(event.id, str(error)) from None

    def unsubscribe(self) -> "asyncio.Future[None]":
        """Want no more events. The iterator ends, once those that wait have been taken.

        What is returned is done when the broker knows; nobody has to wait for it.
        """
        return self._leave(self._feed)

    async def __aenter__(self) -> Self:
        return await self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.unsubscribe()

    def __del__(self) -> None:
        if not self._feed.is_over and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._leave, self._feed)
