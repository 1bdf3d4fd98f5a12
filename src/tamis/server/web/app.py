"""The application: what there is at which path, and what all of it shares."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

from starlette.applications import Starlette
from starlette.requests import HTTPConnection, Request
from starlette.responses import Response
from starlette.routing import Route, WebSocketRoute
from starlette.types import Receive, Scope, Send
from starlette.websockets import WebSocket

from tamis.server.guest import Guest
from tamis.server.metrics import Metrics
from tamis.server.pages import check_page
from tamis.server.rights import Rights
from tamis.server.web.asking import token
from tamis.server.web.kept import KeptSubscriptions
from tamis.server.web.mailbox import Mailbox
from tamis.server.web.observing import Observing
from tamis.server.web.openapi import document
from tamis.server.web.page import page
from tamis.server.web.problems import HANDLERS, problem
from tamis.server.web.publishing import Ids, Publishing
from tamis.server.web.rendering import encoded
from tamis.server.web.resources import JSON, Resources
from tamis.server.web.sockets import serve_socket
from tamis.wire import ProtocolError

if TYPE_CHECKING:
    from tamis.server.server import Server

#: So many seconds pass until it is looked again whether neighbours have caught up.
PAUSE: Final = 0.01


class Web:
    """An ASGI application for one broker."""

    def __init__(self, server: "Server") -> None:
        self.server = server
        self.kept = KeptSubscriptions(server)
        #: Of the streams that are open.
        self.mailboxes: dict[Mailbox, None] = {}
        self.next_id = Ids()
        self.metrics = Metrics(server)
        self._anybody: Guest | None = None
        self._stopping = False
        self._app = Starlette(routes=self._routes(), exception_handlers={**HANDLERS, Exception: _failed})

    def _routes(self) -> list[Any]:
        publishing, resources, observing = Publishing(self), Resources(self), Observing(self)
        made = [
            Route("/events", publishing.post, methods=["POST"]),
            _route("/subscribe", GET=resources.stream),
            _route("/subscriptions", GET=resources.listed, POST=resources.make),
            _route("/subscriptions/{id}", GET=resources.show, DELETE=resources.end),
            _route("/subscriptions/{id}/events", GET=resources.fetch),
            Route("/health", observing.health),
            Route("/ready", observing.ready),
            Route("/metrics", observing.metrics),
            Route("/why", observing.why),
            Route("/openapi.json", _always(encoded(document()), JSON)),
            Route("/docs", _always(page().encode(), "text/html")),
        ]
        return [*made, WebSocketRoute("/ws", self._socket)]

    async def _socket(self, socket: WebSocket) -> None:
        await serve_socket(self, socket)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request; what fails is a defect of ours and goes to the log."""
        try:
            await self._app(scope, receive, send)
        except Exception:
            self.server.log.exception("http.failed", path=scope["path"])

    # --- who asks ----------------------------------------------------------------------------------------

    def rights(self, request: HTTPConnection) -> Rights:
        """Return what somebody may do who asks; a token that is missing or wrong is a `ProtocolError`."""
        if self._stopping:
            raise ProtocolError("stopping", f"broker {self.server.name} stops")
        check_page(self.server.settings, request.headers)
        return self.server.rights_of(token(request))

    @contextmanager
    def publisher(self, request: HTTPConnection) -> Iterator[Guest]:
        """Give the guest for a request that publishes. All who need no token are one, so that limits hold for them."""
        rights = self.rights(request)
        if not rights.key:
            self._anybody = self._anybody or Guest(self.server, "http", rights)
            yield self._anybody
            return
        guest = Guest(self.server, "http", rights)
        try:
            yield guest
        finally:
            guest.leave()

    # --- streams -----------------------------------------------------------------------------------------

    @contextmanager
    def open(self, mailbox: Mailbox) -> Iterator[None]:
        """A stream is open: it is told when the broker stops, and counted."""
        self.mailboxes[mailbox] = None
        try:
            yield
        finally:
            del self.mailboxes[mailbox]
            mailbox.close()

    async def room(self) -> None:
        """Wait while a neighbour is behind: what is published would only wait as well."""
        while self.server.links.are_behind and not self._stopping:
            await asyncio.sleep(PAUSE)

    def stop(self) -> None:
        """Let all streams end: the broker stops."""
        self._stopping = True
        text = f"broker {self.server.name} stops"
        for mailbox in [*self.mailboxes, *(kept.mailbox for kept in self.kept)]:
            mailbox.end("stopping", text)
        self.kept.stop()
        if self._anybody is not None:
            self._anybody.leave()


def _route(path: str, **endpoints: Callable[[Request], Awaitable[Any]]) -> Route:
    """Return a route with an endpoint for each method, so that all are known when another one is tried."""

    async def endpoint(request: Request) -> Any:
        return await endpoints[request.method](request)

    made = Route(path, endpoint, methods=list(endpoints))
    # A stream has no end, so that its head alone cannot be asked for.
    made.methods = set(endpoints)
    return made


def _always(body: bytes, media_type: str) -> Callable[[Request], Awaitable[Response]]:
    async def endpoint(request: Request) -> Response:  # noqa: ARG001 - the same for all
        return Response(body, media_type=media_type)

    return endpoint


async def _failed(request: Request, error: Exception) -> Response:  # noqa: ARG001 - Starlette passes both
    return problem(500, "internal", "something went wrong here; the broker's log says what")
