"""Does `engine="auto"` choose well? Against every engine on every workload of the lab, on one core."""

from collections.abc import Iterator
from typing import Final

import tamis
from harness.context import Context, Measured
from harness.figures import Figure, at_least
from harness.rivals import tried
from harness.subject import AUTO
from tamis.lab.workloads import workloads

SECTION: Final = "engines"
#: Never slower than 1.2 times the best.
BAR: Final = at_least(1 / 1.2)
#: An engine is left out above so many subscriptions: it would take many minutes, or gigabytes.
CAPS: Final = {"bdd": 500, "scan": 2_000, "translation": 2_000, "dewey": 2_000, "interval": 2_000, "bop": 2_000}


def run(context: Context) -> Iterator[Figure]:
    """Measure every pair that fits."""
    size = context.sizes.engines
    left_out = [name for name in workloads() if name not in context.sizes.engine_workloads]
    if left_out:
        context.remark(f"{SECTION}: with --scale full also on {', '.join(left_out)}.")
    for name in context.sizes.engine_workloads:
        subject = context.subject(name, size, context.sizes.engine_events)
        figure = Measured(SECTION, name, size)
        ours = tried(context, subject, AUTO, rounds=1)
        yield figure(AUTO, ours.events_per_second, "events/s")
        rates: dict[str, float] = {}
        for engine in tamis.engines():
            if size > CAPS.get(engine, size):
                context.remark(f"{SECTION}: {engine} is measured up to {CAPS[engine]:,} subscriptions.")
                continue
            if not subject.suits(engine):
                continue
            theirs = tried(context, subject, engine, rounds=1)
            subject.agree(engine, (ours.matches, ours.id_sum), (theirs.matches, theirs.id_sum))
            rates[engine] = theirs.events_per_second
            yield figure(engine, theirs.events_per_second, "events/s")
        yield figure("auto to the best", ours.events_per_second / max(rates.values()), "times", BAR)
