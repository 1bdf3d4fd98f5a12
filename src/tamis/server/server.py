"""The broker process: a machine in its layers, the connections of clients, and the links to other brokers."""

import asyncio
import json
import socket
import sys
from collections import Counter, deque
from collections.abc import Callable
from contextlib import suppress
from itertools import count
from time import monotonic, time_ns
from types import TracebackType
from typing import Any, Final

import msgspec

from tamis.routing.messages import Advertise, ClientLeft
from tamis.server.connection import TURN, Connection, Party
from tamis.server.greeting import Caller
from tamis.server.guest import PUBLISHERS
from tamis.server.joining import keep_joined
from tamis.server.link import BrokerHello
from tamis.server.links import Links
from tamis.server.runner import Runner, Taker
from tamis.server.session import Session
from tamis.server.settings import ServerSettings
from tamis.wire import HEARTBEAT, SILENCE, VERSION, Welcome

#: So many connections may wait to be accepted.
BACKLOG: Final = 1024
#: No more clients than that are connected at a time; others are told so.
MAX_CONNECTIONS: Final = 50_000
#: Connections get so many seconds to take their last frame when the broker stops.
FAREWELL: Final = 2.0


class Server:
    """One broker. `async with Server(settings) as server` serves until the block ends.

    Everything happens in one thread: a message is handled to its end before the next one is read. Events for clients
    that do not read wait up to a limit and then are dropped or end the connection, as the client chose; packets for
    neighbours that do not read wait up to a limit and then end the link. Clients are not read while a neighbour is far
    behind. So memory is bounded, whatever the others do.
    """

    def __init__(self, settings: ServerSettings | None = None, note: Callable[[str], None] | None = None) -> None:
        """Prepare a broker; settings that are wrong are a `ValueError`. `note` is told what people may want to know."""
        self.settings = settings or ServerSettings()
        self.strategy = self.settings.made_strategy()
        self.healing = self.settings.chosen_healing(self.strategy)
        self.healing.around(self.strategy.broker("any"), 0)  # what does not fit is refused before anything listens
        self.overlay = _overlay_text(self)
        #: A number that no earlier start of this broker had.
        self.boot = time_ns()
        self.name = self.settings.name or ""
        self.note = note or (lambda text: None)  # noqa: ARG005
        self.counts: Counter[str] = Counter()
        self.sessions: dict[Session, None] = {}
        #: Connections of which nobody has said yet who is there.
        self.strangers: dict[Connection, None] = {}
        #: By the names that the machine knows them by.
        self.subscriptions: dict[Any, Taker] = {}
        self._names = count()
        self._leaving: deque[int] = deque()
        self._dirty: list[Connection] = []
        self._connections: set[Connection] = set()
        self._tasks: list[asyncio.Task[None]] = []
        self._listener: asyncio.Server | None = None
        self.runner: Runner
        self.links: Links
        self.welcome: Welcome

    # --- life --------------------------------------------------------------------------------------------

    @property
    def address(self) -> tuple[str, int]:
        """The host and port on which clients and brokers find this one."""
        assert self._listener is not None
        host, port = self._listener.sockets[0].getsockname()[:2]
        return host, port

    @property
    def url(self) -> str:
        """The address as clients take it."""
        host, port = self.address
        return f"tamis://[{host}]:{port}" if ":" in host else f"tamis://{host}:{port}"

    async def __aenter__(self) -> "Server":
        await self.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.stop()

    async def start(self) -> None:
        """Listen, and call the brokers to be joined. A port that is taken is an `OSError`."""
        loop = asyncio.get_running_loop()
        listener = await loop.create_server(
            lambda: self.connection(lambda connection: Caller(self, connection)),
            self.settings.host,
            self.settings.port,
            backlog=BACKLOG,
            start_serving=False,
        )
        self._listener = listener
        self.name = self.name or f"{socket.gethostname()}:{self.address[1]}"
        self.links = Links(self, tree=not self.strategy.capabilities.general)
        machine = self.healing.around(self.strategy.broker(self.name), self.boot)
        self.runner = Runner(machine, self.links.send, self.subscriptions.get, self.links.disconnect)
        ages = self.healing.ages
        self.welcome = Welcome(VERSION, self.name, self.boot, None if ages is None else ages.max_age)
        if self.strategy.capabilities.advertisements:
            self.runner.tell(Advertise(PUBLISHERS, "true"))
        await listener.start_serving()
        self._tasks = [loop.create_task(keep_joined(self, address)) for address in self.settings.join]
        self._tasks.append(loop.create_task(self._beat()))

    async def stop(self) -> None:
        """Tell everybody that this broker stops, close all connections, and wait until they are gone."""
        for task in self._tasks:
            task.cancel()
        for task in self._tasks:
            with suppress(asyncio.CancelledError):
                await task
        if self._listener is not None:
            self._listener.close()
        self._flush()
        connections = list(self._connections)
        for connection in connections:
            connection.close("stopping", f"broker {self.name} stops")
        if connections:
            await asyncio.wait([each.closed for each in connections], timeout=FAREWELL)
        for connection in connections:
            connection.abort()
        self._leaving.clear()
        if hasattr(self, "runner"):
            self.runner.stop()

    # --- connections -------------------------------------------------------------------------------------

    def connection(self, greet: Callable[[Connection], Party]) -> Connection:
        """Return a connection that is about to be made."""
        connection = Connection(greet, self._mark_dirty)
        self._connections.add(connection)
        connection.closed.add_done_callback(lambda _: self._connections.discard(connection))
        return connection

    def hello(self, to: str | None = None) -> BrokerHello:
        """Return what this broker says to another one first."""
        return BrokerHello(VERSION, self.name, self.boot, self.overlay, self.links.greeting_side(to))

    @property
    def is_full(self) -> bool:
        """Whether there are as many connections as are allowed."""
        return len(self._connections) > MAX_CONNECTIONS

    def next_name(self) -> int:
        """Return the name of a new subscription."""
        return next(self._names)

    def forget(self, names: list[int]) -> None:
        """Let subscriptions end: for those who had them at once, for the machine a few in each tick."""
        for name in names:
            del self.subscriptions[name]
        if names and not self._leaving:
            asyncio.get_running_loop().call_soon(self._forget_some)
        self._leaving += names

    def _forget_some(self) -> None:
        end = monotonic() + TURN
        while self._leaving and monotonic() < end:
            self.runner.tell(ClientLeft(self._leaving.popleft()))
        if self._leaving:
            asyncio.get_running_loop().call_soon(self._forget_some)

    def _mark_dirty(self, connection: Connection) -> None:
        if not self._dirty:
            asyncio.get_running_loop().call_soon(self._flush)
        self._dirty.append(connection)

    def _flush(self) -> None:
        """Write to each connection all that was gathered for it in this tick, at once."""
        dirty, self._dirty = self._dirty, []
        for connection in dirty:
            connection.flush()
        if self.links.are_behind:
            self.links.caught_up()

    async def _beat(self) -> None:
        while True:
            await asyncio.sleep(HEARTBEAT / 2)
            now = monotonic()
            for connection in list(self._connections):
                connection.beat(now, HEARTBEAT, SILENCE)


def _overlay_text(server: Server) -> str:
    """Return what all brokers of an overlay have in common."""
    common = {
        "strategy": server.strategy.name,
        "options": msgspec.to_builtins(server.strategy.options),
        "healing": msgspec.to_builtins(server.healing),
    }
    return json.dumps(common, sort_keys=True)


async def serve_until(server: Server, ready: Callable[[Server], None], until: asyncio.Event) -> None:
    """Serve until an event is set; `ready` is called once the broker listens."""
    async with server:
        ready(server)
        await until.wait()


def run(main: Any) -> None:
    """Run a coroutine, on uvloop where that is installed."""
    factory: Callable[[], asyncio.AbstractEventLoop] | None = None
    if sys.platform != "win32":
        with suppress(ImportError):
            from uvloop import new_event_loop

            factory = new_event_loop
    with asyncio.Runner(loop_factory=factory) as runner:
        runner.run(main)
