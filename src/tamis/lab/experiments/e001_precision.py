"""What do coarse cells, a budget of runs and imperfect merging cost? (specs/001 §3, E10; paper §6.2-6.3)"""

from collections.abc import Mapping
from typing import Any, Final, NamedTuple, TypeAlias

import msgspec
import numpy as np

from tamis.covering.ranges import ContentSpace, RangeTable
from tamis.geometry import Quantiser, curve
from tamis.lab.content import BITS, LAWS, NAMES, Content, Law, Linear, content
from tamis.lab.experiment import Context, Experiment, Figure, Outcome, Row, Scale, Series, Table
from tamis.lab.workloads.mics import CELLS

DIMENSIONS: Final = 3
BOXES: Final = {Scale.QUICK: 2_000, Scale.FULL: 20_000}
PUBLICATIONS: Final = {Scale.QUICK: 2_000, Scale.FULL: 10_000}
#: Publications that variable cells are learned from.
SAMPLE: Final = 5_000
ALL_BITS: Final = (3, 4, 5, 6, 7, 8)
BUDGETS: Final = (1, 2, 4, 8, 16)
#: Cuts of a box for each run of its budget (specs/001 §0).
CUTS_PER_RUN: Final = 16
THETAS: Final = (1, 4, 16, 64, 256, 1024)


class Setting(NamedTuple):
    """What is made coarser: bits of an axis, cells that follow the publications, runs of a box, gaps closed."""

    bits: int = BITS
    variable: bool = False
    budget: int | None = None
    theta: int = 1


SETTINGS: Final[Mapping[str, Mapping[float, Setting]]] = {
    "bits, equal cells": {bits: Setting(bits) for bits in ALL_BITS},
    "bits, variable cells": {bits: Setting(bits, variable=True) for bits in ALL_BITS},
    "runs of a box": {budget: Setting(budget=budget) for budget in BUDGETS},
    "theta": {theta: Setting(theta=theta) for theta in THETAS},
}


#: What is said in the first rows; the tables have all.
SHOWN: Final = {
    "bits, equal cells": (6, 8),
    "bits, variable cells": (6, 8),
    "runs of a box": (4, 16),
    "theta": (16,),
}


class Precision(msgspec.Struct, frozen=True):
    """How many publications match, which share of these is false, and what the table holds."""

    traffic: int
    false: float
    runs: int
    runs_of_a_box: float
    lost: int


#: Law -> what is made coarser -> how far -> what came of it.
Results: TypeAlias = Mapping[Law, Mapping[str, Mapping[float, Precision]]]


def run(context: Context) -> Outcome:
    """Match the same publications against the same boxes in every setting."""
    results: dict[Law, dict[str, dict[float, Precision]]] = {law: {name: {} for name in SETTINGS} for law in LAWS}
    total, done = len(LAWS) * sum(map(len, SETTINGS.values())), 0
    for law in LAWS:
        fields: dict[str, Any] = {"attributes": DIMENSIONS, "law": law}
        count, events = BOXES[context.scale], PUBLICATIONS[context.scale]
        boxes = content(context.seed, subscriptions=count, events=events, **fields)
        sample = content(context.seed + 1, subscriptions=1, events=SAMPLE, **fields).points
        true = Linear(boxes.lows, boxes.highs).matched(boxes.points)
        for name, settings in SETTINGS.items():
            for value, setting in settings.items():
                context.progress(done, total)
                results[law][name][value] = _precision(boxes, sample, true, setting)
                done += 1
    context.progress(total, total)
    return Outcome(
        rows=_rows(results),
        figure=Figure("bits of an axis; runs of a box; theta", "share of traffic that is false, %", _series(results)),
        notes=[
            f"{BOXES[context.scale]:,} cubes of size 4 on {CELLS} values an axis in {DIMENSIONS} dimensions, "
            f"{PUBLICATIONS[context.scale]:,} publications of the same law. At 8 bits a cell is one value, so without "
            "a budget and with theta = 1 nothing is false. One thing is made coarser at a time.",
            "The paper describes these means (§6.2, §6.3) and gives no data. It gives no algorithm for variable cells; "
            f"here they are quantiles of {SAMPLE:,} other publications.",
            "Variable cells pay where publications are dense in some places; with the uniform law they are like "
            "equal ones but for chance. Where a cell is as small as a value they may even lose: two values that the "
            "sample does not have can share one. Boxes follow the same law here, so fine cells are where boxes are.",
            "Nothing is ever lost: errors are false positives only, which the last broker drops.",
        ],
        tables=[_table(law, by_name) for law, by_name in results.items()],
    )


def _precision(
    boxes: Content, sample: np.ndarray[Any, np.dtype[np.int64]], true: np.ndarray[Any, np.dtype[np.bool_]], to: Setting
) -> Precision:
    quantisers = [
        Quantiser.quantiles(sample[:, axis], to.bits, 0, CELLS) if to.variable else Quantiser.uniform(0, CELLS, to.bits)
        for axis in range(DIMENSIONS)
    ]
    cuts = None if to.budget is None else CUTS_PER_RUN * to.budget
    space = ContentSpace(curve("hilbert", DIMENSIONS, to.bits), quantisers, max_runs=to.budget, node_cap=cuts)
    table = RangeTable(space, to.theta)
    table.add_many(range(len(boxes.lows)), boxes.lows, boxes.highs)
    offsets, *_ = space.runs_of_many(boxes.lows, boxes.highs)
    matched = table.match_many(boxes.points)
    traffic = int(matched.sum())
    return Precision(
        traffic,
        100 * float((matched & ~true).sum()) / max(1, traffic),
        len(table.runs()[0]),
        float(offsets[-1]) / len(boxes.lows),
        int((true & ~matched).sum()),
    )


def _rows(results: Results) -> list[Row]:
    rows = [
        Row(f"{NAMES[law]}, {name} {value:g}: false", each.false, unit="%")
        for law, by_name in results.items()
        for name, by_value in by_name.items()
        for value, each in by_value.items()
        if value in SHOWN[name]
    ]
    every = [each for by_name in results.values() for by_value in by_name.values() for each in by_value.values()]
    return [
        *rows,
        Row("publications that match truly and are not found", sum(each.lost for each in every), 0, good="exact"),
    ]


def _series(results: Results) -> list[Series]:
    return [
        Series(NAMES[law], [float(value) for value in by_value], [each.false for each in by_value.values()], name)
        for name in SETTINGS
        for law, by_name in results.items()
        for by_value in [by_name[name]]
    ]


def _table(law: Law, by_name: Mapping[str, Mapping[float, Precision]]) -> Table:
    return Table(
        f"{NAMES[law]} law",
        ["setting", "publications that match", "false, %", "runs of a box", "runs in the table"],
        [
            [f"{name} {value:g}", each.traffic, each.false, each.runs_of_a_box, each.runs]
            for name, by_value in by_name.items()
            for value, each in by_value.items()
        ],
    )


EXPERIMENT: Final = Experiment(
    id="001-precision",
    title="Precision against size",
    source="specs/001 §3 E10 (paper §6.2-6.3, no data there)",
    setup="The same boxes and publications with coarser cells, fewer runs for each box, and gaps closed.",
    run=run,
)
