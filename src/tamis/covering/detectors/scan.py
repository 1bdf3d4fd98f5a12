"""The plain detector: it looks at every box. The oracle of the others."""

import numpy as np

from tamis.compiled import kernel
from tamis.covering.detectors.corners import dominates, enter, roomy
from tamis.covering.detectors.detector import NOBODY, Detector, Longs, register


@register("scan")
class Scan(Detector):
    """All points in one array, without gaps."""

    def __init__(self, dimensions: int) -> None:
        super().__init__(dimensions)
        self._points: Longs = np.empty((0, 2 * dimensions), np.int64)
        self._handles: Longs = np.empty(0, np.int64)
        self._rows: dict[int, int] = {}

    def add(self, handle: int, low: Longs, high: Longs) -> None:
        row = len(self._rows)
        self._points = roomy(self._points, row + 1)
        self._handles = roomy(self._handles, row + 1)
        enter(low, high, self._points, row)
        self._handles[row] = handle
        self._rows[handle] = row

    def remove(self, handle: int) -> None:
        row = self._rows.pop(handle)
        last = len(self._rows)
        if row < last:
            self._points[row] = self._points[last]
            self._handles[row] = self._handles[last]
            self._rows[int(self._handles[row])] = row

    def coverers(self, low: Longs, high: Longs, limit: int, besides: int = NOBODY) -> list[int]:
        held = len(self._rows)
        out = np.empty(min(limit, held), np.int64)
        found, touched = _scan(self._points, self._handles, held, low, high, besides, out)
        self.calls += 1
        self.touched += touched
        return list(out[:found].tolist())

    def __len__(self) -> int:
        return len(self._rows)

    def check_invariants(self) -> None:
        assert self._handles[: len(self._rows)].tolist() == sorted(self._rows, key=self._rows.__getitem__)


@kernel
def _scan(
    points: Longs, handles: Longs, held: int, low: Longs, high: Longs, besides: int, out: Longs
) -> tuple[int, int]:
    query = np.empty((1, points.shape[1]), np.int64)
    enter(low, high, query, 0)
    point = query[0]
    found = row = 0
    while row < held and found < len(out):
        if dominates(points, row, point) and handles[row] != besides:
            out[found] = handles[row]
            found += 1
        row += 1
    return found, row
