"""The settings of specs/003 §4, piece by piece: a value that moves, and radii or centres of those who watch it.

The laws are those of `values`; here they come as doubles and one at a time, for experiments that load structures. Equal
seeds give equal draws; the pieces of one seed are independent of each other.

[INF] The paper does not say on which grid radii lie, nor what everybody was told first, nor how widely the centres of
one radius spread. The grid of a quarter, the equal start and the spread were chosen because Tables 2 and 3 then come
out as printed. So the unicast row of Table 2 and the CN(lid) row of Table 3 confirm nothing by themselves.
"""

from typing import Final

import numpy as np

from tamis.lab.workloads.draws import Floats, truncated_normal
from tamis.lab.workloads.values import CENTRE_DEVIATION, SAME_RADIUS, different, mixed

#: Constant, phi and sigma of the value: of `diff-rad`, and of `same-rad` and `all-rad` (Table 1).
DIFF_RAD_SERIES: Final = (400.0, 1.0, 1_000.0)
SAME_RAD_SERIES: Final = (500.0, 1.0, 800.0)
#: [INF] Where every series starts, and what those are told first who are there from the start.
START: Final = 0.0
EVENTS: Final = 100_000
#: [INF] Steps of a value or a radius in a unit. Quarters are exact in doubles.
TICKS: Final = 4
#: Subscriptions of Table 2 and of Table 3.
DIFF_RAD_SIZES: Final = (20_000, 40_000, 60_000, 80_000, 100_000)
SAME_RAD_SIZES: Final = (10_000, 20_000, 30_000, 40_000, 50_000)
#: The radius of `same-rad`, and [INF] the standard deviation of its centres.
RADIUS: Final = float(SAME_RADIUS)
SIGMA: Final = float(CENTRE_DEVIATION)
#: [INF] Ticks in a dollar of `all-rad`: the paper does not say.
TICKS_PER_DOLLAR: Final = (100, 1_000)

_SERIES, _RADII, _CENTRES, _ALL = range(4)


def ar1(constant: float, phi: float, sigma: float, start: float, count: int, seed: int) -> Floats:
    """Return `count` values of U_i = constant + phi * U_(i-1) + N(0, sigma) after `start`, on the grid of a quarter."""
    steps = _source(seed, _SERIES).normal(constant, sigma, count)
    if phi == 1:
        return _on_grid(start + np.cumsum(steps))
    series = np.empty(count)
    value = start
    for place, step in enumerate(steps.tolist()):
        value = series[place] = phi * value + step
    return _on_grid(series)


def diff_radii(count: int, seed: int) -> Floats:
    """Return the radii of `diff-rad`, ascending: by N(25000, 50000) cut to [1, 200k].

    [INF] `count` are drawn on the grid of a quarter and each is kept once, so that fewer come back: of 100,000 about
    90,000. The paper's "number of subscriptions" is then the number drawn.
    """
    radii, _ = different(_source(seed, _RADII), count, TICKS)
    return np.asarray(radii / TICKS)


def same_centres(count: int, value: float, sigma: float, radius: float, seed: int) -> Floats:
    """Return what the subscriptions of one radius were told last, ascending: by a normal law round a value.

    [INF] Cut at half the radius, so that they span less than it: otherwise the circular order would not hold (F6).
    """
    furthest = radius / 2 - 1
    centres = truncated_normal(_source(seed, _CENTRES), 0, sigma, -furthest, furthest, count)
    return np.sort(_on_grid(value + centres))


def all_radii(count: int, ticks_per_dollar: int, seed: int) -> Floats:
    """Return the radii of `all-rad` in ticks, in the order of arrival: a tenth of them on cents, the rest on dollars.

    [INF] None is zero; how many ticks a dollar has is left open.
    """
    radii, _ = mixed(_source(seed, _ALL), count, ticks_per_dollar)
    return radii.astype(np.float64)


def _source(seed: int, piece: int) -> np.random.Generator:
    return np.random.default_rng([seed, piece])


def _on_grid(values: Floats) -> Floats:
    return np.asarray(np.rint(values * TICKS) / TICKS)
