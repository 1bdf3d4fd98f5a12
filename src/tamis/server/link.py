"""A link: one connection between two brokers, over which packets go in order."""

from typing import TYPE_CHECKING, Annotated, Final, TypeAlias

import msgspec

from tamis.routing.messages import Arrived
from tamis.routing.packets import AnyPacket
from tamis.server.connection import Connection
from tamis.wire import ENCODER, MAX_LINK_FRAME, VERSION, Alive, Decoder, Goodbye, ProtocolError, Text

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


class Carried(msgspec.Struct, frozen=True, array_like=True, tag=17):
    """A packet of the routing layer (`tamis.routing.packets`)."""

    packet: AnyPacket


class Side(msgspec.Struct, frozen=True, array_like=True, tag=18):
    """The brokers on this side of the link have changed: these are there now. Only where overlays are trees."""

    brokers: tuple[Text, ...]


FromBroker: TypeAlias = Alive | Goodbye | Carried | Side

_decode: Final = Decoder(FromBroker)
#: An array of two elements, and the number of `Carried`.
_HEAD: Final = b"\x92\x11"


class Link:
    """One end of a link, from the greeting on."""

    def __init__(self, server: "Server", connection: Connection, hello: BrokerHello, dialled: bool) -> None:
        self._server = server
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
            self._server.runner.tell(Arrived(self.name, message.packet))
        elif isinstance(message, Side):
            self.side = message.brokers
            self._server.links.side_changed(self)
        elif isinstance(message, Goodbye):
            self._server.note(f"broker {self.name} closes the link: {message.message}")
            self.connection.abort()
        else:
            assert isinstance(message, Alive)

    def read_all(self) -> None:
        pass

    def gone(self) -> None:
        self._server.links.gone(self)

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
