"""Everything that happened, one record a line: JSON that can be searched, replayed and compared.

JSON has no dates and no infinite numbers. Where an event has them, they are written as objects with one name that
begins with a dollar sign, so that a trace that is read means what was written.
"""

import datetime as dt
import math
from collections.abc import Callable, Iterator
from pathlib import Path
from types import TracebackType
from typing import Any, Final, TypeAlias

import msgspec

from tamis.healing import Healing
from tamis.routing import Strategy
from tamis.routing.messages import Arrived, Connect, Disconnect, Message, Publish, SetTimer
from tamis.routing.packets import AnyPacket, Event, Name, carried
from tamis.simulation.clock import Clock
from tamis.simulation.faults import Fault
from tamis.simulation.link import Link
from tamis.simulation.observer import Observer

#: Bytes kept back before they are written.
BUFFER: Final = 1 << 20


class _Record(msgspec.Struct, frozen=True, tag_field="is", tag=str.lower, omit_defaults=True):
    """One thing that happened."""


class Began(_Record, frozen=True):
    """How the brokers are made."""

    strategy: str
    options: Any
    seed: int
    healing: Healing = Healing()


class Started(_Record, frozen=True):
    """A broker started that knows nothing."""

    time: float
    broker: Name
    clock: Clock = Clock()


class Stopped(_Record, frozen=True):
    """A broker stopped."""

    time: float
    broker: Name


class Linked(_Record, frozen=True):
    """A link came."""

    time: float
    one: Name
    other: Name
    link: Link = Link()


class Unlinked(_Record, frozen=True):
    """A link went."""

    time: float
    one: Name
    other: Name


class Faulted(_Record, frozen=True):
    """A fault that was planned happened."""

    time: float
    fault: Fault


class Told(_Record, frozen=True):
    """A broker handled a message."""

    time: float
    broker: Name
    message: Message
    hops: int


class Sent(_Record, frozen=True):
    """A broker sent a packet."""

    time: float
    broker: Name
    neighbour: Name
    packet: AnyPacket


class Lost(_Record, frozen=True):
    """A packet did not arrive."""

    time: float
    broker: Name
    neighbour: Name
    packet: AnyPacket


class Delivered(_Record, frozen=True):
    """A client got an event."""

    time: float
    broker: Name
    client: Name
    event: Name
    hops: int
    #: At most how old it was; None if there is no bound, nothing if nobody measured.
    age: float | msgspec.UnsetType | None = msgspec.UNSET


class Recorded(_Record, frozen=True):
    """A broker counted something."""

    time: float
    broker: Name
    metric: str
    value: float


class Timed(_Record, frozen=True):
    """A broker set a timer."""

    time: float
    broker: Name
    timer: SetTimer


class Stepped(_Record, frozen=True):
    """The clock of a broker jumped."""

    time: float
    broker: Name
    by: float


class Asked(_Record, frozen=True):
    """A broker asked for a link to be opened or closed."""

    time: float
    broker: Name
    action: Connect | Disconnect


Record: TypeAlias = (
    Began
    | Started
    | Stopped
    | Linked
    | Unlinked
    | Faulted
    | Told
    | Sent
    | Lost
    | Delivered
    | Recorded
    | Timed
    | Stepped
    | Asked
)
_ENCODER: Final = msgspec.json.Encoder()
_DECODER: Final = msgspec.json.Decoder(Record)
#: What begins the name of an object that stands for something else.
_MARK: Final = "$"


def encoded(record: Record, event: Event | None = None) -> bytes:
    """Return a record as one line. `event` is what the record carries, if anything."""
    if event is not None and not _is_plain(event.content):
        return _ENCODER.encode(_marked(msgspec.to_builtins(record, builtin_types=(dt.datetime, dt.date)))) + b"\n"
    return _ENCODER.encode(record) + b"\n"


def decoded(text: bytes) -> Record:
    """Return the record of a line. One that is none is a `ValueError`."""
    if b'"$' in text:
        unmarked: Record = msgspec.convert(_unmarked(msgspec.json.decode(text)), Record)
        return unmarked
    record: Record = _DECODER.decode(text)
    return record


def _is_plain(value: Any) -> bool:
    """Say whether JSON keeps a value as it is."""
    kind = type(value)
    if kind is dict:
        return all(_is_plain(each) for each in value.values()) and not any(key.startswith(_MARK) for key in value)
    if kind is list or kind is tuple:
        return all(map(_is_plain, value))
    return kind in (int, str, bool) or value is None or (kind is float and math.isfinite(value))


def _marked(value: Any) -> Any:
    if isinstance(value, dict):
        marked = {key: _marked(each) for key, each in value.items()}
        return {"$object": marked} if any(key.startswith(_MARK) for key in marked) else marked
    if isinstance(value, list | tuple):
        return [_marked(each) for each in value]
    if isinstance(value, dt.datetime):
        return {"$timestamp": value.isoformat()}
    if isinstance(value, dt.date):
        return {"$date": value.isoformat()}
    if isinstance(value, float) and not math.isfinite(value):
        return {"$number": repr(value)}
    return value


_MARKS: Final[dict[str, Callable[[Any], Any]]] = {
    "$timestamp": dt.datetime.fromisoformat,
    "$date": dt.date.fromisoformat,
    "$number": float,
    "$object": lambda value: {key: _unmarked(each) for key, each in value.items()},
}


def _unmarked(value: Any) -> Any:
    if isinstance(value, list):
        return [_unmarked(each) for each in value]
    if not isinstance(value, dict):
        return value
    if len(value) == 1:
        ((key, only),) = value.items()
        if key in _MARKS:
            return _MARKS[key](only)
    return {key: _unmarked(each) for key, each in value.items()}


class TraceWriter(Observer):
    """Takes down everything that happens in one overlay: `with TraceWriter(path) as trace: Overlay(…, trace=trace)`."""

    def __init__(self, path: Path | str) -> None:
        self._file = Path(path).open("wb", buffering=BUFFER)  # noqa: SIM115 - closed by `close`

    def close(self) -> None:
        """Write what is kept back, and no more."""
        self._file.close()

    def __enter__(self) -> "TraceWriter":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def begin(self, strategy: Strategy, healing: Healing, seed: int) -> None:
        """Take down how the brokers are made; an overlay calls it first."""
        self._write(Began(strategy.name, msgspec.to_builtins(strategy.options), seed, healing))

    def fault(self, now: float, fault: Fault) -> None:
        """Take down a fault that happens now."""
        self._write(Faulted(now, fault))

    def started(self, now: float, broker: Name, clock: Clock) -> None:
        self._write(Started(now, broker, clock))

    def stopped(self, now: float, broker: Name) -> None:
        self._write(Stopped(now, broker))

    def linked(self, now: float, one: Name, other: Name, link: Link) -> None:
        self._write(Linked(now, one, other, link))

    def unlinked(self, now: float, one: Name, other: Name) -> None:
        self._write(Unlinked(now, one, other))

    def told(self, now: float, broker: Name, message: Message, hops: int) -> None:
        self._write(Told(now, broker, message, hops), event_of(message))

    def sent(self, now: float, broker: Name, neighbour: Name, packet: AnyPacket) -> None:
        self._write(Sent(now, broker, neighbour, packet), carried(packet))

    def lost(self, now: float, broker: Name, neighbour: Name, packet: AnyPacket) -> None:
        self._write(Lost(now, broker, neighbour, packet), carried(packet))

    def delivered(self, now: float, broker: Name, client: Name, event: Event, hops: int, age: float | None) -> None:
        self._write(delivery(now, broker, client, event.id, hops, age))

    def recorded(self, now: float, broker: Name, metric: str, value: float) -> None:
        self._write(Recorded(now, broker, metric, value))

    def timed(self, now: float, broker: Name, timer: SetTimer) -> None:
        self._write(Timed(now, broker, timer))

    def stepped(self, now: float, broker: Name, by: float) -> None:
        self._write(Stepped(now, broker, by))

    def asked(self, now: float, broker: Name, action: Connect | Disconnect) -> None:
        self._write(Asked(now, broker, action))

    def _write(self, record: Record, event: Event | None = None) -> None:
        self._file.write(encoded(record, event))


def delivery(time: float, broker: Name, client: Name, event: Name, hops: int, age: float | None) -> Delivered:
    """Return the record of a delivery; an age without bound is written as null."""
    return Delivered(time, broker, client, event, hops, msgspec.UNSET if age is None else age)


def event_of(message: Message) -> Event | None:
    """Return the event that a message brings, if it brings one."""
    if isinstance(message, Publish):
        return message.event
    return carried(message.packet) if isinstance(message, Arrived) else None


def read_trace(path: Path | str) -> Iterator[tuple[bytes, Record]]:
    """Go through the records of a trace, each with its line. A line that is none is a `ValueError` with its number."""
    with Path(path).open("rb") as file:
        for number, text in enumerate(file, 1):
            try:
                yield text, decoded(text)
            except (ValueError, msgspec.DecodeError) as error:
                raise ValueError(f"{path}: line {number}: not a record of a trace: {error}") from None
