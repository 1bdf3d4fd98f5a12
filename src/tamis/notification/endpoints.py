"""B-tree(lr): both ends of every interval in order (specs/003 F2, seed §2.3)."""

from collections.abc import Sequence

import numpy as np

from tamis.notification.circle import Doubles, Longs
from tamis.notification.law import high, low
from tamis.notification.ordered import Ordered
from tamis.notification.structure import Case, Row, Structure, register


@register(
    "endpoints",
    Case(
        radii="all",
        ranges=False,
        loose=False,
        summary="all left and all right ends in order (B-tree(lr), specs/003 F2, seed §2.3)",
    ),
)
class Endpoints(Structure):
    """All left ends in one order, all right ends in another: those passed are popped, and put back round the value."""

    def __init__(self, *args: object, **options: object) -> None:
        super().__init__(*args, **options)  # type: ignore[arg-type] # the same ones
        if self.relaxed:
            raise ValueError("Endpoints is not for relaxed creation: it knows nobody by radius")
        self._lows, self._highs = Ordered(), Ordered()
        #: By handle.
        self._radii: Doubles = np.empty(0)
        self._centres: Doubles = np.empty(0)
        self._told: Longs = np.empty(0, np.int64)

    def affected(self) -> Longs:
        return self._told

    def row(self, handle: int) -> Row:
        radius = float(self._radii[handle])
        return Row(handle, radius, radius, float(self._centres[handle]), 0, 0)

    def rows(self) -> list[Row]:
        return [self.row(handle) for handle in self._lows.pairs()[1].tolist()]

    def __len__(self) -> int:
        return len(self._lows) + len(self._pending)

    def check_invariants(self) -> None:
        super().check_invariants()
        self._lows.check_invariants()
        self._highs.check_invariants()
        for ends, end in ((self._lows, low), (self._highs, high)):
            keys, handles = ends.pairs()
            expected = end(self.code, self._centres[handles], self._radii[handles])  # type: ignore[arg-type]
            assert np.array_equal(keys, expected)

    def _restore(self, rows: Sequence[Row]) -> None:
        handles = np.array([row.handle for row in rows], np.int64)
        self._put(handles, np.array([row.may for row in rows]), np.array([row.centre for row in rows]))

    def _insert(self, handles: Longs, mays: Doubles, musts: Doubles, value: float) -> list[float]:  # noqa: ARG002
        self._put(handles, mays, np.full(len(mays), value))
        return [value] * len(handles)

    def _put(self, handles: Longs, radii: Doubles, centres: Doubles) -> None:
        size = int(handles.max(initial=-1)) + 1
        if size > len(self._radii):
            more = max(size, 2 * len(self._radii)) - len(self._radii)
            self._radii, self._centres = np.pad(self._radii, (0, more)), np.pad(self._centres, (0, more))
        self._radii[handles], self._centres[handles] = radii, centres
        self._lows.add(low(self.code, centres, radii), handles)  # type: ignore[arg-type]
        self._highs.add(high(self.code, centres, radii), handles)  # type: ignore[arg-type]

    def _delete(self, handle: int) -> None:
        one = np.array([handle])
        radii, centres = self._radii[one], self._centres[one]
        self._lows.remove(low(self.code, centres, radii), one)  # type: ignore[arg-type]
        self._highs.remove(high(self.code, centres, radii), one)  # type: ignore[arg-type]

    def _move(self, value: float | None) -> None:
        self._told = self._told[:0]
        if value is None:
            return
        up = self._highs.up_to(value)
        down = self._lows.down_to(value)
        for handles, others, end in ((up, self._lows, low), (down, self._highs, high)):
            if len(handles):
                old = end(self.code, self._centres[handles], self._radii[handles])  # type: ignore[arg-type]
                others.remove(np.asarray(old), handles)
        self._told = np.append(up, down)
        self._put(self._told, self._radii[self._told], np.full(len(self._told), value))
        self.affected_count = len(self._told)

    def _first(self) -> None:
        self._told = self._lows.pairs()[1]
        self.affected_count = len(self._told)
