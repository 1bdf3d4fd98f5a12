"""The world in virtual time: brokers, links between them, and one queue of what happens next.

Everything that happens is an item in one queue, ordered by time and, at the same time, by when it was put there. All
chance comes from one seed. So the same calls give the same history, byte for byte.
"""

from collections import deque
from collections.abc import Callable
from heapq import heappop, heappush
from random import Random
from typing import Protocol, TypeAlias

from tamis.routing import Broker
from tamis.routing.messages import (
    Action,
    Arrived,
    Deliver,
    Fired,
    Message,
    NeighbourDown,
    NeighbourUp,
    Record,
    Send,
    SetTimer,
)
from tamis.routing.packets import AnyPacket, Event, Name
from tamis.simulation.clock import Clock
from tamis.simulation.link import Direction, Link

#: How long a broker is busy with a message, in seconds, given what came of it.
Service: TypeAlias = Callable[[Message, list[Action]], float]


class Observer(Protocol):
    """Somebody who looks on. Metrics and traces are made by observers, not by brokers."""

    def told(self, now: float, broker: Name, message: Message, hops: int) -> None:
        """A broker is about to handle a message; `hops` links lie between it and what caused it."""

    def sent(self, now: float, broker: Name, neighbour: Name, packet: AnyPacket, lost: bool) -> None:
        """A broker has sent a packet, which gets lost or not."""

    def delivered(self, now: float, broker: Name, client: Name, event: Event, hops: int) -> None:
        """A broker has handed an event to a client."""

    def recorded(self, now: float, broker: Name, metric: str, value: float) -> None:
        """A broker has counted something."""


class Node:
    """A broker in the world: its clock, its timers, and what waits for it while it is busy."""

    __slots__ = ("broker", "busy", "clock", "timers", "waiting")

    def __init__(self, broker: Broker, clock: Clock) -> None:
        self.broker = broker
        self.clock = clock
        #: Which setting of each timer is valid.
        self.timers: dict[str, int] = {}
        self.busy = False
        self.waiting: deque[tuple[Message, int]] = deque()


#: What happens, and whether the overlay is quiet although it is still to happen.
_Item: TypeAlias = tuple[float, int, bool, Callable[[], None]]


class World:
    """Brokers and links, and what happens between them."""

    def __init__(self, make: Callable[[Name], Broker], seed: int = 0, service: Service | None = None) -> None:
        """Make an empty world. `make` makes a broker; `service` says how long brokers are busy, if they ever are."""
        self.now = 0.0
        self.nodes: dict[Name, Node] = {}
        self.links: dict[Name, dict[Name, Direction]] = {}
        self.observers: list[Observer] = []
        self._make = make
        self._service = service
        self._random = Random(seed)  # noqa: S311 - a simulation, to be repeated
        self._queue: list[_Item] = []
        self._count = 0
        self._busy = 0

    # --- what there is -------------------------------------------------------------------------------

    def start(self, name: Name, clock: Clock | None = None) -> None:
        """Start a broker that knows nobody."""
        if name in self.nodes:
            raise ValueError(f"there is a broker {name!r} already")
        self.nodes[name] = Node(self._make(name), clock or Clock())
        self.links[name] = {}

    def stop(self, name: Name) -> None:
        """Stop a broker: its links go, and all that it knew."""
        self.check_broker(name)
        for neighbour in list(self.links[name]):
            self.cut(name, neighbour)
        del self.links[name]
        del self.nodes[name]

    def link(self, one: Name, other: Name, link: Link | None = None) -> None:
        """Put a link between two brokers; both are told of it."""
        self.check_broker(one)
        self.check_broker(other)
        if one == other:
            raise ValueError(f"a link is between two brokers, not from {one!r} to itself")
        if other in self.links[one]:
            raise ValueError(f"there is a link between {one!r} and {other!r} already")
        link = link or Link()
        self.links[one][other] = Direction(link, self._random)
        self.links[other][one] = Direction(link, self._random)
        self.tell(one, NeighbourUp(other))
        self.tell(other, NeighbourUp(one))

    def cut(self, one: Name, other: Name) -> None:
        """Take a link away, with all that is on its way; both brokers are told of it."""
        self.check_broker(one)
        if other not in self.links[one]:
            raise ValueError(f"there is no link between {one!r} and {other!r}")
        self.links[one].pop(other).stands = False
        self.links[other].pop(one).stands = False
        self.tell(one, NeighbourDown(other))
        self.tell(other, NeighbourDown(one))

    def check_broker(self, name: Name) -> None:
        """Raise `ValueError` if there is no such broker."""
        if name not in self.nodes:
            raise ValueError(f"there is no broker {name!r}")

    # --- what happens --------------------------------------------------------------------------------

    def tell(self, broker: Name, message: Message) -> None:
        """Let a broker handle a message now, that is, when it has handled what it was told before."""
        self.at(self.now, lambda: self._take(broker, message, 0))

    def at(self, time: float, happens: Callable[[], None], background: bool = False) -> None:
        """Let something happen at a time."""
        if time < self.now:
            raise ValueError(f"it is {self.now} already, too late for {time}")
        self._count += 1
        self._busy += not background
        heappush(self._queue, (time, self._count, background, happens))

    def run(self, until: float | None = None) -> None:
        """Let things happen until a time, or, if none is given, until the overlay is quiet."""
        queue = self._queue
        while queue and (self._busy if until is None else queue[0][0] <= until):
            time, _, background, happens = heappop(queue)
            self._busy -= not background
            self.now = time
            happens()
        if until is not None:
            self.now = max(self.now, until)

    def _take(self, name: Name, message: Message, hops: int) -> None:
        node = self.nodes.get(name)
        if node is None:
            return
        if node.busy:
            node.waiting.append((message, hops))
            return
        for observer in self.observers:
            observer.told(self.now, name, message, hops)
        actions = node.broker.handle(message, node.clock.shown(self.now))
        if self._service is None:
            self._do(name, node, actions, hops)
            return
        node.busy = True
        self.at(self.now + self._service(message, actions), lambda: self._done(name, node, actions, hops))

    def _done(self, name: Name, node: Node, actions: list[Action], hops: int) -> None:
        if self.nodes.get(name) is not node:
            return
        node.busy = False
        self._do(name, node, actions, hops)
        if node.waiting:
            self._take(name, *node.waiting.popleft())

    def _do(self, name: Name, node: Node, actions: list[Action], hops: int) -> None:
        for action in actions:
            match action:
                case Send():
                    self._send(name, action.neighbour, action.packet, hops)
                case Deliver():
                    for observer in self.observers:
                        observer.delivered(self.now, name, action.client, action.event, hops)
                case SetTimer():
                    self._set_timer(name, node, action)
                case Record():
                    for observer in self.observers:
                        observer.recorded(self.now, name, action.metric, action.value)

    def _send(self, name: Name, neighbour: Name, packet: AnyPacket, hops: int) -> None:
        direction = self.links[name].get(neighbour)
        if direction is None:
            return
        time = direction.arrival(packet, self.now)
        for observer in self.observers:
            observer.sent(self.now, name, neighbour, packet, time is None)
        if time is not None:
            message = Arrived(name, packet)

            def arrive() -> None:
                if direction.stands:
                    self._take(neighbour, message, hops + 1)

            self.at(time, arrive, packet.background)

    def _set_timer(self, name: Name, node: Node, action: SetTimer) -> None:
        timer = action.timer
        setting = node.timers[timer] = node.timers.get(timer, 0) + 1

        def fire() -> None:
            if self.nodes.get(name) is node and node.timers[timer] == setting:
                self._take(name, Fired(timer), 0)

        self.at(self.now + node.clock.lasts(action.after), fire, action.background)
