"""How long does the server take for an event, where all radii differ? Figure 6 of the paper (specs/003 §4)."""

from typing import Final

from tamis.lab.experiment import Context, Experiment, Outcome, Row, Scale, Table
from tamis.lab.watching import (
    DIFFERENT_FITTED,
    Entrant,
    Heat,
    Heats,
    figure,
    loaded,
    quotient_row,
    race,
    slower_row,
    subscribed,
    table,
    time_row,
    wrong_row,
)
from tamis.lab.workloads.moving import DIFF_RAD_SERIES, START, TICKS, ar1, diff_radii

SIZES: Final[dict[Scale, tuple[int, ...]]] = {
    Scale.QUICK: (500, 2_000),
    Scale.FULL: (10_000, 20_000, 40_000, 60_000, 80_000, 100_000),
}
#: Events before structures are made, events that are timed, and events on which they are judged.
EVENTS: Final = {Scale.QUICK: (500, 200, 50), Scale.FULL: (50_000, 2_000, 200)}

ENDS, SCAN_LISTS, SCAN_RANGES = "B-tree(lr), lists", "Scan(r), lists", "Scan(r), ranges"
TREE_LISTS, TREE_RANGES = "B^A-tree(r), lists", "B^A-tree(r), ranges"
DELTAS = "B^A-tree(r) with drifts, ranges"
RUNS_LISTS, RUNS_RANGES = "runs by centre, lists", "runs by centre, ranges"
ENTRANTS: Final = {
    ENDS: Entrant("endpoints", "affected"),
    SCAN_LISTS: Entrant("scan", "affected"),
    TREE_LISTS: Entrant("radius-tree", "affected"),
    RUNS_LISTS: Entrant("radius-runs", "affected"),
    SCAN_RANGES: Entrant("scan", "radius_ranges"),
    TREE_RANGES: Entrant("radius-tree", "radius_ranges"),
    DELTAS: Entrant("delta-tree", "ranges"),
    RUNS_RANGES: Entrant("radius-runs", "radius_ranges"),
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
        tables=[table("", heats), _visits(heats)],
    )


def _heat(scale: Scale, size: int, seed: int) -> Heat:
    settled, timed, judged = EVENTS[scale]
    # In ticks: the tree with drifts adds up differences, and takes whole numbers only.
    values = ar1(*DIFF_RAD_SERIES, START, settled + timed + 2 * judged, seed) * TICKS
    radii = diff_radii(size, seed) * TICKS
    before = loaded("radius-runs", subscribed(radii, 0 * radii + START), START)
    for value in values[:settled].tolist():
        before.update(value)
    return race(ENTRANTS, before.rows(), float(values[settled - 1]), values[settled:], judged)


def _rows(heats: Heats, judged: int) -> list[Row]:
    return [
        wrong_row([heats], judged),
        slower_row(heats, ENDS, TREE_LISTS),
        slower_row(heats, SCAN_LISTS, TREE_LISTS),
        slower_row(heats, SCAN_RANGES, TREE_RANGES),
        slower_row(heats, TREE_LISTS, TREE_RANGES),
        quotient_row(heats, ENDS, TREE_LISTS),
        quotient_row(heats, ENDS, RUNS_LISTS),
        quotient_row(heats, SCAN_LISTS, TREE_LISTS),
        quotient_row(heats, SCAN_LISTS, RUNS_LISTS),
        quotient_row(heats, SCAN_RANGES, TREE_RANGES),
        quotient_row(heats, SCAN_RANGES, RUNS_RANGES),
        time_row(heats, TREE_RANGES),
        time_row(heats, RUNS_RANGES),
    ]


def _notes(scale: Scale) -> list[str]:
    settled, timed, judged = EVENTS[scale]
    return [
        DIFFERENT_FITTED,
        f"Of each size, the state after {settled:,} events; {timed:,} are timed, structures in turns, and {judged:,} "
        "more judged by a pass over everybody. Processor time of one core from the event to the whole answer.",
        "The plot is lost. The text: B-tree(lr) 'really suffers'; B^A-tree(r) outperforms it and Scan(r) "
        "'significantly even for unicast', which are the lists here; for ranges it is 'much better than the naive "
        "Scan(r)' and takes 'negligible time to process even 100k subscriptions'.",
        "Scan(r) is one pass of NumPy over sorted ends of intervals, probably a faster scan than the paper's; but it "
        "counts ranges at every event, also where lists are asked for, which takes it some 10 µs. B-trees and trees "
        "are compiled. 'Runs by centre' is ours, not the paper's: the radii of one centre as runs, of which an event "
        "pops the first ones.",
        "'With drifts' is Algorithm 1 as printed, which adds up differences; the other B^A-tree(r) keeps ends of "
        "intervals. Both look at as many nodes, but the former counts whom it found, one by one, in plain Python: its "
        "time is that of the counting.",
    ]


def _visits(heats: Heats) -> Table:
    names = list(next(iter(heats.values())).visits)
    return Table(
        "Nodes or subscriptions looked at for an event",
        ["subscriptions", *names],
        [[f"{size:,}", *(heat.visits[name] for name in names)] for size, heat in heats.items()],
    )


EXPERIMENT: Final = Experiment(
    id="003-server-diff",
    title="Server time, different radii",
    source="specs/003 §4, Figure 6 of the paper (L385-409)",
    setup="A value moves; a server says after each event whom to tell, as a list or as ranges of radii.",
    run=run,
    grid="timed",
)
