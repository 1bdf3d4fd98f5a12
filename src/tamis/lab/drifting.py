"""Clocks of hosts and servers that say the time: models for 004-E15, since the hosts of the thesis cannot be had."""

import math
from itertools import pairwise
from random import Random
from typing import Final

import msgspec

from tamis.healing.drift import Drift, Reading, drift

HOUR: Final = 3600.0
DAY: Final = 24 * HOUR
#: The drift of a host changes so often.
STEP: Final = 600.0


class Host(msgspec.Struct, frozen=True):
    """A host's clock, in parts per million: what it drifts by on average, how far that moves in a day and by chance."""

    name: str
    mean: float
    #: Warmer by day, colder by night.
    day: float
    #: Standard deviation of what chance adds in an hour; half of it is lost again in six.
    chance: float
    #: How often in an hour the drift jumps, and how far at most.
    jumps: float = 0.0
    jump: float = 0.0

    def drifts(self, hours: int, seed: int) -> list[float]:
        """Return the true drift in each step."""
        random = Random(f"{seed} {self.name}")  # noqa: S311 - a simulation, to be repeated
        share = STEP / HOUR
        kept = 0.5 ** (share / 6)
        wander = away = 0.0
        found = []
        for step in range(round(hours / share)):
            wander = wander * kept + random.gauss(0, self.chance * math.sqrt(share))
            if random.random() < self.jumps * share:
                away = random.uniform(-self.jump, self.jump)
            found.append(self.mean + self.day * math.sin(2 * math.pi * step * STEP / DAY) + wander + away)
        return found


class Server(msgspec.Struct, frozen=True):
    """A server that says the time: the least delay one way, and what queues add on average, in seconds."""

    name: str
    way: float
    queue: float


class Measured(msgspec.Struct, frozen=True):
    """The drift of a clock hour by hour: as measured, and as it truly was on average."""

    found: list[Drift]
    true: list[float]


def measured(host: Host, server: Server, hours: int, seed: int) -> Measured:
    """Ask a server every hour, as a client of SNTP does, and estimate the drift from each pair of answers."""
    random = Random(f"{seed} {host.name} {server.name}")  # noqa: S311 - a simulation, to be repeated
    drifts = host.drifts(hours, seed)
    each = round(HOUR / STEP)
    shown = 1e5
    readings = []
    true = []
    for hour in range(hours + 1):
        to, back = (server.way + random.expovariate(1 / server.queue) for _ in range(2))
        readings.append(Reading.asked(shown - to, hour * HOUR, shown + back))
        steps = drifts[hour * each : (hour + 1) * each]
        shown += sum((1 + ppm / 1e6) * STEP for ppm in steps)
        if steps:
            true.append(sum(steps) / each)
    return Measured([drift(one, other) for one, other in pairwise(readings)], true)
