"""A client's connection: its requests are done in order and acknowledged together."""

from typing import TYPE_CHECKING, Final

from tamis.language import ExpressionError
from tamis.server.connection import Connection
from tamis.server.guest import Guest
from tamis.wire import (
    MAX_FRAME,
    Accepted,
    Alive,
    ClientHello,
    Code,
    Decoder,
    DeliveryFrames,
    FromClient,
    Goodbye,
    ProtocolError,
    Publish,
    Refused,
    Subscribe,
    Unsubscribe,
    frame,
)

if TYPE_CHECKING:
    from tamis.server.server import Server

_decode: Final = Decoder(FromClient)


class Held:
    """A subscription at its broker: whose it is, and its number there as bytes. The machine knows it by an integer."""

    __slots__ = ("_connection", "number")

    def __init__(self, connection: Connection, number: int) -> None:
        self._connection = connection
        self.number = number.to_bytes(4, "big")

    def deliver(self, event: DeliveryFrames, age: float | None) -> None:
        """Let an event be written for this subscription."""
        connection = self._connection
        if not connection.closing:
            connection.outbox.deliver(self.number, event, age)
            if not connection.is_dirty:
                connection.dirty()


class Session:
    """One client while it is connected."""

    def __init__(self, server: "Server", connection: Connection, hello: ClientHello) -> None:
        self._server = server
        self.connection = connection
        self.guest = Guest(server, hello.client)
        #: By the client's number, the name that the machine knows the subscription by.
        self._held: dict[int, int] = {}
        self._last = self._acknowledged = 0
        connection.become(self, MAX_FRAME, hello.queue, hello.slow)
        server.sessions[self] = None
        connection.say(server.welcome)
        if server.links.are_behind:
            connection.stop_reading("links")

    def receive(self, body: memoryview) -> None:
        message = _decode(body)
        if type(message) is Publish:
            self._begin(message.number)
            self._publish(message, len(body))
        elif isinstance(message, Subscribe):
            self._begin(message.number)
            self._subscribe(message)
        elif isinstance(message, Unsubscribe):
            self._begin(message.number)
            self._unsubscribe(message)
        elif isinstance(message, Goodbye):
            self.connection.abort()
        else:
            assert isinstance(message, Alive)

    def read_all(self) -> None:
        if self._last > self._acknowledged:
            self._acknowledged = self._last
            self.connection.put(frame(Accepted(self._last)))

    def gone(self) -> None:
        del self._server.sessions[self]
        self.guest.leave()

    def _begin(self, number: int) -> None:
        if number <= self._last:
            raise ProtocolError("bad-frame", f"request {number} came after {self._last}: numbers ascend")
        self._last = number

    def _publish(self, message: Publish, size: int) -> None:
        try:
            self.guest.publish(message.id, message.content, size, message.trace)
        except ProtocolError as error:
            self._refuse(message.number, error.code, error.message)

    def _subscribe(self, message: Subscribe) -> None:
        if message.subscription in self._held:
            self._refuse(message.number, "duplicate-subscription", f"there is a subscription {message.subscription}")
            return
        try:
            name = self.guest.subscribe(message.condition, Held(self.connection, message.subscription))
        except ProtocolError as error:
            self._refuse(message.number, error.code, error.message)
        except ExpressionError as error:
            self._refuse(message.number, "bad-condition", error.message, error.position)
        else:
            self._held[message.subscription] = name

    def _unsubscribe(self, message: Unsubscribe) -> None:
        name = self._held.pop(message.subscription, None)
        if name is None:
            text = f"there is no subscription {message.subscription}"
            self._refuse(message.number, "unknown-subscription", text)
        else:
            self.guest.unsubscribe(name)

    def _refuse(self, number: int, code: Code, message: str, position: int | None = None) -> None:
        self._server.counts["refused requests"] += 1
        self.connection.say(Refused(number, code, message, position))
