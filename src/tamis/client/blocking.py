"""The client without asyncio: the same, called from ordinary code. A thread of its own keeps the connection."""

import asyncio
from collections.abc import Coroutine, Iterable, Iterator, Mapping
from threading import Thread
from types import TracebackType
from typing import Any, TypeVar

import msgspec

from tamis.client.client import Client
from tamis.client.client import connect as connect_async
from tamis.client.event import Event
from tamis.client.subscription import Subscription
from tamis.wire import DEFAULT_QUEUE, Slow

T = TypeVar("T")


class BlockingSubscription:
    """Events that meet a condition, as they come: `for event in subscription`."""

    def __init__(self, client: "BlockingClient", subscription: Subscription[Any]) -> None:
        self._client = client
        self._subscription = subscription

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        try:
            return self.take()
        except StopAsyncIteration:
            raise StopIteration from None

    def take(self, timeout: float | None = None) -> Any:
        """Return the next event. After so many seconds without one, `TimeoutError` is raised, and nothing is lost."""
        return self._client.run(_within(self._subscription, timeout))

    def unsubscribe(self) -> None:
        """Want no more events."""
        self._client.run(_call(self._subscription.unsubscribe))

    def __enter__(self) -> "BlockingSubscription":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.unsubscribe()


class BlockingClient:
    """A client for code that waits. Use it with `with`; several threads may use one."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._loop = asyncio.new_event_loop()
        self._thread = Thread(target=self._loop.run_forever, name="tamis client", daemon=True)

    def __enter__(self) -> "BlockingClient":
        self._thread.start()
        try:
            self.run(self._client.__aenter__())
        except BaseException:
            self._stop()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self.run(self._client.close())
        finally:
            self._stop()

    def publish(self, event: Mapping[str, Any] | msgspec.Struct, id: str | None = None) -> str:
        """Publish an event and wait until the broker has routed it; return the event's id."""
        return self.run(self._client.publish(event, id))

    def publish_many(self, events: Iterable[Mapping[str, Any] | msgspec.Struct]) -> list[str]:
        """Publish events in order and wait until the broker has routed all; return their ids."""
        return self.run(self._client.publish_many(events))

    def subscribe(self, condition: str, *, type: Any = Event, queue: int | None = None) -> BlockingSubscription:  # noqa: A002
        """Subscribe, and wait until the broker has the subscription."""

        async def subscribe() -> Subscription[Any]:
            return await self._client.subscribe(condition, type=type, queue=queue)

        return BlockingSubscription(self, self.run(subscribe()))

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Do something in the client's thread and wait for it."""
        future = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return future.result()
        except BaseException:
            future.cancel()
            raise

    def _stop(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


def connect(
    url: str = "tamis://localhost",
    *,
    name: str | None = None,
    slow: Slow = "disconnect",
    queue: int = DEFAULT_QUEUE,
    timeout: float = 10.0,
) -> BlockingClient:
    """Return a client of the broker at an address, to be used with `with`; see `tamis.client.connect`."""
    return BlockingClient(connect_async(url, name=name, slow=slow, queue=queue, timeout=timeout))


async def _within(subscription: Subscription[Any], timeout: float | None) -> Any:
    async with asyncio.timeout(timeout):
        return await anext(subscription)


async def _call(function: Any) -> None:
    function()
