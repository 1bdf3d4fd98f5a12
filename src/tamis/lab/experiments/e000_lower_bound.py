"""How many runs does a rectangle need? Theorems 2 and 3 and Lemma 9 of the thesis (specs/000 §6)."""

from collections.abc import Iterator
from typing import Final

import msgspec
import numpy as np

from tamis.geometry.curve import curve
from tamis.geometry.extremal import Extremal, bits_to_keep, hardest, hardest_runs, most_cubes
from tamis.lab.experiment import Context, Experiment, Figure, Outcome, Row, Scale, Series, Table

#: Rectangles of Theorem 3 whose runs at least are no more than this are counted.
MOST_RUNS: Final = {Scale.QUICK: 1 << 12, Scale.FULL: 1 << 17}
DIMENSIONS: Final = (2, 3, 4)
ASPECTS: Final = (0, 1, 2, 3)
#: What Theorem 2 is shown with: the dimensions, the share that may be left out, and the aspect.
SHOWN_DIMENSIONS, SHOWN_EPSILON, SHOWN_ASPECT = 2, 0.3, 1
#: Random rectangles for the bound of Lemma 9, their dimensions and bits.
RECTANGLES: Final = {Scale.QUICK: 2_000, Scale.FULL: 50_000}
LEMMA_DIMENSIONS, LEMMA_BITS = 8, 16


class Hard(msgspec.Struct, frozen=True):
    """A rectangle of Theorem 3: its runs at least, its runs, and its cubes."""

    dimensions: int
    gamma: int
    alpha: int
    bound: int
    runs: int
    cubes: int


def run(context: Context) -> Outcome:
    """Count runs and cubes, and hold them against the bounds."""
    cases = list(_cases(MOST_RUNS[context.scale]))
    hard = []
    for done, (dimensions, gamma, alpha) in enumerate(cases):
        context.progress(done, len(cases))
        rectangle = hardest(dimensions, gamma, alpha, gamma + alpha)
        hard.append(
            Hard(
                dimensions,
                gamma,
                alpha,
                hardest_runs(dimensions, gamma, alpha),
                len(runs_of(rectangle)),
                rectangle.all_cubes(),
            )
        )
    context.progress(len(cases), len(cases))
    broken, corrected, worst = _lemma_9(np.random.default_rng(context.seed), RECTANGLES[context.scale])
    return Outcome(
        rows=_golden() + _counts(hard, broken, corrected, worst),
        figure=Figure("bits of the shortest side", "runs on the Z curve", list(_series(hard)), log_y=True),
        notes=[
            "Rectangles lie at the top corner of the grid. 'Paper' holds what the text of the thesis says, or its "
            "bounds.",
            "Theorem 3: in d dimensions an exhaustive search needs at least 2 ** ((g + a - 1)(d - 1)) runs for the "
            "rectangle whose last side is 2 ** g - 1 and whose other sides have g + a bits. Theorem 2: a search that "
            "may leave out ε needs a number that does not depend on the length of the sides. The figure shows both.",
            "Lemma 9 as printed fails where 2 ** a is not above d - 1, which its proof assumes; m is the number of "
            "bits that are kept of each side. The corrected bound is d m (2 ** (a + m) - 1) ** (d - 1).",
            "For the share of one cell in 257 x 257 the thesis has 0.015 %; it is a tenth of that.",
        ],
        tables=[
            Table(
                "Rectangles of Theorem 3, the largest that were counted",
                ["d, g, a", "runs at least", "runs", "cubes"],
                [
                    [f"{each.dimensions}, {each.gamma}, {each.alpha}", each.bound, each.runs, each.cubes]
                    for each in _largest(hard)
                ],
            )
        ],
    )


def _largest(hard: list[Hard]) -> list[Hard]:
    """Return the largest rectangle of each number of dimensions and each aspect."""
    return list({(each.dimensions, each.alpha): each for each in hard}.values())


def runs_of(rectangle: Extremal) -> list[int]:
    """Return the lengths of the runs of a rectangle on the Z curve."""
    z = curve("z", rectangle.dimensions, rectangle.bits)
    starts, ends = z.runs(rectangle.corner(), [(1 << rectangle.bits) - 1] * rectangle.dimensions)
    return list(map(int, ends - starts + 1))


def _cases(most: int) -> Iterator[tuple[int, int, int]]:
    for dimensions in DIMENSIONS:
        for alpha in ASPECTS:
            gamma = 1
            while hardest_runs(dimensions, gamma, alpha) <= most:
                yield dimensions, gamma, alpha
                gamma += 1


def _golden() -> list[Row]:
    """Return what the text of the thesis says of one rectangle (L1125)."""
    odd = Extremal((257, 257), 9)
    lengths = runs_of(odd)
    return [
        Row("256 x 256: runs", len(runs_of(Extremal((256, 256), 9))), 1, good="exact"),
        Row("257 x 257: runs", len(lengths), 385, good="exact"),
        Row("257 x 257: cubes", odd.all_cubes()),
        Row("257 x 257: the largest run", 100 * max(lengths) / odd.volume, 99.22, "%", tolerance=0.0001),
        Row("257 x 257: one cell", 100 / odd.volume, 0.015, "%"),
    ]


def _lemma_9(rng: np.random.Generator, rectangles: int) -> tuple[int, int, float]:
    """Return how many random rectangles break the lemma, how many the corrected bound, and how near they come to it."""
    broken = corrected = 0
    worst = 0.0
    for _ in range(rectangles):
        dimensions = int(rng.integers(2, LEMMA_DIMENSIONS + 1))
        kept = int(rng.integers(1, 8))
        lengths = rng.integers(1, LEMMA_BITS + 1, dimensions) if rng.random() < 0.5 else [int(rng.integers(1, 17))]
        # All bits set where few are kept: the more bits are set, the more cubes there are.
        sides = [(1 << int(bits)) - 1 - int(rng.integers(0, 2)) for bits in np.resize(lengths, dimensions)]
        rectangle = Extremal([max(1, side) for side in sides], LEMMA_BITS).truncated(kept)
        cubes = rectangle.all_cubes()
        bound = most_cubes(dimensions, rectangle.aspect, kept)
        broken += cubes >= printed_bound(dimensions, rectangle.aspect, kept)
        corrected += cubes > bound
        worst = max(worst, cubes / bound)
    return broken, corrected, worst


def printed_bound(dimensions: int, alpha: int, kept: int) -> int:
    """Return what Lemma 9 says of the number of cubes: that they are fewer."""
    return int(kept * (2**alpha * (2**kept - 1)) ** (dimensions - 1))


def _counts(hard: list[Hard], broken: int, corrected: int, worst: float) -> list[Row]:
    counterexample = Extremal([31] * 6, 5)
    return [
        Row("Theorem 3: rectangles with fewer runs than it says", sum(each.runs < each.bound for each in hard), 0),
        Row("rectangles with more runs than cubes (Lemma 3)", sum(each.runs > each.cubes for each in hard), 0),
        Row("Lemma 9, d = 6, a = 0, m = 5, sides of 31: cubes", counterexample.all_cubes(), printed_bound(6, 0, 5)),
        Row("Lemma 9 as printed: random rectangles that break it", broken, 0, good="exact"),
        Row("Lemma 9 corrected: random rectangles that break it", corrected),
        Row("Lemma 9 corrected: largest share of the bound", worst),
    ]


def _series(hard: list[Hard]) -> Iterator[Series]:
    shown = [each for each in hard if (each.dimensions, each.alpha) == (SHOWN_DIMENSIONS, SHOWN_ASPECT)]
    x = [float(each.gamma) for each in shown]
    kept = bits_to_keep(SHOWN_DIMENSIONS, SHOWN_EPSILON)
    what = f"d = {SHOWN_DIMENSIONS}, a = {SHOWN_ASPECT}"
    yield Series(f"{what}: all of the rectangle", x, [float(each.runs) for each in shown])
    yield Series(f"{what}: at least (Theorem 3)", x, [float(each.bound) for each in shown])
    approximate = [
        len(runs_of(hardest(each.dimensions, each.gamma, each.alpha, each.gamma + each.alpha).truncated(kept)))
        for each in shown
    ]
    yield Series(
        f"{what}: all but {SHOWN_EPSILON:g}, {kept} bits of each side", x, [float(runs) for runs in approximate]
    )
    bound = float(most_cubes(SHOWN_DIMENSIONS, SHOWN_ASPECT, kept))
    yield Series(f"{what}: at most, for all but {SHOWN_EPSILON:g}", x, [bound] * len(x))


EXPERIMENT: Final = Experiment(
    id="000-lower-bound",
    title="Runs of a rectangle on the Z curve",
    source="specs/000 §6, Theorems 2 and 3, Lemma 9 (thesis L1119-1340)",
    setup="Rectangles that are hard to search exhaustively, by construction, and random ones.",
    run=run,
)
