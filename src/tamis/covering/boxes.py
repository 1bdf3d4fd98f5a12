"""Boxes under handles, as a relation that graphs stand on: what the experiments on covering compare."""

import numpy as np

from tamis.compiled import kernel
from tamis.covering.detectors import NOBODY, Longs, detector_class
from tamis.covering.detectors.corners import roomy
from tamis.covering.graphs.graph import Relation


class Boxes(Relation):
    """Boxes of one number of dimensions. A detector is kept only if it is named; without one nobody asks for coverers.

    Handles are not negative, and small: there is a row for each.
    """

    def __init__(self, dimensions: int, detector: str | None = None) -> None:
        self.detector = None if detector is None else detector_class(detector)(dimensions)
        self._lows: Longs = np.empty((0, dimensions), np.int64)
        self._highs: Longs = np.empty((0, dimensions), np.int64)

    def add(self, handle: int, low: Longs, high: Longs) -> None:
        """Take in a box."""
        if handle >= len(self._lows):
            self._lows, self._highs = roomy(self._lows, handle + 1), roomy(self._highs, handle + 1)
        self._lows[handle], self._highs[handle] = low, high
        if self.detector is not None:
            self.detector.add(handle, low, high)

    def remove(self, handle: int) -> None:
        """Let a box go."""
        if self.detector is not None:
            self.detector.remove(handle)

    def covers(self, a: int, b: int) -> bool:
        return bool(_contains(self._lows, self._highs, a, b))

    def coverers(self, handle: int, limit: int) -> list[int]:
        if self.detector is None:
            raise TypeError("boxes without a detector cannot be asked for coverers")
        return self.detector.coverers(self._lows[handle], self._highs[handle], limit, besides=handle)

    def covering(self, among: Longs, handle: int) -> list[int]:
        self.compared += len(among)
        out = np.empty_like(among)
        return list(out[: _covering(self._lows, self._highs, among, handle, out)].tolist())

    def covered(self, among: Longs, handle: int) -> list[int]:
        self.compared += len(among)
        out = np.empty_like(among)
        return list(out[: _covered(self._lows, self._highs, among, handle, out)].tolist())

    def placed(self, among: Longs, handle: int) -> tuple[int, list[int]]:
        self.compared += len(among)
        out = np.empty_like(among)
        coverer, found = _placed(self._lows, self._highs, among, handle, out)
        return int(coverer), list(out[:found].tolist())


@kernel
def _contains(lows: Longs, highs: Longs, a: int, b: int) -> bool:
    for dimension in range(lows.shape[1]):
        if lows[a, dimension] > lows[b, dimension] or highs[a, dimension] < highs[b, dimension]:
            return False
    return True


@kernel
def _covering(lows: Longs, highs: Longs, among: Longs, handle: int, out: Longs) -> int:
    found = 0
    for each in among:
        if _contains(lows, highs, each, handle):
            out[found] = each
            found += 1
    return found


@kernel
def _covered(lows: Longs, highs: Longs, among: Longs, handle: int, out: Longs) -> int:
    found = 0
    for each in among:
        if _contains(lows, highs, handle, each):
            out[found] = each
            found += 1
    return found


@kernel
def _placed(lows: Longs, highs: Longs, among: Longs, handle: int, out: Longs) -> tuple[int, int]:
    found = 0
    for each in among:
        if _contains(lows, highs, each, handle):
            return each, 0
        if _contains(lows, highs, handle, each):
            out[found] = each
            found += 1
    return NOBODY, found
