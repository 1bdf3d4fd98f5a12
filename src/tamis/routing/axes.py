"""Where conditions and events lie on the axes of a curve (specs/001 F1, F12)."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from tamis.covering.containment import shape
from tamis.covering.hull import box, key
from tamis.geometry.leaves import Longs
from tamis.language.values import Kind, read


class Axes:
    """The grid that a curve runs through: an axis for each attribute, with numbers from a least to a greatest.

    On an axis, all values lie on one line, null first, then numbers, then the other kinds. What is below its least
    number is in the first cell, what is above its greatest in the last. Without any attribute there is one axis, on
    which all events lie together.
    """

    def __init__(self, ends: Mapping[str, tuple[float, float]], bits: int) -> None:
        self._names = sorted(ends)
        self._last = 2**bits - 1
        self._edges = [
            np.array([key(Kind.NUMBER, edge) for edge in np.linspace(*ends[name], self._last).tolist()], np.int64)
            for name in self._names
        ]

    def __len__(self) -> int:
        return max(1, len(self._names))

    def box(self, condition: str) -> tuple[Longs, Longs] | None:
        """Return the cells in which a condition can be met, the least and the greatest; None if it never is."""
        form = shape(condition).form
        if form is False:
            return None
        sides = box(form)
        low, high = np.zeros(len(self), np.int64), np.full(len(self), self._last, np.int64)
        for axis, (name, edges) in enumerate(zip(self._names, self._edges, strict=True)):
            if name in sides.attributes:
                at = sides.attributes.index(name)
                low[axis] = np.searchsorted(edges, sides.low[at], "right")
                high[axis] = np.searchsorted(edges, sides.high[at], "right")
        return low, high

    def cells(self, event: Mapping[str, Any]) -> Longs:
        """Return the cell of an event."""
        cells = np.zeros(len(self), np.int64)
        for axis, (name, edges) in enumerate(zip(self._names, self._edges, strict=True)):
            cells[axis] = np.searchsorted(edges, key(*read(event, name)), "right")
        return cells
