"""A machine in real time: the same object that the simulator runs, told the time of this process, its timers kept."""

import asyncio
from collections import Counter
from collections.abc import Callable
from time import monotonic
from typing import Any, Protocol

from tamis.routing import Machine
from tamis.routing.messages import Connect, Deliver, Disconnect, Fired, Message, Record, Send, SetTimer
from tamis.routing.packets import AnyPacket, Name
from tamis.wire import DeliveryFrames


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
    ) -> None:
        """Run a machine. `held` finds who takes the events of a subscription, if it still stands."""
        self.machine = machine
        self._send = send
        self._held = held
        self._disconnect = disconnect
        self._timers: dict[str, asyncio.TimerHandle] = {}
        self._stopped = False
        #: What the machine asked to have counted, what was delivered, and what went wrong.
        self.counts: Counter[str] = Counter()

    def tell(self, message: Message) -> None:
        """Let the machine handle a message now. What it raises, such as `ExpressionError`, has changed nothing."""
        event = frames = age = None
        delivered = 0
        for action in self.machine.handle(message, monotonic()):
            # The most frequent first: this is where the time goes.
            if type(action) is Deliver:
                if action.event is not event:
                    event, age = action.event, action.age
                    frames = DeliveryFrames(event.id, event.content, age, event.trace)
                delivered += 1
                taker = self._held(action.client)
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

    def _set_timer(self, action: SetTimer) -> None:
        old = self._timers.pop(action.timer, None)
        if old is not None:
            old.cancel()
        if not self._stopped:
            loop = asyncio.get_running_loop()
            self._timers[action.timer] = loop.call_later(action.after, self._fire, action.timer)

    def _fire(self, timer: str) -> None:
        del self._timers[timer]
        self.tell(Fired(timer))

    def stop(self) -> None:
        """Let no timer fire any more."""
        self._stopped = True
        for timer in self._timers.values():
            timer.cancel()
        self._timers.clear()
