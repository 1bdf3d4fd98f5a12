"""Random lives of a link whose truth is known exactly: whole numbers of picoseconds, clocks in exact arithmetic."""

import heapq
from collections.abc import Iterator
from itertools import count, repeat
from random import Random

from tamis.healing.delay import LinkEnd
from tamis.healing.rate import Mode, Rate
from tamis.routing.packets import Stamp

#: Picoseconds, and what a clock shows, in a second.
SECOND = 10**12
SHOWN = 10**21
PPB = 10**9
#: Largest drifts in parts per billion, offsets and typical delays in seconds.
DRIFTS = (0, 1_000, 100_000, 100_000, 500_000, 10**7, 5 * 10**8)
OFFSETS = (0, 0, 5, -3, 10**6, 1_763_000_000, -1_763_000_000, 10**9, 10**12)
DELAYS = (1e-6, 1e-4, 1e-3, 0.03, 0.3, 2.0)


class ExactClock:
    """A clock whose drift changes as it likes within its bound, read in order of time."""

    def __init__(self, random: Random, bound: int, since: int) -> None:
        self._random = random
        self._bound = bound
        self._time = since
        self._shown = random.choice(OFFSETS) * SHOWN + random.randrange(SHOWN)
        self._kind = random.choice(("fast", "slow", "steady", "changing", "extremes"))
        self._steady = random.randint(-bound, bound)
        #: Some clocks show whole nanoseconds only.
        self._ticks = random.random() < 0.3

    def read(self, time: int) -> float:
        """Return what the clock shows at a time, rounded as a float is."""
        drift = {
            "fast": self._bound,
            "slow": -self._bound,
            "steady": self._steady,
            "changing": self._random.randint(-self._bound, self._bound),
            "extremes": self._random.choice((-self._bound, self._bound)),
        }[self._kind]
        self._shown += (time - self._time) * (PPB + drift)
        self._time = time
        tick = SHOWN // 10**9
        return (self._shown // tick * tick if self._ticks else self._shown) / SHOWN


class Received:
    """A packet that came: its true delay in picoseconds, and the bounds."""

    __slots__ = ("delay", "lower", "upper")

    def __init__(self, delay: int, lower: float, upper: float) -> None:
        self.delay, self.lower, self.upper = delay, lower, upper

    def is_sound(self) -> bool:
        """Say whether the bounds hold, exactly."""
        return at_most(self.lower, self.delay) and (self.upper == float("inf") or not below(self.upper, self.delay))


def below(seconds: float, picoseconds: int) -> bool:
    """Compare a float with a whole number of picoseconds without rounding."""
    number, divisor = seconds.as_integer_ratio()
    return number * SECOND < picoseconds * divisor


def at_most(seconds: float, picoseconds: int) -> bool:
    """Compare a float with a whole number of picoseconds without rounding."""
    number, divisor = seconds.as_integer_ratio()
    return number * SECOND <= picoseconds * divisor


class _Side:
    def __init__(self, random: Random, mode: Mode) -> None:
        self._random, self._mode = random, mode
        self._bound = random.choice(DRIFTS)
        self._boots = count(random.randrange(3))
        self.start(0)

    def start(self, now: int) -> None:
        """Start, or start anew with another clock."""
        self.clock = ExactClock(self._random, self._bound, now)
        lives = zip(repeat(next(self._boots)), count(), strict=False)
        self.end = LinkEnd(Rate(self._bound / PPB, self._mode), lives)
        self.life = self.end.life


def history(seed: int, packets: int = 24, mode: Mode = "strict") -> Iterator[Received]:
    """Live one life of a link; go through what was received. An end that contradicts itself is an `AssertionError`."""
    random = Random(seed)
    sides = _Side(random, mode), _Side(random, mode)
    typical = random.choice(DELAYS)
    heavy, loss, doubled, restart = random.random() < 0.5, *(random.choice((0, 0.1, 0.4)) for _ in range(3))
    knows_least, one_way = random.random() < 0.3, random.choice((0.5, 0.5, 0.9))
    pause = random.choice((0.1, 1, 10, 1e6)) * typical
    order = count()
    #: When, an order, who, and what comes with when it was sent; nothing for a time to send.
    queue: list[tuple[int, int, int, tuple[Stamp, int] | None]] = []
    now = 0
    for _ in range(packets):
        now += int(random.expovariate(1 / pause) * SECOND)
        queue.append((now, next(order), int(random.random() < one_way), None))
    while queue:
        now, _, who, packet = heapq.heappop(queue)
        side = sides[who]
        if packet is not None:
            stamp, sent = packet
            least = random.random() * (now - sent) / SECOND * 0.999 if knows_least else 0.0
            lower, upper = side.end.receive(stamp, side.clock.read(now), least)
            side.end.check_invariants()
            assert side.end.life == side.life
            yield Received(now - sent, lower, upper)
            continue
        if random.random() < restart / 4:
            side.start(now)
        stamp = side.end.send(side.clock.read(now))
        for _ in range(1 + (random.random() < doubled)):
            if random.random() >= loss:
                delay = typical * (random.paretovariate(1.2) - 1 if heavy else random.random())
                heapq.heappush(queue, (now + int(delay * SECOND), next(order), 1 - who, (stamp, now)))
