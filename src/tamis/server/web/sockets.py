"""WebSocket: a client that publishes and subscribes in JSON, one object a message."""

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING, Annotated, Any, Final, TypeAlias

import msgspec
from starlette.websockets import WebSocket, WebSocketDisconnect, WebSocketDisconnected

from tamis import tracing
from tamis.language import ExpressionError
from tamis.server.guest import Guest
from tamis.server.web.asking import query
from tamis.server.web.mailbox import Mailbox
from tamis.server.web.problems import WrongRequest, said
from tamis.server.web.publishing import publish
from tamis.server.web.rendering import encoded, event_json
from tamis.wire import DEFAULT_QUEUE, MAX_NAME, MAX_QUEUE, ProtocolError, Slow

if TYPE_CHECKING:
    from tamis.server.web.app import Web

Text: TypeAlias = Annotated[str, msgspec.Meta(min_length=1, max_length=MAX_NAME)]
Number: TypeAlias = Annotated[int, msgspec.Meta(ge=0, lt=1 << 53)]

#: How a WebSocket is closed, by the code of the goodbye: going away, try again later, and otherwise policy violation.
CLOSE: Final = {"stopping": 1001, "slow": 1013}


class SocketQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a client says of itself when it connects."""

    #: What people call it, in logs.
    client: Text = "websocket"
    #: How many events may wait for it while it does not read, and what happens to more.
    queue: Annotated[int, msgspec.Meta(ge=1, le=MAX_QUEUE)] = DEFAULT_QUEUE
    slow: Slow = "disconnect"


class Subscribe(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="type", tag="subscribe"):
    """The client wants the events that meet a condition, under a name of its own."""

    subscription: Text
    condition: str
    number: Number | None = None


class Unsubscribe(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="type", tag="unsubscribe"):
    """The client no longer wants the events of a subscription."""

    subscription: Text
    number: Number | None = None


class Publish(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="type", tag="publish"):
    """An event."""

    event: dict[str, Any]
    id: Text | None = None
    traceparent: str | None = None
    number: Number | None = None


Request: TypeAlias = Subscribe | Unsubscribe | Publish

_decoder: Final[msgspec.json.Decoder[Request]] = msgspec.json.Decoder(Request)
#: Whoever was there has left; that is no mistake.
_LEFT: Final = (WebSocketDisconnect, WebSocketDisconnected)


class Socket:
    """One client while it is connected."""

    def __init__(self, web: "Web", socket: WebSocket, asked: SocketQuery) -> None:
        self._web = web
        self._socket = socket
        self._mailbox = Mailbox(asked.queue, asked.slow, web.server.traffic, "websocket")
        self._guest = Guest(web.server, asked.client, web.rights(socket), self._mailbox.end)
        #: By the client's name, the name that the machine knows the subscription by.
        self._held: dict[str, int] = {}
        self._told = 0

    async def run(self) -> None:
        """Serve the client until it leaves or is left."""
        welcome = self._web.server.welcome
        reader = None
        with self._web.open(self._mailbox):
            try:
                await self._socket.accept()
                await self._say({"type": "welcome", "broker": welcome.broker, "max_age": welcome.max_age})
                reader = asyncio.get_running_loop().create_task(self._read())
                await self._write()
            except _LEFT:
                pass
            finally:
                self._guest.leave()
                if reader is not None:
                    reader.cancel()
                    with suppress(asyncio.CancelledError):
                        await reader

    # --- what the client says ----------------------------------------------------------------------------

    async def _read(self) -> None:
        """Do what the client asks, in order. It is not read any further while it does not take the answers."""
        try:
            while self._mailbox.ending is None:
                message = await self._socket.receive()
                if message["type"] == "websocket.disconnect":
                    self._mailbox.end("silent", "the client has left")
                    return
                await self._web.room()
                await self._do(_request(message.get("text") or message.get("bytes") or b""))
        except ProtocolError as error:
            self._mailbox.end(error.code, error.message)
        except _LEFT:
            self._mailbox.end("silent", "the client has left")

    async def _do(self, request: Request) -> None:
        answer: dict[str, Any] = {"type": "accepted"}
        try:
            if isinstance(request, Publish):
                id = request.id or self._web.next_id()
                publish(self._guest, id, request.event, tracing.checked(request.traceparent))
                answer["id"] = self._guest.ids + id
            elif isinstance(request, Subscribe):
                self._subscribe(request)
            else:
                self._guest.unsubscribe(self._number(request.subscription))
                del self._held[request.subscription]
        except (ProtocolError, ExpressionError) as error:
            answer = {"type": "refused", "message": error.message}
            answer["code"] = "bad-condition" if isinstance(error, ExpressionError) else error.code
            if isinstance(error, ExpressionError):
                answer["position"] = error.position
        if request.number is not None:
            answer["number"] = request.number
        if request.number is not None or answer["type"] == "refused":
            await self._say(answer)

    def _subscribe(self, request: Subscribe) -> None:
        name = request.subscription
        if name in self._held:
            raise ProtocolError("duplicate-subscription", f"there is a subscription {name!r}")
        self._held[name] = self._guest.subscribe(request.condition, self._mailbox.taker(request.condition, name))

    def _number(self, name: str) -> int:
        if name not in self._held:
            raise ProtocolError("unknown-subscription", f"there is no subscription {name!r}")
        return self._held[name]

    # --- what the client is told -------------------------------------------------------------------------

    async def _write(self) -> None:
        """Write events as they come, and why there are no more."""
        mailbox = self._mailbox
        while True:
            if mailbox.dropped > self._told:
                self._told = mailbox.dropped
                await self._say({"type": "dropped", "events": self._told})
            found = mailbox.take()
            for waiting in found:
                await self._socket.send_text('{"type":"event",' + event_json(waiting)[1:].decode())
            if found:
                # Others have their turn, however fast this client reads.
                await asyncio.sleep(0)
                continue
            if mailbox.ending is not None:
                code, message = mailbox.ending
                await self._say({"type": "goodbye", "code": code, "message": message})
                await self._socket.close(CLOSE.get(code, 1008), code)
                return
            await mailbox.news()

    async def _say(self, message: dict[str, Any]) -> None:
        await self._socket.send_text(encoded(message).decode())


def _request(text: str | bytes) -> Request:
    try:
        return _decoder.decode(text)
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError) as error:
        raise ProtocolError("bad-frame", f"a message that nobody understands: {error}"[:MAX_NAME]) from None


async def serve_socket(web: "Web", socket: WebSocket) -> None:
    """Serve a client that opens a WebSocket; what is wrong with how it asks is said before it opens."""
    try:
        if web.server.is_full:
            raise ProtocolError("too-many", f"broker {web.server.name} has as many connections as it takes")
        made = Socket(web, socket, query(socket, SocketQuery))
    except WrongRequest as error:
        await socket.send_denial_response(error.response)
    except ProtocolError as error:
        await socket.send_denial_response(said(error))
    else:
        await made.run()
