"""A tree of brokers that reuse lookups: how long they take for events, and for what (specs/000 §3, Experiment A).

There is no world in virtual time here: messages go from hand to hand, so that nothing but brokers is timed.
"""

import gc
from collections import Counter, deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from time import thread_time
from typing import Any, Final, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

from tamis.lab.workloads import Conjunctions, Shen, generate
from tamis.lab.workloads.conjunctions import ranges
from tamis.routing import make_strategy
from tamis.routing.interface import Interface
from tamis.routing.interfaces import Interfaces
from tamis.routing.keys import KEY_BYTES, Keys
from tamis.routing.messages import Action, Arrived, Deliver, Message, NeighbourUp, Publish, Record, Send, Subscribe
from tamis.routing.packets import Event, Keyed, Name, Subscription
from tamis.routing.strategies.reuse import Reuse

T = TypeVar("T")
#: The name of a strategy and its options.
Strategy: TypeAlias = tuple[str, dict[str, Any]]

#: [ours] The boxes' ends are rounded to so many decimals, so that subscriptions share predicates.
DECIMALS: Final = 2
#: The clients at each broker.
_CLIENT: Final = "client"
#: [ours] Events are published at so many brokers, which lie all over the tree: an index behind which none lies is not
#: needed, and building them takes longest.
SOURCES: Final = 10
#: Runs of each strategy. All do the same calls in the same order, and the quickest run of each call counts.
PASSES: Final = 5
#: What is counted of that which brokers record.
_COUNTED: Final = ("source_matches", "downstream_matches", "key_lookups")


Seconds: TypeAlias = npt.NDArray[np.float64]


@dataclass
class Cost:
    """What the events of a run cost all brokers together, and how much work that is."""

    #: Seconds of each call: those that compare events at their first broker and at others, those that do something
    #: with keys, and what messages take beside them that are made and read.
    calls: dict[str, Seconds] = field(default_factory=dict)
    #: Searches of an index at the first broker and at others, keys looked up, messages, and keys in them.
    source_matches: int = 0
    downstream_matches: int = 0
    key_lookups: int = 0
    messages: int = 0
    keys: int = 0
    #: The sizes of the indexes that were searched, at the first broker and at others.
    source_sizes: Counter[int] = field(default_factory=Counter)
    downstream_sizes: Counter[int] = field(default_factory=Counter)
    #: Which event reached which broker's clients.
    delivered: set[tuple[Name, Name]] = field(default_factory=set)

    @property
    def source_match(self) -> float:
        """What the first broker takes to find out where events have to go."""
        return float(self.calls["source match"].sum())

    @property
    def downstream_match(self) -> float:
        """What others take to compare events."""
        return float(self.calls["downstream match"].sum())

    @property
    def lookup(self) -> float:
        """What others take for keys."""
        return float(self.calls["lookup"].sum())

    @property
    def rest(self) -> float:
        """What messages take that are made and read."""
        return float(self.calls["rest"].sum())

    @property
    def downstream(self) -> float:
        """What others than the first broker take to find out where events have to go."""
        return self.downstream_match + self.lookup

    @property
    def total(self) -> float:
        """What brokers take in all."""
        return self.source_match + self.downstream + self.rest

    def quickest(self, other: "Cost") -> None:
        """Let each call take as long as in the quicker one of two runs of the same."""
        for name, seconds in self.calls.items():
            np.minimum(seconds, other.calls[name], out=seconds)


class Meter:
    """Notes the seconds of calls, less what other meters note meanwhile, and counts the sizes of what was searched."""

    def __init__(self, *inner: "Meter") -> None:
        self._inner = inner
        self.seconds: list[float] = []
        self.total = 0.0
        self.sizes: Counter[int] = Counter()

    def timed(self, function: Callable[..., T], size: int = 0) -> Callable[..., T]:
        """Return a function that does the same and is timed."""

        def call(*arguments: Any) -> T:
            self.sizes[size] += 1
            inside = sum(each.total for each in self._inner)
            started = thread_time()
            try:
                return function(*arguments)
            finally:
                seconds = thread_time() - started + inside - sum(each.total for each in self._inner)
                self.seconds.append(seconds)
                self.total += seconds

        return call


class TimedInterface:
    """An interface whose searches are timed."""

    def __init__(self, interface: Interface[Any], meter: Meter) -> None:
        self.any = meter.timed(interface.any, len(interface))
        self.find = meter.timed(interface.find, len(interface))
        self.met = meter.timed(interface.met, len(interface))


class TimedInterfaces:
    """The interfaces of a broker, timed: searches by one meter, all that is done with keys by another."""

    def __init__(self, interfaces: Interfaces[Any], matching: Meter, lookup: Meter) -> None:
        self.local = TimedInterface(interfaces.local, matching)
        self.behind = {name: TimedInterface(each, matching) for name, each in interfaces.behind.items()}
        self.look_up: Callable[[Keys, Name], tuple[Keys, dict[Name, Keys]]] = lookup.timed(interfaces.look_up)
        self.named: Callable[[Keys, Mapping[str, Any]], list[Subscription]] = lookup.timed(interfaces.named)


class ReuseTree:
    """Brokers 0, 1, … in the shape of a heap, with subscriptions of which all of them know as much as they need.

    What brokers know does not depend on how they reuse lookups, so all strategies are tried on the same tree.
    """

    def __init__(self, brokers: int, conditions: Sequence[str], engine: str, covering: bool = False) -> None:
        self._options: dict[str, Any] = {"engine": engine, "covering": covering}
        self._brokers = self._made("reuse-never", self._options, brokers)
        for number, condition in enumerate(conditions):
            self._brokers[number % brokers].handle(Subscribe(_CLIENT, condition), 0.0)
        links = [((child - 1) // 2, child) for child in range(1, brokers)]
        if covering:
            for parent, child in links:
                _carry(self._brokers, deque([(child, NeighbourUp(parent)), (parent, NeighbourUp(child))]))
        else:
            self._tell_all(links)

    def _tell_all(self, links: Sequence[tuple[int, int]]) -> None:
        """Let every broker know all subscriptions: what they would tell each other, without the messages."""
        own = [list(broker.interfaces.local.entries()) for broker in self._brokers]
        below = {broker: {broker} for broker in range(len(self._brokers))}
        for parent, child in reversed(links):
            below[parent] |= below[child]
            self._brokers[parent].handle(NeighbourUp(child), 0.0)
            self._brokers[child].handle(NeighbourUp(parent), 0.0)
        for parent, child in links:
            for broker, neighbour, is_child in ((parent, child, True), (child, parent, False)):
                sides = (each for number, each in enumerate(own) if (number in below[child]) is is_child)
                self._brokers[broker].interfaces.add(neighbour, chain.from_iterable(sides))

    def stored(self) -> float:
        """Return how many subscriptions a broker keeps, as a mean."""
        return sum(broker.stored() for broker in self._brokers) / len(self._brokers)

    def warm_up(self, events: Sequence[dict[str, Any]]) -> None:
        """Let all indexes be built that these events need, and all kernels be compiled."""
        for strategy in ("reuse-never", "reuse-partial"):
            self.run(strategy, {}, events)

    def run(self, strategy: str, options: dict[str, Any], events: Sequence[dict[str, Any]]) -> Cost:
        """Publish events at brokers in turn; return what that costs."""
        source, downstream, lookup, cost = Meter(), Meter(), Meter(), Cost()
        rest = Meter(source, downstream, lookup)
        brokers = self._made(strategy, {**self._options, **options}, len(self._brokers))
        for broker, known in zip(brokers, self._brokers, strict=True):
            broker.neighbours = known.neighbours
        published = sorted(
            (number % SOURCES * len(brokers) // SOURCES, number, Publish(_CLIENT, Event(number, event)))
            for number, event in enumerate(events)
        )
        # A collection of garbage would go through a million subscriptions.
        gc.disable()
        try:
            waiting: dict[int, list[Message]] = {}
            self._time(brokers, source, lookup)
            for number, _, publish in published:
                _noted(cost, number, rest.timed(brokers[number].handle)(publish, 0.0), waiting)
            self._time(brokers, downstream, lookup)
            while waiting:
                # A broker has a machine of its own, whose caches know its index: all that waits for it is its turn.
                number = max(waiting, key=lambda each: len(waiting[each]))
                for message in waiting.pop(number):
                    _noted(cost, number, rest.timed(brokers[number].handle)(message, 0.0), waiting)
        finally:
            gc.enable()
        meters = {"source match": source, "downstream match": downstream, "lookup": lookup, "rest": rest}
        cost.calls = {name: np.array(meter.seconds) for name, meter in meters.items()}
        cost.source_sizes, cost.downstream_sizes = source.sizes, downstream.sizes
        return cost

    def _time(self, brokers: Sequence[Reuse], matching: Meter, lookup: Meter) -> None:
        """Let brokers have the tree's interfaces, timed by these meters from now on."""
        for broker, known in zip(brokers, self._brokers, strict=True):
            broker.interfaces = TimedInterfaces(known.interfaces, matching, lookup)  # type: ignore[assignment]

    @staticmethod
    def _made(strategy: str, options: dict[str, Any], brokers: int) -> list[Reuse]:
        chosen = make_strategy(strategy, options)
        made = [chosen.broker(number) for number in range(brokers)]
        return [broker for broker in made if isinstance(broker, Reuse)]


def _carry(brokers: Sequence[Reuse], messages: deque[tuple[int, Message]]) -> None:
    """Let brokers handle messages, and those that come of them."""
    while messages:
        number, message = messages.popleft()
        for action in brokers[number].handle(message, 0.0):
            if isinstance(action, Send):
                messages.append((int(action.neighbour), Arrived(number, action.packet)))


def _noted(cost: Cost, broker: int, actions: Sequence[Action], waiting: dict[int, list[Message]]) -> None:
    """Count what a broker has done; what others get waits for them."""
    for action in actions:
        match action:
            case Send():
                cost.messages += 1
                if isinstance(action.packet, Keyed):
                    cost.keys += len(action.packet.keys) // KEY_BYTES
                waiting.setdefault(int(action.neighbour), []).append(Arrived(broker, action.packet))
            case Deliver():
                cost.delivered.add((broker, action.event.id))
            case Record(metric=metric, value=value) if metric in _COUNTED:
                setattr(cost, metric, getattr(cost, metric) + int(value))


def tried(tree: ReuseTree, strategies: Mapping[str, Strategy], events: Sequence[dict[str, Any]]) -> dict[str, Cost]:
    """Try strategies on a tree, some times in turn, and return what the quickest run of each call took.

    All must bring the same events to the same clients; otherwise a figure would mean nothing.
    """
    tree.warm_up(events)
    costs: dict[str, Cost] = {}
    for _ in range(PASSES):
        for name, (strategy, options) in strategies.items():
            cost = tree.run(strategy, options, events)
            costs.setdefault(name, cost).quickest(cost)
    if len({frozenset(cost.delivered) for cost in costs.values()}) > 1:
        raise AssertionError("strategies deliver different events")
    return costs


def boxes_and_points(spec: Shen, seed: int) -> tuple[list[str], list[dict[str, Any]]]:
    """Return subscriptions, with rounded ends, and events."""
    workload = generate(spec, seed)
    conditions = workload.conditions
    assert isinstance(conditions, Conjunctions)
    rounded = ranges(*(np.round(ends, DECIMALS) for ends in (conditions.predicates.low, conditions.predicates.high)))
    return replace(conditions, predicates=rounded).texts().to_pylist(), list(workload.events.rows())
