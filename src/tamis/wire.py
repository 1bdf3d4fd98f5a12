"""What goes over a connection: frames of msgpack, each behind its length. Both server and client speak it.

docs/protocol.md says the same in words. A frame is four bytes, the length of what follows, most significant first, and
then one of the structs below as an array whose first element is its number. Elements that a reader does not know, at
the end of an array, are passed over, so that later versions can add some.
"""

import datetime as dt
from collections.abc import Iterator, Mapping
from decimal import Decimal
from struct import pack
from typing import Annotated, Any, Final, Literal, TypeAlias

import msgspec

#: The version that is spoken here. Who greets with another one is told so and left.
VERSION: Final = 1
#: The port that a broker listens on and clients try, unless told otherwise.
DEFAULT_PORT: Final = 7420
#: No frame between a client and a broker is longer, its length left out.
MAX_FRAME: Final = 1 << 20
#: No frame between two brokers is longer: a broker may have to tell another all conditions at once.
MAX_LINK_FRAME: Final = 1 << 26
#: No greeting is longer: who has not said yet who it is gets little room.
MAX_HELLO: Final = 1 << 16
#: A client's name and an event's id have at most so many characters.
MAX_NAME: Final = 256
#: Lists and maps within an event are nested at most so deep.
MAX_DEPTH: Final = 32
#: So many events may wait for a subscriber that is slow, at most and unless it asks otherwise.
MAX_QUEUE: Final = 1 << 20
DEFAULT_QUEUE: Final = 10_000
#: So many events of a durable subscription may be on their way, at most and unless asked otherwise.
MAX_WINDOW: Final = 1 << 16
DEFAULT_WINDOW: Final = 1_000
#: Who has sent nothing for so many seconds says that it is alive, and who was not heard for the longer time is left.
HEARTBEAT: Final = 5.0
SILENCE: Final = 3 * HEARTBEAT

#: The code of the msgpack extension for a date: its day, counted from 1970-01-01, as a signed integer of four bytes.
DATE: Final = 1

#: What happens to events for a subscriber whose queue is full.
Slow: TypeAlias = Literal["disconnect", "drop-oldest", "drop-newest"]

#: Why something was refused or a connection was closed; docs/protocol.md has the list.
Code: TypeAlias = Literal[
    "bad-frame",
    "frame-too-large",
    "version",
    "bad-condition",
    "bad-event",
    "unknown-subscription",
    "duplicate-subscription",
    "too-many",
    "unauthorized",
    "expired",
    "changed",
    "forbidden",
    "rate",
    "condition-too-large",
    "slow",
    "idle",
    "silent",
    "stopping",
    "mismatch",
    "circle",
    "self",
    "duplicate",
    "no-store",
    "store-full",
    "store-failed",
    "taken",
]

Text: TypeAlias = Annotated[str, msgspec.Meta(max_length=MAX_NAME)]
#: A `traceparent` of version 00 (`tamis.tracing`).
Trace: TypeAlias = Annotated[str, msgspec.Meta(max_length=55)]
#: Requests of one connection are numbered, each higher than the one before.
Number: TypeAlias = Annotated[int, msgspec.Meta(ge=1, lt=1 << 62)]
#: The client's number for a subscription: four bytes, so that all deliveries of one event have the same length.
SubscriptionNumber: TypeAlias = Annotated[int, msgspec.Meta(ge=0, lt=1 << 32)]


class ProtocolError(Exception):
    """What came over a connection is not as agreed, or not allowed. `code` is for programs, the text for people."""

    def __init__(self, code: Code, message: str, after: float | None = None) -> None:
        super().__init__(message)
        self.code: Code = code
        self.message = message
        #: In so many seconds the same would be allowed.
        self.after = after


# --- both ------------------------------------------------------------------------------------------------


class Alive(msgspec.Struct, frozen=True, array_like=True, tag=0):
    """Nothing is new, but the sender is there."""


class Goodbye(msgspec.Struct, frozen=True, array_like=True, tag=1):
    """The last frame: the sender closes the connection, and why."""

    code: str
    message: str


# --- from a client ---------------------------------------------------------------------------------------


class ClientHello(msgspec.Struct, frozen=True, array_like=True, tag=2):
    """The first frame of a client."""

    version: int
    #: What people call it, in logs and remarks. It need not be unique.
    client: Text
    #: How many events may wait for it while it does not read, and what happens to more.
    queue: Annotated[int, msgspec.Meta(ge=1, le=MAX_QUEUE)] = DEFAULT_QUEUE
    slow: Slow = "disconnect"
    #: What a broker that asks for tokens knows it by (docs/security.md).
    token: Text | None = None


class Publish(msgspec.Struct, frozen=True, array_like=True, tag=3):
    """An event. The id is unique in the overlay; a publisher that is not sure whether it was heard says it again."""

    number: Number
    id: Text
    content: dict[str, Any]
    #: The W3C trace context (`traceparent`) in which it is published.
    trace: Trace | None = None
    #: Whether it is on disk before it is accepted, and reaches every durable subscription.
    durable: bool = False


class Subscribe(msgspec.Struct, frozen=True, array_like=True, tag=4):
    """The client wants the events that meet a condition, under a number of its own."""

    number: Number
    subscription: SubscriptionNumber
    condition: str
    #: The name of a durable subscription, which is made unless it is there: the client takes its events from now on.
    durable: Annotated[str, msgspec.Meta(min_length=1, max_length=MAX_NAME)] | None = None
    #: So many events of a durable subscription may be on their way, not acknowledged.
    window: Annotated[int, msgspec.Meta(ge=1, le=MAX_WINDOW)] = DEFAULT_WINDOW


class Unsubscribe(msgspec.Struct, frozen=True, array_like=True, tag=5):
    """The client no longer wants the events of a subscription."""

    number: Number
    subscription: SubscriptionNumber
    #: Only the client leaves; a durable subscription stays, and its events are kept.
    leaves: bool = False


class Acknowledge(msgspec.Struct, frozen=True, array_like=True, tag=11):
    """The client has dealt with all events of a durable subscription up to a position that came on this connection."""

    subscription: SubscriptionNumber
    position: Annotated[int, msgspec.Meta(ge=0, le=(1 << 63) - 1)]


class AskStats(msgspec.Struct, frozen=True, array_like=True, tag=15):
    """The client wants to know how the broker is; it needs the right to administer."""

    number: Number


# --- to a client -----------------------------------------------------------------------------------------


class Welcome(msgspec.Struct, frozen=True, array_like=True, tag=6):
    """The first frame of a broker to a client."""

    version: int
    broker: str
    #: A number that no earlier start of this broker had.
    boot: int
    #: Events of at most this age are timely; None if nobody asked.
    max_age: float | None = None
    #: What the broker puts before the ids of this client's events, so that no two subjects have the same.
    ids: str = ""


class Accepted(msgspec.Struct, frozen=True, array_like=True, tag=7):
    """All requests up to this number have been done, but for those that were refused."""

    number: int


class Refused(msgspec.Struct, frozen=True, array_like=True, tag=8):
    """A request was not done."""

    number: int
    code: str
    message: str
    #: Of a condition: which character is wrong.
    position: int | None = None
    #: Of what was too much: in so many seconds it would be accepted.
    after: float | None = None


class Delivered(msgspec.Struct, frozen=True, array_like=True, tag=9):
    """An event for a subscription."""

    subscription: int
    id: str | int
    content: dict[str, Any]
    #: At most so many seconds have passed since it was published; None if nobody measures that.
    age: float | None
    #: The trace context in which it was published.
    trace: str | None = None


class Dropped(msgspec.Struct, frozen=True, array_like=True, tag=10):
    """So many events were not delivered since the connection began, because the client was slow."""

    events: int


class Kept(msgspec.Struct, frozen=True, array_like=True, tag=12):
    """An event for a durable subscription. It comes again on another connection until it is acknowledged."""

    subscription: int
    #: Ascends within a connection.
    position: int
    id: str
    content: dict[str, Any]
    trace: str | None = None


class GivenUp(msgspec.Struct, frozen=True, array_like=True, tag=13):
    """What a durable subscription has lost since it was made, because too much or for too long had to be kept."""

    subscription: int
    #: Events that it wanted.
    events: int
    #: Events that were given up before this broker had them, so nobody knows whether it wanted them.
    unseen: int


class Ended(msgspec.Struct, frozen=True, array_like=True, tag=14):
    """The client no longer takes the events of a subscription, and why."""

    subscription: int
    code: str
    message: str


class LinkStats(msgspec.Struct, frozen=True, array_like=True):
    """A link to another broker: its name, and how many bytes wait for it."""

    broker: str
    waiting_bytes: int


class SlowStats(msgspec.Struct, frozen=True, array_like=True):
    """A client for which events wait, or were dropped: how many, since it is here."""

    client: str
    waiting: int
    waiting_bytes: int
    dropped: int


class Stats(msgspec.Struct, frozen=True, array_like=True, tag=32):
    """How the broker is."""

    number: int
    broker: str
    strategy: str
    #: Seconds since it was started, and those in which it had a processor; what two answers differ in gives rates.
    uptime: float
    cpu_seconds: float
    #: How much of it is in memory, in bytes; None where that is not known.
    memory: int | None
    clients: int
    subscriptions: int
    #: Since it was started: `published`, `delivered`, `dropped`, `refused`, and `matchings`, how often an event was
    #: compared with conditions. More may come.
    counts: dict[str, int]
    links: tuple[LinkStats, ...]
    #: Those that are farthest behind, and not all if they are many.
    slow: tuple[SlowStats, ...]


Request: TypeAlias = Publish | Subscribe | Unsubscribe
FromClient: TypeAlias = Alive | Goodbye | Publish | Subscribe | Unsubscribe | Acknowledge | AskStats
ToClient: TypeAlias = (
    Alive | Goodbye | Welcome | Accepted | Refused | Delivered | Dropped | Kept | GivenUp | Ended | Stats
)


# --- values ----------------------------------------------------------------------------------------------


class _Day(dt.date):
    """A date as it came, or as it goes: msgspec would write a plain date as a string."""


def _write(value: Any) -> msgspec.msgpack.Ext:
    if isinstance(value, _Day):
        return msgspec.msgpack.Ext(DATE, (value.toordinal() - _EPOCH).to_bytes(4, "big", signed=True))
    raise TypeError(f"a {type(value).__name__} cannot be sent")


def _read(code: int, data: memoryview) -> _Day:
    if code != DATE or len(data) != 4:
        raise ValueError(f"there is no extension {code} of {len(data)} bytes")
    return _Day.fromordinal(_EPOCH + int.from_bytes(data, "big", signed=True))


_EPOCH: Final = dt.date(1970, 1, 1).toordinal()
_PLAIN: Final = frozenset({str, int, float, bool, type(None), bytes})


def portable(content: Mapping[str, Any]) -> dict[str, Any]:
    """Return an event's content as it can be sent; a value that cannot is a `TypeError` that names its attribute.

    Times without a zone are in UTC, and `Decimal` becomes a double, as conditions read them.
    """
    made: dict[str, Any] = {}
    for name, value in content.items():
        if type(name) is not str:
            raise TypeError(f"the name of an attribute is a text, not {name!r}")
        try:
            made[name] = value if type(value) in _PLAIN else _portable(value, 1)
        except TypeError as error:
            raise TypeError(f"attribute {name!r}: {error}") from None
    return made


def _portable(value: Any, depth: int) -> Any:
    if type(value) in _PLAIN:
        return value
    if depth > MAX_DEPTH:
        raise TypeError(f"it is nested more than {MAX_DEPTH} deep")
    if isinstance(value, dt.datetime):
        return (value if value.tzinfo is not None else value.replace(tzinfo=dt.UTC)).astimezone(dt.UTC)
    if isinstance(value, dt.date):
        return _Day(value.year, value.month, value.day)
    if isinstance(value, Mapping):
        return portable({name: _portable(each, depth + 1) for name, each in value.items()})
    if isinstance(value, list | tuple):
        return [_portable(each, depth + 1) for each in value]
    for kind in (str, bool, int, float):
        if isinstance(value, kind):
            return kind(value)
    if isinstance(value, Decimal):
        return float(value)
    if hasattr(value, "dtype") and getattr(value, "ndim", None) == 0:
        return _portable(value.item(), depth + 1)
    raise TypeError(f"a {type(value).__name__} cannot be part of an event")


def check_content(content: Mapping[str, Any]) -> None:
    """Raise `ProtocolError` if an event that came is nested too deep to be passed on."""
    level: list[Any] = [value for value in content.values() if type(value) in (dict, list)]
    for _ in range(MAX_DEPTH):
        if not level:
            return
        level = [each for value in level for each in _within(value) if type(each) in (dict, list)]
    raise ProtocolError("bad-event", f"the event is nested more than {MAX_DEPTH} deep")


def _within(value: Any) -> Any:
    return value.values() if isinstance(value, dict) else value


# --- frames ----------------------------------------------------------------------------------------------

ENCODER: Final = msgspec.msgpack.Encoder(enc_hook=_write)
#: What msgspec raises on bytes that are not what they should be. The last two come of lengths and depths without sense.
_BAD: Final = (msgspec.MsgspecError, ValueError, OverflowError, TypeError, RecursionError, MemoryError)


def frame(message: msgspec.Struct) -> bytes:
    """Return a message as it goes over a connection."""
    body = ENCODER.encode(message)
    return len(body).to_bytes(4, "big") + body


class Decoder:
    """Reads messages of some kinds; whatever the bytes are, nothing is raised but `ProtocolError`."""

    def __init__(self, kinds: Any) -> None:
        self._decode = msgspec.msgpack.Decoder(kinds, ext_hook=_read).decode

    def __call__(self, body: bytes | memoryview) -> Any:
        """Return the message."""
        try:
            return self._decode(body)
        except _BAD as error:
            raise ProtocolError("bad-frame", f"a frame that nobody understands: {error}"[:MAX_NAME]) from None


class Frames:
    """Cuts what comes over a connection into frames, however it is cut up on its way."""

    def __init__(self, limit: int) -> None:
        #: How long a frame may be; it may change between frames.
        self.limit = limit
        self._rest = bytearray()
        self._needed = 4

    def feed(self, data: memoryview) -> Iterator[memoryview]:
        """Yield the frames that are complete now. One that is too long is a `ProtocolError`.

        A frame can be read until the next one is asked for.
        """
        if self._rest:
            self._rest += data
            if len(self._rest) < self._needed:
                return
            data = memoryview(self._rest)
            self._rest = bytearray()
        at, end = 0, len(data)
        while end - at >= 4:
            length = int.from_bytes(data[at : at + 4], "big")
            if length > self.limit:
                raise ProtocolError("frame-too-large", f"a frame of {length:,} bytes; at most {self.limit:,} are taken")
            if end - at - 4 < length:
                self._needed = length + 4
                break
            yield data[at + 4 : at + 4 + length]
            at += 4 + length
        else:
            self._needed = 4
        if at < end:
            self._rest = bytearray(data[at:])

    @property
    def waiting(self) -> int:
        """How many bytes of a frame are here that is not complete."""
        return len(self._rest)


class DeliveryFrames:
    """The frames by which one event goes to many subscriptions: they differ in four bytes only.

    `first + number + last` is `frame(Delivered(…))` with the subscription's number in its longest form.
    """

    __slots__ = ("_after_age", "first", "last", "length", "shown")

    #: An array of five elements, the number of `Delivered`, and that an integer of four bytes follows. With a trace
    #: context there are six elements.
    _HEAD: Final = b"\x95\x09\xce"
    _TRACED: Final = b"\x96\x09\xce"

    #: What others make of it for protocols of their own, so that they make it once for all subscriptions.
    shown: bytes

    def __init__(self, id: str | int, content: dict[str, Any], age: float | None, trace: str | None = None) -> None:
        head = self._HEAD
        self.last = ENCODER.encode((id, content, age))[1:]
        self._after_age = 0
        if trace is not None:
            head = self._TRACED
            tail = ENCODER.encode(trace)
            self.last += tail
            self._after_age = len(tail)
        length = len(head) + 4 + len(self.last)
        self.first = length.to_bytes(4, "big") + head
        self.length = length + 4

    def aged(self, age: float) -> bytes:
        """Return `last` with another age, where it has one."""
        end = len(self.last) - self._after_age
        return self.last[: end - 8] + pack(">d", age) + self.last[end:]

    def fields(self) -> tuple[str | int, dict[str, Any], str | None]:
        """Return id, content and trace context."""
        id, content, _, *rest = _decode_fields((b"\x94" if self._after_age else b"\x93") + self.last)
        return id, content, rest[0] if rest else None


_decode_fields: Final = Decoder(list[Any])


def parse_address(text: str, default_port: int = DEFAULT_PORT) -> tuple[str, int]:
    """Return host and port of `HOST`, `HOST:PORT`, `tamis://HOST:PORT` or `tamis+tls://HOST:PORT`; anything else is a
    `ValueError`.
    """
    rest = text.removeprefix("tamis://").removeprefix("tamis+tls://").removesuffix("/")
    host, colon, port = rest.rpartition(":") if not rest.endswith("]") else (rest, "", "")
    if not colon or (":" in host and not host.startswith("[")):
        host, port = rest, str(default_port)
    host = host.removeprefix("[").removesuffix("]")
    if not host or "/" in host or not port.isascii() or not port.isdigit() or not 0 < int(port) < 1 << 16:
        raise ValueError(f"{text!r} is no address; one looks like tamis://localhost:{default_port}")
    return host, int(port)
