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
from typing import TYPE_CHECKING, Any, Final

import msgspec

from tamis.routing.messages import Advertise, ClientLeft
from tamis.server.accounts import Accounts
from tamis.server.clock import Clock, RealClock
from tamis.server.connection import TURN, Connection, Party
from tamis.server.durable import Durable
from tamis.server.greeting import Called, Caller
from tamis.server.guest import PUBLISHERS
from tamis.server.joining import keep_joined
from tamis.server.link import BrokerHello
from tamis.server.links import Links
from tamis.server.log import Log, to_logging
from tamis.server.rights import Rights
from tamis.server.runner import Runner, Taker
from tamis.server.session import Session
from tamis.server.settings import ServerSettings, is_loopback
from tamis.server.store import Store, StoreError
from tamis.server.tokens import read_tokens
from tamis.server.traffic import Traffic
from tamis.tls import HANDSHAKE, SCHEME, load
from tamis.wire import HEARTBEAT, SILENCE, VERSION, Welcome

if TYPE_CHECKING:
    from tamis.server.web.listener import Listener

#: So many connections may wait to be accepted.
BACKLOG: Final = 1024
#: No more clients than that are connected at a time; others are told so.
MAX_CONNECTIONS: Final = 50_000
#: So many connections are looked after at a time: thousands at once would keep everybody else waiting.
BEATS: Final = 100
#: Connections get so many seconds to take their last frame when the broker stops.
FAREWELL: Final = 2.0


class Server:
    """One broker. `async with Server(settings) as server` serves until the block ends.

    Everything happens in one thread: a message is handled to its end before the next one is read. Events for clients
    that do not read wait up to a limit and then are dropped or end the connection, as the client chose; packets for
    neighbours that do not read wait up to a limit and then end the link. Clients are not read while a neighbour is far
    behind. So memory is bounded, whatever the others do.
    """

    def __init__(
        self, settings: ServerSettings | None = None, log: Log | None = None, clock: Clock | None = None
    ) -> None:
        """Prepare a broker; settings that are wrong are a `ValueError`. Without a log, it goes to `logging`."""
        self.clock = clock or RealClock()
        self.settings = settings or ServerSettings()
        self.strategy = self.settings.made_strategy()
        self.healing = self.settings.chosen_healing(self.strategy)
        self.healing.around(self.strategy.broker("any"), 0)  # what does not fit is refused before anything listens
        self.overlay = _overlay_text(self)
        tokens = self.settings.tokens
        #: Who is here by which token.
        self.accounts = Accounts(
            None if tokens is None else read_tokens(tokens, self.settings.limits), self.settings.limits
        )
        #: The context for every port that listens, if they speak TLS, and that for brokers that are joined.
        self.tls = self.settings.server_tls()
        self.join_tls = self.settings.join_tls()
        #: A number that no earlier start of this broker had.
        self.boot = time_ns()
        self.name = self.settings.name or ""
        self.log = log or to_logging()
        self.counts: Counter[str] = Counter()
        self.traffic = Traffic()
        #: What is served over HTTP and WebSocket, if anything is.
        self.http: Listener | None = None
        self.sessions: dict[Session, None] = {}
        #: Connections of which nobody has said yet who is there.
        self.strangers: dict[Connection, None] = {}
        #: By address, the last call to a broker that is to be joined.
        self.joined: dict[str, Called] = {}
        #: By the names that the machine knows them by.
        self.subscriptions: dict[Any, Taker] = {}
        self._names = count()
        self._leaving: deque[int] = deque()
        self._dirty: list[Connection] = []
        self._connections: set[Connection] = set()
        self._tasks: list[asyncio.Task[None]] = []
        self._listener: asyncio.Server | None = None
        #: What is done with durable events; None if there is no store.
        self.durable: Durable | None = None
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
        scheme = "tamis://" if self.tls is None else SCHEME
        return f"{scheme}[{host}]:{port}" if ":" in host else f"{scheme}{host}:{port}"

    async def __aenter__(self) -> "Server":
        await self.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.stop()

    async def start(self) -> None:
        """Listen, and call the brokers to be joined. A port that is taken is an `OSError`, a store that cannot be
        opened a `StoreError`.
        """
        loop = asyncio.get_running_loop()
        listener = await loop.create_server(
            lambda: self.connection(lambda connection: Caller(self, connection)),
            self.settings.host,
            self.settings.port,
            backlog=BACKLOG,
            ssl=self.tls,
            ssl_handshake_timeout=None if self.tls is None else HANDSHAKE,
            start_serving=False,
        )
        self._listener = listener
        if self.tls is None and not is_loopback(self.settings.host):
            self.log.warning("broker.unencrypted", host=self.settings.host)
        self.name = self.name or f"{socket.gethostname()}:{self.address[1]}"
        try:
            self.start_machine()
        except StoreError:
            listener.close()
            raise
        await listener.start_serving()
        if self.settings.http_port is not None:
            await self._serve_http(self.settings.http_port)
        self._tasks = [loop.create_task(keep_joined(self, address)) for address in self.settings.join]
        self._tasks.append(loop.create_task(self._beat()))

    def start_machine(self) -> None:
        """Start all that needs no socket. A store that cannot be opened is a `StoreError`."""
        self.links = Links(self, tree=not self.strategy.capabilities.general)
        machine = self.healing.around(self.strategy.broker(self.name), self.boot)
        self.runner = Runner(machine, self.links.send, self.subscriptions.get, self.links.disconnect, self.clock)
        ages = self.healing.ages
        self.welcome = Welcome(VERSION, self.name, self.boot, None if ages is None else ages.max_age)
        if self.strategy.capabilities.advertisements:
            self.runner.tell(Advertise(PUBLISHERS, "true"))
        if self.settings.store is not None:
            self.durable = Durable(self, Store(self.settings.store))

    async def stop(self) -> None:
        """Tell everybody that this broker stops, close all connections, and wait until they are gone."""
        for task in self._tasks:
            task.cancel()
        for task in self._tasks:
            with suppress(asyncio.CancelledError):
                await task
        if self._listener is not None:
            self._listener.close()
        if self.http is not None:
            await self.http.stop()
        self.accounts.stop()
        self._flush()
        connections = list(self._connections)
        for connection in connections:
            connection.close("stopping", f"broker {self.name} stops")
        if connections:
            await asyncio.wait([each.closed for each in connections], timeout=FAREWELL)
        for connection in list(self._connections):  # some may have come while the others left
            connection.abort()
        self._leaving.clear()
        if self.durable is not None:
            await self.durable.stop()
            self.durable = None
        if hasattr(self, "runner"):
            self.runner.stop()

    async def _serve_http(self, port: int) -> None:
        # Imported only where it is wanted: it takes as long as everything else together.
        from tamis.server.web.listener import Listener

        http = Listener(self, MAX_CONNECTIONS)
        try:
            await http.start(self.settings.host, port, self.tls)
        except OSError:
            await self.stop()
            raise
        self.http = http

    def problems(self) -> list[str]:
        """Return what is missing before this broker does all that it was told to; nothing if it is ready."""
        found = [] if self._listener is not None and self._listener.is_serving() else ["it does not listen"]
        called = [self.joined.get(address) for address in self.settings.join]
        missing = sum(each is None or not each.is_linked for each in called)
        if missing:
            found.append(f"{missing} of {len(called)} links that were asked for do not stand")
        if self.durable is not None and self.durable.is_failing:
            found.append("the store cannot be written")
        return found

    # --- connections -------------------------------------------------------------------------------------

    def connection(self, greet: Callable[[Connection], Party]) -> Connection:
        """Return a connection that is about to be made."""

        def made(connection: Connection) -> Party:
            # Not before: where no key is agreed on, nobody says that a connection is gone that was never made.
            self._connections.add(connection)
            connection.closed.add_done_callback(lambda _: self._connections.discard(connection))
            return greet(connection)

        return Connection(made, self._mark_dirty)

    def hello(self, to: str | None = None) -> BrokerHello:
        """Return what this broker says to another one first; who is not named yet is called, and shown a token."""
        token = self.settings.token if to is None else None
        return BrokerHello(VERSION, self.name, self.boot, self.overlay, self.links.greeting_side(to), token)

    def rights_of(self, token: str | None) -> Rights:
        """Return the rights that a token gives, for a `Guest`, or raise `ProtocolError` (`unauthorized`, `expired`).

        Where the broker asks for no tokens, that is everything, whatever the token.
        """
        return self.accounts.rights_of(token)

    def reload(self) -> None:
        """Read the tokens and the certificate again. What is wrong with them is noted, and changes nothing.

        Who is here by a token that is gone, or has other rights now, loses its connection.
        """
        settings = self.settings
        try:
            tokens = None if settings.tokens is None else read_tokens(settings.tokens, settings.limits)
            if self.tls is not None and settings.tls_cert is not None and settings.tls_key is not None:
                load(self.tls, settings.tls_cert, settings.tls_key)
        except ValueError as error:
            self.log.error("settings.wrong", reason=str(error))
            return
        if tokens is not None:
            self.accounts.replace(tokens)
        self.log.info("settings.reread")

    @property
    def is_full(self) -> bool:
        """Whether there are as many connections as are allowed."""
        others = 0 if self.http is None else self.http.connections
        return len(self._connections) + others > MAX_CONNECTIONS

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
            turns = len(self._connections) // BEATS + 1
            connections: list[Connection] = []
            for turn in range(turns):
                await asyncio.sleep(HEARTBEAT / 2 / turns)
                connections = connections or list(self._connections)
                now = monotonic()
                for connection in connections[turn::turns]:
                    connection.beat(now, HEARTBEAT, SILENCE)


def _overlay_text(server: Server) -> str:
    """Return what all brokers of an overlay have in common."""
    common = {
        "store": server.settings.store is not None,
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
