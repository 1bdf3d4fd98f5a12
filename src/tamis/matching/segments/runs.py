"""Runs in flat arrays: what NumPy has as `repeat` and `bincount`, without keeping other threads waiting meanwhile."""

import numpy as np
import numpy.typing as npt

from tamis.compiled import kernel
from tamis.matching.ranks.lists import Ints, Longs


@kernel
def owners(starts: Ints) -> Ints:
    """Return for each place which run it is in; run n is from `starts[n]` up to `starts[n + 1]`, the first from 0."""
    found = np.empty(starts[-1], np.int32)
    for run in range(len(starts) - 1):
        for place in range(starts[run], starts[run + 1]):
            found[place] = run
    return found


@kernel
def run_starts(sizes: npt.NDArray[np.integer | np.bool_]) -> Ints:
    """Return where runs of these sizes start if they lie one behind the other, and where the last one ends."""
    found = np.zeros(len(sizes) + 1, np.int32)
    for run in range(len(sizes)):
        found[run + 1] = found[run] + sizes[run]
    return found


@kernel
def counts(numbers: npt.NDArray[np.integer], size: int) -> Longs:
    """Return how often each number below a size occurs."""
    found = np.zeros(size, np.int64)
    for number in numbers:
        found[number] += 1
    return found


@kernel
def places(starts: Ints, sizes: Ints) -> Longs:
    """Return the numbers from each start on, so many as its size says, one run behind the other."""
    total = 0
    for size in sizes:
        total += size
    found = np.empty(total, np.int64)
    used = 0
    for run in range(len(starts)):
        for place in range(starts[run], starts[run] + sizes[run]):
            found[used] = place
            used += 1
    return found
