"""What does the ε-approximate detector find, and with how much work? Experiment D (specs/000 §6)."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import ceil, prod
from statistics import fmean, median
from time import process_time
from typing import Final, TypeAlias

import numpy as np

from tamis.covering.detectors import NO_LIMIT, Detector
from tamis.covering.detectors.dominance import BITS, EPSILON, Dominance
from tamis.covering.detectors.kdtree import KdTree
from tamis.covering.detectors.scan import Scan
from tamis.geometry.extremal import Extremal
from tamis.lab.experiment import Context, Experiment, Figure, Outcome, Row, Scale, Series, Table
from tamis.lab.questions import Boxes, Work, ask, cells_of, draw, hold
from tamis.lab.replay import UNIT

EPSILONS: Final = (0.0, 0.01, 0.05, 0.1, 0.3)
#: How many sides boxes have; their points have twice as many coordinates.
SIDES: Final = (1, 2, 3, 4, 5, 6)
SIZES: Final = {Scale.QUICK: (1_000, 10_000), Scale.FULL: (1_000, 10_000, 100_000)}
QUERIES: Final = {Scale.QUICK: 200, Scale.FULL: 2_000}
#: The sides and the number of boxes for which our aim is stated, at the ε that is the default.
AIM_SIDES, AIM_SIZE = 3, 10_000
#: Questions put to the search that goes through all cubes, and how many of these it may.
FAITHFUL: Final = {Scale.QUICK: (10, 10_000), Scale.FULL: (30, 100_000)}
#: Dimensions -> median cubes at ε = 0.05 and in all, as specs/000 §6 has them.
CUBES: Final[Mapping[int, tuple[float, float]]] = {2: (42, 1_450), 4: (1.9e5, 9.4e8), 6: (6.4e9, 7e14)}
RECTANGLES: Final = 200
#: Rectangles whose longest side is longer by so many bits are taken together.
MOST_ASPECT: Final = 4

#: Name of a detector -> what it did until the first coverer, and for all coverers.
Works: TypeAlias = Mapping[str, tuple[Work, Work]]


def run(context: Context) -> Outcome:
    """Ask scan, K-d tree and dominance about the same boxes, for every number of sides and of boxes."""
    rng = np.random.default_rng(context.seed)
    queries, sizes = QUERIES[context.scale], SIZES[context.scale]
    points = sorted({(sides, AIM_SIZE) for sides in SIDES} | {(AIM_SIDES, size) for size in sizes})
    works: dict[tuple[int, int], Works] = {}
    for done, (sides, size) in enumerate(points):
        context.progress(done, len(points) + 1)
        boxes = draw(rng, sides, size, queries)
        works[sides, size] = _compare(boxes)
        if (sides, size) == (AIM_SIDES, AIM_SIZE):
            aim = boxes
    context.progress(len(points), len(points) + 1)
    cubes = _explosion(rng)
    asked, budget = FAITHFUL[context.scale]
    faithful = _faithful(rng, asked, budget)
    context.progress(len(points) + 1, len(points) + 1)
    return Outcome(
        rows=_rows(works[AIM_SIDES, AIM_SIZE], cubes, _failing(aim, works[AIM_SIDES, AIM_SIZE])),
        figure=Figure("dimensions of the grid", "looked at for one question", _series(works, cubes), log_y=True),
        notes=_notes(queries),
        tables=[
            _found_table({sides: works[sides, AIM_SIZE] for sides in SIDES}),
            _sizes_table({size: works[AIM_SIDES, size] for size in sizes}),
            _aspects_table(aim, works[AIM_SIDES, AIM_SIZE]),
            _cubes_table(cubes),
            faithful,
        ],
    )


# --- questions --------------------------------------------------------------------------------------------


def _dominance(sides: int, epsilon: float) -> Dominance:
    return Dominance(sides, epsilon, bounds=(0, UNIT))


def _compare(boxes: Boxes) -> Works:
    sides = boxes.low.shape[1]
    detectors: dict[str, Detector] = {
        "scan": Scan(sides),
        "K-d tree": KdTree(sides),
        **{f"ε = {epsilon:g}": _dominance(sides, epsilon) for epsilon in EPSILONS},
        f"ε = {EPSILON:g}, learned cells": Dominance(sides),
    }
    works: dict[str, tuple[Work, Work]] = {}
    for name, detector in detectors.items():
        hold(detector, boxes)
        works[name] = ask(detector, boxes, 1), ask(detector, boxes, NO_LIMIT)
    return works


def _failing(boxes: Boxes, works: Works) -> float:
    """Return the share of hits on the grid that are no coverers."""
    held = cells_of(boxes.low, boxes.high)
    hits = sum(int((held >= cell).all(axis=1).sum()) for cell in cells_of(boxes.asked_low, boxes.asked_high))
    return 1 - works["scan"][1].hits / hits


# --- cubes ----------------------------------------------------------------------------------------------


def _explosion(rng: np.random.Generator) -> dict[int, tuple[float, float]]:
    """Return, by dimensions, the median number of cubes at `EPSILON` and in all; sides of 512 to 1023."""
    medians = {}
    for dimensions in (2 * sides for sides in SIDES):
        rectangles = [
            Extremal(sides.tolist(), BITS) for sides in rng.integers(1 << 9, 1 << 10, (RECTANGLES, dimensions))
        ]
        medians[dimensions] = (
            float(median(_cubes(each, EPSILON) for each in rectangles)),
            float(median(each.all_cubes() for each in rectangles)),
        )
    return medians


def _cubes(rectangle: Extremal, epsilon: float) -> int:
    """Return how many cubes a search goes through that stops as soon as it may, in the middle of a level."""
    last = rectangle.level_for(epsilon)
    missing = (1 - Fraction(epsilon)) * rectangle.volume - prod(rectangle.cleared(last + 1))
    return sum(map(rectangle.cubes, range(last + 1, rectangle.top_level + 1))) + ceil(
        missing / (1 << last * rectangle.dimensions)
    )


def _faithful(rng: np.random.Generator, asked: int, budget: int) -> Table:
    """Compare the search through all cubes with the one that follows boxes."""
    rows: list[list[str | float | None]] = []
    for sides in SIDES[:AIM_SIDES]:
        boxes = draw(rng, sides, AIM_SIZE, asked)
        short = _dominance(sides, EPSILON)
        hold(short, boxes)
        few = ask(short, boxes, 1)
        for finish in (False, True):
            long = Dominance(sides, mode="faithful", bounds=(0, UNIT), cubes=budget, finish_level=finish)
            for handle, (low, high) in enumerate(zip(boxes.low, boxes.high, strict=True)):
                long.add(handle, low, high)
            shares: list[float] = []
            probed: list[int] = []
            answered = 0
            started = process_time()
            for low, high in zip(boxes.asked_low, boxes.asked_high, strict=True):
                before = long.probed
                # For all coverers: a hit in the first cubes would hide how many there are.
                answered += bool(long.coverers(low, high, NO_LIMIT))
                shares.append(long.coverage)
                probed.append(long.probed - before)
            seconds = process_time() - started
            rows.append(
                [
                    f"{sides}{', level finished' if finish else ''}",
                    answered,
                    few.answered,
                    float(median(probed)),
                    sum(each == budget for each in probed) / asked,
                    min(shares),
                    fmean(shares),
                    1e3 * seconds / asked,
                    few.microseconds / 1e3,
                ]
            )
    return Table(
        f"Through all cubes, at most {budget:,} of them: {asked} questions, {AIM_SIZE:,} boxes, ε = {EPSILON:g}",
        [
            "sides",
            "answered",
            "answered by following boxes",
            "cubes, median",
            "share given up",
            "least coverage",
            "mean coverage",
            "ms",
            "ms following boxes, to the first",
        ],
        rows,
    )


# --- what is shown --------------------------------------------------------------------------------------


def _rows(aim: Works, cubes: Mapping[int, tuple[float, float]], failing: float) -> list[Row]:
    rows: list[Row] = []
    first_scan, all_scan = aim["scan"]
    for name in (f"ε = {EPSILON:g}", f"ε = {EPSILON:g}, learned cells"):
        first, whole = aim[name]
        what = f"{AIM_SIDES} sides, {AIM_SIZE:,} boxes, {name}"
        rows += [
            Row(f"{what}: covered questions answered", 100 * first.answered / first_scan.answered, unit="%"),
            Row(f"{what}: coverers found", 100 * whole.hits / all_scan.hits, unit="%"),
            Row(f"{what}: looked at by scan / by dominance, first", _looked(first_scan) / _looked(first)),
            Row(f"{what}: looked at by scan / by dominance, all", _looked(all_scan) / _looked(whole)),
            Row(f"{what}: time of scan / of dominance, first", first_scan.microseconds / first.microseconds),
            Row(
                f"{what}: time of K-d tree / of dominance, first", aim["K-d tree"][0].microseconds / first.microseconds
            ),
        ]
    rows.append(Row("hits on the grid that do not cover", 100 * failing, unit="%"))
    rows += [
        Row(f"{dimensions} dimensions: {what}", ours)
        for dimensions in CUBES
        for what, ours in zip((f"cubes at ε = {EPSILON:g}", "cubes in all"), cubes[dimensions], strict=True)
    ]
    return rows


def _looked(work: Work) -> float:
    return fmean(work.touched)


def _series(works: Mapping[tuple[int, int], Works], cubes: Mapping[int, tuple[float, float]]) -> list[Series]:
    x = [2.0 * sides for sides in SIDES]
    at = [works[sides, AIM_SIZE] for sides in SIDES]
    return [
        Series("all cubes", x, [cubes[2 * sides][1] for sides in SIDES]),
        Series(f"cubes at ε = {EPSILON:g}", x, [cubes[2 * sides][0] for sides in SIDES]),
        *(
            Series(f"{name}, {AIM_SIZE:,} boxes", x, [_looked(each[key][1]) for each in at])
            for name, key in (("scan", "scan"), ("K-d tree", "K-d tree"), ("following boxes", f"ε = {EPSILON:g}"))
        ),
    ]


def _found_table(works: Mapping[int, Works]) -> Table:
    rows: list[list[str | float | None]] = []
    for sides, by_name in works.items():
        exact_first, exact_all = by_name["scan"]
        for name, (first, whole) in by_name.items():
            rows.append(
                [
                    f"{sides}, {name}",
                    _share(first.answered, exact_first.answered),
                    _share(whole.hits, exact_all.hits),
                    _looked(first),
                    float(median(first.touched)),
                    _looked(whole),
                    first.microseconds,
                    whole.microseconds,
                ]
            )
    return Table(
        f"{AIM_SIZE:,} boxes",
        [
            "sides",
            "answered, %",
            "found of all, %",
            "looked at, first",
            "median",
            "looked at, all",
            "µs, first",
            "µs, all",
        ],
        rows,
    )


def _sizes_table(works: Mapping[int, Works]) -> Table:
    return Table(
        f"{AIM_SIDES} sides, until the first coverer",
        ["boxes", "answered, %", *(f"looked at, {name}" for name in _shown()), *(f"µs, {name}" for name in _shown())],
        [
            [
                f"{size:,}",
                _share(by_name[f"ε = {EPSILON:g}"][0].answered, by_name["scan"][0].answered),
                *(_looked(by_name[name][0]) for name in _shown()),
                *(by_name[name][0].microseconds for name in _shown()),
            ]
            for size, by_name in works.items()
        ],
    )


def _shown() -> Sequence[str]:
    return "scan", "K-d tree", f"ε = {EPSILON:g}"


def _aspects_table(boxes: Boxes, works: Works) -> Table:
    """Return what was found by the aspect of the rectangle: by how many bits its longest side is longer."""
    exact, ours = works["scan"][1], works[f"ε = {EPSILON:g}"][1]
    groups: defaultdict[int, list[tuple[int, int, int, int]]] = defaultdict(list)
    for at, cells in enumerate(cells_of(boxes.asked_low, boxes.asked_high).tolist()):
        rectangle = Extremal.above(cells, BITS)
        groups[min(rectangle.aspect, MOST_ASPECT)].append(
            (exact.found[at], ours.found[at], ours.touched[at], _cubes(rectangle, EPSILON))
        )
    return Table(
        f"By aspect: {AIM_SIDES} sides, {AIM_SIZE:,} boxes, ε = {EPSILON:g}",
        ["aspect", "questions", "coverers of one, mean", "found of all, %", "looked at, all", "cubes, median"],
        [
            [
                f"{aspect}{' or more' if aspect == MOST_ASPECT else ''}",
                len(members),
                fmean(each[0] for each in members),
                _share(sum(each[1] for each in members), sum(each[0] for each in members)),
                fmean(each[2] for each in members),
                _short(float(median(each[3] for each in members))),
            ]
            for aspect, members in sorted(groups.items())
        ],
    )


def _cubes_table(cubes: Mapping[int, tuple[float, float]]) -> Table:
    return Table(
        f"How many cubes there are: sides of 512 to 1023 of {1 << BITS}, median of {RECTANGLES} rectangles",
        ["dimensions", f"ε = {EPSILON:g}", "in specs/000", "all", "in specs/000"],
        [
            [
                str(dimensions),
                *(
                    _short(value)
                    for both in zip(ours, CUBES.get(dimensions, (None, None)), strict=True)
                    for value in both
                ),
            ]
            for dimensions, ours in cubes.items()
        ],
    )


def _short(value: float | None) -> str | float | None:
    """Return a number, as text if it has very many digits."""
    return value if value is None or value < 1e6 else f"{value:.2g}"


def _share(part: float, whole: float) -> float | None:
    return 100 * part / whole if whole else None


def _notes(queries: int) -> list[str]:
    return [
        "The thesis gives the algorithm and bounds but no experiment, so there are no figures to compare with. Our aim "
        f"at ε = {EPSILON:g}: at least 95 % of the coverers, with at least 5 times fewer looked at than by a scan.",
        f"{queries:,} questions for each number of sides and boxes; each side lies between two uniform numbers. "
        "'Looked at' counts slices of the array or nodes of the tree, and boxes compared. 'First' stops at the first "
        "coverer, as G_1 asks; 'all' does not. Times are processor times of one thread.",
        "The grid has 1,024 cells for each coordinate, of equal width unless it says 'learned cells', which hold "
        "equally many boxes. Every hit is verified with the box itself.",
        "The search follows only slices that hold boxes, the half with the greater cells first. Its work hardly "
        "depends on ε: what ε saves are the smallest cubes, and few of these hold anything. So an ε of 0, which misses "
        "nothing, costs about the same.",
        "The K-d tree is the better one: it has boxes around what is there, the curve only the cubes of the grid, of "
        "which each step halves one dimension.",
    ]


EXPERIMENT: Final = Experiment(
    id="000-dominance",
    title="Approximate covering on the Z curve",
    source="specs/000 §6, Experiment D (thesis L1038-1418)",
    setup="Random boxes as points on a grid; a question is which of them dominate the point of another.",
    run=run,
)
