"""Rings of hosts as in the thesis (§9.3): an event goes from host to host and back, so that its true age is known.

The hosts of the thesis cannot be had any more; everything about them here is a model. What runs on them is not: real
brokers in a line, whose last one has the clock of the first, and which send their stamps in virtual time.
"""

from collections.abc import Callable
from random import Random
from typing import Final, TypeAlias

import msgspec
import networkx as nx

from tamis.healing import Ages, Healing
from tamis.healing.ages import AgesLayer
from tamis.healing.delay import Helper, LinkEnd
from tamis.routing import Broker, Machine
from tamis.routing.messages import Action, Message
from tamis.routing.packets import Echo, Name
from tamis.simulation import Clock, Link, Overlay

#: Seconds between events, and between pongs on a silent link.
PERIOD: Final = 1.0
DRIFT: Final = 1e-4
LOSS: Final = 0.01
#: Seconds for a kilometre of fibre, and of routers and access at the ends of a link.
FIBRE: Final = 1 / 200_000
ROUTERS: Final = 0.003
#: Queues on a link add an exponential time to each packet, on average so many times its least delay. In times of
#: congestion, which may begin or end every half second, they add so many times more as long as it lasts.
JITTER: Final = 0.1
CONGESTION: Final = 3.0
BEGINS: Final = 0.01
ENDS: Final = 0.05
#: A broker takes so many seconds for a packet, and a thousand times as long when others have the machine.
WORK: Final = 2e-4
SPIKE: Final = 1000
SPIKES: Final = 0.003


class Ring(msgspec.Struct, frozen=True):
    """Hosts in a circle, the first of them the one where events begin and end, and the kilometres to the next."""

    name: str
    hosts: tuple[str, ...]
    kilometres: tuple[float, ...]
    #: By how much the way of a packet is longer than the straight line, link by link.
    detours: tuple[float, ...]

    def least(self) -> list[float]:
        """Return the least delay of each link."""
        return [ROUTERS + way * detour * FIBRE for way, detour in zip(self.kilometres, self.detours, strict=True)]


LOCAL: Final = Ring("local", ("Bremen", "Dresden", "Berlin", "Passau"), (400, 165, 440, 540), (1.5,) * 4)
#: Ways between India and Europe lead through few sea cables.
GLOBAL: Final = Ring(
    "global",
    ("Delhi", "Helsinki", "Krakow", "Saarbrücken"),
    (5230, 1130, 950, 6130),
    (4.0, 1.5, 1.5, 4.0),
)
RINGS: Final = (LOCAL, GLOBAL)


class Traveller(msgspec.Struct, frozen=True):
    """One event that came back: its true age, the bound on it, and whether some broker had a spike meanwhile."""

    age: float
    bound: float
    spiked: bool

    @property
    def error(self) -> float:
        """How much the bound is too large."""
        return self.bound - self.age


Travellers: TypeAlias = list[Traveller]


class Unoptimised(LinkEnd):
    """The newest packet is the helper, and nothing is known of how long it took (thesis, Equation 6.6)."""

    def _bounds(self, echo: Echo | None, now: float, least: float) -> tuple[float, float]:
        return least, super()._bounds(echo, now, least)[1]

    def _choose(self, new: Helper, drift: float) -> None:  # noqa: ARG002 - any helper will do
        self.helper = new


class _Unoptimised(AgesLayer):
    End = Unoptimised


class UnoptimisedHealing(Healing, frozen=True):
    """Ages by the unoptimised protocol."""

    def around(self, broker: Broker, boot: int) -> Machine:
        assert self.ages is not None
        return _Unoptimised(broker, self.ages, boot)


class _Path:
    """The delay of one link, as it changes."""

    def __init__(self, least: float, random: Random) -> None:
        self._least = least
        self._random = random
        self._queue = 0.0

    def link(self) -> Link:
        """Let some time pass, and return what the link is like now."""
        random = self._random
        if not self._queue:
            self._queue = random.expovariate(1 / CONGESTION) if random.random() < BEGINS else 0.0
        elif random.random() < ENDS:
            self._queue = 0.0
        times = 1 + self._queue + random.expovariate(1 / JITTER)
        return Link(latency=self._least * times, loss=LOSS, ordered=False)


class _Work:
    """How long brokers take for a packet, and when one had a spike."""

    def __init__(self, random: Random) -> None:
        self._random = random
        self.spikes: list[float] = []
        self.now: Callable[[], float] = float

    def __call__(self, message: Message, actions: list[Action]) -> float:  # noqa: ARG002
        seconds = WORK * self._random.uniform(0.5, 1.5)
        if self._random.random() < SPIKES:
            self.spikes.append(self.now())
            seconds *= SPIKE
        return seconds


def travelled(ring: Ring, events: int, seed: int, optimised: bool = True) -> Travellers:
    """Send events round a ring, one a second; return those that came back, in order.

    Delays, losses, clocks and work come from the seed alone, so both protocols meet the same.
    """
    random = Random(seed)  # noqa: S311 - a simulation, to be repeated
    count = len(ring.hosts)
    clocks: dict[Name, Clock] = {
        host: Clock(drift=random.uniform(-DRIFT, DRIFT), offset=random.uniform(0, 1e6)) for host in range(count)
    }
    clocks[count] = clocks[0]
    paths = [_Path(least, Random(f"{seed} {number}")) for number, least in enumerate(ring.least())]  # noqa: S311
    work = _Work(Random(f"{seed} work"))  # noqa: S311
    ages = Ages(drift=DRIFT, ping=PERIOD)
    graph: nx.Graph[Name] = nx.Graph()
    for host, path in enumerate(paths):
        # Nothing gets lost before the subscription is known.
        graph.add_edge(host, host + 1, latency=path.link().latency)
    net = Overlay(
        graph,
        "simple",
        healing=Healing(ages=ages) if optimised else UnoptimisedHealing(ages=ages),
        seed=seed,
        service=work,
        clocks=clocks,
    )
    work.now = lambda: net.now
    net.subscribe(count, "subscriber", "true")
    # Pongs go out on whole seconds, events half a second later; delays are drawn anew before either.
    sent: dict[Name, float] = {}
    net.run(until=1.5 * PERIOD)
    for number in range(events):
        _redraw(net, paths)
        sent[net.publish(0, {"number": number})] = net.now
        net.run(until=(number + 2) * PERIOD - 0.01)
        _redraw(net, paths)
        net.run(until=(number + 2.5) * PERIOD)
    net.run(until=net.now + 10 * PERIOD)
    came = sorted(net.received, key=lambda each: sent[each.event])
    return [
        Traveller(
            each.time - sent[each.event],
            each.age_bound,
            any(sent[each.event] <= spike <= each.time for spike in work.spikes),
        )
        for each in came
    ]


def _redraw(net: Overlay, paths: list[_Path]) -> None:
    for host, path in enumerate(paths):
        net.change_link(host, host + 1, path.link())
