"""How long does the server take for an event, whatever the radii? The text to Figures 11 and 12 (specs/003 §4)."""

from collections.abc import Mapping
from typing import Final

import numpy as np

from tamis.lab.experiment import Context, Experiment, Outcome, Row, Scale
from tamis.lab.watching import (
    Entrant,
    Heat,
    Heats,
    arriving,
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
from tamis.lab.workloads import Stocks, generate
from tamis.lab.workloads.draws import Floats
from tamis.lab.workloads.moving import SAME_RAD_SERIES, START, TICKS_PER_DOLLAR, all_radii, ar1

SIZES: Final[dict[Scale, tuple[int, ...]]] = {
    Scale.QUICK: (300, 1_000),
    Scale.FULL: (5_000, 10_000, 20_000, 30_000, 40_000, 50_000),
}
#: Events before structures are made, events that are timed, and events on which they are judged.
EVENTS: Final = {Scale.QUICK: (300, 100, 50), Scale.FULL: (5_000, 500, 100)}
#: What the paper says: so many times faster at least.
FACTOR: Final = 10.0

ENDS = "B-tree(lr), lists"
LISTS, RANGES, ARCS = "B²-tree(r,lid), lists", "B²-tree(r,lid), radius ranges", "B²-tree(r,lid), ranges with arcs"
ENTRANTS: Final = {
    ENDS: Entrant("endpoints", "affected"),
    LISTS: Entrant("two-level", "affected"),
    RANGES: Entrant("two-level", "radius_ranges"),
    ARCS: Entrant("two-level", "ranges"),
}
#: Workloads: a series with so many ticks to the dollar of the radii, or prices that move like those of a stock.
STOCK: Final = "stock-like prices"
KINDS: Final[Mapping[str, int]] = {f"{ticks:,} ticks to the dollar": ticks for ticks in TICKS_PER_DOLLAR} | {STOCK: 100}


def run(context: Context) -> Outcome:
    """Race both structures on the same events, with more and more subscriptions."""
    sizes = SIZES[context.scale]
    heats: dict[str, dict[int, Heat]] = {kind: {} for kind in KINDS}
    points = [(context.scale, kind, size, context.seed) for kind in KINDS for size in sizes]
    for (_, kind, size, _), heat in zip(points, context.each(_heat, points), strict=True):
        heats[kind][size] = heat
    return Outcome(
        rows=_rows(heats, EVENTS[context.scale][2]),
        figure=figure(heats),
        notes=_notes(context.scale, context.seed),
        tables=[table(f", {kind}", each) for kind, each in heats.items()],
    )


def _heat(scale: Scale, kind: str, size: int, seed: int) -> Heat:
    settled, timed, judged = EVENTS[scale]
    start, values = _series(kind, settled + timed + 2 * judged, seed)
    radii = all_radii(size, KINDS[kind], seed)
    early, late = radii[: size // 2], radii[size // 2 :]
    before = loaded("two-level", subscribed(early, np.full(len(early), start)), start)
    arriving(before, late, values[:settled])
    return race(ENTRANTS, before.rows(), float(values[settled - 1]), values[settled:], judged)


def _series(kind: str, events: int, seed: int) -> tuple[float, Floats]:
    """Return the first value and those after it, in whole ticks."""
    if kind != STOCK:
        return START, np.rint(ar1(*SAME_RAD_SERIES, START, events, seed))
    prices = generate(Stocks(stocks=1, subscriptions=1, events=events, ticks=KINDS[kind]), seed).values[0]
    return float(prices[0]), prices[1:].astype(np.float64)


def _rows(heats: Mapping[str, Heats], judged: int) -> list[Row]:
    rows = [wrong_row(list(heats.values()), judged)]
    for kind, each in heats.items():
        times = [heat.microseconds for heat in each.values()]
        least = min(at[ENDS] / at[RANGES] for at in times)
        label = f"{kind}: {ENDS} / {RANGES}, smallest of {len(times)} sizes"
        rows += [
            Row(label, least, FACTOR, good="larger"),
            quotient_row(each, ENDS, ARCS, f"{kind}, "),
            quotient_row(each, ENDS, LISTS, f"{kind}, "),
            slower_row(each, LISTS, RANGES, f"{kind}: "),
            time_row(each, RANGES, f"{kind}, "),
        ]
    return rows


def _notes(scale: Scale, seed: int) -> list[str]:
    settled, timed, judged = EVENTS[scale]
    prices = _series(STOCK, settled + timed + 2 * judged, seed)[1][settled:] / KINDS[STOCK]
    price, change = prices[0], np.abs(np.diff(prices)).mean()
    return [
        "A tenth of the radii uniform on cents up to $100, the others by N(20, 20) on whole dollars, none zero. Values "
        "by AR1(500, 1, 800) in ticks; the paper does not say how many ticks a dollar has, and that decides how many "
        "an event affects: both 100 and 1,000 were run. Neither is fitted: there is no number to fit them to.",
        "The paper's stocks are not to be had. Instead a geometric random walk from $50, 2 % a day, 100 ticks to the "
        f"dollar, whose changes are replayed; prices stay above 0. When the clock begins to run it is at ${price:,.2f} "
        f"and changes by ${change:,.2f} an event, where most radii are tens of dollars: an event affects hardly "
        "anybody, times are those of calling a structure, and no factor of ten is left to gain. The paper gives no "
        "server time for its stocks alone.",
        f"Half of the subscriptions are there from the start, the others come evenly over {settled:,} events. Then "
        f"{timed:,} events are timed, structures in turns, and {judged:,} more judged by a pass over everybody. "
        "Processor time of one core from the event to the whole answer.",
        "Figures 11 and 12 are about traffic. Of the server the text says: B²-tree(r,lid) for content-driven "
        "dissemination costs 'at least an order of magnitude' less than B-tree(lr) for unicast. Then the primary "
        "server sends radius ranges, and those for the labels are made by secondary servers; 'ranges with arcs' is "
        "both at once, as Python objects.",
    ]


EXPERIMENT: Final = Experiment(
    id="003-server-all",
    title="Server time, any radii",
    source="specs/003 §4, text to Figures 11 and 12 of the paper (L443-453)",
    setup="A value moves; a server says after each event whom to tell, as a list or as ranges for a network.",
    run=run,
    grid="timed",
)
