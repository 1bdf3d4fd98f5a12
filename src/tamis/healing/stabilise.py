"""Brokers that observe and correct each other: whatever their tables contained, they become right (specs/000 §7, §8).

Each broker regularly asks each neighbour what it holds from it, compares that with what follows from its own clients
and its other neighbours, and sends a correction if they differ. Edges are named here by who holds: the observer of a
neighbour mends what that neighbour holds from the observer.

A correction is made against what was owed when the question was asked. Links keep the order, so a neighbour whose
table is right has just that when the question reaches it, whatever has been sent since: where all is legal nobody is
corrected. Of a correction that is needed, what has changed meanwhile is left out: what is no longer owed does not
come, and what is owed now does not go (§7, note c).
"""

from collections.abc import Collection, Iterable
from itertools import count
from typing import Final, Literal

import msgspec
from xxhash import xxh3_64_intdigest

from tamis.healing.garbage import is_sound
from tamis.healing.layer import Layer, broker_of
from tamis.healing.summary import Summary
from tamis.routing import Machine
from tamis.routing.mendable import Mendable
from tamis.routing.messages import Action, Arrived, Fired, Message, NeighbourDown, Record, Send, SetTimer
from tamis.routing.packets import AnyPacket, Correct, Differs, Held, Name, Observe

TIMER: Final = "stabilise"


class Stabilise(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """Every so many seconds, each broker observes each neighbour and corrects what it holds.

    Whatever tables, what is derived from them, and links contained: once garbage on links has drained, all tables are
    right again within as many rounds as the overlay's diameter, and stay so; with `advertisement`, where what is wanted
    depends on what is announced, within twice as many. What local clients asked for is trusted.
    """

    every: float = 10.0
    #: `full`: all items are sent each time. `sketch`: bits and a digest, and items only where something is wrong.
    exchange: Literal["full", "sketch"] = "full"
    #: Of a sketch: bits for each item, and how many an item sets.
    bits_per_item: int = 4
    hashes: int = 2
    #: Of sketches, each so manieth exchange is a full one.
    full_every: int = 10
    #: Whether who is corrected tells others at once. Otherwise they hear of it in the next round.
    propagate: bool = False

    def __post_init__(self) -> None:
        if not self.every > 0:
            raise ValueError(f"rounds are more than 0 seconds apart, not {self.every}")
        for name in ("bits_per_item", "hashes", "full_every"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} is at least 1, not {getattr(self, name)}")


class _Asked(msgspec.Struct, frozen=True):
    """What a neighbour was asked last, and what it should hold."""

    number: int
    owed: dict[str, None]
    summary: Summary | None
    spread: bool


class StabiliseLayer(Layer):
    """Observes and corrects, and lets nothing pass to the broker that it could stumble over."""

    def __init__(self, inner: Machine, settings: Stabilise, boot: int, rounds: bool = True) -> None:
        """Stand around a machine. `boot` is a number that no earlier start of it had, without `rounds` nobody observes.

        A broker that does not have a table for each neighbour is a `ValueError`.
        """
        super().__init__(inner)
        self.broker = mendable(inner)
        self._settings = settings
        self._boot = boot
        self._armed = not rounds
        self._round = 0
        self._numbers = count()
        self._asked: dict[Name, _Asked] = {}

    def handle(self, message: Message, now: float) -> list[Action]:
        actions: list[Action] = []
        if not self._armed:
            self._armed = True
            actions.append(self._next_round())
        match message:
            case Fired(timer) if timer == TIMER:
                return [*self._observe_all(), self._next_round()]
            case Arrived(neighbour, Observe() | Held() | Differs() | Correct() as packet):
                known = neighbour in self.broker.neighbours
                return actions + (self._take(neighbour, packet, now) if known else _refused())
            case Arrived(_, packet) if not is_sound(packet):
                return actions + _refused()
            case NeighbourDown(neighbour):
                self._asked.pop(neighbour, None)
        return actions + self._pass(message, now)

    def observe(self, neighbour: Name) -> list[Action]:
        """Observe one neighbour at once, because something has happened, and let it spread what was wrong."""
        self.broker.derive()
        return [self._question(neighbour, sketched=True, urgent=True)]

    def _next_round(self) -> SetTimer:
        return SetTimer(TIMER, self._settings.every, background=True)

    def _pass(self, message: Message, now: float) -> list[Action]:
        """Let the broker handle a message. If it stumbles, something derived was spoilt, or the message is garbage."""
        try:
            return self.inner.handle(message, now)
        except Exception:  # noqa: BLE001 - spoilt state can lead to anything
            self.broker.derive()
        try:
            return [Record("rebuilt"), *self.inner.handle(message, now)]
        except Exception:
            if not isinstance(message, Arrived):
                raise
            self.broker.derive()
            return _refused()

    # --- observing ---------------------------------------------------------------------------------------

    def _observe_all(self) -> list[Action]:
        # What is derived may be spoilt as well: nothing of it is used before it has been made anew.
        self.broker.derive()
        self._round += 1
        sketched = self._settings.exchange == "sketch" and self._round % self._settings.full_every != 0
        return [self._question(neighbour, sketched) for neighbour in self.broker.neighbours]

    def _question(self, neighbour: Name, sketched: bool, urgent: bool = False) -> Send:
        number = next(self._numbers)
        owed = dict.fromkeys(self.broker.told(neighbour))
        # Another salt each time: what collides in one need not in the next (§8).
        salt = xxh3_64_intdigest(f"{self.name!r} {self._boot} {number}".encode())
        settings = self._settings
        summary = Summary.of(owed, settings.bits_per_item, settings.hashes, salt) if sketched else None
        self._asked[neighbour] = _Asked(number, owed, summary, urgent or settings.propagate)
        return Send(neighbour, Observe(number, None if summary is None else summary.sketch(), urgent))

    def _take(self, neighbour: Name, packet: AnyPacket, now: float) -> list[Action]:
        match packet:
            case Observe():
                return self._answer(neighbour, packet)
            case Correct(gone, come, spread):
                return self._correct(neighbour, gone, come, spread, now)
        asked = self._asked.get(neighbour)
        if asked is None or packet.number != asked.number:  # type: ignore[union-attr] # of the two that are left
            return _refused()
        if isinstance(packet, Held):
            held = dict.fromkeys(packet.items)
            extra = [item for item in held if item not in asked.owed]
            return self._correction(neighbour, asked, extra, [item for item in asked.owed if item not in held])
        return self._compare(neighbour, asked, packet) if isinstance(packet, Differs) else []

    def _answer(self, neighbour: Name, packet: Observe) -> list[Action]:
        held = self.broker.held(neighbour)
        if packet.sketch is None:
            return [Send(neighbour, Held(packet.number, tuple(held)))]
        try:
            theirs = Summary.read(packet.sketch)
        except ValueError:
            return _refused()
        ours = Summary(theirs.hashes, held)
        if ours.says_the_same_as(theirs):
            return []
        return [Send(neighbour, Differs(packet.number, tuple(theirs.lacks(held)), ours.sketch()))]

    def _compare(self, neighbour: Name, asked: _Asked, packet: Differs) -> list[Action]:
        if asked.summary is None:
            return _refused()
        try:
            theirs = Summary.read(packet.sketch)
        except ValueError:
            return _refused()
        gone = [item for item in dict.fromkeys(packet.items) if item not in asked.owed]
        come = theirs.lacks(asked.owed)
        if theirs.hashes != asked.summary.hashes or theirs.becomes(gone, come) != asked.summary.digest:
            # Bits that items share hide some differences.
            return [self._question(neighbour, sketched=False, urgent=asked.spread)]
        return self._correction(neighbour, asked, gone, come)

    # --- correcting --------------------------------------------------------------------------------------

    def _correction(self, neighbour: Name, asked: _Asked, gone: Iterable[str], come: Iterable[str]) -> list[Action]:
        now_owed = dict.fromkeys(self.broker.told(neighbour))
        goes = tuple(item for item in gone if item not in now_owed)
        comes = tuple(item for item in come if item in now_owed)
        if not (goes or comes):
            return []
        return [Send(neighbour, Correct(goes, comes, asked.spread)), Record("corrections")]

    def _correct(
        self, neighbour: Name, gone: Collection[str], come: Collection[str], spread: bool, now: float
    ) -> list[Action]:
        # What goes may be anything: garbage that got into a table has to leave it.
        if not all(map(self.broker.is_item, come)):
            return _refused()
        held = dict.fromkeys(self.broker.held(neighbour))
        goes = dict.fromkeys(item for item in gone if item in held)
        comes = [item for item in dict.fromkeys(come) if item not in held]
        self.broker.derive()
        if not (goes or comes):
            return []
        if not spread:
            self.broker.hold(neighbour, [*(item for item in held if item not in goes), *comes])
            self.broker.derive()
            return []
        return [
            action for packet in self.broker.news(goes, comes) for action in self._pass(Arrived(neighbour, packet), now)
        ]


def mendable(machine: Machine) -> Mendable:
    """Return the broker inside of all layers. One without a table for each neighbour is a `ValueError`."""
    broker = broker_of(machine)
    if not isinstance(broker, Mendable):
        raise ValueError(f"{type(broker).__name__} brokers cannot be stabilised: they have no table for each neighbour")
    return broker


def _refused() -> list[Action]:
    return [Record("refused")]
