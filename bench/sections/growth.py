"""How cost grows with the number of subscriptions, on one core: W-A from a thousand on."""

from collections.abc import Iterator
from typing import Final

from harness.clock import available_bytes
from harness.context import Context, Measured
from harness.figures import Figure
from harness.rivals import CPP, contested

SECTION: Final = "growth"
#: What generating, writing and building take at their peak, bytes for each subscription.
_PEAK: Final = 1_500


def run(context: Context) -> Iterator[Figure]:
    """Measure every size that fits into memory."""
    for size in context.sizes.growth:
        if available_bytes() < size * _PEAK:
            context.remark(f"{SECTION}: {size:,} subscriptions would take {size * _PEAK / 2**30:.0f} GiB; left out.")
            continue
        subject = context.subject("w-a", size)
        figure = Measured(SECTION, subject.name, size)
        ours, rivals = contested(context, subject, numpy=False)
        yield figure("Tamis", 1e6 / ours.events_per_second, "µs per event")
        theirs = rivals.get(CPP)
        if theirs is not None:
            yield figure(CPP, 1e6 / theirs.events_per_second, "µs per event")
            yield figure(f"Tamis to {CPP}", ours.events_per_second / theirs.events_per_second, "times")
        yield figure("matches", ours.matches / ours.events, "per event")
        yield figure("candidates", ours.candidates, "per event")
        yield figure("build", size / ours.build_seconds, "per s")
        yield figure("memory", ours.bytes / size, "bytes each")
