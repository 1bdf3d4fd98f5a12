"""How much has the busiest node to send? The highest stress of an event, specs/003 §4 (§7.2.1, §7.2.2 of the paper)."""

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np

from tamis.lab.experiment import Context, Experiment, Figure, Outcome, Row, Scale, Series, Table
from tamis.lab.telling import (
    ANEW,
    CN_C,
    CN_LID,
    CN_LR,
    CN_R,
    DIFFERENT,
    FITTED,
    MODEL,
    SAME,
    UNICAST,
    Telling,
    Tellings,
    in_ticks,
    network,
    told,
    underlay,
)
from tamis.lab.watching import DIFFERENT_FITTED, SAME_FITTED
from tamis.lab.workloads.moving import (
    DIFF_RAD_SERIES,
    EVENTS,
    RADIUS,
    SAME_RAD_SERIES,
    SIGMA,
    START,
    ar1,
    diff_radii,
    same_centres,
)

#: Subscriptions, events, and seeds with which the quick methods run; the others run with the first alone.
RUNS: Final = {Scale.QUICK: (400, 600, 2), Scale.FULL: (10_000, EVENTS, 3)}
PAPER: Final[Mapping[str, Mapping[str, float]]] = {
    "different radii": {CN_LR: 3_969, UNICAST: 1_984, CN_R: 282},
    "one radius": {CN_LR: 18_051, CN_C: 9_026, UNICAST: 9_025, CN_LID: 2},
}
#: Methods that run with all seeds.
QUICK: Final = (CN_R, CN_LID, UNICAST)
LOW: Final = 100
LOW_SHARE: Final = 0.93


def run(context: Context) -> Outcome:
    """Let values move, and look at every event for the node at which most messages originate."""
    _, events, seeds = RUNS[context.scale]
    found: dict[str, list[Tellings]] = {case: [] for case in PAPER}
    points = [(case, context.scale, context.seed + number, number == 0) for case in PAPER for number in range(seeds)]
    for (case, *_), each in zip(points, context.each(_told, points), strict=True):
        found[case].append(each)
    full = context.scale == Scale.FULL
    return Outcome(
        rows=_rows(found, full),
        figure=Figure(
            "stress",
            "share of events with more",
            [_series(name, each, case) for case, runs in found.items() for name, each in runs[0].items()],
            log=True,
        ),
        notes=[
            f"{RUNS[context.scale][0]:,} subscriptions, {events:,} events.",
            MODEL,
            ANEW,
            "The highest stress is that of one event of all: for unicast that which affects most, for CN(r) that which "
            "makes most ranges. With one radius it depends on the seed how many have come to share a centre when the "
            "event comes that affects most of them; the first table has other seeds.",
            DIFFERENT_FITTED,
            SAME_FITTED,
            FITTED,
        ],
        tables=[_by_seed(found, context.seed), _sent(found)],
    )


def _told(case: str, scale: Scale, seed: int, everybody: bool) -> Tellings:
    size, events, _ = RUNS[scale]
    (server, methods), series = (DIFFERENT, DIFF_RAD_SERIES) if case == "different radii" else (SAME, SAME_RAD_SERIES)
    net = network((server, [name for name in methods if everybody or name in QUICK]), scale)
    if server == DIFFERENT[0]:
        radii = diff_radii(size, seed)
        centres = np.full(len(radii), START)
    else:
        radii = np.full(size, RADIUS)
        centres = same_centres(size, START, SIGMA, RADIUS, seed)
    net.load(in_ticks(radii), in_ticks(centres), 0)
    return told(net, in_ticks(ar1(*series, START, events, seed)).tolist(), underlay(scale, seed))


def _rows(found: Mapping[str, Sequence[Tellings]], full: bool) -> list[Row]:
    rows = []
    for case, paper in PAPER.items():
        first = found[case][0]
        rows += [
            Row(
                f"{case}: {name}, highest stress", int(first[name].stress.max()), figure if full else None, good="order"
            )
            for name, figure in paper.items()
        ]
        for name, each in ((CN_LR, 2), (CN_C, 1)):
            if name in first:
                affected = first[UNICAST].stress
                exact = first[name].stress == each * affected + 1
                times = f"{each}k" if each > 1 else "k"
                label = f"{case}: {name}, share of events that affect k with a stress of {times} + 1"
                rows.append(Row(label, float(exact[affected > 0].mean())))
    ranges = found["different radii"][0][CN_R].stress
    label = f"different radii: share of events with CN(r) stress below {LOW}"
    rows.append(Row(label, float((ranges < LOW).mean()), LOW_SHARE if full else None, tolerance=0.01))
    return rows


def _series(name: str, telling: Telling, case: str) -> Series:
    levels = np.unique(np.geomspace(1, max(2, int(telling.stress.max())), 40).astype(np.int64))
    shares = [float((telling.stress > level).mean()) for level in levels]
    kept = [(float(level), share) for level, share in zip(levels.tolist(), shares, strict=True) if share > 0]
    return Series(name, [level for level, _ in kept], [share for _, share in kept], case)


def _by_seed(found: Mapping[str, Sequence[Tellings]], first: int) -> Table:
    return Table(
        "Highest stress, by seed",
        ["case, method", *(f"seed {first + place}" for place in range(len(next(iter(found.values())))))],
        [
            [f"{case}, {name}", *(int(each[name].stress.max()) for each in runs)]
            for case, runs in found.items()
            for name in runs[-1]
        ],
    )


def _sent(found: Mapping[str, Sequence[Tellings]]) -> Table:
    return Table(
        "Messages of an event at the busiest node, first seed",
        ["case, method", "originated, mean", "originated, most", "sent, mean", "sent, most"],
        [
            [f"{case}, {name}", *(float(figure) for figure in _ends(each))]
            for case, runs in found.items()
            for name, each in runs[0].items()
        ],
    )


def _ends(telling: Telling) -> tuple[float, float, float, float]:
    stress, sent = telling.stress, telling.sent
    return float(stress.mean()), float(stress.max()), float(sent.mean()), float(sent.max())


EXPERIMENT: Final = Experiment(
    id="003-stress",
    title="Stress of the busiest node",
    source="specs/003 §4, §7.2.1 and §7.2.2 of the paper (L413, L433)",
    setup="A value moves; for each event, the messages that originate at one node are counted.",
    run=run,
    grid="counted",
)
