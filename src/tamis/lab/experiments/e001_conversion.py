"""How long does it take to put a box on the Hilbert curve? Table 1 of the paper (specs/001 §3, E1)."""

from collections.abc import Mapping
from typing import Final

import msgspec
import numpy as np

from tamis.geometry import convert, curve, expected_runs
from tamis.geometry.leaves import Longs
from tamis.lab.content import BITS, DIMENSIONS, best_seconds
from tamis.lab.experiment import Context, Experiment, Figure, Outcome, Row, Scale, Series, Table
from tamis.lab.workloads.mics import CELLS

#: Dimensions -> size per axis -> milliseconds, on a 2 GHz Core 2 Duo.
TABLE_1: Final[Mapping[int, Mapping[int, float]]] = {
    2: {2: 0.1, 4: 0.1, 8: 0.3, 16: 1.0},
    3: {2: 0.1, 4: 0.3, 8: 1.9, 16: 12.8},
    4: {2: 0.1, 4: 1.1, 8: 10.2, 16: 124.1},
}
WIDTHS: Final = (2, 4, 8, 16)
BOXES: Final = {Scale.QUICK: 200, Scale.FULL: 2_000}


class Converted(msgspec.Struct, frozen=True):
    """Milliseconds for one box, one by one and in bulk, and how many runs it has on average and by F14."""

    single: float
    bulk: float
    runs: float
    expected: float


def run(context: Context) -> Outcome:
    """Convert boxes of every size in every number of dimensions."""
    rng = np.random.default_rng(context.seed)
    count = BOXES[context.scale]
    found: dict[int, dict[int, Converted]] = {dimensions: {} for dimensions in DIMENSIONS}
    points = [(dimensions, width) for dimensions in DIMENSIONS for width in WIDTHS]
    for done, (dimensions, width) in enumerate(points):
        context.progress(done, len(points))
        lows = rng.integers(0, CELLS - width + 1, (count, dimensions))
        found[dimensions][width] = _converted(lows, lows + width - 1)
    context.progress(len(points), len(points))
    return Outcome(
        rows=_rows(found),
        figure=Figure(
            "cells per axis",
            "ms for one box",
            [
                series
                for dimensions, by_width in found.items()
                for series in (
                    Series(f"{dimensions} dimensions", _floats(WIDTHS), [each.single for each in by_width.values()]),
                    Series(
                        f"{dimensions} dimensions, paper",
                        _floats(WIDTHS),
                        [TABLE_1[dimensions][width] for width in WIDTHS],
                    ),
                )
            ],
            log=True,
        ),
        notes=[
            f"{count:,} cubes at uniform places on {CELLS} cells an axis, one by one. Processor times; the paper's "
            "machine is of 2008, so the growth is what to compare. That is taken in bulk, since to call for one small "
            "box takes longer than its runs. The paper enumerates the cells of a box; here the curve is "
            "descended, so the work follows the runs, which are fewer by a factor of about the size.",
            "The paper's text says about 0.1 s in all cases; its table has that only for 4 dimensions and size 16.",
            "Runs follow the estimate of F14, which is an average over places.",
        ],
        tables=[
            Table(
                "Runs, and times in bulk",
                ["dimensions, size", "runs", "F14", "ms, one by one", "ms, in bulk", "ns for a run, in bulk"],
                [
                    [
                        f"{dimensions}, {width}",
                        each.runs,
                        each.expected,
                        each.single,
                        each.bulk,
                        1e6 * each.bulk / each.runs,
                    ]
                    for dimensions, by_width in found.items()
                    for width, each in by_width.items()
                ],
            )
        ],
    )


def _converted(lows: Longs, highs: Longs) -> Converted:
    ours = curve("hilbert", lows.shape[1], BITS)
    offsets, *_ = convert(ours, lows, highs)
    boxes = list(zip(lows, highs, strict=True))
    seconds = best_seconds(
        {"single": lambda: [ours.runs(*box) for box in boxes], "bulk": lambda: convert(ours, lows, highs)}
    )
    return Converted(
        1e3 * seconds["single"] / len(lows),
        1e3 * seconds["bulk"] / len(lows),
        float(offsets[-1]) / len(lows),
        float(expected_runs(lows, highs).mean()),
    )


def _rows(found: Mapping[int, Mapping[int, Converted]]) -> list[Row]:
    rows = [
        Row(f"{dimensions} dimensions, size {width}", each.single, TABLE_1[dimensions][width], "ms", "smaller")
        for dimensions, by_width in found.items()
        for width, each in by_width.items()
    ]
    rows += [
        Row(
            f"{dimensions} dimensions: size {WIDTHS[-1]} / size {WIDTHS[0]}, in bulk",
            by_width[WIDTHS[-1]].bulk / by_width[WIDTHS[0]].bulk,
            TABLE_1[dimensions][WIDTHS[-1]] / TABLE_1[dimensions][WIDTHS[0]],
            good="smaller",
        )
        for dimensions, by_width in found.items()
    ]
    return rows + [
        Row(f"{dimensions} dimensions, size {WIDTHS[-1]}: runs", by_width[WIDTHS[-1]].runs)
        for dimensions, by_width in found.items()
    ]


def _floats(numbers: tuple[int, ...]) -> list[float]:
    return [float(each) for each in numbers]


EXPERIMENT: Final = Experiment(
    id="001-conversion",
    title="Boxes into runs",
    source="specs/001 §3 E1, Table 1 (paper L306-311)",
    setup="Cubes on a grid of 256 cells an axis become runs on a Hilbert curve.",
    run=run,
)
