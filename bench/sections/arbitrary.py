"""Arbitrary expressions on one core: Tamis against its own A-Tree engine alone."""

from collections.abc import Iterator
from typing import Final

from harness.context import Context, Measured
from harness.figures import Figure, at_least
from harness.rivals import tried

SECTION: Final = "arbitrary"
WORKLOADS: Final = ("ads-arbitrary", "abe-gen")
RIVAL: Final = "atree"
#: At least within a tenth of the A-Tree; five times is what is hoped for.
BAR: Final = at_least(0.9)


def run(context: Context) -> Iterator[Figure]:
    """Measure both workloads."""
    for subject in context.subjects(SECTION, [(name, context.sizes.usual) for name in WORKLOADS]):
        figure = Measured(SECTION, subject.name, subject.subscriptions)
        ours, theirs = tried(context, subject), tried(context, subject, RIVAL)
        subject.agree(RIVAL, (ours.matches, ours.id_sum), (theirs.matches, theirs.id_sum))
        yield figure("Tamis", ours.events_per_second, "events/s")
        yield figure(RIVAL, theirs.events_per_second, "events/s")
        yield figure(f"Tamis to {RIVAL}", ours.events_per_second / theirs.events_per_second, "times", BAR)
        yield figure("matches", ours.matches / ours.events, "per event")
        yield figure("build", subject.subscriptions / ours.build_seconds, "per s")
        yield figure("memory", ours.bytes / subject.subscriptions, "bytes each")
