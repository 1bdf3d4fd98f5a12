"""What do new subscriptions cost the network, where all have one radius? Figure 10 of the paper (specs/003 §4)."""

from typing import Final

import numpy as np

from tamis.lab.experiment import Context, Experiment, Outcome, Row, Scale, Table
from tamis.lab.telling import (
    ANEW,
    CN_C,
    CN_LID,
    CN_LR,
    FITTED,
    MODEL,
    SAME,
    UNICAST,
    Swept,
    Tellings,
    figure,
    in_ticks,
    network,
    order_row,
    table,
    told,
    underlay,
)
from tamis.lab.watching import SAME_FITTED
from tamis.lab.workloads.draws import Flags
from tamis.lab.workloads.moving import RADIUS, SAME_RAD_SERIES, SIGMA, START, ar1, same_centres

#: Relative arrival rates: new subscriptions for an event.
RATES: Final = (0.0, 0.5, 1.0, 1.5, 2.0)
#: Subscriptions at the start, and events.
SIZES: Final = {Scale.QUICK: (300, 150), Scale.FULL: (10_000, 5_000)}
#: "Orders of magnitude": two.
MAGNITUDES: Final = 100.0
#: What the full scale shows.
SEEN: Final = (
    "The paper's figure is lost; its text has CN(lid) orders of magnitude lower 'even for an unusually high' rate of "
    "2, for which we put 100. Ours is that only while most operations are events. A new subscription takes 80 bytes at "
    "least, one message to the server and one from there, which is more than an event takes in the mean, and about as "
    "much again for new labels; by unicast it takes 72.",
    "Other methods fall because new subscriptions cost them less than events, as the paper has it. CN(lr) rises again "
    "where its tree, which has two entries for each subscription, becomes higher by a level.",
)


def run(context: Context) -> Outcome:
    """Let the value move and ever more subscriptions come."""
    found = context.each(_told, [(rate, context.scale, context.seed) for rate in RATES])
    swept: dict[float, Tellings] = dict(zip(RATES, found, strict=True))
    size, events = SIZES[context.scale]
    full = context.scale == Scale.FULL
    return Outcome(
        rows=[
            order_row(swept, [CN_LR, CN_C, UNICAST, CN_LID], full, "rates"),
            _way_row(swept, CN_LID, 1, full),
            *(_way_row(swept, name, -1, full) for name in (UNICAST, CN_C, CN_LR)),
            *(
                Row(
                    f"{rate:g} new subscriptions for an event: bytes, unicast / CN(lid)",
                    each[UNICAST].mean_bytes / each[CN_LID].mean_bytes,
                    MAGNITUDES if full else None,
                    good="order",
                )
                for rate, each in swept.items()
            ),
        ],
        figure=figure(swept, "new subscriptions for an event", "operation"),
        notes=[
            f"{size:,} subscriptions at the start and {events:,} events; an operation is an event or a new "
            f"subscription. There are ever more subscriptions, with 2 for an event up to {size + 2 * events:,}, so "
            "that later events affect more of them.",
            "A new subscription asks the server by a message from its broker. By unicast it is told the value; in the "
            "networks it is registered by a message from the root. In CN(lid) labels may have to change for it: that "
            "is a message to all nodes that they concern, with three attributes for every shift of labels.",
            "Labels are made by Bender's scheme, not by a W-BOX: it moves labels more rarely, but each by another "
            "distance, so that a message carries a shift for each of them. The last table has what they cost.",
            *(SEEN if full else ()),
            MODEL,
            ANEW,
            SAME_FITTED,
            FITTED,
        ],
        tables=[table("For an operation", swept, "new subscriptions for an event"), _split(swept)],
    )


def _told(rate: float, scale: Scale, seed: int) -> Tellings:
    size, events = SIZES[scale]
    net = network(SAME, scale)
    (radius,) = in_ticks(np.array([RADIUS])).tolist()
    centres = in_ticks(same_centres(size, START, SIGMA, RADIUS, seed))
    net.load(np.full(size, radius), centres, int(START))
    values = in_ticks(ar1(*SAME_RAD_SERIES, START, events, seed))
    coming: dict[int, list[tuple[int, int]]] = {}
    for number in range(int(rate * events)):
        coming.setdefault(int(number / rate), []).append((size + number, radius))
    return told(net, values.tolist(), underlay(scale, seed), coming)


def _way_row(swept: Swept, name: str, way: int, full: bool) -> Row:
    """Return at how many steps to a higher rate the traffic goes the way that the paper has."""
    means = [each[name].mean_bytes for each in swept.values()]
    steps = int((np.sign(np.diff(means)) == way).sum())
    label = f"steps, of {len(means) - 1}, to a higher rate at which bytes for an operation {_WAYS[way]}, {name}"
    return Row(label, steps, len(means) - 1 if full else None, good="exact")


_WAYS: Final = {1: "rise", -1: "fall"}


def _split(swept: Swept) -> Table:
    """Return what events and new subscriptions cost by themselves."""
    rows: list[list[str | float | None]] = []
    for rate, tellings in swept.items():
        events = len(next(iter(tellings.values())).bytes) / (1 + rate)
        for name, each in tellings.items():
            new = _is_new(rate, round(events), len(each.bytes))
            coming = each.bytes[new]
            rows.append(
                [
                    f"{rate:g}, {name}",
                    float(each.bytes[~new].mean()),
                    float(coming.mean()) if len(coming) else None,
                    float(np.median(coming)) if len(coming) else None,
                    int(coming.max()) if len(coming) else None,
                ]
            )
    columns = ["rate, method", "an event", "a new subscription", "median of these", "most of these"]
    return Table("Bytes for events and for new subscriptions", columns, rows)


def _is_new(rate: float, events: int, operations: int) -> Flags:
    """Return of each operation whether it was a new subscription."""
    before = np.bincount((np.arange(operations - events) / max(rate, 1e-9)).astype(np.int64), minlength=events)
    new = np.ones(operations, np.bool_)
    new[np.cumsum(before + 1) - 1] = False
    return new


EXPERIMENT: Final = Experiment(
    id="003-arrivals",
    title="Traffic of new subscriptions, one radius",
    source="specs/003 §4, Figure 10 of the paper (L435-441)",
    setup="A value moves while subscriptions come; they are told by unicast and over content-driven networks.",
    run=run,
    grid="counted",
)
