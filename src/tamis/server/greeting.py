"""The first frame of a connection says who is there: a client, a broker that calls, or one that was called."""

import asyncio
from typing import TYPE_CHECKING, Final

from tamis.server.connection import Connection
from tamis.server.link import BrokerHello, Link, check_version
from tamis.server.session import Session
from tamis.wire import ClientHello, Decoder, Goodbye, ProtocolError

if TYPE_CHECKING:
    from tamis.server.server import Server

#: Who has opened a connection gets so many seconds to say who it is.
GREETING: Final = 10.0

_decode: Final = Decoder(ClientHello | BrokerHello)
_decode_answer: Final = Decoder(BrokerHello | Goodbye)


class Caller:
    """Somebody who has opened a connection to this broker and has not said yet who it is."""

    def __init__(self, server: "Server", connection: Connection) -> None:
        self._server = server
        self._connection = connection
        server.strangers[connection] = None
        # However busily it sends bytes: without a greeting nobody keeps a place that others want.
        message = f"no greeting came within {GREETING:g} seconds"
        self._timer = asyncio.get_running_loop().call_later(GREETING, connection.close, "silent", message)

    def receive(self, body: memoryview) -> None:
        hello = _decode(body)
        check_version(hello.version)
        if self._server.is_full:
            raise ProtocolError("too-many", f"broker {self._server.name} has as many connections as it takes")
        if isinstance(hello, ClientHello):
            Session(self._server, self._connection, hello)
            self.gone()
            return
        rights = self._server.rights_of(hello.token)
        if not rights.may_link:
            raise ProtocolError("forbidden", "this token gives no right to join the overlay")
        self._server.links.check(hello, dialled=False)
        link = Link(self._server, self._connection, hello, dialled=False, rights=rights)
        self._connection.say(self._server.hello(hello.name))
        self.gone()
        self._server.links.add(link)

    def read_all(self) -> None:
        pass

    def gone(self) -> None:
        self._timer.cancel()
        self._server.strangers.pop(self._connection, None)


class Called:
    """A broker that this one has called, until it has answered."""

    def __init__(self, server: "Server", connection: Connection) -> None:
        self._server = server
        self._connection = connection
        server.strangers[connection] = None
        #: The name of the broker, once it has answered.
        self.name: str | None = None
        #: Why it did not become a neighbour.
        self.refused: Goodbye | None = None
        connection.say(server.hello())

    @property
    def is_linked(self) -> bool:
        """Whether there is a link to that broker, by this call or by another."""
        if self.name is None:
            return self.refused is not None and self.refused.code == "duplicate"
        return self.name in self._server.links

    def receive(self, body: memoryview) -> None:
        answer = _decode_answer(body)
        if isinstance(answer, Goodbye):
            self.refused = answer
            self._connection.abort()
            return
        self.name = answer.name
        try:
            check_version(answer.version)
            self._server.links.check(answer, dialled=True)
        except ProtocolError as error:
            self.refused = Goodbye(error.code, error.message)
            raise
        del self._server.strangers[self._connection]
        self._server.links.add(Link(self._server, self._connection, answer, dialled=True))

    def read_all(self) -> None:
        pass

    def gone(self) -> None:
        self._server.strangers.pop(self._connection, None)
