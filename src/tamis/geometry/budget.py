"""Fewer runs than a box has, at the price of cells outside of it (specs/001 F4).

F4 opens cubes, the one with the most cells outside of the box first. Here a region is cut in two instead (see
`tamis.geometry.regions`), and a region that has only one half in the box shrinks to that half at no charge. So
`node_cap` cuts make at most `node_cap + 1` pieces, whatever the number of dimensions. And a box that has no more than
`node_cap + 1` runs is not cut at all: its runs are found by descent, which is several times as fast, and exact.
"""

from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from tamis.geometry.bulk import convert
from tamis.geometry.curve import Curve
from tamis.geometry.grid import checked_box
from tamis.geometry.integers import Integers

#: The limits where none is asked for and an exact answer is not needed.
USUAL_MAX_RUNS: Final = 256
USUAL_NODE_CAP: Final = 16 * USUAL_MAX_RUNS


class Decomposition(NamedTuple):
    """Runs, ascending, disjoint and not adjacent, that hold every key of a box; `exact` if they hold no other."""

    starts: Integers
    ends: Integers
    exact: bool


def decompose(
    curve: Curve,
    low: npt.ArrayLike,
    high: npt.ArrayLike,
    max_runs: int | None = None,
    node_cap: int | None = None,
) -> Decomposition:
    """Return at most `max_runs` runs that hold a closed box, found with at most `node_cap` cuts; None is no limit.

    The cells covered never become more as either limit grows. Without limits the runs are those of the box. The gaps
    that are closed to come down to `max_runs` are the smallest, which is optimal for what the cuts gave.
    """
    low, high = checked_box(low, high, curve.dimensions, curve.bits)
    _, starts, ends, exact = convert(curve, low[np.newaxis], high[np.newaxis], max_runs, node_cap)
    return Decomposition(starts, ends, bool(exact[0]))
