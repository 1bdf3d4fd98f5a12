"""A client's connection: its requests are done in order and acknowledged together."""

from typing import TYPE_CHECKING, Final

import msgspec

from tamis.language import ExpressionError
from tamis.server.connection import Connection
from tamis.server.guest import Guest
from tamis.server.keeping import Keeping
from tamis.server.stats import stats_of
from tamis.server.traffic import Traffic, kind_of
from tamis.wire import (
    MAX_FRAME,
    Accepted,
    Acknowledge,
    Alive,
    AskStats,
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


class Held(msgspec.Struct, eq=False, gc=False):
    """A subscription at its broker: whose it is, and its number there as bytes. The machine knows it by an integer.

    There are very many, none of them in a circle: a struct that is not looked at for garbage takes the least memory.
    """

    connection: Connection
    number: bytes

    def deliver(self, event: DeliveryFrames, age: float | None) -> None:
        """Let an event be written for this subscription."""
        connection = self.connection
        if not connection.closing:
            connection.outbox.deliver(self.number, event, age)
            if not connection.is_dirty:
                connection.dirty()


class CountedHeld(Held, eq=False, gc=False):
    """A subscription with a `notify` clause: events for it are few, and counted."""

    traffic: Traffic

    def deliver(self, event: DeliveryFrames, age: float | None) -> None:
        """Count an event and let it be written."""
        self.traffic.matched["tcp", "notify"] += 1
        super().deliver(event, age)


class Session:
    """One client while it is connected."""

    def __init__(self, server: "Server", connection: Connection, hello: ClientHello) -> None:
        """Let a client in that has greeted; one that may not come is a `ProtocolError`, before anything is changed."""
        self._server = server
        self.connection = connection
        self.guest = Guest(server, hello.client, server.rights_of(hello.token), connection.close)
        #: By the client's number, as bytes, the name that the machine knows the subscription by.
        self._held: dict[bytes, int] = {}
        #: What it has to do with durable events; None if nothing.
        self._keeping: Keeping | None = None
        self._last = self._acknowledged = 0
        connection.become(self, MAX_FRAME, hello.queue, hello.slow)
        server.sessions[self] = None
        ids = self.guest.ids
        connection.say(msgspec.structs.replace(server.welcome, ids=ids) if ids else server.welcome)
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
        elif isinstance(message, Acknowledge):
            if self._keeping is not None:
                self._keeping.acknowledge(message)
        elif isinstance(message, AskStats):
            self._begin(message.number)
            self._stats(message)
        elif isinstance(message, Goodbye):
            self.connection.abort()
        else:
            assert isinstance(message, Alive)

    def read_all(self) -> None:
        last = self._last if self._keeping is None else self._keeping.accepted(self._last)
        if last > self._acknowledged:
            self._acknowledged = last
            self.connection.put(frame(Accepted(last)))

    def gone(self) -> None:
        del self._server.sessions[self]
        outbox, dropped = self.connection.outbox, self._server.traffic.dropped
        dropped["tcp", outbox.slow] += outbox.dropped
        dropped["tcp", "slow" if self.connection.is_slow else "left"] += outbox.lost
        if self.connection.is_slow:
            self._server.log.warning("client.slow", client=self.guest.name, waiting=outbox.lost)
        self.guest.leave()

    def _begin(self, number: int) -> None:
        if number <= self._last:
            raise ProtocolError("bad-frame", f"request {number} came after {self._last}: numbers ascend")
        self._last = number

    def _publish(self, message: Publish, size: int) -> None:
        try:
            if message.durable:
                self._kept().publish(message, size)
            else:
                self.guest.publish(message.id, message.content, size, message.trace)
        except ProtocolError as error:
            self._refuse(message.number, error.code, error.message, after=error.after)

    def _subscribe(self, message: Subscribe) -> None:
        number = _bytes(message.subscription)
        if number in self._held or self._keeps(message.subscription):
            self._refuse(message.number, "duplicate-subscription", f"there is a subscription {message.subscription}")
            return
        try:
            if message.durable is not None:
                self._kept().subscribe(message, message.durable)
                return
            held = Held(self.connection, number)
            if kind_of(message.condition) == "notify":
                held = CountedHeld(self.connection, number, self._server.traffic)
            name = self.guest.subscribe(message.condition, held)
        except ProtocolError as error:
            self._refuse(message.number, error.code, error.message)
        except ExpressionError as error:
            self._refuse(message.number, "bad-condition", error.message, error.position)
        else:
            self._held[number] = name

    def _unsubscribe(self, message: Unsubscribe) -> None:
        if self._keeps(message.subscription):
            self._kept().unsubscribe(message)
            return
        name = self._held.pop(_bytes(message.subscription), None)
        if name is None:
            text = f"there is no subscription {message.subscription}"
            self._refuse(message.number, "unknown-subscription", text)
        else:
            self.guest.unsubscribe(name)

    def _stats(self, message: AskStats) -> None:
        if self.guest.rights.may_administer:
            self.connection.say(stats_of(self._server, message.number))
        else:
            self._refuse(message.number, "forbidden", "this token gives no right to administer")

    def _kept(self) -> Keeping:
        if self._keeping is None:
            self._keeping = Keeping(self, self._server.traffic)
        return self._keeping

    def _keeps(self, subscription: int) -> bool:
        return self._keeping is not None and subscription in self._keeping

    def refuse(self, number: int, code: Code, message: str) -> None:
        """Say that a request was not done after all."""
        self._refuse(number, code, message)

    def _refuse(
        self, number: int, code: Code, message: str, position: int | None = None, after: float | None = None
    ) -> None:
        self._server.counts["refused requests"] += 1
        self.connection.say(Refused(number, code, message, position, after))


def _bytes(subscription: int) -> bytes:
    """Return a client's number as it stands in every delivery: four bytes."""
    return subscription.to_bytes(4, "big")
