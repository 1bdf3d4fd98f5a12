"""The table of MICS against a loop over all boxes, as these become more: Figures 8 to 10 of the paper (specs/001)."""

import gc
import itertools
from collections.abc import Callable, Mapping
from typing import Final, TypeAlias

import numpy as np

from tamis.lab.content import AIM_DIMENSIONS, AIM_SIZE, DIMENSIONS, LAWS, NAMES, SIZES, Content, Law, content
from tamis.lab.experiment import Context, Figure, Row, Scale, Series, Table
from tamis.lab.workloads.mics import CELLS

#: What runs in every race: the loop, and our table asked about many at once and about one at a time.
LOOP, BULK, SINGLE = "loop", "table, in bulk", "table, one by one"
#: How many boxes or publications are timed.
ASKED: Final = {Scale.QUICK: 200, Scale.FULL: 1_000}
#: From the fewest boxes to the most a time is nearly flat if it changes by no more than this.
NEARLY: Final = 0.5

#: Law -> dimensions -> number of boxes -> what ran -> microseconds for one.
Times: TypeAlias = Mapping[Law, Mapping[int, Mapping[int, Mapping[str, float]]]]
#: Given boxes that are held, and boxes and uniform publications to ask about: seconds by name for all of these.
Heat: TypeAlias = Callable[[Content, Content], Mapping[str, float]]


def race(context: Context, width: int, heat: Heat) -> Times:
    """Run a heat for cubes of one size in every law, number of dimensions and number of boxes."""
    sizes, asked = SIZES[context.scale], ASKED[context.scale]
    points = [(law, dimensions) for law in LAWS for dimensions in DIMENSIONS]
    times: dict[Law, dict[int, dict[int, Mapping[str, float]]]] = {law: {} for law in LAWS}
    rng = np.random.default_rng(context.seed)
    for done, (law, dimensions) in enumerate(points):
        context.progress(done, len(points))
        lows, highs, _ = content(
            context.seed,
            subscriptions=max(sizes) + asked,
            events=1,
            attributes=dimensions,
            law=law,
            narrowest=width,
            widest=width,
        )
        points_asked = rng.integers(0, CELLS, (asked, dimensions))
        question = Content(lows[max(sizes) :], highs[max(sizes) :], points_asked)
        for size in sizes:
            held = Content(lows[:size], highs[:size], points_asked)
            gc.collect()
            seconds = heat(held, question)
            times[law].setdefault(dimensions, {})[size] = {name: 1e6 * each / asked for name, each in seconds.items()}
    context.progress(len(points), len(points))
    return times


def aim_rows(times: Times, what: str) -> list[Row]:
    """Return how much faster than the loop the table is where our aim is stated, or as near as was run."""
    rows: list[Row] = []
    for law, by_dimensions in times.items():
        by_size = by_dimensions[AIM_DIMENSIONS]
        size = min(by_size, key=lambda each: abs(each - AIM_SIZE))
        rows += [
            Row(
                f"{NAMES[law]}, {AIM_DIMENSIONS} dimensions, {size:,} boxes: {what}, loop / {name}",
                by_size[size][LOOP] / by_size[size][name],
            )
            for name in by_size[size]
            if name != LOOP
        ]
    return rows


def flat_rows(times: Times, what: str) -> list[Row]:
    """Return how times grow with the number of boxes: the paper says nearly not.

    As all about shapes, in bulk: one by one, most of the time goes into calling and does not depend on the table.
    """
    rows: list[Row] = []
    for law, by_dimensions in times.items():
        for dimensions, by_size in by_dimensions.items():
            fewest, most = min(by_size), max(by_size)
            grown = by_size[most][BULK] / by_size[fewest][BULK]
            label = f"{NAMES[law]}, {dimensions} dimensions: {what}, {most:,} / {fewest:,} boxes"
            rows.append(Row(label, grown, 1.0, tolerance=NEARLY))
    return rows


def slower_rows(times: Times, what: str, grows: bool) -> list[Row]:
    """Return in how many cases uniform boxes take longer, and more dimensions: the paper says in all."""
    last = {law: [by_size[max(by_size)][BULK] for by_size in each.values()] for law, each in times.items()}
    pairs = list(zip(last["uniform"], last["zipf"], strict=True))
    rows = [
        Row(
            f"numbers of dimensions, of {len(pairs)}, in which {what} takes longer with the uniform law",
            sum(uniform > zipf for uniform, zipf in pairs),
            len(pairs),
            good="exact",
        )
    ]
    if grows:
        rows += [
            Row(
                f"{NAMES[law]}: times, of {len(each) - 1}, that one more dimension makes {what} slower",
                sum(fewer < more for fewer, more in itertools.pairwise(each)),
                len(each) - 1,
                good="exact",
            )
            for law, each in last.items()
        ]
    return rows


def figure(times: Times, y_label: str) -> Figure:
    """Draw all that ran where our aim is stated, a panel for each law."""
    series: list[Series] = []
    for law, by_dimensions in times.items():
        by_size = by_dimensions[AIM_DIMENSIONS]
        names = list(next(iter(by_size.values())))
        x = [float(size) for size in by_size]
        panel = f"{NAMES[law]}, {AIM_DIMENSIONS} dimensions"
        series += [Series(name, x, [each[name] for each in by_size.values()], panel) for name in names]
    return Figure("boxes", y_label, series, log_y=True)


def tables(times: Times) -> list[Table]:
    """Return all times, a table for each law."""
    names = list(times["zipf"][DIMENSIONS[0]][min(times["zipf"][DIMENSIONS[0]])])
    return [
        Table(
            f"µs for one, {NAMES[law]} law",
            ["dimensions, boxes", *names],
            [
                [f"{dimensions}, {size:,}", *(each[name] for name in names)]
                for dimensions, by_size in by_dimensions.items()
                for size, each in by_size.items()
            ],
        )
        for law, by_dimensions in times.items()
    ]
