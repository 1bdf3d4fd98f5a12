"""Packages that one can install from PyPI, at a size they can bear: rule evaluations per CPU second."""

from collections.abc import Callable, Iterator
from typing import Final

from harness.clock import on_cores
from harness.context import Context, Measured
from harness.evaluation import Evaluated, PeerMissingError, clips, lambdas, rule_engine, rules_of
from harness.figures import Figure
from harness.rivals import tried
from harness.subject import WrongAnswerError
from tamis.lab.workloads import Conjunctions

SECTION: Final = "peers"
#: Events that each peer is given; they take milliseconds for each.
EVENTS: Final = 50


def run(context: Context) -> Iterator[Figure]:
    """Measure W-A."""
    size = context.sizes.peers
    subject = context.subject("w-a", size)
    if not isinstance(subject.workload.conditions, Conjunctions):
        raise TypeError("W-A is made of conjunctions")
    rules, events = rules_of(subject.workload.conditions), subject.rows(EVENTS)
    ours = tried(context, subject)
    yield from _figures("Tamis", size, ours.events_per_second, ours.build_seconds, ours.events_per_second)
    expected = sum(map(len, subject.truth(len(events))))
    peers: dict[str, Callable[[], Evaluated]] = {
        "compiled lambdas": lambda: lambdas(rules, events),
        "rule-engine": lambda: rule_engine(rules, events, context.rule_engine_python),
        "CLIPS (clipspy)": lambda: clips(rules, events),
    }
    for name, measure in peers.items():
        context.doing(f"w-a, {size:,} rules: {name}")
        try:
            with on_cores(1):
                found = measure()
        except PeerMissingError as error:
            context.remark(f"{SECTION}: {name} left out. {error}.")
            continue
        if found.matches != expected:
            raise WrongAnswerError(f"{name} finds {found.matches} matches, brute force {expected}")
        rate = len(events) / found.match_seconds
        yield from _figures(name, size, rate, found.build_seconds, ours.events_per_second)


def _figures(name: str, size: int, rate: float, build_seconds: float, ours: float) -> Iterator[Figure]:
    figure = Measured(SECTION, name, size)
    yield figure("events", rate, "per s")
    yield figure("rule evaluations", rate * size, "per s")
    yield figure("build", size / build_seconds, "per s")
    yield figure("Tamis to it", ours / rate, "times")
