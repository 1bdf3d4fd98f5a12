"""The world in virtual time: brokers, links between them, and one queue of what happens next.

Everything that happens is an item in one queue, ordered by time and, at the same time, by when it was put there. All
chance comes from one seed. So the same calls give the same history, byte for byte.
"""

from collections.abc import Callable
from heapq import heappop, heappush
from random import Random
from typing import Any, TypeAlias

from tamis.routing import Machine
from tamis.routing.messages import (
    Action,
    Arrived,
    Connect,
    Deliver,
    Disconnect,
    Fired,
    Message,
    NeighbourDown,
    NeighbourUp,
    Record,
    Send,
    SetTimer,
)
from tamis.routing.packets import AnyPacket, Name
from tamis.routing.remembered import remember_many
from tamis.simulation.clock import Clock
from tamis.simulation.link import Link
from tamis.simulation.node import Direction, Node
from tamis.simulation.observer import Observer

#: How long a broker is busy with a message, in seconds, given what came of it.
Service: TypeAlias = Callable[[Message, list[Action]], float]
#: When, the how-manieth, whether the overlay is quiet although this is still to happen, and what happens.
_Item: TypeAlias = tuple[float, int, bool, Callable[..., None], tuple[Any, ...]]


class World:
    """Brokers and links, and what happens between them."""

    def __init__(self, make: Callable[[Name], Machine], seed: int = 0, service: Service | None = None) -> None:
        """Make an empty world. `make` makes a broker; `service` says how long brokers are busy, if they ever are."""
        remember_many()
        self.now = 0.0
        self.nodes: dict[Name, Node] = {}
        self._make = make
        self._service = service
        self._random = Random(seed)  # noqa: S311 - a simulation, to be repeated
        self._queue: list[_Item] = []
        self._count = 0
        self._busy = 0
        # Those who look on, by what they look at: most things that happen are seen by few.
        self._seen: dict[str, list[Callable[..., None]]] = {name: [] for name in vars(Observer) if name[0] != "_"}
        self._told, self._sent = self._seen["told"], self._seen["sent"]
        self._delivered, self._recorded = self._seen["delivered"], self._seen["recorded"]

    def watch(self, observer: Observer) -> None:
        """Let somebody look on from now on."""
        for name, watchers in self._seen.items():
            if getattr(type(observer), name) is not getattr(Observer, name):
                watchers.append(getattr(observer, name))

    # --- what there is -------------------------------------------------------------------------------

    def start(self, name: Name, clock: Clock | None = None) -> None:
        """Start a broker that knows nobody."""
        if name in self.nodes:
            raise ValueError(f"there is a broker {name!r} already")
        clock = clock or Clock()
        self.nodes[name] = Node(name, self._make(name), clock)
        for see in self._seen["started"]:
            see(self.now, name, clock)

    def stop(self, name: Name, silent: bool = False) -> None:
        """Stop a broker: its links go, and all that it knew.

        Its neighbours are told at once, as TCP would. With `silent` nobody is told: what they send is lost, and what
        the broker had sent arrives.
        """
        node = self._node(name)
        for neighbour, direction in list(node.links.items()):
            if not silent:
                self.cut(name, neighbour)
            elif direction.target.runs:
                self._unlinked(name, neighbour)
        node.runs = False
        del self.nodes[name]
        for see in self._seen["stopped"]:
            see(self.now, name)

    def link(self, one: Name, other: Name, link: Link | None = None) -> None:
        """Put a link between two brokers; both are told of it."""
        first, second = self._node(one), self._node(other)
        if one == other:
            raise ValueError(f"a link is between two brokers, not from {one!r} to itself")
        for node, far in ((first, second), (second, first)):
            old = node.links.get(far.name)
            if old is not None and old.target is far:
                raise ValueError(f"there is a link between {one!r} and {other!r} already")
            if old is not None:
                # The other end has crashed in silence. That it comes anew says so.
                self._tell(node, NeighbourDown(far.name))
        link = link or Link()
        first.links[other] = Direction(first, second, link, self._random)
        second.links[one] = Direction(second, first, link, self._random)
        self._tell(first, NeighbourUp(other))
        self._tell(second, NeighbourUp(one))
        for see in self._seen["linked"]:
            see(self.now, one, other, link)

    def cut(self, one: Name, other: Name) -> None:
        """Take a link away, with all that is on its way; both brokers are told of it.

        So is one end alone, if the other has crashed in silence.
        """
        directions = self._directions(one, other)
        for direction in directions:
            direction.stands = False
            del direction.source.links[direction.target.name]
            self._tell(direction.source, NeighbourDown(direction.target.name))
        if directions[0].target.runs:
            self._unlinked(one, other)

    def is_linked(self, one: Name, other: Name) -> bool:
        """Say whether a broker that runs has a link to another, even if that has crashed in silence."""
        return any(near in self.nodes and far in self.nodes[near].links for near, far in ((one, other), (other, one)))

    def _unlinked(self, one: Name, other: Name) -> None:
        for see in self._seen["unlinked"]:
            see(self.now, one, other)

    def darken(self, one: Name, other: Name, dark: bool = True) -> None:
        """Let a link lose everything, what is on its way included, and nobody be told; or let it work again."""
        for direction in self._directions(one, other):
            direction.dark = dark

    def change(self, one: Name, other: Name, link: Link) -> None:
        """Let a link become another; nobody is told, and what is on its way arrives as it would have."""
        for direction in self._directions(one, other):
            direction.become(link)

    def check_broker(self, name: Name) -> None:
        """Raise `ValueError` if there is no such broker."""
        self._node(name)

    def _node(self, name: Name) -> Node:
        node = self.nodes.get(name)
        if node is None:
            raise ValueError(f"there is no broker {name!r}")
        return node

    def _directions(self, one: Name, other: Name) -> list[Direction]:
        if not self.is_linked(one, other):
            raise ValueError(f"there is no link between {one!r} and {other!r}")
        # One end may be down, or have come back while the link was cut.
        ends = [(self.nodes[near], far) for near, far in ((one, other), (other, one)) if near in self.nodes]
        return [node.links[far] for node, far in ends if far in node.links]

    # --- what happens --------------------------------------------------------------------------------

    def tell(self, broker: Name, message: Message, background: bool = False) -> None:
        """Let a broker handle a message now, that is, when it has handled what it was told before."""
        self._tell(self._node(broker), message, background)

    def _tell(self, node: Node, message: Message, background: bool = False) -> None:
        self._put(self.now, background, self._take, (node, message, 0))

    def at(self, time: float, happens: Callable[[], None], background: bool = False) -> None:
        """Let something happen at a time."""
        if time < self.now:
            raise ValueError(f"it is {self.now} already, too late for {time}")
        self._put(time, background, happens, ())

    def _put(self, time: float, background: bool, happens: Callable[..., None], arguments: tuple[Any, ...]) -> None:
        self._count += 1
        if not background:
            self._busy += 1
        heappush(self._queue, (time, self._count, background, happens, arguments))

    def run(self, until: float | None = None) -> None:
        """Let things happen until a time, or, if none is given, until the overlay is quiet."""
        queue = self._queue
        while queue and (self._busy if until is None else queue[0][0] <= until):
            time, _, background, happens, arguments = heappop(queue)
            if not background:
                self._busy -= 1
            self.now = time
            happens(*arguments)
        if until is not None:
            self.now = max(self.now, until)

    def _take(self, node: Node, message: Message, hops: int) -> None:
        if not node.runs:
            return
        if node.busy:
            node.waiting.append((message, hops))
            return
        now = self.now
        for see in self._told:
            see(now, node.name, message, hops)
        actions = node.broker.handle(message, node.offset + node.rate * now)
        if self._service is None:
            self._do(node, actions, hops, now)
            return
        node.busy = True
        self._put(now + self._service(message, actions), False, self._done, (node, actions, hops, now))

    def _done(self, node: Node, actions: list[Action], hops: int, since: float) -> None:
        if not node.runs:
            return
        node.busy = False
        self._do(node, actions, hops, since)
        if node.waiting:
            self._take(node, *node.waiting.popleft())

    def _do(self, node: Node, actions: list[Action], hops: int, since: float) -> None:
        for action in actions:
            # The most frequent first, and no pattern matching: this is where the time goes.
            kind = type(action)
            if kind is Send:
                self._send(node, action.neighbour, action.packet, hops)  # type: ignore[union-attr]
            elif kind is Record:
                for see in self._recorded:
                    see(self.now, node.name, action.metric, action.value)  # type: ignore[union-attr]
            elif kind is Deliver:
                age = action.age_after(self.now - since)  # type: ignore[union-attr]
                for see in self._delivered:
                    see(self.now, node.name, action.client, action.event, hops, age)  # type: ignore[union-attr]
            elif isinstance(action, SetTimer):
                self._set_timer(node, action)
            elif isinstance(action, Connect | Disconnect):
                self._reshape(node, action)

    def _reshape(self, node: Node, action: Connect | Disconnect) -> None:
        for see in self._seen["asked"]:
            see(self.now, node.name, action)
        linked = self.is_linked(node.name, action.neighbour)
        if isinstance(action, Disconnect):
            if linked:
                self.cut(node.name, action.neighbour)
        elif action.neighbour in self.nodes and not linked:
            self.link(node.name, action.neighbour)

    def _send(self, node: Node, neighbour: Name, packet: AnyPacket, hops: int) -> None:
        now = self.now
        for see in self._sent:
            see(now, node.name, neighbour, packet)
        direction = node.links.get(neighbour)
        time = None if direction is None or direction.dark else direction.arrival(packet, now)
        if time is None:
            self._lose(node.name, neighbour, packet)
        else:
            self._put(time, packet.background, self._arrive, (direction, Arrived(node.name, packet), hops + 1))
        if direction is not None and direction.twice and not direction.dark:
            time = direction.again(packet, now)
            if time is not None:
                self._put(time, packet.background, self._arrive, (direction, Arrived(node.name, packet), hops + 1))

    def slip(self, one: Name, other: Name, packet: AnyPacket) -> None:
        """Put a packet on the link from one broker to another that the first has not sent: it arrives now."""
        direction = self._directions(one, other)[0]
        self._put(self.now, False, self._arrive, (direction, Arrived(one, packet), 1))

    def step(self, name: Name, by: float) -> None:
        """Let a broker's clock jump."""
        self._node(name).step(by)
        for see in self._seen["stepped"]:
            see(self.now, name, by)

    def _arrive(self, direction: Direction, message: Arrived, hops: int) -> None:
        if direction.stands and not direction.dark and direction.target.runs:
            self._take(direction.target, message, hops)
        else:
            self._lose(direction.source.name, direction.target.name, message.packet)

    def _lose(self, source: Name, target: Name, packet: AnyPacket) -> None:
        for see in self._seen["lost"]:
            see(self.now, source, target, packet)

    def _set_timer(self, node: Node, action: SetTimer) -> None:
        for see in self._seen["timed"]:
            see(self.now, node.name, action)
        timer = action.timer
        setting = node.timers[timer] = node.timers.get(timer, 0) + 1
        time = self.now + node.clock.lasts(action.after)
        self._put(time, action.background, self._fire, (node, timer, setting))

    def _fire(self, node: Node, timer: str, setting: int) -> None:
        if node.timers[timer] == setting:
            self._take(node, Fired(timer), 0)
