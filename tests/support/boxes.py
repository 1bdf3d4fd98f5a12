"""Small random boxes: few places, so that many cover each other."""

import numpy as np
import numpy.typing as npt
from hypothesis import strategies as st

Sides = tuple[tuple[int, int], ...]
_LEAST, _GREATEST = -(2**63), 2**63 - 1
_PLACES = st.integers(0, 5) | st.sampled_from((_LEAST, _GREATEST))


def boxes(dimensions: int) -> st.SearchStrategy[Sides]:
    """Boxes by their sides, the ends of the line included."""
    side = st.tuples(_PLACES, _PLACES).map(lambda ends: (min(ends), max(ends)))
    return st.tuples(*[side] * dimensions)


def corners(sides: Sides) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return the lowest and the highest corner of a box."""
    ends = np.array(sides, np.int64).reshape(-1, 2)
    return ends[:, 0].copy(), ends[:, 1].copy()


def contains(outer: Sides, inner: Sides) -> bool:
    """Return whether one box is in another: the oracle."""
    return all(low <= least and greatest <= high for (low, high), (least, greatest) in zip(outer, inner, strict=True))
