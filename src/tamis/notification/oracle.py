"""Brute force: every subscription is asked (specs/003 F1). All other structures are judged by it."""

from collections.abc import Sequence

import numpy as np

from tamis.notification.circle import Doubles, Longs
from tamis.notification.law import high, low
from tamis.notification.structure import Case, Row, Structure, register


@register(
    "oracle",
    Case(radii="all", ranges=False, loose=True, summary="every subscription is asked (specs/003 F1)"),
)
class Oracle(Structure):
    """The meaning of specs/003 §0 and of F11 to F13, word by word.

    Subscriptions are in the order of their radii, and those with equal radii in that of their arrival.
    """

    #: Whether everybody who may be told is, as soon as somebody must be: F11 for one pair of radii. Otherwise a run of
    #: those who may be told is, if somebody in it must be: F11 for different radii.
    together = False

    def __init__(self, *args: object, **options: object) -> None:
        super().__init__(*args, **options)  # type: ignore[arg-type] # the same ones
        self._rows: dict[int, Row] = {}
        self._told: list[int] = []

    def affected(self) -> Longs:
        return np.array(self._told, np.int64)

    def row(self, handle: int) -> Row:
        return self._rows[handle]

    def rows(self) -> list[Row]:
        return sorted(self._rows.values(), key=lambda row: (row.may, row.must))

    def _restore(self, rows: Sequence[Row]) -> None:
        self._rows = {row.handle: row for row in rows}

    def __len__(self) -> int:
        return len(self._rows) + len(self._pending)

    def check_invariants(self) -> None:
        super().check_invariants()
        for row in self._rows.values():
            assert self.value is not None
            assert row.centre == self.value or not self._reaches(row, row.must, self.value)

    def runs(self, value: float) -> list[list[int]]:
        """Return the handles of those whom a value affects, in runs without anybody between who is not."""
        kept: list[list[int]] = []
        run: list[tuple[int, bool]] = []
        for row in [*self.rows(), None]:
            if row is not None and self._reaches(row, row.may, value):
                run.append((row.handle, self._reaches(row, row.must, value)))
                continue
            musts = [number for number, (_, must) in enumerate(run) if must]
            if musts:
                first, last = (musts[0], musts[-1]) if self.trim else (0, len(run) - 1)
                kept.append([handle for handle, _ in run[first : last + 1]])
            run = []
        return kept

    def _insert(self, handles: Longs, mays: Doubles, musts: Doubles, value: float) -> list[float]:
        centres = []
        for handle, may, must in zip(handles.tolist(), mays.tolist(), musts.tolist(), strict=True):
            centre = value
            if self.relaxed:
                alike = (row.centre for row in self._rows.values() if (row.may, row.must) == (may, must))
                centre = next(alike, value)
            self._rows[handle] = Row(handle, may, must, centre, 0, 0)
            centres.append(centre)
        return centres

    def _delete(self, handle: int) -> None:
        del self._rows[handle]

    def _move(self, value: float | None) -> None:
        self._told = []
        if value is None:
            return
        if self.together:
            rows = list(self._rows.values())
            if any(self._reaches(row, row.must, value) for row in rows):
                self._told = [row.handle for row in rows if self._reaches(row, row.may, value)]
        else:
            self._told = [handle for run in self.runs(value) for handle in run]
        self.affected_count, self.visits = len(self._told), len(self._rows)
        for handle in self._told:
            self._rows[handle] = self._rows[handle]._replace(centre=value)

    def _first(self) -> None:
        self._told = list(self._rows)
        self.affected_count = len(self._told)

    def _reaches(self, row: Row, radius: float, value: float) -> bool:
        centre = row.centre
        return bool(value >= high(self.code, centre, radius) or value <= low(self.code, centre, radius))
