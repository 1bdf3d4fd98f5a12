"""A trace told again to fresh brokers: do they answer as it says? And two traces side by side: where do they part?"""

from collections import deque
from collections.abc import Iterator
from itertools import count, zip_longest
from pathlib import Path
from typing import Final

import msgspec

from tamis.healing import Healing
from tamis.healing.spoiling import spoil_by
from tamis.routing import Machine, Strategy, make_strategy
from tamis.routing.messages import Action, Connect, Deliver, Disconnect, Send, SetTimer
from tamis.routing.messages import Record as Count
from tamis.routing.packets import Name, carried
from tamis.simulation.clock import Clock
from tamis.simulation.faults import Corrupt
from tamis.simulation.trace import (
    Asked,
    Began,
    Delivered,
    Faulted,
    Recorded,
    Sent,
    Started,
    Stepped,
    Stopped,
    Timed,
    Told,
    delivery,
    encoded,
    read_trace,
)
from tamis.simulation.trace import Record as Written

#: So many lines that are the same are shown before the first that differs.
CONTEXT: Final = 3


class Difference(msgspec.Struct, frozen=True):
    """Where two histories part: the number of the line, what stands there in each, and the lines before."""

    line: int
    one: str | None
    other: str | None
    before: tuple[str, ...]


class Replayed(msgspec.Struct, frozen=True):
    """What came of a replay: how many records, how many messages told, and the first difference, if any.

    In the difference `one` is the trace and `other` what the brokers answer.
    """

    records: int
    told: int
    difference: Difference | None


def replay(path: Path | str) -> Replayed:
    """Tell fresh brokers what the brokers of a trace were told, each alone, and compare every answer.

    Neither links nor chance are needed: what a broker is told is in the trace. A file that is no trace, or one of a
    strategy that there is not, is a `ValueError`.
    """
    cast: _Cast | None = None
    before: deque[bytes] = deque(maxlen=CONTEXT)
    number = told = 0
    for number, (line, record) in enumerate(read_trace(path), 1):
        if isinstance(record, Began):
            cast = _Cast(make_strategy(record.strategy, record.options), record.healing)
        elif cast is None:
            raise ValueError(f"{path}: line {number}: a trace begins with how its brokers are made")
        else:
            told += isinstance(record, Told)
            try:
                answer = cast.compare(record, line)
            except KeyError as error:
                raise ValueError(f"{path}: line {number}: broker {error} has not started") from None
            if answer is not None:
                return Replayed(number, told, Difference(number, _text(line), answer, tuple(map(_text, before))))
        before.append(line)
    if cast is None:
        raise ValueError(f"{path}: the trace is empty")
    return Replayed(number, told, None)


def diff(one: Path | str, other: Path | str) -> Difference | None:
    """Return where two traces part; None if they are the same, byte for byte."""
    before: deque[bytes] = deque(maxlen=CONTEXT)
    with Path(one).open("rb") as first, Path(other).open("rb") as second:
        for number, (left, right) in enumerate(zip_longest(first, second), 1):
            if left != right:
                ours, theirs = (None if each is None else _text(each) for each in (left, right))
                return Difference(number, ours, theirs, tuple(map(_text, before)))
            before.append(left)
    return None


class _Cast:
    """Fresh brokers, and what each of them has still to do by its own account."""

    def __init__(self, strategy: Strategy, healing: Healing) -> None:
        self._strategy = strategy
        self._healing = healing
        self._brokers: dict[Name, tuple[Machine, Clock]] = {}
        #: When each was told something, and what it has still to do.
        self._told: dict[Name, float] = {}
        self._due: dict[Name, Iterator[Action]] = {}
        self._boots = count(1)

    def compare(self, record: Written, line: bytes) -> str | None:
        """Take a record; return what stands against it, if something does."""
        match record:
            case Started():
                machine = self._healing.around(self._strategy.broker(record.broker), next(self._boots))
                self._brokers[record.broker] = machine, record.clock
                self._due[record.broker] = iter(())
            case Stopped():
                # What a broker had still to do when it crashed is never done.
                del self._brokers[record.broker], self._due[record.broker]
            case Faulted(fault=Corrupt() as fault):
                # Nobody is told of it, so it has to be done again.
                spoil_by(self._brokers[fault.broker][0], fault.seed)
            case Stepped():
                machine, clock = self._brokers[record.broker]
                self._brokers[record.broker] = machine, clock.stepped(record.by)
            case Told():
                broker, clock = self._brokers[record.broker]
                left = next(self._due[record.broker], None)
                if left is not None:
                    return f"before that, {left}"
                self._told[record.broker] = record.time
                self._due[record.broker] = iter(broker.handle(record.message, clock.shown(record.time)))
            case Sent() | Delivered() | Recorded() | Timed() | Asked():
                action = next(self._due[record.broker], None)
                if action is None:
                    return "nothing"
                if _as_written(action, record, self._told[record.broker]) != line:
                    return str(action)
            case _:
                pass
        return None


def _as_written(action: Action, record: Sent | Delivered | Recorded | Timed | Asked, told: float) -> bytes | None:
    """Return the line that an action makes, given what only the world knows: when, and how far away."""
    time, broker = record.time, record.broker
    match action:
        case Send():
            return encoded(Sent(time, broker, action.neighbour, action.packet), carried(action.packet))
        case Deliver() if isinstance(record, Delivered):
            age = action.age_after(time - told)
            return encoded(delivery(time, broker, action.client, action.event.id, record.hops, age))
        case Count():
            return encoded(Recorded(time, broker, action.metric, action.value))
        case SetTimer():
            return encoded(Timed(time, broker, action))
        case Connect() | Disconnect():
            return encoded(Asked(time, broker, action))
        case _:
            return None


def _text(line: bytes) -> str:
    return line.decode(errors="replace").rstrip("\n")
