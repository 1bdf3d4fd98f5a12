"""How old is what arrives? Every packet carries a bound on its age, from link to link (thesis §6.3, specs/004 §6).

The age of an event is at most the sum of the upper bounds of the links that it crossed and, by the clocks of the
brokers that it crossed, how long it stayed there: `Σ ub_i + Σ pt_i/(1 - drift_i)`. A broker stamps a packet when it
answers, so what passes until the packet is on the wire counts as delay of the link; so does what passes until the
other end gets round to it.
"""

import math
from collections import OrderedDict
from itertools import count, repeat
from typing import ClassVar, Final

import msgspec

from tamis.healing.delay import LinkEnd, is_between
from tamis.healing.layer import Layer
from tamis.healing.rate import Mode, Rate, at_least
from tamis.routing import Machine
from tamis.routing.messages import (
    Action,
    Arrived,
    Deliver,
    Fired,
    Message,
    NeighbourDown,
    NeighbourUp,
    Publish,
    Send,
    SetTimer,
)
from tamis.routing.packets import AnyPacket, Event, Name, Ping, Pong, Stamped, carried

TIMER: Final = "ages"
#: The ages of so many events are remembered; of one that was forgotten nothing is known, so that it is late.
REMEMBERED: Final = 1 << 16
_ENCODER: Final = msgspec.msgpack.Encoder()


class Ages(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """How ages are bounded."""

    #: No broker's clock runs wrong by more than that: 1e-4 is 100 ppm (thesis §3.2).
    drift: float = 1e-4
    mode: Mode = "strict"
    #: An event is timely if its age is at most so many seconds for sure, and late otherwise.
    max_age: float | None = None
    #: So often each end of a link sends a stamp even if there is nothing to say: the error of the bounds grows by twice
    #: the drift while a link is silent in one direction.
    ping: float = 10.0
    #: No link takes more bytes per second; None if there may be such a link.
    bandwidth: float | None = None

    def __post_init__(self) -> None:
        Rate(self.drift)
        if self.max_age is not None and not self.max_age >= 0:
            raise ValueError(f"an age is not negative: {self.max_age}")
        if not self.ping > 0:
            raise ValueError(f"pings are so many seconds apart, more than none: {self.ping}")
        if self.bandwidth is not None and not self.bandwidth > 0:
            raise ValueError(f"a bandwidth is positive, not {self.bandwidth}")

    def timely(self, age: float | None) -> bool | None:
        """Say whether something of at most this age is timely; None if nobody asked. If not, it may still have been."""
        return None if self.max_age is None or age is None else age <= self.max_age


class AgesLayer(Layer):
    """Stamps what a broker sends, and tells it and its clients how old things are: `Arrived.age`, `Deliver.age`.

    Of a packet without an event, the age is that of the message that made the sender send it. A message of a client,
    a timer and a link that comes or goes have the age 0 when the broker is told of them; so have events, unless
    `Publish.created` says that they waited.
    """

    #: What stands at the ends of links.
    End: ClassVar[type[LinkEnd]] = LinkEnd

    def __init__(self, inner: Machine, ages: Ages, boot: int) -> None:
        """Stand around a machine. `boot` is a number that no earlier start of this broker had."""
        super().__init__(inner)
        self._ages = ages
        self._rate = Rate(ages.drift, ages.mode)
        self._lives = zip(repeat(boot), count(), strict=False)
        self._links: dict[Name, LinkEnd] = {}
        #: Event -> what the clock showed when it was at most how old.
        self._events: OrderedDict[Name, tuple[float, float]] = OrderedDict()
        self._now = -math.inf
        self._pings = False

    def handle(self, message: Message, now: float) -> list[Action]:
        """Take a message; return what is to be done, in order."""
        actions: list[Action] = []
        if now < self._now:
            self._jumped(now, actions)
        self._now = now
        age = 0.0
        if isinstance(message, Arrived):
            unwrapped = self._arrived(message, now, actions)
            if unwrapped is None:
                return actions
            message, age = unwrapped
        elif isinstance(message, Publish):
            if message.created is not None:
                # A clock that went backwards since then tells nothing.
                age = self._rate.longest(message.created, now) if message.created <= now else math.inf
            self._note(message.event, age, now)
        elif isinstance(message, NeighbourUp):
            self._up(message.neighbour, now, actions)
        elif isinstance(message, NeighbourDown):
            self._links.pop(message.neighbour, None)
        elif isinstance(message, Fired) and message.timer == TIMER:
            self._ping_all(Pong(), now, actions)
            self._set_timer(actions)
            return actions
        for action in self.inner.handle(message, now):
            if isinstance(action, Send):
                event = carried(action.packet)
                old = age if event is None else self._age(event, now)
                actions.append(self._stamped(action.neighbour, action.packet, old, now))
            elif isinstance(action, Deliver):
                actions.append(msgspec.structs.replace(action, age=self._age(action.event, now)))
            else:
                actions.append(action)
        return actions

    # --- links -----------------------------------------------------------------------------------------

    def _up(self, neighbour: Name, now: float, actions: list[Action]) -> None:
        self._links[neighbour] = self.End(self._rate, self._lives)
        actions.append(self._stamped(neighbour, Ping(), 0.0, now))
        if not self._pings:
            self._set_timer(actions)

    def _set_timer(self, actions: list[Action]) -> None:
        self._pings = bool(self._links)
        if self._pings:
            actions.append(SetTimer(TIMER, self._ages.ping, background=True))

    def _ping_all(self, packet: AnyPacket, now: float, actions: list[Action]) -> None:
        actions.extend(self._stamped(neighbour, packet, 0.0, now) for neighbour in self._links)

    def _jumped(self, now: float, actions: list[Action]) -> None:
        """The clock went backwards: nothing that it showed before can be compared with what it shows now."""
        self._events.clear()
        for link in self._links.values():
            link.reset()
        self._ping_all(Ping(), now, actions)

    def _stamped(self, neighbour: Name, packet: AnyPacket, age: float, now: float) -> Send:
        link = self._links.get(neighbour)
        if link is not None:
            packet = Stamped(link.send(now), age if age < math.inf else None, packet)
        return Send(neighbour, packet)

    def _arrived(self, message: Arrived, now: float, actions: list[Action]) -> tuple[Arrived, float] | None:
        """Take a stamp off; return what was inside with its age, or None if that was for this layer alone."""
        packet, age = message.packet, math.inf
        if isinstance(packet, Stamped):
            link = self._links.get(message.neighbour)
            if link is not None:
                least = 0.0 if self._ages.bandwidth is None else len(_ENCODER.encode(packet)) / self._ages.bandwidth
                _, upper = link.receive(packet.stamp, now, least)
                if is_between(packet.age, 0):
                    age = at_least(upper + packet.age)  # type: ignore[operator]  # not None, as it is a number
            packet = packet.packet
            if isinstance(packet, Ping | Pong):
                if isinstance(packet, Ping) and link is not None:
                    actions.append(self._stamped(message.neighbour, Pong(), 0.0, now))
                return None
        event = carried(packet)
        if event is not None:
            self._note(event, age, now)
        return Arrived(message.neighbour, packet, age), age

    # --- events ----------------------------------------------------------------------------------------

    def _note(self, event: Event, age: float, now: float) -> None:
        """Remember how old an event is. If it comes twice, both bounds hold, and so does the smaller one."""
        known = self._events.get(event.id)
        if known is None or age < self._age(event, now):
            self._events[event.id] = now, age
            if len(self._events) > REMEMBERED:
                self._events.popitem(last=False)

    def _age(self, event: Event, now: float) -> float:
        known = self._events.get(event.id)
        return math.inf if known is None else at_least(known[1] + self._rate.longest(known[0], now))

    def check_invariants(self) -> None:
        """Raise `AssertionError` if something does not fit together."""
        super().check_invariants()
        assert len(self._events) <= REMEMBERED
        assert not self._links or self._pings
        for link in self._links.values():
            link.check_invariants()
