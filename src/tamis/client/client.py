"""A client of a broker: publish and subscribe, whatever becomes of the connection in between."""

import asyncio
import os
import secrets
import ssl
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from itertools import count
from pathlib import Path
from random import uniform
from types import TracebackType
from typing import Any, Final, NamedTuple, TypeVar, overload

import msgspec

from tamis import tracing
from tamis.client.batch import Batch, settle
from tamis.client.channel import Channel
from tamis.client.durable import DurableFeed, DurableSide, DurableSubscription
from tamis.client.errors import BrokerError, ConnectionLostError, SlowConsumerError
from tamis.client.event import Event
from tamis.client.handlers import handle
from tamis.client.subscription import Feed, Subscription
from tamis.language import ExpressionError, parse_subscription
from tamis.recent import Recent
from tamis.tls import client_context, explained, is_tls
from tamis.wire import (
    DEFAULT_QUEUE,
    DEFAULT_WINDOW,
    ENCODER,
    MAX_FRAME,
    VERSION,
    Accepted,
    AskStats,
    ClientHello,
    Delivered,
    Dropped,
    Ended,
    GivenUp,
    Kept,
    Publish,
    Refused,
    Slow,
    Stats,
    Subscribe,
    Unsubscribe,
    Welcome,
    frame,
    parse_address,
    portable,
)

T = TypeVar("T")
#: A function that is called with events.
Handler = TypeVar("Handler", bound=Callable[[Any], Any])

#: So many requests may be on their way; who asks for more waits.
WINDOW: Final = 1024
#: Seconds until the next try to connect: at first and at most, made shorter by chance.
FIRST_PAUSE: Final = 0.05
LONGEST_PAUSE: Final = 2.0
#: Where the environment has the token for those who give none.
TOKEN: Final = "TAMIS_TOKEN"
#: A broker that closes a connection for one of these reasons would do so again.
FATAL: Final = frozenset({"version", "unauthorized", "expired", "bad-frame", "frame-too-large"})


class _Request(NamedTuple):
    """Something that the broker has not acknowledged yet."""

    #: What has to be said again on another connection, under another number.
    event: Publish | None
    done: Callable[[Exception | None], None]


class Client:
    """A client. Use it as `async with tamis.connect(url) as client`.

    A connection that is lost is made anew, and the broker told again what it has not acknowledged and what is
    subscribed to. Events published meanwhile by others may be missed. No event is given twice to one subscription.
    """

    def __init__(
        self,
        url: str,
        name: str | None,
        slow: Slow,
        queue: int,
        timeout: float,
        token: str | None = None,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self._host, self._port = parse_address(url)
        self._tls = tls
        self.name = name or f"client-{secrets.token_urlsafe(6)}"
        self._hello = ClientHello(VERSION, self.name, queue, slow, token)
        msgspec.convert(msgspec.to_builtins(self._hello), ClientHello)  # a name or limit that is none is refused here
        self._timeout = timeout
        self._ids = f"{secrets.token_urlsafe(9)}."
        self._numbers = count(1)
        self._feed_numbers = count()
        self._feeds: dict[int, Feed] = {}
        self._requests: OrderedDict[int, _Request] = OrderedDict()
        self._room: asyncio.Event
        #: So that none is given twice to a subscription.
        self._seen: Recent[tuple[int, str | int]] = Recent()
        self._durable = DurableSide(self._say)
        #: By number, who waits to hear how the broker is.
        self._stats: dict[int, asyncio.Future[Stats]] = {}
        self._channel: Channel | None = None
        self._welcome: Welcome | None = None
        self._prefix = ""
        self._welcomed: asyncio.Future[None]
        self._task: asyncio.Task[None] | None = None
        self._handlers: set[asyncio.Task[None]] = set()
        self._error: Exception | None = None
        #: How often the connection was made, and how many events the broker had to drop because this client was slow.
        self.connections = 0
        self.dropped = 0
        self._dropped_before = 0

    # --- life --------------------------------------------------------------------------------------------

    async def __aenter__(self) -> "Client":
        """Connect. Where no broker answers in time, `ConnectionLostError` is raised."""
        self._room = asyncio.Event()
        self._room.set()
        try:
            async with asyncio.timeout(self._timeout):
                await self._open()
        except (OSError, TimeoutError) as error:
            reason = explained(error, self._tls is not None)
            raise ConnectionLostError(f"no broker at {self._host}:{self._port}: {reason}") from None
        self._task = asyncio.get_running_loop().create_task(self._keep_connected())
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Leave the broker. Subscriptions end, but for durable ones."""
        for task in [*self._handlers, self._task]:
            if task is not None:
                task.cancel()
                with suppress(asyncio.CancelledError):
                    await task
        self._durable.flush()
        self._end(ConnectionLostError("the client was closed"), quiet=True)
        if self._channel is not None:
            self._channel.close()
            await asyncio.wait([self._channel.closed], timeout=self._timeout)
            self._channel.abort()

    async def wait_closed(self) -> None:
        """Wait until the client ends for good: for programs that do everything in handlers."""
        if self._task is not None:
            await asyncio.wait([self._task])
        if self._error is not None:
            raise self._error

    @property
    def is_connected(self) -> bool:
        """Whether there is a connection now."""
        return self._channel is not None and self._welcome is not None

    async def stats(self) -> Stats:
        """Return how the broker is. It is for those who may administer it; for others it is a `BrokerError`
        (`forbidden`).
        """
        await self._wait_for_room()
        if not self.is_connected:
            raise ConnectionLostError("there is no connection to the broker now")
        number = next(self._numbers)
        waiting: asyncio.Future[Stats] = asyncio.get_running_loop().create_future()
        self._stats[number] = waiting

        def done(error: Exception | None) -> None:
            if error is not None and not waiting.done():
                waiting.set_exception(error)

        self._request(number, frame(AskStats(number)), done)
        try:
            return await waiting
        finally:
            del self._stats[number]

    # --- publishing --------------------------------------------------------------------------------------

    async def publish(
        self, event: Mapping[str, Any] | msgspec.Struct, id: str | None = None, *, durable: bool = False
    ) -> str:
        """Publish an event and wait until the broker has routed it; return the event's id.

        If it is `durable`, wait until the broker has it on disk: then it will reach every durable subscription.

        A value that cannot be part of an event is a `TypeError`, an event that the broker refuses a `BrokerError`.
        After a lost connection the event is sent again under the same id, and subscribers get it once.
        """
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        chosen = await self._send_event(event, id, lambda error: settle(future, error), durable)
        await future
        return self._prefix + chosen

    async def publish_many(
        self, events: Iterable[Mapping[str, Any] | msgspec.Struct], *, durable: bool = False
    ) -> list[str]:
        """Publish events in order and wait until the broker has routed all, or stored if `durable`; return their ids.

        If some are refused, the others are published all the same, and the first refusal is raised.
        """
        batch = Batch()
        ids = [await self._send_event(each, None, batch.expect(), durable) for each in events]
        await batch.all_done()
        return [self._prefix + id for id in ids]

    async def _send_event(
        self,
        event: Mapping[str, Any] | msgspec.Struct,
        id: str | None,
        done: Callable[[Exception | None], None],
        durable: bool,
    ) -> str:
        content = msgspec.structs.asdict(event) if isinstance(event, msgspec.Struct) else event
        await self._wait_for_room()
        number = next(self._numbers)
        chosen = id if id is not None else f"{self._ids}{number}"
        message = Publish(number, chosen, portable(content), tracing.current(), durable)
        try:
            body = ENCODER.encode(message)
        except OverflowError as error:
            raise TypeError(f"a number is too large for an event: {error}") from None
        if len(body) > MAX_FRAME:
            raise BrokerError("bad-event", f"the event has {len(body):,} bytes; a frame has at most {MAX_FRAME:,}")
        self._request(number, len(body).to_bytes(4, "big") + body, done, message)
        return chosen

    async def _wait_for_room(self) -> None:
        while True:
            if self._error is not None:
                raise self._error
            if self._channel is not None:
                await self._channel.room()
            if len(self._requests) < WINDOW:
                return
            self._room.clear()
            await self._room.wait()

    def _request(
        self, number: int, data: bytes, done: Callable[[Exception | None], None], event: Publish | None = None
    ) -> None:
        if self._error is not None:
            done(self._error)
            return
        self._requests[number] = _Request(event, done)
        if self._channel is not None and self._welcome is not None:
            self._channel.put(data)

    # --- subscribing -------------------------------------------------------------------------------------

    @overload
    def subscribe(self, condition: str, *, queue: int | None = None) -> Subscription[Event]: ...
    @overload
    def subscribe(self, condition: str, *, type: type[T], queue: int | None = None) -> Subscription[T]: ...
    @overload
    def subscribe(self, condition: str, *, durable: str, queue: int | None = None) -> DurableSubscription[Event]: ...
    @overload
    def subscribe(
        self, condition: str, *, durable: str | None, type: type[T], queue: int | None = None
    ) -> Subscription[T]: ...

    def subscribe(
        self,
        condition: str,
        *,
        durable: str | None = None,
        type: Any = Event,  # noqa: A002
        queue: int | None = None,
    ) -> Subscription[Any]:
        """Subscribe to the events that meet a condition; a `notify` clause may follow it.

        A condition that is none is an `ExpressionError`, raised here. With `type`, a msgspec struct or anything else
        that `msgspec.convert` makes of a mapping, events are given as that. At most `queue` events wait to be taken.

        With `durable`, a name, it is a durable subscription (`DurableSubscription`): the durable events that meet the
        condition are kept for whoever subscribes with that name at this broker, one client at a time.
        """
        parse_subscription(condition)
        if self._error is not None:
            raise self._error
        if durable is not None:
            window = min(queue or self._hello.queue, DEFAULT_WINDOW)
            kept = DurableFeed(next(self._feed_numbers), condition, window, durable, self._durable.acknowledge)
            checked = msgspec.to_builtins(Subscribe(1, kept.number, condition, durable, window))
            msgspec.convert(checked, Subscribe)  # a name that is none is refused here
            self._feeds[kept.number] = kept
            self._ask(kept)
            return DurableSubscription(kept, self._leave, self._unsubscribe_durable, type)
        feed = Feed(next(self._feed_numbers), condition, queue or self._hello.queue, self._hello.slow)
        self._feeds[feed.number] = feed
        self._ask(feed)
        return Subscription(feed, self._leave, type)

    def on(
        self,
        condition: str,
        *,
        type: Any = Event,  # noqa: A002
        durable: str | None = None,
    ) -> Callable[[Handler], Handler]:
        """Let a function be called with each event that meets a condition: `@client.on("price > 10")`.

        It may be a coroutine function; then the next event waits until it is done. What it raises goes to the event
        loop's exception handler, and the next event is taken. An event of a `durable` subscription is acknowledged when
        the function is done with it, whether it has raised something or not.
        """

        def decorate(handler: Handler) -> Handler:
            subscription = self.subscribe(condition, durable=durable, type=type)
            task = asyncio.get_running_loop().create_task(handle(subscription, handler))
            self._handlers.add(task)
            task.add_done_callback(self._handlers.discard)
            return handler

        return decorate

    def _ask(self, feed: Feed) -> None:
        if self._channel is None or self._welcome is None:
            return

        def done(error: Exception | None) -> None:
            if error is not None:
                if isinstance(error, BrokerError) and error.code == "bad-condition":
                    error = ExpressionError(error.message, feed.condition, error.position or 0)
                self._feeds.pop(feed.number, None)
                feed.end(error)
            elif not feed.accepted.done():
                feed.accepted.set_result(None)

        number = next(self._numbers)
        message = Subscribe(number, feed.number, feed.condition)
        if isinstance(feed, DurableFeed):
            message = msgspec.structs.replace(message, durable=feed.name, window=feed.window)
        self._request(number, frame(message), done)

    def _leave(self, feed: Feed) -> "asyncio.Future[None]":
        return self._drop(feed, leaves=isinstance(feed, DurableFeed))

    def _unsubscribe_durable(self, feed: Feed) -> "asyncio.Future[None]":
        return self._drop(feed, leaves=False)

    def _drop(self, feed: Feed, leaves: bool) -> "asyncio.Future[None]":
        future = self._durable.ending(feed, leaves)
        if self._feeds.pop(feed.number, None) is None:
            future.set_result(None)
            return future
        feed.end(None)
        if not self.is_connected:
            self._durable.lost()
            return future
        self._durable.flush()
        number = next(self._numbers)

        def done(error: Exception | None) -> None:
            settle(future, error if isinstance(feed, DurableFeed) and not leaves else None)

        self._request(number, frame(Unsubscribe(number, feed.number, leaves)), done)
        return future

    def _say(self, data: bytes) -> None:
        if self._channel is not None and self._welcome is not None:
            self._channel.put(data)

    # --- the connection ----------------------------------------------------------------------------------

    async def _open(self) -> None:
        """Make a connection, and say all that has to be said again."""
        self._welcomed = asyncio.get_running_loop().create_future()
        self._channel = channel = await self._dial()
        try:
            await asyncio.wait([self._welcomed, channel.closed], return_when=asyncio.FIRST_COMPLETED)
        except BaseException:
            channel.abort()
            raise
        if not self._welcomed.done():
            self._channel = None
            if channel.goodbye is not None:
                raise BrokerError(channel.goodbye.code, channel.goodbye.message)
            raise ConnectionResetError("the broker closed the connection")

    async def _dial(self) -> Channel:
        """Return a connection on which the greeting is being said."""
        _, channel = await asyncio.get_running_loop().create_connection(
            lambda: Channel(self._hello, self._receive), self._host, self._port, ssl=self._tls
        )
        return channel

    def _begin(self, welcome: Welcome) -> None:
        self._welcome = welcome
        self._prefix = welcome.ids
        self.connections += 1
        self._dropped_before = self.dropped
        assert self._channel is not None
        # Subscriptions first, so that none of them misses what is said again. The other requests of the last connection
        # were about subscriptions, which ended with it.
        events = [request for request in self._requests.values() if request.event is not None]
        self._requests = OrderedDict()
        self._durable.lost()
        for waiting in self._stats.values():
            if not waiting.done():
                waiting.set_exception(ConnectionLostError("the connection was lost: ask again"))
        for feed in list(self._feeds.values()):
            if isinstance(feed, DurableFeed):
                feed.begin_anew()
            self._ask(feed)
        for request in events:
            number = next(self._numbers)
            assert request.event is not None
            again = msgspec.structs.replace(request.event, number=number)
            self._request(number, frame(again), request.done, again)
        self._welcomed.set_result(None)

    async def _keep_connected(self) -> None:
        pause = FIRST_PAUSE
        while True:
            assert self._channel is not None
            await asyncio.wait([self._channel.closed])
            goodbye = self._channel.goodbye
            self._channel = self._welcome = None
            if goodbye is not None and goodbye.code == "slow":
                for feed in list(self._feeds.values()):
                    if not isinstance(feed, DurableFeed):
                        self._feeds.pop(feed.number)
                        feed.end(SlowConsumerError(goodbye.code, goodbye.message))
            elif goodbye is not None and goodbye.code in FATAL:
                self._end(BrokerError(goodbye.code, goodbye.message))
                return
            while self._channel is None:
                try:
                    async with asyncio.timeout(self._timeout):
                        await self._open()
                    pause = FIRST_PAUSE
                except BrokerError as error:
                    if error.code in FATAL:
                        self._end(error)
                        return
                    pause = await _pause(pause)
                except (OSError, TimeoutError):
                    self._channel = self._welcome = None
                    pause = await _pause(pause)

    def _receive(self, message: Any) -> None:
        if type(message) is Delivered:
            feed = self._feeds.get(message.subscription)
            if feed is None:
                return
            if self._seen.add((message.subscription, message.id)):
                assert self._welcome is not None
                feed.put(Event(message.id, message.content, message.age, self._welcome.max_age, message.trace))
                if feed.is_over:
                    self._give_up(feed)
        elif isinstance(message, Accepted):
            self._accepted(message.number)
        elif isinstance(message, Refused):
            self._refused(message)
        elif isinstance(message, Welcome):
            self._begin(message)
        elif isinstance(message, Dropped):
            self.dropped = self._dropped_before + message.events
        elif isinstance(message, Kept | GivenUp | Ended):
            self._durable.receive(self._feeds.get(message.subscription), message)
            if isinstance(message, Ended):
                self._feeds.pop(message.subscription, None)
        elif isinstance(message, Stats):
            waiting = self._stats.get(message.number)
            if waiting is not None and not waiting.done():
                waiting.set_result(message)

    def _give_up(self, feed: Feed) -> None:
        self._feeds.pop(feed.number, None)
        number = next(self._numbers)
        self._request(number, frame(Unsubscribe(number, feed.number)), lambda _: None)

    def _accepted(self, upto: int) -> None:
        requests = self._requests
        while requests:
            number = next(iter(requests))
            if number > upto:
                break
            requests.pop(number).done(None)
        if not self._room.is_set() and len(requests) < WINDOW:
            self._room.set()

    def _refused(self, message: Refused) -> None:
        request = self._requests.pop(message.number, None)
        if request is not None:
            request.done(BrokerError(message.code, message.message, message.position, message.after))

    def _end(self, error: Exception, quiet: bool = False) -> None:
        """Let everybody who waits for something know that it will not come."""
        if self._error is None:
            self._error = error
        requests, self._requests = self._requests, OrderedDict()
        for request in requests.values():
            request.done(error)
        feeds, self._feeds = self._feeds, {}
        for feed in feeds.values():
            feed.end(None if quiet else error)
        self._room.set()


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
) -> Client:
    """Return a client of the broker at an address, to be used with `async with`.

    At most `queue` events wait for it, at the broker while it does not read, and here for each subscription while
    nobody takes them. `slow` says what happens to more: `disconnect` ends the subscription with a `SlowConsumerError`,
    `drop-oldest` and `drop-newest` drop events, which is counted (`Client.dropped`, `Subscription.dropped`).

    A broker that asks for a `token` (docs/security.md) gets this one, or else that of the environment, `TAMIS_TOKEN`.
    An address that begins with `tamis+tls://` is called over TLS, as any is with `tls` or `ca`: a file of authorities
    to trust instead of those of the machine. A context of your own can be given as `tls`.
    """
    context = tls if isinstance(tls, ssl.SSLContext) else None
    if context is None and (tls or ca is not None or is_tls(url)):
        context = client_context(ca)
    return Client(url, name, slow, queue, timeout, token or os.environ.get(TOKEN) or None, context)


async def _pause(seconds: float) -> float:
    await asyncio.sleep(seconds * uniform(0.5, 1.0))  # noqa: S311 - no secret
    return min(2 * seconds, LONGEST_PAUSE)
