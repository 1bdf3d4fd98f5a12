"""How fast does an overlay run in virtual time?

    python bench/overlay.py [--strategy merc] [--brokers 1000] [--events 100000] [--subscriptions 5] [--publishers 100]
        [--workload w-b] [--json FILE]

A transit-stub overlay of ten clusters for strategies that take general graphs, a binary tree for the others. Each
broker has some subscriptions; publishers are at random brokers and advertise everything. Every delivery is checked
against the reference; a wrong one ends the run with an error. CPU time of this process, which has one thread at work,
everything included: the world, the brokers' matching, metrics and the reference.
"""

import argparse
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from random import Random
from time import process_time
from typing import Any, Final

import msgspec

from harness.figures import Figure, at_most
from harness.report import tell
from tamis.lab.workloads import Workload, generate, workloads
from tamis.routing import make_strategy
from tamis.routing.packets import Name
from tamis.simulation import Overlay, topology

#: What 1,000 brokers and 100,000 events may take with MERC.
MOST_SECONDS: Final = 600.0
SEED: Final = 7
STUBS: Final = 10
DEGREE: Final = 6
#: So many subscriptions or events are on their way together.
AT_ONCE: Final = 100


def main() -> None:
    """Measure, print a table, and say whether the bar is reached."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--strategy", action="append", metavar="NAME", help="may be given again; default: merc")
    arguments.add_argument("--brokers", type=int, default=1_000)
    arguments.add_argument("--events", type=int, default=100_000)
    arguments.add_argument("--subscriptions", type=int, default=5, help="at each broker")
    arguments.add_argument("--publishers", type=int, default=100)
    arguments.add_argument("--workload", default="w-b", metavar="NAME", help="of the lab")
    arguments.add_argument("--json", type=Path, metavar="FILE", help="write all figures there")
    chosen = arguments.parse_args()
    spec = workloads()[chosen.workload]
    total = chosen.brokers * chosen.subscriptions
    workload = generate(msgspec.structs.replace(spec, subscriptions=total, events=chosen.events), SEED)
    names = chosen.strategy or ["merc"]
    count = min(chosen.publishers, chosen.brokers)
    tell({name: overlay(name, chosen.brokers, count, workload) for name in names}, chosen.json)


def overlay(strategy: str, brokers: int, publishers: int, workload: Workload) -> Iterator[Figure]:
    """Run one overlay: subscriptions first, then events."""
    total, events = len(workload.conditions), len(workload.events)

    def figure(measure: str, value: float, unit: str = "", bar: Any = None) -> Figure:
        return Figure(strategy, f"{brokers:,} brokers", total, measure, value, unit, bar)

    start = process_time()
    net = make_overlay(strategy, brokers)
    net.run()
    yield figure("build", process_time() - start, "s")
    start = process_time()
    random = Random(SEED)  # noqa: S311 - an experiment, to be repeated
    chosen = random.sample(net.brokers, publishers)
    subscribe(net, chosen, workload)
    settled = process_time() - start
    before = net.metrics.sent_by_kind.total()
    yield figure("subscribe", settled, "s")
    yield figure("packets for a subscription", before / total)
    start = process_time()
    publish(net, chosen, random, workload)
    seconds = process_time() - start
    summary = net.metrics.summary()
    if summary.missed or summary.duplicates or (net.strategy.capabilities.exact and summary.false_positives):
        raise SystemExit(
            f"{strategy}: {summary.missed} missed, {summary.false_positives} unwanted, {summary.duplicates} twice"
        )
    packets = summary.packets - before
    yield figure("events", events)
    yield figure("publish", seconds, "s")
    yield figure("all", settled + seconds, "s", at_most(MOST_SECONDS))
    yield figure("events per second", events / seconds)
    yield figure("packets per second", packets / seconds)
    yield figure("packets per event", packets / events)
    yield figure("matches per event", summary.matches_per_event)
    yield figure("deliveries per event", summary.deliveries / events)


def make_overlay(strategy: str, brokers: int) -> Overlay:
    """Return an overlay of the kind that a strategy takes."""
    made = make_strategy(strategy)
    if not made.capabilities.general:
        return Overlay(topology("heap", brokers), strategy, seed=SEED)
    stubs = min(STUBS, brokers)
    graph = topology("transit-stub", brokers, seed=SEED, stubs=stubs, degree=DEGREE)
    takes_clusters = "clusters" in made.make.Settings.__struct_fields__
    return Overlay(graph, strategy, seed=SEED, **({"clusters": graph.graph["clusters"]} if takes_clusters else {}))


def subscribe(net: Overlay, publishers: list[Name], workload: Workload) -> None:
    """Let publishers advertise where needed, and clients subscribe."""
    brokers = net.brokers
    if net.strategy.capabilities.advertisements:
        for broker in publishers:
            net.advertise(broker, f"p{broker}", "true")
        net.run()
    for number, text in enumerate(workload.conditions.texts().to_pylist()):
        net.subscribe(brokers[number % len(brokers)], f"s{number}", text)
        if number % AT_ONCE == 0:
            net.run()
    net.run()


def publish(net: Overlay, publishers: list[Name], random: Random, workload: Workload) -> None:
    """Publish all events, each at one of the publishers."""
    rows = workload.events.rows()
    while events := list(islice(rows, AT_ONCE)):
        for event in events:
            broker = random.choice(publishers)
            net.publish(broker, event, publisher=f"p{broker}")
        net.run()


if __name__ == "__main__":
    main()
