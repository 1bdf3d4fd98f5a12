"""Boxes found by one stab on a Hilbert curve (specs/001 F7 b, F11)."""

from tamis.covering.detectors.detector import NOBODY, Detector, Longs, register
from tamis.covering.ranges.boxindex import BoxIndex


@register("mics")
class Mics(Detector):
    """Whoever contains a box holds its lowest corner: the boxes stored at that place of the curve are compared."""

    def __init__(self, dimensions: int) -> None:
        super().__init__(dimensions)
        self._index = BoxIndex(dimensions)

    def add(self, handle: int, low: Longs, high: Longs) -> None:
        self._index.add(handle, low, high)

    def remove(self, handle: int) -> None:
        self._index.remove(handle)

    def coverers(self, low: Longs, high: Longs, limit: int, besides: int = NOBODY) -> list[int]:
        before = self._index.compared
        found: list[int] = self._index.coverers(low, high, limit, besides).tolist()
        self.calls += 1
        self.touched += self._index.compared - before
        return found

    def __len__(self) -> int:
        return len(self._index)

    def check_invariants(self) -> None:
        self._index.check_invariants()
