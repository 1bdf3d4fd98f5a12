"""What does an operation cost the network, whatever the radii? Figures 11 and 12 of the paper (specs/003 §4)."""

from collections.abc import Iterator, Mapping
from typing import Final, TypeAlias

import numpy as np

from tamis.lab.experiment import Context, Experiment, Figure, Outcome, Row, Scale, Series
from tamis.lab.telling import (
    ALL,
    ANEW,
    CN_LR,
    CN_R_LID,
    FITTED,
    MODEL,
    UNICAST,
    Swept,
    Telling,
    Tellings,
    network,
    order_row,
    quotient_row,
    table,
    told,
    underlay,
)
from tamis.lab.watching import arriving
from tamis.lab.workloads import Stocks, generate
from tamis.lab.workloads.draws import Floats, Ints
from tamis.lab.workloads.moving import EVENTS, SAME_RAD_SERIES, START, TICKS_PER_DOLLAR, all_radii, ar1

SIZES: Final[dict[Scale, tuple[int, ...]]] = {
    Scale.QUICK: (200, 400),
    Scale.FULL: (5_000, 10_000, 20_000, 30_000, 40_000, 50_000),
}
#: Of stocks, fewer sizes: each of five has so many subscriptions.
STOCK_SIZES: Final[dict[Scale, tuple[int, ...]]] = {Scale.QUICK: (200,), Scale.FULL: (5_000, 20_000)}
#: Events before anything is counted, and events that are.
COUNTED: Final = {Scale.QUICK: (200, 60), Scale.FULL: (5_000, 250)}
STOCK: Final = "stock-like prices"
STOCK_EVENTS: Final = 50_000
KINDS: Final[Mapping[str, int]] = {f"{ticks:,} ticks to the dollar": ticks for ticks in TICKS_PER_DOLLAR} | {STOCK: 100}
#: "An order of magnitude" below unicast.
MAGNITUDE: Final = 10.0

#: Kind of workload -> number of subscriptions -> what methods took.
Found: TypeAlias = Mapping[str, Swept]


def run(context: Context) -> Outcome:
    """Let values move and subscriptions come, and count what the last operations cost."""
    scale = context.scale
    points = [(kind, size) for kind in KINDS for size in (STOCK_SIZES if kind == STOCK else SIZES)[scale]]
    found: dict[str, dict[float, Tellings]] = {kind: {} for kind in KINDS}
    for done, (kind, size) in enumerate(points):
        context.progress(done, len(points))
        runs = [_told(values, radii, size, kind, context) for values, radii in _workloads(kind, size, context)]
        found[kind][size] = {name: _joined([each[name] for each in runs]) for name in runs[0]}
    context.progress(len(points), len(points))
    before, counted = COUNTED[scale]
    return Outcome(
        rows=[row for kind, swept in found.items() for row in _rows(kind, swept, scale == Scale.FULL)],
        figure=Figure(
            "subscriptions",
            "bytes for an operation",
            [
                Series(name, [float(size) for size in swept], [each[name].mean_bytes for each in swept.values()], kind)
                for kind, swept in found.items()
                for name in ALL[1]
            ],
            log_y=True,
        ),
        notes=[
            f"Half of the subscriptions are there from the start, half come evenly while the value moves {before:,} "
            f"times; then {counted} more events are counted, and what comes between them: as many as if all came over "
            f"{EVENTS:,} events ({STOCK_EVENTS:,} of a stock). The paper counts all its 100,000 events. An operation "
            "is an event or a new subscription.",
            MODEL,
            "In CN(r,lid) the leaves of the network of radii pass an event on to the secondary server of each radius "
            "in a range, on a broker, and that sends it to the labels that are affected: to all, or to an arc.",
            ANEW,
            "A tenth of the radii is spread evenly on cents up to $100, the rest by N(20, 20) on whole dollars. The "
            "paper does not say what a unit of AR1(500, 1, 800) is: 100 and 1,000 to the dollar were tried. The "
            "figures are lost; the text has CN(r,lid) an order of magnitude below unicast, and CN(lr) above it.",
            "[ours] The five stocks are not the paper's, whose prices we do not have: geometric random walks from $50, "
            "2 % a day, of 600 to 11,000 days, whose changes are replayed. Each has as many subscriptions as stated.",
            FITTED,
        ],
        tables=[table(f"For an operation, {kind}", swept) for kind, swept in found.items()],
    )


def _workloads(kind: str, size: int, context: Context) -> Iterator[tuple[Ints, Ints]]:
    """Yield the values of an item and the radii of its subscriptions in the order of arrival."""
    events = sum(COUNTED[context.scale])
    more = size + _late(size, kind, context.scale)
    if kind == STOCK:
        stocks = generate(Stocks(subscriptions=more, events=events, late=0), context.seed)
        for number, values in enumerate(stocks.values):
            yield values[1:], stocks.radii[stocks.items == number]
    else:
        series = ar1(*SAME_RAD_SERIES, START, events, context.seed)
        yield np.rint(series).astype(np.int64), all_radii(more, KINDS[kind], context.seed).astype(np.int64)


def _late(size: int, kind: str, scale: Scale) -> int:
    """Return how many come while it is counted."""
    return max(2, size * COUNTED[scale][1] // (STOCK_EVENTS if kind == STOCK else EVENTS))


def _told(values: Ints, radii: Ints, size: int, kind: str, context: Context) -> Tellings:
    before, counted = COUNTED[context.scale]
    net = network(ALL, context.scale)
    first = radii[: size // 2]
    start = int(values[0])
    net.load(first, np.full(len(first), start), start)
    arriving(net.server, _real(radii[size // 2 : size]), _real(values[:before]))
    net.hand_over()
    late = _late(size, kind, context.scale)
    coming: dict[int, list[tuple[int, int]]] = {}
    for number in range(late):
        coming.setdefault(number * counted // late, []).append((size + number, int(radii[size + number])))
    return told(net, values[before:].tolist(), underlay(context.scale, context.seed), coming)


def _real(numbers: Ints) -> Floats:
    return numbers.astype(np.float64)


def _joined(tellings: list[Telling]) -> Telling:
    return Telling(
        np.concatenate([each.hops for each in tellings]),
        np.concatenate([each.bytes for each in tellings]),
        np.concatenate([each.stress for each in tellings]),
        np.concatenate([each.sent for each in tellings]),
        sum(each.ip_hops for each in tellings),
    )


def _rows(kind: str, swept: Swept, full: bool) -> list[Row]:
    rows = [order_row(swept, [CN_LR, UNICAST, CN_R_LID], full)]
    rows += [quotient_row(size, each, UNICAST, CN_R_LID, MAGNITUDE if full else None) for size, each in swept.items()]
    rows.append(quotient_row(max(swept), swept[max(swept)], CN_LR, UNICAST))
    return [Row(f"{kind}: {row.label}", row.ours, row.paper, row.unit, row.good) for row in rows]


EXPERIMENT: Final = Experiment(
    id="003-traffic-all",
    title="Traffic, all radii",
    source="specs/003 §4, Figures 11 and 12 of the paper (L445-453)",
    setup="A value moves and subscriptions with any radii come; they are told by unicast and over content-driven "
    "networks.",
    run=run,
)
