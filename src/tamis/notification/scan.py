"""Scan(r): one pass over all subscriptions in the order of their radii (specs/003 F4, seed §3.1)."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from tamis.notification.affected import AffectedRange
from tamis.notification.circle import Doubles, Longs
from tamis.notification.law import high, low
from tamis.notification.structure import Case, Row, Structure, register


@register(
    "scan",
    Case(
        radii="different",
        ranges=True,
        loose=False,
        summary="one vectorised pass over all radii in order (Scan(r), specs/003 F4, seed §3.1)",
    ),
)
class Scan(Structure):
    """Arrays sorted by radius; the ends of all intervals are kept, so that a pass is two comparisons for each."""

    def __init__(self, *args: object, **options: object) -> None:
        super().__init__(*args, **options)  # type: ignore[arg-type] # the same ones
        self._radii: Doubles = np.empty(0)
        self._centres: Doubles = np.empty(0)
        self._lows: Doubles = np.empty(0)
        self._highs: Doubles = np.empty(0)
        self._handles: Longs = np.empty(0, np.int64)
        self._hit: npt.NDArray[np.intp] = np.empty(0, np.intp)

    def affected(self) -> Longs:
        return self._handles[self._hit]

    def ranges(self) -> list[AffectedRange]:
        return [AffectedRange(self.law, *pair, *pair) for pair in self.radius_ranges().tolist()]

    def radius_ranges(self) -> Doubles:
        """Return the least and greatest radius of each range, as an array: quicker than `ranges`."""
        first, last = self._edges()
        return np.column_stack((self._radii[self._hit[first]], self._radii[self._hit[last]]))

    def row(self, handle: int) -> Row:
        at = int(np.flatnonzero(self._handles == handle)[0])
        return Row(handle, float(self._radii[at]), float(self._radii[at]), float(self._centres[at]), 0, 0)

    def rows(self) -> list[Row]:
        columns = zip(self._handles.tolist(), self._radii.tolist(), self._centres.tolist(), strict=True)
        return [Row(handle, radius, radius, centre, 0, 0) for handle, radius, centre in columns]

    def __len__(self) -> int:
        return len(self._handles) + len(self._pending)

    def check_invariants(self) -> None:
        super().check_invariants()
        assert (np.diff(self._radii) >= 0).all()
        assert (np.diff(self._centres)[np.diff(self._radii) == 0] == 0).all()
        assert np.array_equal(self._lows, low(self.code, self._centres, self._radii))  # type: ignore[arg-type]

    def _restore(self, rows: Sequence[Row]) -> None:
        handles = np.array([row.handle for row in rows], np.int64)
        self._take(handles, np.array([row.may for row in rows]), np.array([row.centre for row in rows]))

    def _insert(self, handles: Longs, mays: Doubles, musts: Doubles, value: float) -> list[float]:  # noqa: ARG002
        at = np.searchsorted(self._radii, mays)
        inside = at < len(self._radii)
        centres = np.full(len(mays), value)
        known = np.flatnonzero(inside)[self._radii[at[inside]] == mays[inside]]
        centres[known] = self._centres[at[known]]
        self._take(handles, mays, centres)
        return [float(centre) for centre in centres]

    def _take(self, handles: Longs, radii: Doubles, centres: Doubles) -> None:
        order = np.argsort(np.append(self._radii, radii), kind="stable")
        self._radii = np.append(self._radii, radii)[order]
        self._centres = np.append(self._centres, centres)[order]
        self._handles = np.append(self._handles, handles)[order]
        self._set_ends()

    def _set_ends(self) -> None:
        # The thresholds take arrays as well as numbers.
        self._lows = low(self.code, self._centres, self._radii)  # type: ignore[arg-type,assignment]
        self._highs = high(self.code, self._centres, self._radii)  # type: ignore[arg-type,assignment]

    def _delete(self, handle: int) -> None:
        kept = self._handles != handle
        self._radii, self._centres, self._handles = self._radii[kept], self._centres[kept], self._handles[kept]
        self._lows, self._highs = self._lows[kept], self._highs[kept]

    def _move(self, value: float | None) -> None:
        if value is None:
            self._hit = self._hit[:0]
            return
        self._hit = np.flatnonzero((self._highs <= value) | (self._lows >= value))
        self._centres[self._hit] = value
        radii = self._radii[self._hit]
        self._lows[self._hit] = low(self.code, value, radii)  # type: ignore[arg-type]
        self._highs[self._hit] = high(self.code, value, radii)  # type: ignore[arg-type]
        self._count()

    def _first(self) -> None:
        self._hit = np.arange(len(self._handles))
        self._count()

    def _count(self) -> None:
        self.affected_count, self.visits = len(self._hit), len(self._handles)
        self.range_count = len(self._edges()[0])

    def _edges(self) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
        """Return where runs begin and end among those that were hit."""
        breaks = np.flatnonzero(np.diff(self._hit) > 1)
        some = min(1, len(self._hit))
        return np.append(np.zeros(some, np.intp), breaks + 1), np.append(breaks, np.full(some, len(self._hit) - 1))
