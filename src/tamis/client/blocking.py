"""The client without asyncio: the same, called from ordinary code. A thread of its own keeps the connection."""

import asyncio
import ssl
from collections.abc import Coroutine, Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from threading import Thread
from types import TracebackType
from typing import Any, Self, TypeVar, overload

import msgspec

from tamis.client.client import Client
from tamis.client.client import connect as connect_async
from tamis.client.durable import DurableSubscription
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
        """Want no more events. A durable subscription ends for good."""
        self._client.run(_waited(self._subscription.unsubscribe))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.unsubscribe()


class BlockingDurableSubscription(BlockingSubscription):
    """Durable events that meet a condition; what is not acknowledged comes again (`DurableSubscription`).

    An event is acknowledged when the next one is asked for, by `ack()`, or at the end of a `with` that nothing was
    raised in. That end is no end of the subscription; `unsubscribe()` is.
    """

    def __init__(self, client: "BlockingClient", subscription: DurableSubscription[Any]) -> None:
        super().__init__(client, subscription)
        self._durable = subscription

    @property
    def given_up(self) -> int:
        """How many events that were wanted the broker has given up: too old, or too many."""
        return self._durable.given_up

    @property
    def unseen(self) -> int:
        """How many events other brokers have given up before they came here; whether they were wanted nobody knows."""
        return self._durable.unseen

    def take_many(self, most: int, timeout: float | None = None) -> list[Any]:
        """Return the events that wait, at most so many; none if there is none for so many seconds. Only `ack()`
        acknowledges them.
        """
        return self._client.run(_many_within(self._durable, most, timeout))

    def ack(self) -> None:
        """Acknowledge all events that were taken."""
        self._client.run(_call(self._durable.ack))

    def leave(self) -> None:
        """Take no more events. The broker keeps them for whoever subscribes with this name."""
        self._client.run(_call(self._durable.leave))

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is None:
            self.ack()
        self.leave()


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

    def publish(
        self, event: Mapping[str, Any] | msgspec.Struct, id: str | None = None, *, durable: bool = False
    ) -> str:
        """Publish an event and wait until the broker has routed it, or stored if `durable`; return the event's id."""
        return self.run(self._client.publish(event, id, durable=durable))

    def publish_many(self, events: Iterable[Mapping[str, Any] | msgspec.Struct], *, durable: bool = False) -> list[str]:
        """Publish events in order and wait until all are routed, or stored if `durable`; return their ids."""
        return self.run(self._client.publish_many(events, durable=durable))

    @overload
    def subscribe(self, condition: str, *, type: Any = Event, queue: int | None = None) -> BlockingSubscription: ...
    @overload
    def subscribe(
        self,
        condition: str,
        *,
        durable: str,
        type: Any = Event,
        queue: int | None = None,
    ) -> BlockingDurableSubscription: ...

    def subscribe(
        self,
        condition: str,
        *,
        durable: str | None = None,
        type: Any = Event,  # noqa: A002
        queue: int | None = None,
    ) -> BlockingSubscription:
        """Subscribe, durably if there is a name, and wait until the broker has the subscription."""

        async def subscribe() -> Subscription[Any]:
            return await self._client.subscribe(condition, durable=durable, type=type, queue=queue)

        made = self.run(subscribe())
        if isinstance(made, DurableSubscription):
            return BlockingDurableSubscription(self, made)
        return BlockingSubscription(self, made)

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
    token: str | None = None,
    tls: bool | ssl.SSLContext = False,
    ca: str | Path | None = None,
) -> BlockingClient:
    """Return a client of the broker at an address, to be used with `with`; see `tamis.client.connect`."""
    made = connect_async(url, name=name, slow=slow, queue=queue, timeout=timeout, token=token, tls=tls, ca=ca)
    return BlockingClient(made)


async def _within(subscription: Subscription[Any], timeout: float | None) -> Any:
    async with asyncio.timeout(timeout):
        return await anext(subscription)


async def _many_within(subscription: DurableSubscription[Any], most: int, timeout: float | None) -> list[Any]:
    with suppress(TimeoutError):
        async with asyncio.timeout(timeout):
            return await subscription.take_many(most)
    return []


async def _call(function: Any) -> None:
    function()


async def _waited(function: Any) -> None:
    await function()
