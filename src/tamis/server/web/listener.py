"""uvicorn within the broker: its process, its loop, and no handlers of signals."""

import asyncio
import socket
import ssl
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from time import monotonic
from typing import TYPE_CHECKING, Any, Final

import uvicorn

from tamis.server.web.app import Web
from tamis.wire import MAX_FRAME

if TYPE_CHECKING:
    from tamis.server.server import Server

#: So many connections may wait to be accepted.
BACKLOG: Final = 1024
#: Responses that are under way get so many seconds when the broker stops; then their connections are cut.
FAREWELL: Final = 2.0
#: So often, in seconds, the date in responses is set anew, and it is seen who has sent nothing.
TICK: Final = 1.0
#: A request gets so many seconds to begin and to say all but its body.
PATIENCE: Final = 30.0
#: Header fields and the path may have so many bytes together.
MAX_HEAD: Final = 1 << 17


class _Uvicorn(uvicorn.Server):
    """Leaves signals to the broker, and says when it listens."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.listening = asyncio.Event()
        self.leaving = asyncio.Event()
        #: Connections on which a request is awaited, and since when.
        self._silent: dict[Any, float] = {}

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.listening.set()

    async def main_loop(self) -> None:
        while not await self.on_tick(0):
            self._leave_silent()
            with suppress(TimeoutError):
                async with asyncio.timeout(TICK):
                    await self.leaving.wait()

    def _leave_silent(self) -> None:
        """Cut connections whose request does not come: uvicorn waits for it without end."""
        now = monotonic()
        waiting = [each for each in self.server_state.connections if _awaits_request(each)]
        self._silent = {each: self._silent.get(each, now) for each in waiting}
        for connection, since in self._silent.items():
            if now - since > PATIENCE:
                connection.transport.abort()

    def leave(self) -> None:
        """Let `main_loop` end."""
        self.should_exit = True
        self.leaving.set()


def _awaits_request(connection: Any) -> bool:
    """Say whether a connection has no request that is being dealt with, and no timer that ends it."""
    if not hasattr(connection, "cycle"):
        return False  # a WebSocket
    is_idle = connection.cycle is None or connection.cycle.response_complete
    return is_idle and connection.timeout_keep_alive_task is None


class Listener:
    """Serves a broker over HTTP and WebSocket from `start` to `stop`."""

    def __init__(self, server: "Server", most: int) -> None:
        """Prepare. At most so many connections are served at a time; others are told 503."""
        self.web = Web(server)
        self._config: dict[str, Any] = {
            "lifespan": "off",
            "http": "h11",
            "log_config": None,
            "access_log": False,
            "server_header": False,
            "proxy_headers": False,
            "ws": "websockets-sansio",
            "ws_max_size": MAX_FRAME,
            # A dictionary for each connection would cost more memory than all else of it.
            "ws_per_message_deflate": False,
            "h11_max_incomplete_event_size": MAX_HEAD,
            "limit_concurrency": most,
            "backlog": BACKLOG,
        }

    async def start(self, host: str, port: int, tls: ssl.SSLContext | None) -> None:
        """Listen. A port that is taken is an `OSError`."""
        loop = asyncio.get_running_loop()
        self._sockets = await _bound(host, port)
        config = uvicorn.Config(self.web, **self._config)
        config.load()
        config.ssl = tls
        self._uvicorn = _Uvicorn(config)
        self._task = loop.create_task(self._uvicorn.serve(self._sockets))
        listens = loop.create_task(self._uvicorn.listening.wait())
        await asyncio.wait([self._task, listens], return_when=asyncio.FIRST_COMPLETED)
        if not listens.done():
            listens.cancel()
            await self._task

    @property
    def address(self) -> tuple[str, int]:
        """The host and port."""
        host, port = self._sockets[0].getsockname()[:2]
        return host, port

    @property
    def url(self) -> str:
        """The address as browsers take it."""
        host, port = self.address
        scheme = "http" if self._uvicorn.config.ssl is None else "https"
        return f"{scheme}://[{host}]:{port}" if ":" in host else f"{scheme}://{host}:{port}"

    @property
    def connections(self) -> int:
        """How many connections there are."""
        return len(self._uvicorn.server_state.connections)

    async def stop(self) -> None:
        """Tell everybody who reads a stream that the broker stops; then close all connections."""
        self.web.stop()
        self._uvicorn.leave()
        await asyncio.wait([self._task], timeout=FAREWELL)
        # Who does not read what is written to it would be waited for.
        for connection in list(self._uvicorn.server_state.connections):
            connection.transport.abort()
        await self._task


async def _bound(host: str, port: int) -> list[socket.socket]:
    """Return a socket for each address of a host, all with one port."""
    found = await asyncio.get_running_loop().getaddrinfo(
        host or None, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
    )
    made: list[socket.socket] = []
    try:
        for family, kind, protocol, _, address in dict.fromkeys(found):
            each = socket.socket(family, kind, protocol)
            made.append(each)
            each.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            if family == socket.AF_INET6:
                each.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
            each.bind((address[0], port or made[0].getsockname()[1], *address[2:]))
            each.setblocking(False)
    except OSError:
        for each in made:
            each.close()
        raise
    return made
