"""How long brokers are busy in the testbed of specs/002 §9.1: a model, from two figures of the thesis.

The thesis measured on 2.66 GHz nodes with PADRES. Its Figure 10.1.4 has, with 2,000 subscriptions and 50 events a
second, brokers at 63 % that match and brokers at 2 % that only pass on. We take from it what a message and what a
comparison with one subscription cost, and nothing else: all other times follow from what brokers do.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final

import msgspec
import networkx as nx
import numpy as np

from tamis.lab.overlays import FBR, edges, overlay
from tamis.lab.quotes import Crowd
from tamis.routing.messages import Action, Message, Publish, Record
from tamis.routing.packets import Name
from tamis.simulation.observer import Observer

#: Seconds for a message: 2 % of the time at 50 messages a second.
MESSAGE: Final = 0.02 / 50
#: Seconds for comparing an event with one subscription: the other 61 %, over 2,000 subscriptions.
COMPARISON: Final = (0.63 - 0.02) / 50 / 2_000
#: What a reader has to know.
MODEL: Final = (
    f"Times are modelled, not measured: a broker is busy {1e3 * MESSAGE:.1f} ms with every message and "
    f"{1e6 * COMPARISON:.1f} µs with every subscription that it compares an event with, one after the other; links "
    "take 1 ms. Both constants come from Figure 10.1.4 of the thesis (R1: 63 % and 2 % at 50 events/s and 2,000 "
    "subscriptions); shares of a processor are busy time over time, by this model. In FBR a broker compares with all "
    "that it keeps; in D-DBR so does the publisher's broker, the others with their own clients' subscriptions; in MERC "
    "edge brokers compare with all that they keep. Setting up takes no time."
)


class Load(msgspec.Struct, frozen=True):
    """What came of events that were published at some rate."""

    events: int
    #: Mean and 99th percentile of the time from publication to delivery, in seconds.
    latency: float
    latency_99: float
    #: Brokers that compared an event with subscriptions, for each event.
    matches: float
    #: Which share of the time each broker was busy, in per cent.
    shares: dict[Name, float]
    #: Events a second that the broker with most work could take.
    capacity: float


class Effort(Observer):
    """Says how long brokers are busy, and adds it up. Until it is started, nothing takes time.

    It looks on because the world does not say which broker it is that handles a message.
    """

    def __init__(self) -> None:
        #: Seconds, by broker.
        self.busy: dict[Name, float] = {}
        self._sizes: dict[Name, tuple[int, int]] = {}
        self._speed: Mapping[Name, float] = {}
        self._broker: Name = ""

    def start(self, sizes: dict[Name, tuple[int, int]], speed: Mapping[Name, float]) -> None:
        """Let time count from now on.

        `sizes` says with how many subscriptions a broker compares its clients' events and those of others, and `speed`
        who is faster than others.
        """
        self._sizes, self._speed = sizes, speed

    def told(self, now: float, broker: Name, message: Message, hops: int) -> None:  # noqa: ARG002
        """Note whose turn it is."""
        self._broker = broker

    def __call__(self, message: Message, actions: list[Action]) -> float:
        """Return the seconds that a broker is busy with a message."""
        broker = self._broker
        if broker not in self._sizes:
            return 0.0
        seconds = MESSAGE
        if any(isinstance(action, Record) and action.metric == "matches" for action in actions):
            seconds += COMPARISON * self._sizes[broker][not isinstance(message, Publish)]
        seconds /= self._speed.get(broker, 1.0)
        self.busy[broker] = self.busy.get(broker, 0.0) + seconds
        return seconds


class BusyOverlay:
    """An overlay with its clients, all of whom have subscribed and advertised, and whose brokers take their time."""

    def __init__(
        self, strategy: str, graph: "nx.Graph[Name]", crowd: Crowd, speed: Mapping[Name, float] | None = None
    ) -> None:
        self._effort = Effort()
        self._crowd = crowd
        self._net = overlay(strategy, graph, self._effort)
        self._net.watch(self._effort)
        crowd.settle(self._net)
        own = Counter(broker for broker, _, _ in crowd.wishes)
        everything = set(graph) if strategy == FBR else edges(graph)
        sizes = {
            broker: (stored, stored if broker in everything else own[broker])
            for broker, stored in self._net.stored().items()
        }
        self._effort.start(sizes, speed or {})

    def load(self, seed: int, gaps: Sequence[float]) -> Load:
        """Publish quotes, each so many seconds after the one before, and wait until all have arrived."""
        net, effort = self._net, self._effort
        effort.busy.clear()
        began, told, matched = net.now, len(net.metrics.latencies), net.metrics.total("matches")
        for gap, (offer, quote) in zip(gaps, self._crowd.quotes(seed, len(gaps)), strict=True):
            net.run(until=net.now + gap)
            net.publish(offer.broker, quote, offer.client)
        net.run()
        if net.missing():
            raise AssertionError(f"{len(net.missing())} events did not arrive")
        latencies = np.array(net.metrics.latencies[told:])
        return Load(
            events=len(gaps),
            latency=float(latencies.mean()),
            latency_99=float(np.percentile(latencies, 99)),
            matches=(net.metrics.total("matches") - matched) / len(gaps),
            shares={broker: 100 * effort.busy.get(broker, 0.0) / (net.now - began) for broker in net.brokers},
            capacity=len(gaps) / max(effort.busy.values()),
        )


def steady(rate: float, seconds: float) -> list[float]:
    """Return equal gaps between events of which there are so many in a second."""
    return [1 / rate] * round(rate * seconds)


def poisson(rate: float, seconds: float, seed: int) -> list[float]:
    """Return gaps between events that come by chance, so many in a second on the average."""
    gaps: list[float] = np.random.default_rng(seed).exponential(1 / rate, round(rate * seconds)).tolist()
    return gaps
