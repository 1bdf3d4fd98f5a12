"""Who uses a broker, by whatever protocol: what it publishes is checked, and its subscriptions end with it."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from tamis import tracing
from tamis.routing.messages import ClientLeft, Publish, Subscribe
from tamis.routing.packets import Event
from tamis.server.consumer import Consumer, Done, KeptTaker
from tamis.server.rights import Rights
from tamis.server.runner import Taker
from tamis.wire import MAX_FRAME, MAX_NAME, Code, ProtocolError, check_content

if TYPE_CHECKING:
    from tamis.server.durable import Durable
    from tamis.server.server import Server

#: Who publishes, for the machine: no client announces what it will publish, so all publish whatever they like.
PUBLISHERS: Final = "publishers"
#: An event may be so much shorter than a frame: there has to be room for what goes around it.
ROOM: Final = 1 << 10


class Guest:
    """One client while it is there. What it asks for and cannot have is a `ProtocolError`, and changes nothing.

    It keeps to its rights and limits whatever protocol it comes by; `tamis.server.rights` says what each protocol has
    to respect besides. Codes: `forbidden` (outside of the rights), `rate` (with `after`), `too-many`,
    `condition-too-large`, `bad-event`.
    """

    def __init__(
        self,
        server: "Server",
        name: str,
        rights: Rights | None = None,
        dismiss: Callable[[Code, str], None] | None = None,
    ) -> None:
        """Let somebody in, with the rights that `Server.rights_of` has found for a token; None asks for no token.

        `dismiss` is called with a code and a reason when the token ends or changes: close the connection with these.
        The guest has left by then. Too many connections of a subject are a `ProtocolError` (`too-many`).
        """
        self._server = server
        #: What people call it; it need not be unique.
        self.name = name
        #: What it may do.
        self.rights = server.rights_of(None) if rights is None else rights
        #: What is put before the ids of its events: nobody can use up an id that another subject is going to use, and
        #: so make that one's event a duplicate.
        self.ids = f"{self.rights.subject}/" if self.rights.key else ""
        self._dismiss = dismiss
        self._ended: ProtocolError | None = None
        self._account = server.accounts.enter(self)
        #: The names that the machine knows its subscriptions by.
        self._subscriptions: dict[int, None] = {}
        #: The durable subscriptions whose events it takes.
        self._consumers: dict[Consumer, None] = {}

    def publish(
        self, id: str, content: dict[str, Any], size: int, trace: str | None = None, done: Done | None = None
    ) -> None:
        """Publish an event, which came in so many bytes, perhaps with a W3C trace context.

        With `done` the event is durable: `done` is told when it is on disk, and before nothing else happens, or why
        not. Where nothing can be kept, that is a `ProtocolError` (`no-store`).
        """
        self._check_here()
        if size > MAX_FRAME - ROOM:
            raise ProtocolError("bad-event", f"an event of {size:,} bytes; at most {MAX_FRAME - ROOM:,} are taken")
        if len(id) > MAX_NAME - len(self.ids):
            raise ProtocolError("bad-event", f"an id has at most {MAX_NAME - len(self.ids)} characters here")
        check_content(content)
        self.rights.check_publish(content)
        self._account.check_publish(self.rights.limits, self._server.clock.now())
        if done is not None:
            self._durable().publish(self.ids + id, content, trace, done)
            self._server.counts["published"] += 1
            return
        self._server.counts["published"] += 1
        message = Publish(PUBLISHERS, Event(self.ids + id, content, trace))
        if trace is None:
            self._server.runner.tell(message)
        else:
            with tracing.span("publish", trace, broker=self._server.name, event=id):
                self._server.runner.tell(message)

    def subscribe_durably(self, name: str, condition: str, taker: KeptTaker, window: int, done: Done) -> Consumer:
        """Let somebody take the events of a durable subscription, which is made unless it is there.

        `done` is told when it is on disk, or why not. The name belongs to the subject of the token. What is wrong is
        raised as by `subscribe`; where nothing can be kept, that is a `ProtocolError` (`no-store`).
        """
        self._check_here()
        durable = self._durable()
        narrowed = self.rights.narrowed(condition)
        self._account.check_subscribe(self.rights.limits)
        if self.rights.key:
            durable.check_room(self.rights.subject, name, self.rights.limits.subscriptions)
        consumer = durable.subscribe(self.rights.subject, name, narrowed, taker, window, done)
        self._account.subscriptions += 1
        self._consumers[consumer] = None
        return consumer

    def unsubscribe_durably(self, consumer: Consumer, done: Done) -> None:
        """Let a durable subscription end for good; `done` is told when that is on disk, or why not."""
        self._drop_consumer(consumer)
        self._durable().unsubscribe(consumer, done)

    def leave_durable(self, consumer: Consumer) -> None:
        """Take no more events of a durable subscription, which stays."""
        self._drop_consumer(consumer)
        self._durable().leave(consumer)

    def _drop_consumer(self, consumer: Consumer) -> None:
        del self._consumers[consumer]
        self._account.subscriptions -= 1

    def _durable(self) -> "Durable":
        if self._server.durable is None:
            raise ProtocolError("no-store", f"broker {self._server.name} has no store, so it keeps nothing")
        return self._server.durable

    def subscribe(self, condition: str, taker: Taker) -> int:
        """Let somebody take the events that meet a condition and the right to subscribe; return the name of the
        subscription.

        A condition that is none is an `ExpressionError`.
        """
        self._check_here()
        narrowed = self.rights.narrowed(condition)
        self._account.check_subscribe(self.rights.limits)
        name = self._server.next_name()
        self._server.runner.tell(Subscribe(name, narrowed))
        self._account.subscriptions += 1
        self._subscriptions[name] = None
        self._server.subscriptions[name] = taker
        return name

    def unsubscribe(self, name: int) -> None:
        """Let a subscription end."""
        del self._subscriptions[name]
        self._account.subscriptions -= 1
        del self._server.subscriptions[name]
        self._server.runner.tell(ClientLeft(name))

    def leave(self) -> None:
        """Let all subscriptions end: for those who took the events at once, for the machine a few in each tick."""
        if self._ended is None:
            self._ended = ProtocolError("stopping", "the connection is closed")
            self._server.accounts.leave(self, self._account)
            self._account.subscriptions -= len(self._subscriptions)
            self._server.forget(list(self._subscriptions))
            self._subscriptions.clear()
            for consumer in list(self._consumers):
                self.leave_durable(consumer)

    def dismiss(self, code: Code, message: str) -> None:
        """Let the guest leave because its token has ended, and have its connection closed with that reason."""
        self.leave()
        self._ended = ProtocolError(code, message)
        if self._dismiss is not None:
            self._dismiss(code, message)

    def _check_here(self) -> None:
        if self._ended is not None:
            raise ProtocolError(self._ended.code, self._ended.message)
