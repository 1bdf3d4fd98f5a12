"""A link: one connection between two brokers, over which packets go in order."""

from typing import TYPE_CHECKING, Annotated, Final, TypeAlias

import msgspec

from tamis import tracing
from tamis.routing.messages import Arrived
from tamis.routing.packets import AnyPacket, carried
from tamis.server.changes import Member
from tamis.server.connection import Connection
from tamis.server.rights import Rights
from tamis.wire import ENCODER, MAX_LINK_FRAME, VERSION, Alive, Code, Decoder, Goodbye, ProtocolError, Text

if TYPE_CHECKING:
    from tamis.server.server import Server

#: While so many bytes wait for a neighbour, clients are not read: what they publish would only wait as well.
BEHIND: Final = 1 << 22
#: A neighbour for which so many bytes wait is left. It comes back and is told anew what it needs to know.
MAX_WAITING: Final = 1 << 27


class BrokerHello(msgspec.Struct, frozen=True, array_like=True, tag=16):
    """The first frame between brokers, in both directions."""

    version: int
    name: Annotated[str, msgspec.Meta(min_length=1, max_length=256)]
    #: A number that no earlier start of this broker had, and that grows from start to start.
    boot: int
    #: Strategy, options and healing as text: both have the same.
    overlay: str
    #: The brokers on this side of the link; None if links may form circles.
    side: tuple[str, ...] | None = None
    #: From the broker that calls: what the other one, if it asks for tokens, knows it by.
    token: Text | None = None


class Carried(msgspec.Struct, frozen=True, array_like=True, tag=17):
    """A packet of the routing layer (`tamis.routing.packets`)."""

    packet: AnyPacket


class Side(msgspec.Struct, frozen=True, array_like=True, tag=18):
    """The brokers on this side of the link have changed: these are there now. Only where overlays are trees."""

    brokers: tuple[Text, ...]


class Have(msgspec.Struct, frozen=True, array_like=True, tag=19):
    """Of each origin of durable events, up to which number the sender has them on disk."""

    vector: dict[Text, int]
    #: Whether these are all, and the other one is to go on from here, whatever it has sent before.
    anew: bool = False


class HandedEvent(msgspec.Struct, frozen=True, array_like=True):
    """A durable event."""

    sequence: int
    id: Text
    content: msgspec.Raw
    trace: str | None = None


class Handed(msgspec.Struct, frozen=True, array_like=True, tag=20):
    """Durable events of an origin, in order. Between them, and before them, the sender has no others."""

    origin: Text
    #: Up to this number, events may be missing because they were given up.
    given_up: int
    events: list[HandedEvent]
    #: Whether these are the first of this origin, since the other one has said that it has none.
    first: bool = False


class Stores(msgspec.Struct, frozen=True, array_like=True, tag=21):
    """The stores of the overlay that the sender knows, itself first."""

    members: Annotated[list[Member], msgspec.Meta(min_length=1)]


FromBroker: TypeAlias = Alive | Goodbye | Carried | Side | Have | Handed | Stores

_decode: Final = Decoder(FromBroker)
#: An array of two elements, and the number of `Carried`.
_HEAD: Final = b"\x92\x11"


class Link:
    """One end of a link, from the greeting on."""

    def __init__(
        self, server: "Server", connection: Connection, hello: BrokerHello, dialled: bool, rights: Rights | None = None
    ) -> None:
        """Begin a link; one that was not called by this broker has a right to it."""
        self._server = server
        self.rights = Rights.everything() if rights is None else rights
        self._account = server.accounts.enter(self)
        self.connection = connection
        self.name = hello.name
        self.boot = hello.boot
        #: The name of the broker that opened the connection.
        self.opener = server.name if dialled else hello.name
        #: The brokers behind this link, where overlays are trees.
        self.side = (hello.name,) if hello.side is None or server.name in hello.side else hello.side
        connection.become(self, MAX_LINK_FRAME)

    def receive(self, body: memoryview) -> None:
        message = _decode(body)
        if type(message) is Carried:
            if tracing.is_active():
                self._traced(message.packet)
            else:
                self._server.runner.tell(Arrived(self.name, message.packet))
        elif isinstance(message, Side):
            self.side = message.brokers
            self._server.links.side_changed(self)
        elif isinstance(message, Have | Handed | Stores):
            if self._server.durable is not None:
                self._server.durable.handover.take(self, message)
        elif isinstance(message, Goodbye):
            self._server.log.warning("link.closed", neighbour=self.name, reason=message.message)
            self.connection.abort()
        else:
            assert isinstance(message, Alive)

    def _traced(self, packet: AnyPacket) -> None:
        event = carried(packet)
        trace = None if event is None else event.trace
        with tracing.span("forward", trace, broker=self._server.name, link=str(self.name)):
            self._server.runner.tell(Arrived(self.name, packet))

    def read_all(self) -> None:
        pass

    def gone(self) -> None:
        self._server.accounts.leave(self, self._account)
        self._server.links.gone(self)

    def dismiss(self, code: Code, message: str) -> None:
        """Close the link, because the neighbour's token has ended."""
        self._server.log.warning("link.closed", neighbour=self.name, reason=message)
        self.connection.close(code, message)

    def send(self, packet: AnyPacket) -> None:
        """Send a packet; who does not take what it is sent is left."""
        body = _HEAD + ENCODER.encode(packet)
        if len(body) > MAX_LINK_FRAME:
            self.connection.close("frame-too-large", f"a packet of {len(body):,} bytes is too large for a link")
            return
        self.connection.outbox.put(len(body).to_bytes(4, "big") + body)
        self.connection.dirty()
        if self.connection.outbox.paused:
            waiting = self.connection.waiting
            if waiting > MAX_WAITING:
                self.connection.close("slow", f"{waiting:,} bytes wait for broker {self.name}")
            elif waiting > BEHIND:
                self._server.links.behind(self)


def check_version(version: int) -> None:
    """Raise `ProtocolError` if the other end speaks another version."""
    if version != VERSION:
        raise ProtocolError("version", f"this broker speaks version {VERSION} of the protocol, not {version}")
