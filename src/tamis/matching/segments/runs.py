"""Runs in flat arrays: what NumPy has as `cumsum` and `bincount`, without keeping other threads waiting meanwhile."""

import numpy as np
import numpy.typing as npt

from tamis.compiled import kernel
from tamis.matching.ranks.lists import Ints, Longs


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
