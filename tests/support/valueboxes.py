"""Boxes of values in four attributes, and points that lie on their corners or anywhere."""

import numpy as np
import numpy.typing as npt
from hypothesis import strategies as st

Floats = npt.NDArray[np.float64]

_values = st.floats(0, 10)
_sides = st.tuples(_values, _values).map(sorted)


@st.composite
def boxes_and_points(draw: st.DrawFn) -> tuple[Floats, Floats, Floats]:
    """Return the low and the high corners of boxes, and points."""
    boxes = np.array(draw(st.lists(st.tuples(*[_sides] * 4), min_size=1, max_size=6)), np.float64)
    points = np.array(draw(st.lists(st.tuples(*[_values] * 4), max_size=10)), np.float64).reshape(-1, 4)
    lows, highs = boxes[:, :, 0], boxes[:, :, 1]
    return lows, highs, np.concatenate((points, lows, highs))


def inside_any(lows: Floats, highs: Floats, points: Floats) -> npt.NDArray[np.bool_]:
    """Return for each point whether it lies in a box."""
    inside = (lows[None] <= points[:, None]) & (points[:, None] <= highs[None])
    return np.array([any(map(all, each)) for each in inside.tolist()], np.bool_)
