"""How many runs will a box have? (specs/001 F14)"""

import numpy as np
import numpy.typing as npt

from tamis.geometry.integers import integers


def expected_runs(lows: npt.ArrayLike, highs: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """Return the mean number of runs of closed boxes of these sizes on the Hilbert curve, over all positions.

    With `q` cells a side it is the mean over the axes of the product of the other sides: half the surface,
    divided by the dimensions. It holds for fine grids; it is an average, and a single box may have
    twice as many. Corners have the dimensions last, as in an array of shape (n, d).
    """
    low, high = integers(lows, False, "low"), integers(highs, False, "high")
    if low.shape != high.shape or low.ndim == 0 or low.shape[-1] == 0:
        raise ValueError(f"corners must have the same shape (…, d), not {low.shape} and {high.shape}")
    sides = (high - low).astype(np.float64) + 1.0
    if (sides < 1.0).any():
        box, dimension = np.argwhere(sides.reshape(-1, sides.shape[-1]) < 1.0)[0].tolist()
        raise ValueError(f"box {box}, dimension {dimension}: low is above high")
    return np.asarray(np.prod(sides, axis=-1) * np.mean(1.0 / sides, axis=-1))
