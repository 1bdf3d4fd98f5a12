"""Which attributes are worth indexing (specs/001 F10, F11)?

The paper takes the most selective ones and does not say what that is; its experiment takes the first three of seven.
Here an attribute is the better, the fewer pairs of subscriptions overlap in it: two that do not are told apart by it.
"""

from typing import Final

import numpy as np
import numpy.typing as npt

from tamis.geometry.leaves import Longs

#: Pairs that are looked at for each attribute.
PAIRS: Final = 4096


def overlap_probabilities(lows: Longs, highs: Longs, seed: int = 0) -> npt.NDArray[np.float64]:
    """Return for each attribute how likely two of the boxes, drawn at random, overlap in it."""
    if not len(lows):
        raise ValueError("there is no box to draw")
    left, right = np.random.default_rng(seed).integers(0, len(lows), (2, PAIRS))
    overlaps = (lows[left] <= highs[right]) & (lows[right] <= highs[left])
    return np.asarray(overlaps.mean(axis=0))


def most_selective(lows: Longs, highs: Longs, count: int, seed: int = 0) -> list[int]:
    """Return so many attributes in ascending order: those in which the fewest pairs of boxes overlap."""
    ranked = np.argsort(overlap_probabilities(lows, highs, seed), kind="stable")
    return sorted(ranked[:count].tolist())
