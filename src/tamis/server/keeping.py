"""The durable side of a client's connection: requests that wait for the disk, and events that wait for the client."""

import asyncio
from collections import OrderedDict
from typing import TYPE_CHECKING, Final

import msgspec

from tamis.server.changes import Entry
from tamis.server.connection import Connection
from tamis.server.consumer import Consumer, Done
from tamis.server.traffic import Traffic
from tamis.wire import ENCODER, Acknowledge, Code, Ended, GivenUp, ProtocolError, Publish, Subscribe, Unsubscribe

if TYPE_CHECKING:
    from tamis.server.session import Session

#: A client of which so many bytes wait for the disk is not read any further.
WAITING: Final = 1 << 22
#: The number of `Kept`.
_KEPT: Final = 12


class KeptHeld:
    """A durable subscription of a connection (`KeptTaker`)."""

    def __init__(self, keeping: "Keeping", connection: Connection, number: int, traffic: Traffic) -> None:
        self._keeping = keeping
        self._connection = connection
        self._number = number
        self._traffic = traffic

    @property
    def has_room(self) -> bool:
        return not self._connection.outbox.paused and not self._connection.closing

    def take(self, entry: Entry) -> None:
        self._traffic.matched["tcp", "durable"] += 1
        content = msgspec.Raw(entry.content)
        body = ENCODER.encode((_KEPT, self._number, entry.position, entry.id, content, entry.trace))
        self._connection.put(len(body).to_bytes(4, "big") + body)

    def tell_given_up(self, events: int, unseen: int) -> None:
        self._connection.say(GivenUp(self._number, events, unseen))

    def end(self, code: Code, message: str) -> None:
        self._keeping.drop(self._number)
        self._connection.say(Ended(self._number, code, message))


class Keeping:
    """What a session has to do with durable events, from the first of them on."""

    def __init__(self, session: "Session", traffic: Traffic) -> None:
        self._session = session
        self._guest = session.guest
        self._connection = session.connection
        self._traffic = traffic
        #: The numbers of requests that wait for the disk, in order, with their sizes.
        self._waiting: OrderedDict[int, int] = OrderedDict()
        self._bytes = 0
        self._answers = False
        self._consumers: dict[int, Consumer] = {}
        self._connection.on_room = self._pump

    def __contains__(self, subscription: int) -> bool:
        return subscription in self._consumers

    def accepted(self, last: int) -> int:
        """Return up to which number all requests are done, if the last one that came is this."""
        return next(iter(self._waiting)) - 1 if self._waiting else last

    def publish(self, message: Publish, size: int) -> None:
        """Publish an event; the answer comes when it is on disk."""
        done = self._wait(message.number, size)
        try:
            self._guest.publish(message.id, message.content, size, message.trace, done)
        except ProtocolError:
            self._settle(message.number)
            raise

    def subscribe(self, message: Subscribe, name: str) -> None:
        """Let the client take the events of a durable subscription."""
        number = message.subscription
        settled = self._wait(message.number, len(message.condition))

        def done(error: ProtocolError | None) -> None:
            if error is not None:
                self.drop(number)
            settled(error)

        taker = KeptHeld(self, self._connection, number, self._traffic)
        try:
            consumer = self._guest.subscribe_durably(name, message.condition, taker, message.window, done)
        except Exception:
            self._settle(message.number)
            raise
        self._consumers[number] = consumer

    def unsubscribe(self, message: Unsubscribe) -> None:
        """Let the client leave a durable subscription, or end it."""
        consumer = self._consumers.pop(message.subscription)
        if message.leaves:
            self._guest.leave_durable(consumer)
        else:
            self._guest.unsubscribe_durably(consumer, self._wait(message.number, 0))

    def drop(self, subscription: int) -> None:
        """The client takes no more events of a subscription."""
        consumer = self._consumers.pop(subscription, None)
        if consumer is not None and not self._connection.closing:
            self._guest.leave_durable(consumer)

    def acknowledge(self, message: Acknowledge) -> None:
        """The client has dealt with events. Of a subscription that it does not have any more, that means nothing."""
        consumer = self._consumers.get(message.subscription)
        if consumer is not None:
            consumer.acknowledge(message.position)

    def _wait(self, number: int, size: int) -> Done:
        self._waiting[number] = size
        self._bytes += size
        if self._bytes > WAITING:
            self._connection.stop_reading("store")

        def done(error: ProtocolError | None) -> None:
            if error is not None and not self._connection.closing:
                self._session.refuse(number, error.code, error.message)
            self._settle(number)
            # What was written together is answered together.
            if not self._answers:
                self._answers = True
                asyncio.get_running_loop().call_soon(self._answer)

        return done

    def _settle(self, number: int) -> None:
        self._bytes -= self._waiting.pop(number)
        if self._bytes <= WAITING // 2:
            self._connection.read_again("store")

    def _answer(self) -> None:
        self._answers = False
        if not self._connection.closing:
            self._session.read_all()

    def _pump(self) -> None:
        for consumer in list(self._consumers.values()):
            consumer.pump()
