"""How long does the server take for an event, where all have one radius? Figure 8 of the paper (specs/003 §4)."""

from typing import Final

import numpy as np

from tamis.lab.experiment import Context, Experiment, Outcome, Row, Scale
from tamis.lab.watching import (
    SAME_FITTED,
    Entrant,
    Heat,
    Heats,
    arriving,
    figure,
    flat_row,
    loaded,
    quotient_row,
    race,
    slower_row,
    subscribed,
    table,
    time_row,
    wrong_row,
)
from tamis.lab.workloads.moving import RADIUS, SAME_RAD_SERIES, SIGMA, START, ar1, same_centres

SIZES: Final[dict[Scale, tuple[int, ...]]] = {
    Scale.QUICK: (300, 1_500),
    Scale.FULL: (5_000, 10_000, 20_000, 30_000, 40_000, 50_000),
}
#: Events before structures are made, events that are timed, and events on which they are judged.
EVENTS: Final = {Scale.QUICK: (500, 300, 150), Scale.FULL: (50_000, 5_000, 1_000)}
#: [INF] Of the subscriptions, so many in a hundred come between the events before the clock runs, and not before all.
LATE: Final = 10

ENDS, CENTRES = "B-tree(lr), lists", "B-tree(c), lists"
LABELS_LISTS, LABELS_RANGES = "B^W-tree(lid), lists", "B^W-tree(lid), ranges"
ENTRANTS: Final = {
    ENDS: Entrant("endpoints", "affected"),
    CENTRES: Entrant("centres", "affected"),
    LABELS_LISTS: Entrant("label-tree", "affected"),
    LABELS_RANGES: Entrant("label-tree", "ranges"),
}


def run(context: Context) -> Outcome:
    """Race all structures on the same events, with more and more subscriptions."""
    sizes = SIZES[context.scale]
    found = context.each(_heat, [(context.scale, size, context.seed) for size in sizes])
    heats: dict[int, Heat] = dict(zip(sizes, found, strict=True))
    return Outcome(
        rows=_rows(heats, EVENTS[context.scale][2]),
        figure=figure({"": heats}),
        notes=_notes(context.scale),
        tables=[table("", heats, "label ranges")],
    )


def _heat(scale: Scale, size: int, seed: int) -> Heat:
    settled, timed, judged = EVENTS[scale]
    values = ar1(*SAME_RAD_SERIES, START, settled + timed + 2 * judged, seed)
    late = size * LATE // 100
    centres = same_centres(size - late, START, SIGMA, RADIUS, seed)
    before = loaded("label-tree", subscribed(np.full(len(centres), RADIUS), centres), START)
    arriving(before, np.full(late, RADIUS), values[:settled])
    return race(ENTRANTS, before.rows(), float(values[settled - 1]), values[settled:], judged)


def _rows(heats: Heats, judged: int) -> list[Row]:
    return [
        wrong_row([heats], judged),
        slower_row(heats, ENDS, LABELS_LISTS),
        slower_row(heats, CENTRES, LABELS_LISTS),
        slower_row(heats, LABELS_LISTS, LABELS_RANGES),
        flat_row(heats, LABELS_RANGES),
        quotient_row(heats, ENDS, LABELS_RANGES),
        quotient_row(heats, CENTRES, LABELS_RANGES),
        quotient_row(heats, ENDS, LABELS_LISTS),
        quotient_row(heats, CENTRES, LABELS_LISTS),
        time_row(heats, LABELS_RANGES),
    ]


def _notes(scale: Scale) -> list[str]:
    settled, timed, judged = EVENTS[scale]
    return [
        f"{SAME_FITTED} {LATE} % of the subscriptions come in between, evenly over the {settled:,} events before the "
        "clock runs; how many do in the paper is not said.",
        f"Then {timed:,} events are timed, structures in turns, and {judged:,} more judged by a pass over everybody. "
        "Processor time of one core from the event to the whole answer. Most events affect nobody, a few very many: "
        "times are means of both.",
        "The plot is lost. The text: for label ranges B^W-tree(lid) takes 'negligible time regardless of the number of "
        "subscriptions', and for lists it is 'much better than B-tree(lr) and B-tree(c), which suffer'. 'Regardless' "
        "counts as within 50 %.",
        "B-tree(c) moves all that an event affects as one block, which is more than the simple B-tree of the paper "
        "may do.",
    ]


EXPERIMENT: Final = Experiment(
    id="003-server-same",
    title="Server time, one radius",
    source="specs/003 §4, Figure 8 of the paper (L429)",
    setup="A value moves; a server says after each event whom to tell, as a list or as a range of labels.",
    run=run,
    grid="timed",
)
