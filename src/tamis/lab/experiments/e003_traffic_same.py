"""What does an event cost the network, where all have one radius? Figure 9 of the paper (specs/003 §4)."""

from typing import Final

import numpy as np

from tamis.lab.experiment import Context, Experiment, Outcome, Row, Scale
from tamis.lab.telling import (
    ANEW,
    CN_C,
    CN_LID,
    CN_LR,
    FITTED,
    MODEL,
    OTHER_ENTRIES,
    SAME,
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
from tamis.lab.watching import SAME_FITTED
from tamis.lab.workloads.moving import RADIUS, SAME_RAD_SERIES, SIGMA, START, ar1, same_centres

SIZES: Final[dict[Scale, tuple[int, ...]]] = {
    Scale.QUICK: (200, 400),
    Scale.FULL: (5_000, 10_000, 20_000, 30_000, 40_000, 50_000),
}
EVENTS: Final = {Scale.QUICK: 400, Scale.FULL: 6_000}
#: Bytes of CN(lid) for an event are fewer.
FEWER: Final = 100.0


def run(context: Context) -> Outcome:
    """Let the value move, and count what events cost."""
    sizes = SIZES[context.scale]
    points: list[tuple[int, Scale, int, int | None]] = [
        *((size, context.scale, context.seed, None) for size in sizes),
        *((sizes[1], context.scale, context.seed, entries) for entries in OTHER_ENTRIES),
    ]
    found = context.each(_told, points)
    swept: dict[float, Tellings] = dict(zip(sizes, found, strict=False))
    others: dict[float, Tellings] = dict(zip(OTHER_ENTRIES, found[len(sizes) :], strict=True))
    full = context.scale == Scale.FULL
    last = swept[sizes[-1]]
    return Outcome(
        rows=[
            order_row(swept, [CN_LR, CN_C, UNICAST, CN_LID], full),
            *(
                Row(
                    f"{size:,} subscriptions: bytes for an event, CN(lid)",
                    each[CN_LID].mean_bytes,
                    FEWER if full else None,
                    "B",
                    "smaller",
                )
                for size, each in swept.items()
            ),
            *(quotient_row(size, each, UNICAST, CN_LID) for size, each in swept.items()),
            quotient_row(sizes[-1], last, CN_C, UNICAST),
            quotient_row(sizes[-1], last, CN_LR, UNICAST),
        ],
        figure=figure(swept),
        notes=[
            f"{EVENTS[context.scale]:,} events, where the paper has 100,000. Centres that have met stay together, so "
            "later events have fewer and longer arcs: CN(lid) would have rather less to send than here, the others "
            "as much.",
            MODEL,
            ANEW,
            "The paper's figure is lost; its text has CN(lr) above CN(c), that slightly above unicast, and CN(lid) "
            "orders of magnitude below, with less than 100 bytes for an event.",
            SAME_FITTED,
            FITTED,
        ],
        tables=[
            table("For an event", swept),
            table(f"Other sizes of nodes, {sizes[1]:,} subscriptions", others, "entries"),
        ],
    )


def _told(size: int, scale: Scale, seed: int, entries: int | None) -> Tellings:
    net = network(SAME, scale, entries)
    centres = in_ticks(same_centres(size, START, SIGMA, RADIUS, seed))
    net.load(np.full(size, in_ticks(np.array(RADIUS))), centres, int(START))
    values = in_ticks(ar1(*SAME_RAD_SERIES, START, EVENTS[scale], seed))
    return told(net, values.tolist(), underlay(scale, seed))


EXPERIMENT: Final = Experiment(
    id="003-traffic-same",
    title="Traffic, one radius",
    source="specs/003 §4, Figure 9 of the paper (L431)",
    setup="A value moves; subscribers with one radius are told by unicast and over content-driven networks.",
    run=run,
    grid="counted",
)
