"""Chains of hosts as in the thesis (§9.4): a subscription is said again and again, and every broker leases it.

The hosts of the thesis cannot be had any more; everything about them here is a model. What runs on them is not: real
brokers in a line with clocks that are wrong, whose layers bound ages and grant leases in virtual time.
"""

from collections.abc import Iterator, Mapping
from itertools import count
from random import Random
from typing import Any, Final

import msgspec
import networkx as nx

from tamis.healing import Ages, Healing, Leases
from tamis.healing.layer import Layer
from tamis.healing.lease import Lease
from tamis.healing.lease_layer import LeaseLayer
from tamis.lab.rings import DRIFT, FIBRE, JITTER, ROUTERS
from tamis.routing.leasable import Row
from tamis.routing.packets import Name
from tamis.simulation import Clock, Link, Overlay
from tamis.simulation.clock import random_clocks

#: By how much the way of a packet is longer than the straight line, as on the rings.
DETOUR: Final = 1.5
#: Seconds that a host takes for a packet. Chosen so that bounds on ages at one of the last brokers are about what the
#: thesis has, 0.4 s: that is no finding.
HOST: Final = 0.008
#: Sometimes a packet is slowed down by up to so many seconds.
SLOW: Final = 0.0005
SLOWED: Final = 0.2
#: Before the first subscription: links get to know their delays.
START: Final = 1.0
CONDITION: Final = "x > 0"
ADVERT: Final = f"@advert {CONDITION}"
#: Seconds between looks at whether an advertisement is there.
STEP: Final = 0.001


class Chain(msgspec.Struct, frozen=True):
    """Hosts in a line, the first of them the client's own, and the kilometres from each to the next."""

    name: str
    hosts: tuple[str, ...]
    kilometres: tuple[float, ...]

    def least(self) -> list[float]:
        """Return the least delay of each link, with the host at its end."""
        return [HOST + ROUTERS + way * DETOUR * FIBRE for way in self.kilometres]


#: Neuchâtel, Turin, Tromsø, Warsaw and Patras are in the thesis, Patras beside Warsaw; the others are ours. The last
#: host is the first one again.
EUROPE: Final = Chain(
    "ipeurope",
    ("Neuchâtel", "Turin", "Madrid", "Lisbon", "Dublin", "Vienna", "Helsinki", "Tromsø", "Warsaw", "Patras", "back"),
    (220, 1070, 500, 1640, 1680, 1440, 1130, 1950, 1600, 1480),
)
#: None of these is in the thesis.
WORLD: Final = Chain(
    "ipworld",
    ("Neuchâtel", "New York", "San Francisco", "Tokyo", "Singapore", "Sydney"),
    (6200, 4100, 8300, 5300, 6300),
)


class Refreshed(msgspec.Struct, frozen=True):
    """One refresh as it came to one broker: how old it was, by the bound and truly, and what became of the lease.

    `used` is the share of the lease before that had passed; if above 1, that lease had ended.
    """

    bound: float
    age: float
    extension: float
    used: float


def overlay(chain: Chain, strategy: str, leases: Leases, seed: int, **options: Any) -> Overlay:
    """Return brokers in a line whose clocks are wrong, once their links know each other."""
    graph: nx.Graph[Name] = nx.Graph()
    for host, latency in enumerate(chain.least()):
        graph.add_edge(host, host + 1, latency=latency)
    net = Overlay(
        graph,
        strategy,
        healing=Healing(leases=leases, ages=Ages(drift=DRIFT, ping=1.0)),
        clocks=_clocks(chain, seed),
        seed=seed,
        **options,
    )
    net.run(until=START)
    return net


def _clocks(chain: Chain, seed: int) -> dict[Name, Clock]:
    return random_clocks(range(len(chain.hosts)), DRIFT, 1e3, seed)


def lease(net: Overlay, broker: int, text: str) -> Lease | None:
    """Return the lease on what a broker was told by the one before it, if there is one."""
    machine = net.machines[broker]
    while not isinstance(machine, LeaseLayer):
        assert isinstance(machine, Layer)
        machine = machine.inner
    row = Row("broker", broker - 1, text)
    return machine.table.get(row)


def delays(chain: Chain, seed: int, slow: Mapping[int, tuple[int, float]]) -> Iterator[list[float]]:
    """Draw the delays of all links, again and again. `slow` says the how-manieth time which link takes longer."""
    random = Random(f"{seed} {chain.name}")  # noqa: S311 - a simulation, to be repeated
    for number in count():
        drawn = []
        for latency in chain.least():
            drawn.append(latency * (1 + random.expovariate(1 / JITTER)))
            if random.random() < SLOW:
                drawn[-1] += random.uniform(0, SLOWED)
        if number in slow:
            link, longer = slow[number]
            drawn[link] += longer
        yield drawn


def refreshed(
    chain: Chain, leases: Leases, refreshes: int, seed: int, slow: Mapping[int, tuple[int, float]]
) -> list[list[Refreshed]]:
    """Let one client subscribe and say so again; return for each broker but the client's own what came there.

    Delays and clocks come from the seed alone, so all kinds of leases meet the same.
    """
    net = overlay(chain, "identity", leases, seed)
    clocks = _clocks(chain, seed)
    brokers = range(1, len(chain.hosts))
    came: list[list[Refreshed]] = [[] for _ in brokers]
    before: dict[int, tuple[float, float]] = {}
    for number, drawn in zip(range(refreshes + 1), delays(chain, seed, slow), strict=False):
        for link, latency in enumerate(drawn):
            net.change_link(link, link + 1, Link(latency=latency))
        sent = START + number * leases.refresh
        if not number:
            net.subscribe(0, "client", CONDITION)
        # Each refresh is everywhere before the next one is sent.
        net.run(until=sent + 0.999 * leases.refresh)
        for broker in brokers:
            held = lease(net, broker, CONDITION)
            if held is None or held.age is None:
                raise ValueError(f"refresh {number} took too long to broker {broker}")
            clock = clocks[broker]
            if number:
                granted, until = before[broker]
                used = (held.granted - granted) / (until - granted)
                age = (held.granted - clock.offset) / (1 + clock.drift) - sent
                came[broker - 1].append(Refreshed(held.age, age, held.extension, used))
            before[broker] = held.granted, held.until
    return came


def present(chain: Chain, leases: Leases, seconds: float, seed: int, batches: bool) -> list[list[bool]]:
    """Let one client advertise and say so again; return for each broker but its own, once in `STEP`, if it knows that.

    Links keep the order, as TCP does. With `batches`, what is sent waits until what was sent before is acknowledged, as
    it does by Nagle's rule, the default of TCP: then a batch leaves once in a round trip.
    """
    net = overlay(chain, "advertisement", leases, seed, trees=False)
    net.run(until=START)
    net.advertise(0, "client", CONDITION)
    known: list[list[bool]] = [[] for _ in chain.kilometres]
    drawing = delays(chain, seed, {})
    drawn: list[float] = []
    every = round(leases.refresh / STEP)
    for step in range(round(seconds / STEP)):
        if not step % every:
            drawn = next(drawing)
        for link, (latency, least) in enumerate(zip(drawn, chain.least(), strict=True)):
            waits = -net.now % (2 * least) if batches else 0.0
            net.change_link(link, link + 1, Link(latency=latency + waits))
        net.run(until=START + (step + 1) * STEP)
        for broker, at in enumerate(known, 1):
            at.append(lease(net, broker, ADVERT) is not None)
    return known
