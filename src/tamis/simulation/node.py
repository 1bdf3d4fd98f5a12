"""A broker in the world, and its ends of links."""

from collections import deque
from random import Random

from tamis.routing import Machine
from tamis.routing.messages import Message
from tamis.routing.packets import Name
from tamis.simulation.clock import Clock
from tamis.simulation.link import Link, Travel


class Node:
    """A broker that runs: its clock, its timers, its links, and what waits for it while it is busy.

    A broker that is started anew is another node, so that nothing meant for the old one reaches it.
    """

    __slots__ = ("broker", "busy", "clock", "links", "name", "offset", "rate", "runs", "timers", "waiting")

    def __init__(self, name: Name, broker: Machine, clock: Clock) -> None:
        self.name = name
        self.broker = broker
        self.clock = clock
        #: The clock taken apart: it is read for every message.
        self.offset, self.rate = clock.offset, 1 + clock.drift
        self.runs = True
        self.links: dict[Name, Direction] = {}
        #: Which setting of each timer is valid.
        self.timers: dict[str, int] = {}
        self.busy = False
        self.waiting: deque[tuple[Message, int]] = deque()

    def step(self, by: float) -> None:
        """Let the clock jump."""
        self.clock = self.clock.stepped(by)
        self.offset = self.clock.offset

    def shown(self, time: float) -> float:
        """Return what the clock shows at a true time."""
        return self.offset + self.rate * time


class Direction(Travel):
    """One direction of a link: from a node to another."""

    __slots__ = ("dark", "source", "stands", "target")

    def __init__(self, source: Node, target: Node, link: Link, random: Random) -> None:
        super().__init__(link, random)
        self.source = source
        self.target = target
        #: False once the link is cut: what was on its way is lost.
        self.stands = True
        #: True while everything on the link is lost and nobody knows.
        self.dark = False
