"""Who uses a broker, by whatever protocol: what it publishes is checked, and its subscriptions end with it."""

from typing import TYPE_CHECKING, Any, Final

from tamis.routing.messages import ClientLeft, Publish, Subscribe
from tamis.routing.packets import Event
from tamis.server.runner import Taker
from tamis.wire import MAX_FRAME, ProtocolError, check_content

if TYPE_CHECKING:
    from tamis.server.server import Server

#: Who publishes, for the machine: no client announces what it will publish, so all publish whatever they like.
PUBLISHERS: Final = "publishers"
#: A client has at most so many subscriptions.
MAX_SUBSCRIPTIONS: Final = 1 << 20
#: An event may be so much shorter than a frame: there has to be room for what goes around it.
ROOM: Final = 1 << 10


class Guest:
    """One client while it is there. What it asks for and cannot have is a `ProtocolError`, and changes nothing."""

    def __init__(self, server: "Server", name: str) -> None:
        self._server = server
        #: What people call it; it need not be unique.
        self.name = name
        #: The names that the machine knows its subscriptions by.
        self._subscriptions: dict[int, None] = {}

    def publish(self, id: str, content: dict[str, Any], size: int, trace: str | None = None) -> None:
        """Publish an event, which came in so many bytes, perhaps with a W3C trace context."""
        if size > MAX_FRAME - ROOM:
            raise ProtocolError("bad-event", f"an event of {size:,} bytes; at most {MAX_FRAME - ROOM:,} are taken")
        check_content(content)
        self._server.counts["published"] += 1
        self._server.runner.tell(Publish(PUBLISHERS, Event(id, content, trace)))

    def subscribe(self, condition: str, taker: Taker) -> int:
        """Let somebody take the events that meet a condition; return the name of the subscription.

        A condition that is none is an `ExpressionError`.
        """
        if len(self._subscriptions) >= MAX_SUBSCRIPTIONS:
            raise ProtocolError("too-many", f"a client has at most {MAX_SUBSCRIPTIONS:,} subscriptions")
        name = self._server.next_name()
        self._server.runner.tell(Subscribe(name, condition))
        self._subscriptions[name] = None
        self._server.subscriptions[name] = taker
        return name

    def unsubscribe(self, name: int) -> None:
        """Let a subscription end."""
        del self._subscriptions[name]
        del self._server.subscriptions[name]
        self._server.runner.tell(ClientLeft(name))

    def leave(self) -> None:
        """Let all subscriptions end: for those who took the events at once, for the machine a few in each tick."""
        self._server.forget(list(self._subscriptions))
        self._subscriptions.clear()
