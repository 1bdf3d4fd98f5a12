"""A machine in real time: the same object that the simulator runs, told the time of this process, its timers kept."""

from collections import Counter
from collections.abc import Callable
from time import perf_counter
from typing import Any, Final, Protocol

from tamis.routing import Machine
from tamis.routing.messages import (
    Action,
    Arrived,
    Connect,
    Deliver,
    Disconnect,
    Fired,
    Message,
    Publish,
    Record,
    Send,
    SetTimer,
)
from tamis.routing.packets import AnyPacket, Name, carried
from tamis.server.clock import Clock, RealClock, Timer
from tamis.server.latency import Latency
from tamis.wire import DeliveryFrames

#: Of so many events that are published the time is taken once.
SAMPLED: Final = 16


class Taker(Protocol):
    """Takes events for a subscription."""

    def deliver(self, event: DeliveryFrames, age: float | None) -> None:
        """Let an event be written."""


class Runner:
    """Tells a machine what happens and does what it answers."""

    def __init__(
        self,
        machine: Machine,
        send: Callable[[Name, AnyPacket], None],
        held: Callable[[Any], Taker | None],
        disconnect: Callable[[Name], None],
        clock: Clock | None = None,
    ) -> None:
        """Run a machine. `held` finds who takes the events of a subscription, if it still stands."""
        self._clock = clock or RealClock()
        self._now = self._clock.now
        self.machine = machine
        self._send = send
        self._held = held
        self._disconnect = disconnect
        self._timers: dict[str, Timer] = {}
        self._stopped = False
        #: What the machine asked to have counted, what was delivered, and what went wrong.
        self.counts: Counter[str] = Counter()
        #: How long it took to find who wants an event, of one in so many that were published here.
        self.latency = Latency()
        self._published = 0

    def tell(self, message: Message) -> None:
        """Let the machine handle a message now. What it raises, such as `ExpressionError`, has changed nothing."""
        event = frames = age = None
        delivered = 0
        began = 0.0
        if type(message) is Publish:
            if not self._published % SAMPLED:
                began = perf_counter()
            self._published += 1
        held = self._held
        actions = self.machine.handle(message, self._now())
        if began:
            self.latency.add(perf_counter() - began)
        for action in actions:
            # The most frequent first: this is where the time goes.
            if type(action) is Deliver:
                if action.event is not event:
                    event, age = action.event, action.age
                    frames = DeliveryFrames(event.id, event.content, age, event.trace)
                delivered += 1
                taker = held(action.client)
                if taker is not None:
                    taker.deliver(frames, age)  # type: ignore[arg-type]
            elif type(action) is Send:
                self._send(action.neighbour, action.packet)
            elif type(action) is Record:
                self.counts[action.metric] += action.value  # type: ignore[assignment]
            elif type(action) is SetTimer:
                self._set_timer(action)
            elif type(action) is Disconnect:
                self._disconnect(action.neighbour)
            elif type(action) is Connect:
                self.counts["links not made"] += 1
        if delivered:
            self.counts["delivered"] += delivered
        elif type(message) is Arrived and _is_of_no_use(message, actions):
            self.counts["false positives"] += 1

    def _set_timer(self, action: SetTimer) -> None:
        old = self._timers.pop(action.timer, None)
        if old is not None:
            old.cancel()
        if not self._stopped:
            self._timers[action.timer] = self._clock.later(action.after, self._fire, action.timer)

    def _fire(self, timer: str) -> None:
        del self._timers[timer]
        self.tell(Fired(timer))

    def stop(self) -> None:
        """Let no timer fire any more."""
        self._stopped = True
        for timer in self._timers.values():
            timer.cancel()
        self._timers.clear()


def _is_of_no_use(message: Arrived, actions: list[Action]) -> bool:
    """Say whether an event came of which nobody is told, and which goes no further."""
    if carried(message.packet) is None:
        return False
    return not any(type(each) is Send and carried(each.packet) is not None for each in actions)
