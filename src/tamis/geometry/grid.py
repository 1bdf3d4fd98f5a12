"""The grid `[0, 2 ** bits) ** dimensions`: points and boxes on it, checked before any kernel sees them."""

import operator

import numpy as np
import numpy.typing as npt

from tamis.geometry.integers import MOST_BITS, Integers, integers


def checked_size(name: str, value: int, least: int = 1) -> int:
    """Return a number of bits, dimensions or the like, if it is an integer and large enough."""
    try:
        number = operator.index(value)
    except TypeError:
        raise ValueError(f"{name} must be an integer, not {value!r}") from None
    if number < least:
        raise ValueError(f"{name} must be at least {least}, not {number}")
    return number


def checked_points(points: npt.ArrayLike, dimensions: int, bits: int, name: str = "points") -> Integers:
    """Return points as an array of shape (n, dimensions), contiguous; each lies on the grid.

    They are 64-bit integers if the keys of the grid are, Python's otherwise.
    """
    array = integers(points, bits * dimensions > MOST_BITS, name)
    if array.size == 0 and array.ndim <= 1:
        array = array.reshape(0, dimensions)
    if array.ndim != 2 or array.shape[1] != dimensions:
        raise ValueError(f"{name} must have the shape (n, {dimensions}), not {array.shape}")
    if array.size and (array.min() < 0 or array.max() >> bits):
        row, dimension = np.argwhere((array < 0) | (array >= 1 << bits))[0].tolist()
        value = array[row, dimension]
        raise ValueError(f"{name} row {row}, dimension {dimension}: {value} lies outside of 0..{(1 << bits) - 1}")
    return np.ascontiguousarray(array)


def checked_boxes(lows: npt.ArrayLike, highs: npt.ArrayLike, dimensions: int, bits: int) -> tuple[Integers, Integers]:
    """Return closed boxes on the grid as two arrays of shape (n, dimensions)."""
    low = checked_points(lows, dimensions, bits, "low")
    high = checked_points(highs, dimensions, bits, "high")
    if low.shape != high.shape:
        raise ValueError(f"there are {len(low)} low corners and {len(high)} high corners")
    turned = low > high
    if turned.any():
        row, dimension = np.argwhere(turned)[0].tolist()
        raise ValueError(
            f"box {row}, dimension {dimension}: low {low[row, dimension]} is above high {high[row, dimension]}"
        )
    return low, high


def checked_box(low: npt.ArrayLike, high: npt.ArrayLike, dimensions: int, bits: int) -> tuple[Integers, Integers]:
    """Return one closed box on the grid as two arrays of one dimension."""
    corners = [np.asarray(corner) for corner in (low, high)]
    for name, corner in zip(("low", "high"), corners, strict=True):
        if corner.shape != (dimensions,):
            raise ValueError(f"{name} must have the shape ({dimensions},), not {corner.shape}")
    lows, highs = checked_boxes(corners[0][None, :], corners[1][None, :], dimensions, bits)
    return lows[0], highs[0]
