"""How many runs does a table store? Figures 11 and 12 of the paper (specs/001 §3, E6 and E7)."""

import itertools
from collections.abc import Mapping
from typing import Final, TypeAlias

from tamis.geometry.runset import RunSet
from tamis.lab.content import DIMENSIONS, LAWS, NAMES, SIZES, Law, content, space
from tamis.lab.experiment import Context, Experiment, Figure, Outcome, Row, Series, Table

#: Figure 11 has all dimensions at the first of these; Figure 12 has all of these in 3 dimensions.
WIDTHS: Final = (2, 4, 8)
FIXED: Final = 3
#: Boxes converted at once.
_CHUNK: Final = 10_000

#: Law -> dimensions and size of a cube -> number of boxes -> runs in the table.
Stored: TypeAlias = Mapping[Law, Mapping[tuple[int, int], Mapping[int, int]]]


def run(context: Context) -> Outcome:
    """Insert boxes of every law, dimension and size, and count the runs that are left by merging."""
    sizes = SIZES[context.scale]
    points = [*((dimensions, WIDTHS[0]) for dimensions in DIMENSIONS), *((FIXED, width) for width in WIDTHS[1:])]
    stored: dict[Law, dict[tuple[int, int], dict[int, int]]] = {law: {} for law in LAWS}
    grid = [(context.seed, law, point, sizes) for law in LAWS for point in points]
    for (_, law, point, _), each in zip(grid, context.each(_stored, grid), strict=True):
        stored[law][point] = each
    return Outcome(
        rows=[*_below_rows(stored), *_dimension_rows(stored), *_width_rows(stored)],
        figure=Figure("boxes", "runs in the table", _series(stored), log_y=True),
        notes=_notes(stored),
        tables=[_table(law, by_point) for law, by_point in stored.items()],
    )


def _notes(stored: Stored) -> list[str]:
    notes = [
        "Cubes on 256 cells an axis; nothing leaves. The plots of the paper are lost. Its text: the runs grow with "
        "the dimensions, stay below the number of boxes times the dimensions, more so for Zipf's law; "
        f"and in {FIXED} dimensions they grow with the size of the cubes, less and less with their number.",
        "What stands above 1 in the first rows does not hold here. Zipf's exponent is ours; the paper does not tell "
        "its own.",
    ]
    falling = [
        f"{NAMES[law]}, {dimensions} dimensions, size {width}"
        for law, by_point in stored.items()
        for (dimensions, width), by_size in by_point.items()
        if _last(by_size) < max(by_size.values())
    ]
    if falling:
        notes.append(
            "Runs become fewer again where boxes fill much of the space, since runs that touch are merged: "
            + "; ".join(falling)
            + "."
        )
    return notes


def _stored(seed: int, law: Law, point: tuple[int, int], sizes: tuple[int, ...]) -> dict[int, int]:
    dimensions, width = point
    lows, highs, _ = content(
        seed,
        subscriptions=max(sizes),
        events=1,
        attributes=dimensions,
        law=law,
        narrowest=width,
        widest=width,
    )
    ours, table = space(dimensions), RunSet()
    found: dict[int, int] = {}
    before = 0
    for size in sizes:
        for first in range(before, size, _CHUNK):
            part = slice(first, min(first + _CHUNK, size))
            table.insert_many(*ours.runs_of_many(lows[part], highs[part]))
        found[size] = len(table)
        before = size
    return found


def _below_rows(stored: Stored) -> list[Row]:
    """Return the runs divided by boxes times dimensions, which the paper has below 1."""
    return [
        Row(
            f"{NAMES[law]}, {dimensions} dimensions, size {width}, {size:,} boxes: runs / (boxes x dimensions)",
            runs / (size * dimensions),
            1.0,
            good="smaller",
        )
        for law, by_point in stored.items()
        for (dimensions, width), by_size in by_point.items()
        if width == WIDTHS[0]
        for size, runs in [list(by_size.items())[-1]]
    ]


def _dimension_rows(stored: Stored) -> list[Row]:
    last = {law: [_last(by_point[each, WIDTHS[0]]) for each in DIMENSIONS] for law, by_point in stored.items()}
    steps = len(DIMENSIONS) - 1
    rows = [
        Row(
            f"{NAMES[law]}: times, of {steps}, that one more dimension means more runs",
            sum(fewer < more for fewer, more in itertools.pairwise(runs)),
            steps,
            good="exact",
        )
        for law, runs in last.items()
    ]
    fewer = sum(zipf < uniform for zipf, uniform in zip(last["zipf"], last["uniform"], strict=True))
    what = f"numbers of dimensions, of {len(DIMENSIONS)}, in which Zipf's law leaves fewer runs"
    return [*rows, Row(what, fewer, len(DIMENSIONS), good="exact")]


def _width_rows(stored: Stored) -> list[Row]:
    rows: list[Row] = []
    steps = len(WIDTHS) - 1
    for law, by_point in stored.items():
        by_width = [by_point[FIXED, width] for width in WIDTHS]
        runs = [_last(each) for each in by_width]
        rows += [
            Row(
                f"{NAMES[law]}, {FIXED} dimensions: times, of {steps}, that larger cubes mean more runs",
                sum(fewer < more for fewer, more in itertools.pairwise(runs)),
                steps,
                good="exact",
            ),
            Row(
                f"{NAMES[law]}, {FIXED} dimensions: sizes, of {len(WIDTHS)}, at which growth slows with boxes",
                sum(map(_slows, by_width)),
                len(WIDTHS),
                good="exact",
            ),
        ]
    return rows


def _last(by_size: Mapping[int, int]) -> int:
    return by_size[max(by_size)]


def _slows(by_size: Mapping[int, int]) -> bool:
    """Return whether a box adds fewer runs at the end than at the beginning."""
    sizes = sorted(by_size)
    first, last = sizes[0], sizes[-2:]
    return (by_size[last[1]] - by_size[last[0]]) / (last[1] - last[0]) < by_size[first] / first


def _series(stored: Stored) -> list[Series]:
    series: list[Series] = []
    for law, by_point in stored.items():
        panel = f"{NAMES[law]} law"
        for (dimensions, width), by_size in by_point.items():
            x = [float(size) for size in by_size]
            name = f"{dimensions} dimensions, size {width}"
            series.append(Series(name, x, [float(runs) for runs in by_size.values()], panel))
        series.append(Series(f"boxes x {FIXED}", x, [FIXED * size for size in x], panel))
    return series


def _table(law: Law, by_point: Mapping[tuple[int, int], Mapping[int, int]]) -> Table:
    return Table(
        f"Runs in the table, {NAMES[law]} law",
        ["dimensions, size", "boxes", "runs", "runs / (boxes x dimensions)"],
        [
            [f"{dimensions}, {width}", size, runs, runs / (size * dimensions)]
            for (dimensions, width), by_size in by_point.items()
            for size, runs in by_size.items()
        ],
    )


EXPERIMENT: Final = Experiment(
    id="001-storage",
    title="Runs stored",
    source="specs/001 §3 E6 and E7, Figures 11 and 12 (paper L387-395)",
    setup="Cubes are merged into one table, and its runs counted.",
    run=run,
    grid="counted",
)
