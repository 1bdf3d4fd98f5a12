"""`tamis.Overlay`: a network of brokers in virtual time."""

import math
from collections.abc import Iterable, Mapping
from itertools import count
from typing import Any, Literal

import msgspec
import networkx as nx

from tamis.healing import Ages, Healing, Leases
from tamis.healing.spoiling import spoil_by
from tamis.routing import Machine, make_strategy
from tamis.routing.conditions import asked, canonical, parsed
from tamis.routing.messages import (
    Advertise,
    ClientLeft,
    Publish,
    Subscribe,
    Unadvertise,
    Unsubscribe,
)
from tamis.routing.packets import AnyPacket, Event, Name
from tamis.routing.table import Table
from tamis.simulation.clock import Clock
from tamis.simulation.faults import Fault, Faults
from tamis.simulation.link import Link
from tamis.simulation.metrics import Metrics
from tamis.simulation.network import Network
from tamis.simulation.observer import Observer
from tamis.simulation.received import Received
from tamis.simulation.reference import Reference
from tamis.simulation.refreshing import Refreshing
from tamis.simulation.topologies import Topology, graph_of
from tamis.simulation.trace import TraceWriter
from tamis.simulation.world import Service, World


class Overlay:
    """Brokers that route events by one strategy, clients at these brokers, and what the clients got.

    Every call takes effect at the present virtual time; `run` lets time pass. Links of a networkx graph may have the
    attributes of a `Link`, such as `latency`.
    """

    def __init__(
        self,
        topology: Topology,
        routing: str = "simple",
        *,
        state: Literal["hard", "soft"] = "hard",
        healing: Healing | None = None,
        seed: int = 0,
        service: Service | None = None,
        clocks: Mapping[Name, Clock] | None = None,
        faults: Faults | None = None,
        trace: TraceWriter | None = None,
        **options: Any,
    ) -> None:
        """Make an overlay. `options` are the strategy's; one that it does not have is a `ValueError`.

        With `state="soft"` brokers forget what clients do not say again, as they then do (`Healing.leases`).
        `healing` says what keeps brokers right when something goes wrong, `service` how long they are busy, `clocks`
        whose clocks are wrong, `faults` what will go wrong, and `trace` takes down everything that happens.
        """
        self.strategy = make_strategy(routing, options)
        self.healing = _with_state(healing or Healing(), state)
        boots = count(1)
        world = World(lambda name: self.healing.around(self.strategy.broker(name), next(boots)), seed, service)
        self._world = world
        self._reference = Reference()
        #: What is counted by looking on.
        self.metrics = Metrics(self._reference, self.stored)
        #: Who got which event, in order.
        self.deliveries: list[tuple[Name, Name]] = []
        #: The same with ages, if `healing` says how to bound them.
        self.received: list[Received] = []
        self._network = Network(world, self.strategy, clocks or {})
        leases = self.healing.leases
        self._refreshing = None if leases is None else Refreshing(world, leases.refresh)
        self._home: dict[Name, Name] = {}
        self._advertised = Table()
        self._events = 0
        self._trace = trace
        if trace is not None:
            trace.begin(self.strategy, self.healing, seed)
            world.watch(trace)
        world.watch(self.metrics)
        world.watch(_Deliveries(self.deliveries))
        if self.healing.ages is not None:
            world.watch(_Ages(self.received, self.healing.ages))
        self._network.build(graph_of(topology))
        if faults is not None:
            self.plan(faults)

    # --- brokers and links ---------------------------------------------------------------------------

    @property
    def now(self) -> float:
        """The present virtual time, in seconds."""
        return self._world.now

    @property
    def graph(self) -> "nx.Graph[Name]":
        """The brokers that run and the links that stand, with what they are like: a topology again."""
        return self._network.graph

    @property
    def brokers(self) -> list[Name]:
        """The brokers that run, in the order in which they started."""
        return list(self._world.nodes)

    @property
    def machines(self) -> dict[Name, Machine]:
        """The brokers that run, each inside of its layers: for those who judge their tables, or spoil them."""
        return {name: node.broker for name, node in self._world.nodes.items()}

    def stored(self) -> dict[Name, int]:
        """Return how many subscriptions each broker keeps."""
        return {name: node.broker.stored() for name, node in self._world.nodes.items()}

    def join(self, broker: Name, neighbours: Iterable[Name] = ()) -> None:
        """Let a broker join, with links to others."""
        self._network.join(broker)
        for neighbour in neighbours:
            self.connect(broker, neighbour)

    def leave(self, broker: Name) -> None:
        """Let a broker leave for good, with its clients and its links."""
        self._network.check_runs(broker)
        for client in self._clients_at(broker):
            self.detach(client)
        self._network.leave(broker)

    def connect(self, one: Name, other: Name, link: Link | None = None) -> None:
        """Put a link between two brokers; one that was cut comes back as it was, unless told otherwise."""
        self._network.connect(one, other, link)

    def disconnect(self, one: Name, other: Name, silent: bool = False) -> None:
        """Cut the link between two brokers. With `silent` they are not told: all that they send is lost."""
        self._network.disconnect(one, other, silent)

    def change_link(self, one: Name, other: Name, link: Link) -> None:
        """Make a link better or worse."""
        self._network.change(one, other, link)

    def partition(self, *groups: Iterable[Name], silent: bool = False) -> None:
        """Cut all links between brokers of different groups; those that are not named are one more group."""
        self._network.partition(groups, silent)

    def reunite(self) -> None:
        """Bring all links back that were cut."""
        self._network.reunite()

    def crash(self, broker: Name, silent: bool = False) -> None:
        """Let a broker crash: it forgets everything. Its neighbours notice at once, or with `silent` not at all."""
        self._network.crash(broker, silent)

    def restart(self, broker: Name) -> None:
        """Let a broker that crashed start anew: its links come back, and its clients ask again for what they want."""
        self._network.restart(broker)
        for client in self._clients_at(broker):
            self._reference.restart(client)
            for condition in self._reference.held_by(client):
                self._world.tell(broker, Subscribe(client, condition))
            for condition in self._advertised.held_by(client):
                self._world.tell(broker, Advertise(client, condition))

    def corrupt(self, broker: Name, seed: int = 0) -> None:
        """Mix up what a broker knows of its neighbours. One without a table for each of them is a `ValueError`."""
        self._network.check_runs(broker)
        spoil_by(self._world.nodes[broker].broker, seed)

    def step_clock(self, broker: Name, by: float) -> None:
        """Let the clock of a broker jump by so many seconds."""
        self._network.check_runs(broker)
        self._world.step(broker, by)

    def slip(self, one: Name, other: Name, packet: AnyPacket) -> None:
        """Put a packet on the link from one broker to another that the first has not sent."""
        self._world.slip(one, other, packet)

    def plan(self, faults: Faults) -> None:
        """Let faults happen, their times counted from now. A broker that there is not is a `ValueError`.

        An overlay in which only faults are still to happen is quiet.
        """
        for fault in faults.faults:
            for broker in fault.brokers:
                self._network.check_known(broker)
            self._world.at(self.now + fault.at, lambda fault=fault: self.suffer(fault), background=True)  # type: ignore[misc]

    def suffer(self, fault: Fault) -> None:
        """Let a fault happen now, whatever its time is. One that cannot happen is a `ValueError`."""
        if self._trace is not None:
            self._trace.fault(self.now, fault)
        try:
            fault.happen(self)
        except ValueError as error:
            raise ValueError(f"fault at {fault.at} s, {type(fault).__name__}: {error}") from None

    # --- clients -------------------------------------------------------------------------------------

    def subscribe(self, broker: Name, client: Name, condition: str) -> None:
        """Let a client at a broker subscribe: with a condition, and a `notify` clause if it likes.

        With a clause it gets what is far enough from what the same subscription made it get last.
        """
        self._check_home(broker, client)
        self._reference.subscribe(client, *asked(condition))
        self._say(broker, Subscribe(client, condition))
        self._home[client] = broker

    def unsubscribe(self, broker: Name, client: Name, condition: str) -> None:
        """Let a client take a subscription back that it has, the clause included."""
        self._check_home(broker, client)
        if not self._reference.unsubscribe(client, *asked(condition)):
            raise ValueError(f"client {client!r} has no subscription {condition!r}")
        self._say(broker, Unsubscribe(client, condition))

    def advertise(self, broker: Name, client: Name, condition: str) -> None:
        """Let a client at a broker announce which events it will publish."""
        self._check_home(broker, client)
        self._advertised.add(client, canonical(condition))
        self._say(broker, Advertise(client, condition))
        self._home[client] = broker

    def unadvertise(self, broker: Name, client: Name, condition: str) -> None:
        """Let a client take an advertisement back that it has made."""
        self._check_home(broker, client)
        if not self._advertised.remove(client, canonical(condition)):
            raise ValueError(f"client {client!r} has made no advertisement {condition!r}")
        self._say(broker, Unadvertise(client, condition))

    def publish(self, broker: Name, event: Mapping[str, Any], publisher: Name = "publisher") -> Name:
        """Let a client at a broker publish an event; return the event's id.

        A strategy that needs advertisements refuses events that meet none of the publisher's.
        """
        self._check_home(broker, publisher)
        if self.strategy.capabilities.advertisements and not any(
            parsed(condition).matches(event) for condition in self._advertised.held_by(publisher)
        ):
            raise ValueError(
                f"strategy {self.strategy.name!r} routes only what is advertised, and {publisher!r} has not "
                f"advertised {dict(event)!r}"
            )
        self._events += 1
        published = Event(self._events, dict(event))
        self._reference.publish(self.now, broker, published)
        created = None if self.healing.ages is None else self._world.nodes[broker].shown(self.now)
        self._world.tell(broker, Publish(publisher, published, created))
        return self._events

    def detach(self, client: Name, silent: bool = False) -> None:
        """Let a client leave, with all its subscriptions and advertisements. With `silent` its broker is not told."""
        if client not in self._home:
            raise ValueError(f"there is no client {client!r}")
        home = self._home.pop(client)
        if home in self._world.nodes and not silent:
            self._world.tell(home, ClientLeft(client))
        if self._refreshing is not None:
            self._refreshing.leave(client)
        self._reference.leave(client)
        self._advertised.drop(client)

    def _say(self, broker: Name, message: Subscribe | Unsubscribe | Advertise | Unadvertise) -> None:
        self._world.tell(broker, message)
        if self._refreshing is not None:
            self._refreshing.note(broker, message)

    def missing(self) -> list[tuple[Name, Name]]:
        """Return which client has to get which event and has not got it."""
        return self._reference.missing()

    # --- time ----------------------------------------------------------------------------------------

    def run(self, until: float | None = None) -> None:
        """Let time pass until the overlay is quiet, or until a time."""
        self._world.run(until)
        if until is None:
            self._reference.settle()

    def watch(self, observer: Observer) -> None:
        """Let somebody look on at everything that happens from now on."""
        self._world.watch(observer)

    def check_invariants(self) -> None:
        """Raise `AssertionError` if something in a broker, or in the overlay, does not fit together."""
        self._reference.check_invariants()
        self._network.check_invariants()
        for node in self._world.nodes.values():
            node.broker.check_invariants()

    def _clients_at(self, broker: Name) -> list[Name]:
        return [client for client, home in self._home.items() if home == broker]

    def _check_home(self, broker: Name, client: Name) -> None:
        self._network.check_runs(broker)
        home = self._home.get(client, broker)
        if home != broker:
            raise ValueError(f"client {client!r} is at broker {home!r}, not at {broker!r}")


def _with_state(healing: Healing, state: str) -> Healing:
    if state not in ("hard", "soft"):
        raise ValueError(f"the state of brokers is 'hard' or 'soft', not {state!r}")
    if state == "soft" and healing.leases is None:
        return msgspec.structs.replace(healing, leases=Leases())
    return healing


class _Deliveries(Observer):
    """Notes who got what."""

    def __init__(self, deliveries: list[tuple[Name, Name]]) -> None:
        self._deliveries = deliveries

    def delivered(self, now: float, broker: Name, client: Name, event: Event, hops: int, age: float | None) -> None:  # noqa: ARG002
        self._deliveries.append((client, event.id))


class _Ages(Observer):
    """Notes how old things were at most."""

    def __init__(self, received: list[Received], ages: Ages) -> None:
        self._received = received
        self._ages = ages

    def delivered(self, now: float, broker: Name, client: Name, event: Event, hops: int, age: float | None) -> None:  # noqa: ARG002
        bound = math.inf if age is None else age
        self._received.append(Received(client, event.id, now, bound, self._ages.timely(bound)))
