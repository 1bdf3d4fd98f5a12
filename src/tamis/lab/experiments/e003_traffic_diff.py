"""What does an event cost the network, where all radii differ? Figure 7 of the paper (specs/003 §4)."""

from typing import Final

import numpy as np

from tamis.lab.experiment import Context, Experiment, Outcome, Row, Scale
from tamis.lab.telling import (
    ANEW,
    CN_LR,
    CN_R,
    DIFFERENT,
    FITTED,
    MODEL,
    OTHER_ENTRIES,
    UNICAST,
    Tellings,
    figure,
    in_ticks,
    network,
    order_row,
    quotient_row,
    table,
    told,
    underlay,
)
from tamis.lab.watching import DIFFERENT_FITTED
from tamis.lab.workloads.moving import DIFF_RAD_SERIES, EVENTS, START, ar1, diff_radii

SIZES: Final[dict[Scale, tuple[int, ...]]] = {
    Scale.QUICK: (300, 600),
    Scale.FULL: (10_000, 20_000, 40_000, 60_000, 80_000, 100_000),
}
#: All events, and how many of the last of them are counted.
COUNTED: Final = {Scale.QUICK: (700, 200), Scale.FULL: (EVENTS, 4_000)}
#: "An order of magnitude" below unicast.
MAGNITUDE: Final = 10.0


def run(context: Context) -> Outcome:
    """Let the value move, and count what the last events cost."""
    sizes = SIZES[context.scale]
    points: list[tuple[int, Scale, int, int | None]] = [
        *((size, context.scale, context.seed, None) for size in sizes),
        *((sizes[1], context.scale, context.seed, entries) for entries in OTHER_ENTRIES),
    ]
    found = context.each(_told, points)
    swept: dict[float, Tellings] = dict(zip(sizes, found, strict=False))
    others: dict[float, Tellings] = dict(zip(OTHER_ENTRIES, found[len(sizes) :], strict=True))
    events, counted = COUNTED[context.scale]
    full = context.scale == Scale.FULL
    last = swept[sizes[-1]]
    return Outcome(
        rows=[
            order_row(swept, [CN_LR, UNICAST, CN_R], full),
            *(quotient_row(size, each, UNICAST, CN_R, MAGNITUDE if full else None) for size, each in swept.items()),
            quotient_row(sizes[-1], last, CN_LR, UNICAST),
            *(Row(f"{sizes[-1]:,} subscriptions: {name}", each.mean_bytes, unit="B") for name, each in last.items()),
        ],
        figure=figure(swept),
        notes=[
            f"The last {counted:,} of {events:,} events are counted, and the networks begin there: ranges become more "
            "for long, and only with all events before them are they as many as in the paper.",
            MODEL,
            ANEW,
            "The paper's figure is lost; its text has CN(r) an order of magnitude below unicast, and CN(lr) above it. "
            "Ours is below that with few subscriptions and above it with many: ranges hardly become more, "
            "subscriptions on them do.",
            DIFFERENT_FITTED,
            FITTED,
        ],
        tables=[
            table("For an event", swept),
            table(f"Other sizes of nodes, {sizes[1]:,} subscriptions", others, "entries"),
        ],
    )


def _told(size: int, scale: Scale, seed: int, entries: int | None) -> Tellings:
    events, counted = COUNTED[scale]
    radii = in_ticks(diff_radii(size, seed))
    values = in_ticks(ar1(*DIFF_RAD_SERIES, START, events, seed)).tolist()
    net = network(DIFFERENT, scale, entries)
    net.load(radii, np.zeros_like(radii), int(START))
    for value in values[:-counted]:
        net.server.update(float(value))
    net.hand_over()
    return told(net, values[-counted:], underlay(scale, seed))


EXPERIMENT: Final = Experiment(
    id="003-traffic-diff",
    title="Traffic, different radii",
    source="specs/003 §4, Figure 7 of the paper (L411)",
    setup="A value moves; subscribers with different radii are told by unicast and over content-driven networks.",
    run=run,
    grid="counted",
)
