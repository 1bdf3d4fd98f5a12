"""A broker in memory, for tests of programs that use one: the real broker and the real client, without sockets.

    async with MemoryBroker() as broker, broker.connect() as client:
        events = await client.subscribe("price > 10 notify price moves 2")
        await client.publish({"price": 12})
        assert (await anext(events))["price"] == 12

What is published has been routed when `publish` returns, as ever; `settle` waits until all subscribers have it in their
queues. The broker's time passes only when `advance` is called.
"""

import asyncio
from collections.abc import Callable
from heapq import heappop, heappush
from itertools import count
from types import TracebackType
from typing import Any, Final

from tamis.client.channel import Channel
from tamis.client.client import Client
from tamis.server.greeting import Caller
from tamis.server.server import Server
from tamis.server.settings import ServerSettings
from tamis.wire import DEFAULT_QUEUE, Slow

#: Between two things that happen to an event on its way, there are fewer turns of the event loop.
_TURNS: Final = 10


class VirtualTimer:
    """Something that happens when time has passed."""

    def __init__(self, function: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
        self._function: Callable[..., Any] | None = function
        self._arguments = arguments

    def cancel(self) -> None:
        """Let it not happen."""
        self._function = None

    def fire(self) -> None:
        """Let it happen, unless it was cancelled."""
        if self._function is not None:
            self._function(*self._arguments)


class VirtualClock:
    """Time that passes when it is told to. It begins at 0."""

    def __init__(self) -> None:
        self._now = 0.0
        self._count = count()
        self._timers: list[tuple[float, int, VirtualTimer]] = []

    def now(self) -> float:
        """Return the time."""
        return self._now

    def later(self, seconds: float, function: Callable[..., Any], *arguments: Any) -> VirtualTimer:
        """Have a function called when so many seconds have passed."""
        timer = VirtualTimer(function, arguments)
        heappush(self._timers, (self._now + seconds, next(self._count), timer))
        return timer

    def advance(self, seconds: float) -> None:
        """Let time pass. Timers fire in the order of their times, each at its own; those that they set fire as well."""
        if not 0 <= seconds < float("inf"):
            raise ValueError(f"time passes by some seconds, not {seconds}")
        until = self._now + seconds
        while self._timers and self._timers[0][0] <= until:
            self._now, _, timer = heappop(self._timers)
            timer.fire()
        self._now = until


class MemoryBroker:
    """A broker that is reached by `connect` alone. Use it with `async with`.

    It is `tamis.server.Server` with the same routing, rights, limits and protocol, and clients are those of
    `tamis.connect`; only the connections are not real. They take everything at once: a subscriber that does not take
    its events has them wait at the client, never at the broker. Timers of the broker and limits of rates go by its
    own time; tokens end, and what is durable is kept, by that of the machine.
    """

    def __init__(self, settings: ServerSettings | None = None) -> None:
        """Prepare a broker. Where it listens and whom it joins is of no interest."""
        self.clock = VirtualClock()
        self.server = Server(settings or ServerSettings(name="memory"), clock=self.clock)
        self._ends: list[_End] = []
        self._steps = 0

    async def __aenter__(self) -> "MemoryBroker":
        self.server.name = self.server.name or "memory"
        self.server.start_machine()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.server.stop()

    def connect(
        self,
        *,
        name: str | None = None,
        slow: Slow = "disconnect",
        queue: int = DEFAULT_QUEUE,
        timeout: float = 10.0,
        token: str | None = None,
    ) -> Client:
        """Return a client of this broker, to be used with `async with`; see `tamis.connect`."""
        return _MemoryClient(self, name, slow, queue, timeout, token)

    def disconnect(self) -> None:
        """Cut all connections, as when a network fails: clients come back and say again what they have to."""
        for end in list(self._ends):
            end.abort()

    async def settle(self) -> None:
        """Wait until nothing is on its way: what was published is in the queues of its subscribers."""
        quiet, steps = 0, self._steps
        while quiet < _TURNS:
            await asyncio.sleep(0)
            quiet = quiet + 1 if self._steps == steps else 0
            steps = self._steps

    async def advance(self, seconds: float) -> None:
        """Let time pass for the broker, and wait until nothing is on its way."""
        self.clock.advance(seconds)
        await self.settle()

    def call(self, channel: Channel) -> None:
        """Connect a client's end with the broker."""
        connection = self.server.connection(lambda made: Caller(self.server, made))
        here, there = _End(self, channel), _End(self, connection)
        here.other, there.other = there, here
        self._ends += [here, there]
        connection.connection_made(there)
        channel.connection_made(here)

    def moved(self) -> None:
        """Something has gone a step."""
        self._steps += 1

    def gone(self, end: "_End") -> None:
        """One end of a connection is no more."""
        self._ends.remove(end)


class _MemoryClient(Client):
    """A client whose connections are within this process."""

    def __init__(
        self, broker: MemoryBroker, name: str | None, slow: Slow, queue: int, timeout: float, token: str | None
    ) -> None:
        super().__init__("tamis://memory", name, slow, queue, timeout, token)
        self._broker = broker

    async def _dial(self) -> Channel:
        channel = _MemoryChannel(self._hello, self._receive)
        self._broker.call(channel)
        return channel


class _MemoryChannel(Channel):
    """A connection of a client that nobody has to be told of that it is alive."""

    def _beat(self) -> None:
        pass


class _End(asyncio.Transport):
    """One end of a connection: what is written here is read at the other end, in another turn of the event loop."""

    other: "_End"

    def __init__(self, broker: MemoryBroker, protocol: asyncio.BaseProtocol) -> None:
        super().__init__()
        self._broker = broker
        self._protocol = protocol
        self._loop = asyncio.get_running_loop()
        self._came = bytearray()
        self._stopped = self._closing = self._ends = self._lost = False

    def write(self, data: bytes | bytearray | memoryview) -> None:
        if not self._closing:
            self.other._came += data
            self.other._soon()

    def _soon(self) -> None:
        self._broker.moved()
        self._loop.call_soon(self._read)

    def _read(self) -> None:
        self._broker.moved()
        if self._lost or self._stopped:
            return
        data = bytes(self._came)
        self._came.clear()
        if isinstance(self._protocol, asyncio.BufferedProtocol):
            buffer = memoryview(self._protocol.get_buffer(-1))
            # What does not go in at once, or came while nothing is read, waits before what comes later.
            some, rest = data[: len(buffer)], data[len(buffer) :]
            if some:
                buffer[: len(some)] = some
                self._came[:0] = rest
                self._protocol.buffer_updated(len(some))
            if rest:
                self._soon()
                return
        elif data:
            assert isinstance(self._protocol, asyncio.Protocol)
            self._protocol.data_received(data)
        if self._ends and not self._came and not self._stopped:
            self._lose()

    def pause_reading(self) -> None:
        self._stopped = True

    def resume_reading(self) -> None:
        self._stopped = False
        self._soon()

    def is_closing(self) -> bool:
        return self._closing

    def get_write_buffer_size(self) -> int:
        return 0

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        pass

    def can_write_eof(self) -> bool:
        return False

    def close(self) -> None:
        """Close: the other end reads what was written, and is closed then."""
        if not self._closing:
            self._closing = self.other._ends = True
            self.other._soon()
            self._loop.call_soon(self._lose)

    def abort(self) -> None:
        """Close at once; nothing more is read."""
        self._closing = self.other._closing = True
        self._loop.call_soon(self._lose)
        self._loop.call_soon(self.other._lose)

    def _lose(self) -> None:
        if not self._lost:
            self._lost = self._closing = True
            self._broker.moved()
            self._broker.gone(self)
            self._protocol.connection_lost(None)
