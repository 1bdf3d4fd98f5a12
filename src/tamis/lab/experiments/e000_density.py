"""Shen's Experiment A: do the interval lengths give the densities? (specs/000 §3)."""

from typing import Final, Literal

import numpy as np
import numpy.typing as npt

from tamis.lab.experiment import Context, Experiment, Figure, Outcome, Row, Scale, Series
from tamis.lab.workloads import Shen, Workload, generate

#: Densities in per cent, in the order of the lengths below.
DENSITIES: Final = (0.1, 0.2, 0.5, 1.0, 5.0, 10.0, 15.0, 20.0)
#: Uniform: the thesis' interval lengths. Normal: the Pareto law's least length `a`, as found in specs/000 §3 [V].
LENGTHS: Final[dict[Literal["uniform", "norm-1", "norm-2"], tuple[float, ...]]] = {
    "uniform": (0.2512, 0.2885, 0.3466, 0.3981, 0.5493, 0.6310, 0.6843, 0.7248),
    "norm-1": (0.162, 0.187, 0.227, 0.263, 0.378, 0.449, 0.499, 0.541),
    "norm-2": (0.196, 0.227, 0.275, 0.319, 0.460, 0.546, 0.609, 0.661),
}
#: The mean of the Pareto law with b = 19 is 19 a / 18.
PARETO_MEAN: Final = 19 / 18

#: Subscriptions and events. The thesis has 10,000 and 1,000; so few events leave the density uncertain by 10 %.
SIZES: Final = {Scale.QUICK: (4_000, 5_000), Scale.FULL: (10_000, 20_000)}
_EVENTS_AT_ONCE: Final = 250


def run(context: Context) -> Outcome:
    """Generate every distribution at every density and measure what comes out."""
    subscriptions, events = SIZES[context.scale]
    lengths: list[Row] = []
    densities: list[Row] = []
    series: list[Series] = []
    specs = [
        (Shen(subscriptions=subscriptions, events=events, distribution=each, density=percent / 100), context.seed)
        for each in LENGTHS
        for percent in DENSITIES
    ]
    found = iter(context.each(_measured, specs))
    for distribution, expected in LENGTHS.items():
        measured: list[float] = []
        means: list[float] = []
        for percent, length in zip(DENSITIES, expected, strict=True):
            mean, density = next(found)
            uniform = distribution == "uniform"
            means.append(mean)
            ours = mean if uniform else mean / PARETO_MEAN
            name = "length" if uniform else "a"
            lengths.append(Row(f"{distribution}, {percent:g} %: {name}", ours, length, tolerance=0.01))
            measured.append(density)
            densities.append(Row(f"{distribution}, {percent:g} %: density", density, percent, "%"))
        series.append(Series(distribution, means, measured))
    return Outcome(
        rows=densities + lengths,
        figure=Figure("mean interval length", "density, %", series, log=True),
        notes=[
            "The thesis states the uniform lengths; the values of `a` were found for specs/000 by simulation, "
            "with events and centres drawn again when they fall outside [0, 1].",
            "Lengths and `a` are given to the generator, so those rows only check that it draws them; the "
            "densities are measured.",
            f"{subscriptions:,} subscriptions and {events:,} events at each density; every pair is tested.",
        ],
    )


Floats = npt.NDArray[np.float64]


def _measured(spec: Shen, seed: int) -> tuple[float, float]:
    """Return the mean length and the density in per cent."""
    low, high, points = _arrays(generate(spec, seed))
    return float(np.mean(high - low)), 100 * _density(low, high, points)


def _arrays(workload: Workload) -> tuple[Floats, Floats, Floats]:
    """Return the boxes' low and high corners and the points, one row each."""
    predicates = workload.conditions.columns()
    shape = (len(workload.conditions), -1)
    points = np.stack([column.to_numpy() for column in workload.events.table().columns], axis=1)
    return predicates["low"].to_numpy().reshape(shape), predicates["high"].to_numpy().reshape(shape), points


def _density(low: Floats, high: Floats, points: Floats) -> float:
    """Return the share of pairs of a box and a point in it, by testing all of them."""
    matches = 0
    for start in range(0, len(points), _EVENTS_AT_ONCE):
        some = points[start : start + _EVENTS_AT_ONCE]
        inside = np.ones((len(some), len(low)), dtype=np.bool_)
        for dimension in range(low.shape[1]):
            values = some[:, dimension, None]
            inside &= (values >= low[:, dimension]) & (values <= high[:, dimension])
        matches += int(np.count_nonzero(inside))
    return matches / (len(points) * len(low))


EXPERIMENT: Final = Experiment(
    id="000-density",
    title="Interval lengths against matching densities",
    source="specs/000 §3, Experiment A (thesis L551-579)",
    setup="Boxes of five attributes on [0, 1]; the share of boxes that an event meets should be the density "
    "that the box lengths were chosen for.",
    run=run,
    grid="counted",
)
