"""Single events from Python dictionaries on one core: percentiles of how long `Index.match` takes."""

from collections.abc import Iterator
from time import perf_counter_ns
from typing import Final

from harness.clock import on_cores, percentiles
from harness.context import Context, Measured
from harness.figures import Figure, at_most

SECTION: Final = "single"
#: The median, in microseconds.
MEDIANS: Final = {"w-a": at_most(60), "w-e": at_most(25)}
OTHERS: Final = ("w-b", "be-gen-sparse", "ads-arbitrary", "query-log", "market", "iot", "ad-targeting")
#: Every event is matched so often.
PASSES: Final = 5


def run(context: Context) -> Iterator[Figure]:
    """Measure every workload."""
    sizes = context.sizes
    plan = [*((name, sizes.usual) for name in MEDIANS), *((name, sizes.applications) for name in OTHERS)]
    for subject in context.subjects(SECTION, plan):
        name = subject.name
        figure = Measured(SECTION, name, subject.subscriptions)
        events = subject.rows()
        context.warm(context.engine)
        with on_cores(1):
            context.doing(f"{name}: building")
            index = subject.index(context.engine)
            subject.check(index, sizes.checked)
            context.doing(f"{name}: matching single events")
            for event in events:
                index.match(event)
            # What these events taught it is worked in before the clock runs: the section on updates measures that.
            index.settle()
            taken = []
            for event in events * PASSES:
                start = perf_counter_ns()
                index.match(event)
                taken.append(perf_counter_ns() - start)
        median, most, nearly_all = percentiles(taken, (50, 99, 99.9))
        yield figure("median", median, "µs", MEDIANS.get(name))
        yield figure("99 %", most, "µs")
        yield figure("99.9 %", nearly_all, "µs")
