"""Batches of events on one core: Tamis against the yardstick's probes, and on the lab's other workloads."""

from collections.abc import Iterator
from typing import Final

from harness.context import Context, Measured
from harness.figures import Figure, at_least
from harness.rivals import CPP, contested, tried

SECTION: Final = "batch"
#: How many times as fast as the C++ probe.
USUAL: Final = {"w-a": at_least(1.0), "w-e": at_least(1.0), "w-b": at_least(3.0), "w-r": at_least(3.0)}
LARGE: Final = {**USUAL, "w-a": at_least(1.5)}
#: BE-Gen dense and sparse, advertisements, strings, and what applications have. The probes do not know their values.
OTHERS: Final = (
    "be-gen-dense",
    "be-gen-sparse",
    "ads",
    "ads-arbitrary",
    "query-log",
    "market",
    "iot",
    "ad-targeting",
)


def run(context: Context) -> Iterator[Figure]:
    """Measure every workload."""
    sizes = context.sizes
    bars = {(name, sizes.usual): bar for name, bar in USUAL.items()}
    bars |= {(name, sizes.large): LARGE[name] for name in sizes.large_workloads}
    left_out = [name for name in LARGE if name not in sizes.large_workloads]
    if left_out:
        context.remark(f"{SECTION}: {', '.join(left_out)} are measured at their large size with --scale full only.")
    for subject in context.subjects(SECTION, [*bars, *((name, sizes.applications) for name in OTHERS)]):
        name, size = subject.name, subject.subscriptions
        bar = bars.get((name, size))
        figure = Measured(SECTION, name, size)
        ours, rivals = contested(context, subject) if bar else (tried(context, subject), {})
        yield figure("Tamis", ours.events_per_second, "events/s")
        for rival, theirs in rivals.items():
            yield figure(rival, theirs.events_per_second, "events/s")
            ratio = ours.events_per_second / theirs.events_per_second
            yield figure(f"Tamis to {rival}", ratio, "times", bar if rival == CPP else None)
        yield figure("matches", ours.matches / ours.events, "per event")
        yield figure("candidates", ours.candidates, "per event")
        yield figure("build", size / ours.build_seconds, "per s")
        yield figure("memory", ours.bytes / size, "bytes each")
