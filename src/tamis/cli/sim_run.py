"""The work behind `tamis sim`: an overlay, a workload spread over it, faults, and what came of it."""

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from random import Random
from time import perf_counter
from typing import Any, Final

import msgspec
import networkx as nx

from tamis.cli.errors import InputError, one_line, unknown
from tamis.cli.output import Bar, progress_bars
from tamis.cli.settings import ProgressMode
from tamis.lab.workloads import Workload, generate, workloads
from tamis.routing import make_strategy
from tamis.routing.packets import Name
from tamis.simulation import Faults, Link, Overlay, TraceWriter, topologies, topology
from tamis.simulation.clock import random_clocks
from tamis.simulation.service import busy
from tamis.simulation.summary import Summary
from tamis.simulation.topology_files import load_topology

#: Progress is shown after so many events.
SHOWN_EVERY: Final = 200
#: What publishers advertise where a strategy needs it: all events.
ADVERTISED: Final = "true"


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """What is to be simulated."""

    topology: str
    brokers: int
    parameters: dict[str, Any]
    strategy: str
    options: dict[str, Any]
    workload: str
    subscriptions: int
    publishers: int | None
    events: int
    rate: float
    link: Link
    service: float
    drift: float
    faults: Faults
    seed: int


class SimResult(msgspec.Struct, frozen=True, kw_only=True):
    """What was simulated and what was counted. `seconds` is wall time, `virtual_seconds` that of the overlay."""

    strategy: str
    options: dict[str, Any]
    topology: str
    brokers: int
    links: int
    workload: str
    subscriptions: int
    publishers: int
    seed: int
    faults: int
    #: Events that could not be published, because the publisher's broker was down.
    unpublished: int
    virtual_seconds: float
    seconds: float
    #: Whether the strategy kept what it promises; None where faults or lossy links excuse it.
    kept_promises: bool | None
    metrics: Summary


class Simulation:
    """One run."""

    def __init__(self, plan: Plan) -> None:
        """Make the workload and the graph. What cannot be made of the plan is an `InputError`."""
        self._plan = plan
        with refusals_are_bad_input():
            self._graph = _graph(plan)
            self._options = _with_clusters(plan, self._graph)
            make_strategy(plan.strategy, self._options)
            self._service = busy(per_match=plan.service) if plan.service else None
        self._workload = _workload(plan, len(self._graph))
        self._random = Random(plan.seed)  # noqa: S311 - a simulation, to be repeated
        self._unpublished = 0
        #: The overlay, once it has run.
        self.net: Overlay

    def run(self, trace: Path | None, progress: ProgressMode) -> SimResult:
        """Subscribe, let the overlay settle, publish, and sum up. Faults are counted from the first event."""
        plan = self._plan
        started = perf_counter()
        with refusals_are_bad_input(), nullcontext() if trace is None else TraceWriter(trace) as writer:
            self.net = net = Overlay(
                self._graph,
                plan.strategy,
                seed=plan.seed,
                service=self._service,
                clocks=random_clocks(self._graph.nodes, plan.drift, seed=plan.seed) if plan.drift else None,
                trace=writer,
                **self._options,
            )
            with progress_bars(progress) as start_bar:
                self._subscribe(start_bar("Subscribing"))
                publishers = self._publishers()
                net.run()
                net.plan(plan.faults)
                self._publish(publishers, start_bar("Publishing"))
        summary = net.metrics.summary()
        excused = bool(plan.faults.faults) or plan.link.loss > 0
        exact = net.strategy.capabilities.exact
        kept = not summary.missed and not summary.duplicates and not (exact and summary.false_positives)
        return SimResult(
            strategy=plan.strategy,
            options=plan.options,
            topology=plan.topology,
            brokers=len(self._graph),
            links=self._graph.number_of_edges(),
            workload=plan.workload,
            subscriptions=len(self._workload.conditions),
            publishers=len(publishers),
            seed=plan.seed,
            faults=len(plan.faults.faults),
            unpublished=self._unpublished,
            virtual_seconds=net.now,
            seconds=perf_counter() - started,
            kept_promises=None if excused else kept,
            metrics=summary,
        )

    def _subscribe(self, bar: Bar) -> None:
        brokers = list(self._graph.nodes)
        texts = self._workload.conditions.texts().to_pylist()
        for number, text in enumerate(texts):
            self.net.subscribe(brokers[number // self._plan.subscriptions], f"s{number}", text)
            if number % SHOWN_EVERY == 0:
                self.net.run()
                bar(number, len(texts))
        bar(len(texts), len(texts))

    def _publishers(self) -> list[Name]:
        """Choose the brokers with a publisher, and let these advertise where that is needed."""
        brokers = list(self._graph.nodes)
        count = len(brokers) if self._plan.publishers is None else self._plan.publishers
        if count > len(brokers):
            raise InputError(f"{count} publishers: there is one at a broker at most, and there are {len(brokers)}")
        chosen = brokers if count == len(brokers) else self._random.sample(brokers, count)
        if self.net.strategy.capabilities.advertisements:
            for broker in chosen:
                self.net.advertise(broker, _publisher(broker), ADVERTISED)
        return chosen

    def _publish(self, publishers: list[Name], bar: Bar) -> None:
        net, start = self.net, self.net.now
        total = len(self._workload.events)
        for number, event in enumerate(self._workload.events.rows()):
            net.run(until=start + number / self._plan.rate)
            broker = self._random.choice(publishers)
            if broker in net.graph:
                net.publish(broker, event, publisher=_publisher(broker))
            else:
                self._unpublished += 1
            if number % SHOWN_EVERY == 0:
                bar(number, total)
        last = max((fault.at for fault in self._plan.faults.faults), default=0.0)
        net.run(until=max(net.now, start + last))
        net.run()
        bar(total, total)


@contextmanager
def refusals_are_bad_input() -> Iterator[None]:
    """Turn a `ValueError`, or a file that cannot be used, into an `InputError`."""
    try:
        yield
    except InputError:
        raise
    except OSError as error:
        raise InputError(f"{error.filename}: {one_line(error)}") from None
    except ValueError as error:
        raise InputError(str(error)) from None


def _publisher(broker: Name) -> str:
    return f"p{broker}"


def _graph(plan: Plan) -> "nx.Graph[Name]":
    if plan.topology in topologies():
        graph = topology(plan.topology, plan.brokers, seed=plan.seed, **plan.parameters)
    elif Path(plan.topology).exists():
        graph = load_topology(Path(plan.topology))
    else:
        raise unknown("topology, which is no file either,", plan.topology, topologies())
    given = msgspec.structs.asdict(plan.link)
    for _, _, attributes in graph.edges(data=True):
        # What a file says of a link goes before what is said for all.
        attributes.update({**given, **attributes})
    return graph


def _with_clusters(plan: Plan, graph: "nx.Graph[Name]") -> dict[str, Any]:
    """Return the strategy's options, with the clusters of the topology if it takes clusters and none are given."""
    clusters = graph.graph.get("clusters")
    settings = make_strategy(plan.strategy).make.Settings if clusters and "clusters" not in plan.options else None
    if settings is not None and "clusters" in settings.__struct_fields__:
        return {**plan.options, "clusters": clusters}
    return plan.options


def _workload(plan: Plan, brokers: int) -> Workload:
    specs = workloads()
    if plan.workload not in specs:
        raise unknown("workload", plan.workload, specs)
    total = brokers * plan.subscriptions
    try:
        return generate(
            msgspec.structs.replace(specs[plan.workload], subscriptions=total, events=plan.events), plan.seed
        )
    except (TypeError, ValueError) as error:
        raise InputError(f"workload {plan.workload!r}: {error}") from None
