"""A plan played: promises are checked with every delivery and after every storm."""

from collections import Counter, deque
from collections.abc import Callable
from random import Random
from typing import Final

import msgspec
import networkx as nx

from tamis.routing.messages import Message, Publish
from tamis.routing.packets import AnyPacket, Event, Filters, Name
from tamis.simulation.chaos.casts import Cast, casts
from tamis.simulation.chaos.plan import Calm, Garbage, Plan, Publishes, Step, Subscribes, Unsubscribes
from tamis.simulation.chaos.story import CONDITIONS, EVENTS
from tamis.simulation.link import Link
from tamis.simulation.observer import Observer
from tamis.simulation.overlay import Overlay
from tamis.simulation.trace import TraceWriter

#: So many packets are remembered, to come again as garbage.
REMEMBERED: Final = 300
#: Events after a storm have so many seconds to arrive.
ARRIVED: Final = 5.0


class Broken(msgspec.Struct, frozen=True):
    """A promise that was broken: when, which, and how."""

    at: float
    promise: str
    what: str


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """What came of a plan."""

    broken: tuple[Broken, ...]
    #: What happened, and what could not.
    steps: int
    left_out: int
    calms: int
    #: Events after storms, and their deliveries; all deliveries.
    probes: int
    probe_deliveries: int
    deliveries: int
    virtual_seconds: float


class _Judge(Observer):
    """Looks on at every delivery: nobody gets what it does not want, anything twice, or older than is said.

    A broker that has crashed does not remember what it delivered. Then its clients, who do, would ignore what they
    have got already; so that is not counted.
    """

    def __init__(self) -> None:
        self._net: Overlay
        self._published: dict[Name, float] = {}
        #: When each client got each event, and in which life of its broker.
        self._times: dict[tuple[Name, Name], tuple[float, int]] = {}
        self._lives: Counter[Name] = Counter()
        self.packets: deque[AnyPacket] = deque(maxlen=REMEMBERED)
        self.broken: list[Broken] = []
        self.deliveries = 0
        self._wrong = 0

    def looks_at(self, net: Overlay) -> None:
        self._net = net
        net.watch(self)

    def started(self, now: float, broker: Name, clock: object) -> None:  # noqa: ARG002
        self._lives[broker] += 1

    def told(self, now: float, broker: Name, message: Message, hops: int) -> None:  # noqa: ARG002
        if isinstance(message, Publish):
            self._published[message.event.id] = now

    def sent(self, now: float, broker: Name, neighbour: Name, packet: AnyPacket) -> None:  # noqa: ARG002
        self.packets.append(packet)

    def delivered(self, now: float, broker: Name, client: Name, event: Event, hops: int, age: float | None) -> None:  # noqa: ARG002
        self.deliveries += 1
        before = self._times.get((client, event.id))
        if before is not None and self._lives[broker] == before[1]:
            self.broken.append(Broken(now, "at most once", f"{client!r} got event {event.id!r} at {before[0]} already"))
        self._times[client, event.id] = now, self._lives[broker]
        if age is not None and age < now - self._published[event.id]:
            late = now - self._published[event.id]
            self.broken.append(Broken(now, "no older than said", f"event {event.id!r} is {late} s old, not {age}"))
        if self._net.metrics.false_positives > self._wrong:
            self._wrong = self._net.metrics.false_positives
            self.broken.append(Broken(now, "nothing unwanted", f"{client!r} got event {event.id!r}: {event.content}"))


def run(plan: Plan, trace: TraceWriter | None = None, progress: Callable[[int, int], None] | None = None) -> Outcome:
    """Play a plan, until it ends or a promise is broken. One of a cast that there is not is a `ValueError`."""
    known = casts()
    if plan.cast not in known:
        raise ValueError(f"there is no cast {plan.cast!r}; there are: {', '.join(known)}")
    play = _Play(plan, known[plan.cast], trace)
    for number, step in enumerate(plan.steps):
        if progress is not None:
            progress(number, len(plan.steps))
        play.do(step)
        if play.judge.broken:
            break
    return play.outcome()


class _Play:
    """An overlay in which a plan happens."""

    def __init__(self, plan: Plan, cast: Cast, trace: TraceWriter | None) -> None:
        options = {**cast.options, **({"clusters": plan.clusters} if plan.clusters else {})}
        self._graph: nx.Graph[Name] = nx.Graph(plan.links)
        self._graph.add_nodes_from(range(plan.brokers))
        self._calm = cast.promised(nx.diameter(self._graph))
        self.judge = _Judge()
        self.net = Overlay(self._graph, cast.strategy, healing=cast.healing, seed=plan.seed, trace=trace, **options)
        self.judge.looks_at(self.net)
        self._done = self._left_out = self._calms = 0
        self._probed: dict[Name, int] = {}
        if self.net.strategy.capabilities.advertisements:
            for broker in self._graph:
                self.net.advertise(broker, _publisher(broker), "true")

    def outcome(self) -> Outcome:
        got = sum(event in self._probed for _, event in self.net.deliveries)
        return Outcome(
            broken=tuple(self.judge.broken[:1]),
            steps=self._done,
            left_out=self._left_out,
            calms=self._calms,
            probes=len(self._probed),
            probe_deliveries=got,
            deliveries=self.judge.deliveries,
            virtual_seconds=self.net.now,
        )

    def do(self, step: Step) -> None:
        """Let time pass until a step, and let it happen if it can."""
        net = self.net
        net.run(until=max(net.now, step.at))
        try:
            match step:
                case Subscribes():
                    net.subscribe(step.broker, step.client, step.condition)
                case Unsubscribes():
                    net.unsubscribe(step.broker, step.client, step.condition)
                case Publishes():
                    net.publish(step.broker, step.event, _publisher(step.broker))
                case Garbage():
                    self._slip(step)
                case Calm():
                    self._become_calm()
                case _:
                    net.suffer(step)
        except ValueError:
            self._left_out += 1
        else:
            self._done += 1

    def _slip(self, step: Garbage) -> None:
        random = Random(step.seed)  # noqa: S311 - a simulation, to be repeated
        made_up = Filters(
            tuple(random.sample(CONDITIONS, random.randrange(3))), tuple(random.sample(CONDITIONS, random.randrange(3)))
        )
        old = self.judge.packets
        self.net.slip(step.one, step.other, random.choice(old) if old and random.random() < 0.7 else made_up)

    def _become_calm(self) -> None:
        """Let everything work again, wait as long as is promised, and see whether all is right."""
        net = self.net
        for broker in self._graph:
            if broker not in net.graph:
                net.restart(broker)
        net.reunite()
        for one, other in self._graph.edges:
            net.change_link(one, other, Link())
        net.run(until=net.now + self._calm)
        self._calms += 1
        for broker in self._graph:
            for event in EVENTS:
                self._probed[net.publish(broker, event, _publisher(broker))] = self._calms
        net.run(until=net.now + ARRIVED)
        missing = [each for each in net.missing() if self._probed.get(each[1]) == self._calms]
        if missing:
            what = f"{self._calm:g} s after storm {self._calms}, {len(missing)} deliveries are missing"
            what += ", the first is event {1!r} to {0!r}".format(*missing[0])
            self.judge.broken.append(Broken(net.now, "right again in time", what))


def _publisher(broker: Name) -> str:
    return f"publisher {broker}"
