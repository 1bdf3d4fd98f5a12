"""The content space of MICS (specs/001 F1-F4, F10): boxes become runs on a curve, and publications positions on it."""

from collections.abc import Sequence
from typing import Final, Protocol

import numpy as np
import numpy.typing as npt

from tamis.compiled import brief
from tamis.geometry.bulk import convert
from tamis.geometry.curve import Curve
from tamis.geometry.descent import descend_compiled
from tamis.geometry.leaves import Longs, Runs

#: A box with no more runs than this takes a short way: no check but whether it is on the grid, and no new arrays.
_FEW: Final = 256


class Cells(Protocol):
    """What turns the values of an attribute into cells: a `Quantiser`."""

    def cells(self, values: npt.ArrayLike) -> Longs:
        """Return the cell of each value; of two values the greater never has the lower cell."""


class ContentSpace:
    """A curve through the cells of some attributes, and a budget of runs for each box.

    Boxes and points are given in values where there are quantisers, otherwise in cells. With `axes` only these
    attributes are on the curve and the others are ignored (F10), which costs false positives and never a match.
    What is beyond the budget covers more than the box; the same runs are stored and forwarded, so nothing is lost. A
    space is for one thread at a time.
    """

    def __init__(
        self,
        curve: Curve,
        quantisers: Sequence[Cells] | None = None,
        axes: Sequence[int] | None = None,
        max_runs: int | None = None,
        node_cap: int | None = None,
    ) -> None:
        if curve.wide:
            raise ValueError(
                f"{curve.dimensions} attributes of {curve.bits} bits have positions of more than 63 bits; "
                "take fewer bits, or put fewer attributes on the curve (`axes`)"
            )
        self.curve = curve
        self.quantisers = quantisers
        self.axes = None if axes is None else np.array(axes, np.int64)
        self.max_runs, self.node_cap = max_runs, node_cap
        self._waiting = curve.scratch()
        self._few = np.empty((2, _FEW), np.int64)
        for name, given in (("quantisers", quantisers), ("axes", axes)):
            if given is not None and len(given) != curve.dimensions:
                raise ValueError(f"there are {len(given)} {name} for a curve of {curve.dimensions} dimensions")

    def cells(self, points: npt.ArrayLike) -> Longs:
        """Return the cells of points, both as arrays of shape (n, attributes)."""
        values = np.asarray(points)
        if self.axes is not None:
            values = values[:, self.axes]
        if self.quantisers is None:
            return values
        return np.stack([each.cells(values[:, axis]) for axis, each in enumerate(self.quantisers)], axis=1)

    def keys(self, points: npt.ArrayLike) -> Longs:
        """Return the positions of points."""
        return self.curve.encode(self.cells(points))

    def runs(self, low: npt.ArrayLike, high: npt.ArrayLike) -> Runs:
        """Return the runs of a box."""
        first, last = np.ascontiguousarray(low), np.ascontiguousarray(high)
        if self.quantisers is not None or self.axes is not None:
            (first,), (last,) = self._corners(first[None], last[None])
        if self.max_runs is not None or self.node_cap is not None:
            _, starts, ends, _ = convert(self.curve, first[None], last[None], self.max_runs, self.node_cap)
            return starts, ends
        if first.dtype == last.dtype == np.int64 and _on_grid(first, last, self.curve.dimensions, self.curve.bits):
            starts, ends = self._few
            corners = self.curve.inward(first), self.curve.inward(last)
            found = descend_compiled(
                *corners, self.curve.bits, self.curve.turning, self._waiting, starts, ends, len(starts)
            )
            if found <= len(starts):
                return starts[:found].copy(), ends[:found].copy()
        return self.curve.runs(first, last)

    def runs_of_many(self, lows: npt.ArrayLike, highs: npt.ArrayLike) -> tuple[Longs, Longs, Longs]:
        """Return the runs of boxes: those of box n are from `offsets[n]` up to `offsets[n + 1]`."""
        offsets, starts, ends, _ = convert(self.curve, *self._corners(lows, highs), self.max_runs, self.node_cap)
        return offsets, starts, ends

    def _corners(self, lows: npt.ArrayLike, highs: npt.ArrayLike) -> tuple[Longs, Longs]:
        low, high = np.asarray(lows), np.asarray(highs)
        if (low > high).any():
            box, attribute = np.argwhere(low > high)[0].tolist()
            raise ValueError(
                f"box {box}, attribute {attribute}: low {low[box, attribute]} is above high {high[box, attribute]}"
            )
        return self.cells(low), self.cells(high)


@brief
def _on_grid(low: Longs, high: Longs, dimensions: int, bits: int) -> bool:
    if low.shape != (dimensions,) or high.shape != (dimensions,):
        return False
    for axis in range(dimensions):  # noqa: SIM110 - the kernel compiler knows no generators
        if not 0 <= low[axis] <= high[axis] < 1 << bits:
            return False
    return True
