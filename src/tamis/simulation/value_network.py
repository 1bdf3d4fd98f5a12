"""A watched value over any overlay: who is affected is published, and who subscribes asks by place (specs/003 §3)."""

from collections import deque
from typing import Any

import msgspec

from tamis.notification.affected import Place
from tamis.notification.published import (
    Content,
    advertisement,
    events_of,
    label_condition,
    range_condition,
    relabelled,
    relabelling_condition,
    relabelling_event,
)
from tamis.notification.structure import structure_class
from tamis.notification.wanted import Id
from tamis.notification.watch import Watch
from tamis.routing.conditions import parsed
from tamis.routing.packets import Name
from tamis.simulation.overlay import Overlay


class _Registered(msgspec.Struct):
    """What a client asks the overlay for; `since` is the last update that is old news to it."""

    broker: Name
    since: int
    place: Place | None = None


class ValueNetwork:
    """A server at a broker of an overlay knows a value; clients anywhere are told it as `tamis.Watch` says.

    A client gets its place, and the value of that moment, from the server in answer to its subscription; everything
    later comes by events that the overlay routes by their content alone. What a client asks the overlay for changes
    only with its label, and that only when another client comes with the same radius and finds no label free.

    What is published waits for what clients ask for to have reached all brokers, and new labels wait for all that went
    before to have arrived; so clients are told what the watch says, in order, however calls follow one another. This
    takes an overlay that loses nothing. Where it does, or where brokers crash, a client may miss an arc that was meant
    for labels which it had not heard of; it is never told by an arc that was meant for others.
    """

    def __init__(
        self,
        net: Overlay,
        broker: Name,
        item: Id = "value",
        *,
        engine: str = "auto",
        relaxed: bool = False,
        trim: bool = False,
    ) -> None:
        """Put a server at a broker. The options are those of `tamis.Watch`; the engine has to make ranges."""
        case = structure_class("two-level" if engine == "auto" else engine).case
        if not case.ranges:
            raise ValueError(f"engine {engine!r} makes lists, no ranges, and an overlay routes only these")
        self.net = net
        self.item = item
        self.watch = Watch(engine, relaxed, trim)
        #: Who was told what, in the order in which it arrived.
        self.told: list[tuple[Name, float]] = []
        self._broker, self._server = broker, f"server of {item}"
        self._arcs = not (relaxed or case.radii == "different")
        self._clients: dict[Name, _Registered] = {}
        self._updates = 0
        #: What is still to be published: the events of an update, or of new labels.
        self._outbox: deque[list[Content]] = deque()
        #: By id: what was published and may still be on its way.
        self._published: dict[Name, Content] = {}
        #: Whether what clients ask for may still be on its way.
        self._asking = False
        self._read = len(net.deliveries)
        if net.strategy.capabilities.advertisements:
            net.advertise(broker, self._server, advertisement(item))
            self._asking = True

    def subscribe(
        self,
        broker: Name,
        client: Name,
        radius: float | None = None,
        *,
        relative: float | None = None,
        factor: float | None = None,
        may: float | None = None,
    ) -> float | None:
        """Let a client at a broker subscribe; return the value that it is told at once, None if there is none yet."""
        told = self.watch.subscribe(client, radius, relative=relative, factor=factor, may=may)
        self._clients[client] = _Registered(broker, self._updates)
        self._outbox += [[relabelling_event(self.item, each)] for each in self.watch.relabellings()]
        if told is not None:
            self._welcome(client, told)
        return told

    def unsubscribe(self, client: Name) -> None:
        """Let a client take its subscription back."""
        self.watch.unsubscribe(client)
        known = self._clients.pop(client)
        for condition in self._conditions(known.place):
            self.net.unsubscribe(known.broker, client, condition)

    def update(self, value: float) -> None:
        """Publish a new value, as far as it concerns anybody."""
        first = self.watch.value is None
        told = self.watch.update(value)
        self._updates += 1
        assert self.watch.value is not None
        if first:
            for client in told:
                self._clients[client].since = self._updates
                self._welcome(client, self.watch.value)
        else:
            ranges = self.watch.affected_ranges()
            self._outbox.append(events_of(self.item, self._updates, self.watch.value, ranges))
        self._send()

    def run(self) -> None:
        """Let time pass until everybody has been told everything."""
        while True:
            self.net.run()
            self._asking = False
            self._hear()
            if not self._asking:
                if not self._outbox:
                    return
                self._send()

    def check_invariants(self) -> None:
        """Raise `AssertionError` if something does not fit together; only when all is quiet."""
        assert set(self.watch) == set(self._clients)
        for client, known in self._clients.items():
            assert (known.place is None) == (self.watch.value is None)
            assert known.place is None or known.place == self.watch.place(client)

    # --- inside -------------------------------------------------------------------------------------

    def _welcome(self, client: Name, value: float) -> None:
        """Give a client its place, and tell it a value."""
        self.told.append((client, value))
        known = self._clients[client]
        known.place = self.watch.place(client)
        for condition in self._conditions(known.place):
            self._ask(known.broker, client, condition)

    def _conditions(self, place: Place | None) -> list[str]:
        if place is None:
            return []
        whole = range_condition(self.item, place, self._arcs)
        if not self._arcs:
            return [whole]
        return [whole, label_condition(self.item, place), relabelling_condition(self.item, place)]

    def _ask(self, broker: Name, client: Name, condition: str) -> None:
        self.net.subscribe(broker, client, condition)
        self._asking = True

    def _send(self) -> None:
        """Publish what need not wait."""
        while self._outbox and not self._asking:
            labels = any("relabelled" in event for event in self._outbox[0])
            if labels and self._published:
                return
            for event in self._outbox.popleft():
                self._published[self.net.publish(self._broker, event, publisher=self._server)] = event
            self._asking = labels

    def _hear(self) -> None:
        """Let clients take what was delivered to them. All is quiet, so nothing more will come."""
        for client, event in self.net.deliveries[self._read :]:
            if client in self._clients and event in self._published:
                self._take(client, self._clients[client], self._published[event])
        self._read = len(self.net.deliveries)
        self._published.clear()

    def _take(self, client: Name, known: _Registered, event: dict[str, Any]) -> None:
        asked = any(parsed(condition).matches(event) for condition in self._conditions(known.place))
        # Some strategies deliver more than was asked for; and what was asked for may be older than the asking.
        if not asked or known.place is None:
            return
        if "relabelled" in event:
            place = relabelled(known.place, event)
            if place != known.place:
                self.net.unsubscribe(known.broker, client, label_condition(self.item, known.place))
                self._ask(known.broker, client, label_condition(self.item, place))
                known.place = place
        elif event["update"] > known.since:
            known.since = event["update"]
            self.told.append((client, event["value"]))
