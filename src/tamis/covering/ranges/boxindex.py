"""Exact answers about boxes of any number of dimensions in two phases (specs/001 F11).

The few attributes that tell boxes apart best are put on a Hilbert curve, and a stabbing index there gives
candidates; these are compared as boxes. So there are no false positives, and precision on the curve costs time only.
"""

from collections.abc import Iterable, Iterator
from typing import Final

import numpy as np

from tamis.compiled import kernel
from tamis.covering.ranges.projection import most_selective
from tamis.covering.ranges.subtraction import WORK_CAP, subsumed
from tamis.geometry.bulk import convert
from tamis.geometry.curve import Curve, curve
from tamis.geometry.cutting import ROW, close_gaps, cut
from tamis.geometry.descent import descend
from tamis.geometry.leaves import GREATEST, LEAST, Longs, Runs
from tamis.geometry.stabbing import Stabbing

#: Attributes on the curve, bits of a position there, and bits of one attribute at most.
INDEXED: Final = 3
_POSITION_BITS: Final = 21
_MOST_BITS: Final = 12
#: Runs of a box, and cuts to find them: candidates are verified, so a rough box is enough.
MAX_RUNS: Final = 16
NODE_CAP: Final = 64
#: Fewer boxes than this are looked at one by one.
FEW: Final = 64

#: How a candidate must lie to the box that is asked for.
_AROUND, _MEETING, _INSIDE, _MERGING = range(4)


class BoxIndex:
    """Closed boxes of 64-bit integers under handles, which are integers.

    Cells hold about equally many ends of boxes. They are chosen when the index has grown to twice its size.
    """

    def __init__(self, dimensions: int) -> None:
        self.dimensions = dimensions
        self._rows: dict[int, int] = {}
        self._free: list[int] = []
        #: By row: the handle, and the box.
        self._handles: Longs = np.empty(0, np.int64)
        self._lows: Longs = np.empty((0, dimensions), np.int64)
        self._highs: Longs = np.empty((0, dimensions), np.int64)
        #: By row: where its runs start, once there is a curve.
        self._starts: dict[int, Longs] = {}
        self._curve: Curve | None = None
        self._next = FEW
        #: How many candidates were compared as boxes.
        self.compared = 0

    def __len__(self) -> int:
        return len(self._rows)

    def __contains__(self, handle: object) -> bool:
        return handle in self._rows

    def __iter__(self) -> Iterator[int]:
        return iter(self._rows)

    def add(self, handle: int, low: Longs, high: Longs) -> None:
        """Hold a box."""
        if handle in self._rows:
            raise ValueError(f"handle {handle} is in the index already")
        row = self._free.pop() if self._free else len(self._rows)
        if row == len(self._handles):
            self._handles, self._lows, self._highs = map(_longer, (self._handles, self._lows, self._highs))
        self._rows[handle], self._handles[row] = row, handle
        self._lows[row], self._highs[row] = low, high
        if self._curve is not None:
            starts, ends = self._runs(self._lows[row], self._highs[row])
            self._starts[row] = starts
            self._stabbing.add(row, starts, ends)
        if len(self._rows) >= self._next and self.dimensions:
            self._build()

    def remove(self, handle: int) -> None:
        """Forget a box."""
        if handle not in self._rows:
            raise KeyError(f"handle {handle} is not in the index")
        row = self._rows.pop(handle)
        self._free.append(row)
        if self._curve is not None:
            self._stabbing.remove(row, self._starts.pop(row))

    def move(self, axis: int, old: Longs, new: Longs) -> None:
        """Put all boxes elsewhere on an axis, in the same order: see `moved`."""
        rows = np.fromiter(self._rows.values(), np.int64, len(self._rows))
        self._lows[rows], self._highs[rows] = moved(self._lows[rows], self._highs[rows], axis, old, new)
        if self._curve is not None and len(rows):
            self._build()

    def box(self, handle: int) -> Runs:
        """Return the lowest and the highest corner of a box."""
        row = self._rows[handle]
        return self._lows[row].copy(), self._highs[row].copy()

    def boxes(self, handles: Iterable[int]) -> Runs:
        """Return the corners of some boxes."""
        rows = [self._rows[each] for each in handles]
        return self._lows[rows], self._highs[rows]

    # --- questions ----------------------------------------------------------------------------------

    def coverers(self, low: Longs, high: Longs, limit: int = GREATEST, besides: int = -1) -> Longs:
        """Return the handles of boxes that contain a box, all or as many as the limit; never that of `besides`."""
        return self._handles[self._verified(self._at(low), low, high, _AROUND, limit, besides)]

    def matching(self, point: Longs) -> Longs:
        """Return the handles of boxes that contain a point."""
        return self.coverers(point, point)

    def overlapping(self, low: Longs, high: Longs) -> Longs:
        """Return the handles of boxes that share a point with a box."""
        return self._handles[self._verified(self._near(low, high), low, high, _MEETING)]

    def inside(self, low: Longs, high: Longs) -> Longs:
        """Return the handles of boxes that a box contains."""
        return self._handles[self._verified(self._near(low, high), low, high, _INSIDE)]

    def mergeable(self, low: Longs, high: Longs) -> Longs:
        """Return the handles of boxes whose union with a box is a box: perfect merging.

        One contains the other, or they are equal on all axes but one and touch or overlap on that one.
        """
        around = np.where(low == LEAST, low, low - 1), np.where(high == GREATEST, high, high + 1)
        return self._handles[self._verified(self._near(*around), low, high, _MERGING)]

    def is_subsumed(self, low: Longs, high: Longs, work_cap: int = WORK_CAP) -> bool:
        """Return whether the union of all boxes contains a box; "no" may mean that it was too much work."""
        return subsumed(low, high, *self.overlapping_boxes(low, high), work_cap)

    def overlapping_boxes(self, low: Longs, high: Longs) -> Runs:
        """Return the corners of all boxes that share a point with a box."""
        rows = self._verified(self._near(low, high), low, high, _MEETING)
        return self._lows[rows], self._highs[rows]

    def _at(self, point: Longs) -> Longs:
        if self._curve is None:
            return np.fromiter(self._rows.values(), np.int64, len(self._rows))
        # The only run of one cell is its position.
        return self._stabbing.stab(int(self._runs(point, point)[0][0]))

    def _near(self, low: Longs, high: Longs) -> Longs:
        if self._curve is None:
            return np.fromiter(self._rows.values(), np.int64, len(self._rows))
        return self._stabbing.overlap(*self._runs(low, high))

    def _verified(
        self, candidates: Longs, low: Longs, high: Longs, how: int, limit: int = GREATEST, besides: int = -1
    ) -> Longs:
        """Return the rows, among some, of boxes that lie to a box as asked."""
        besides = self._rows.get(besides, -1)
        found, compared = _verify(candidates, self._lows, self._highs, low, high, how, limit, besides)
        self.compared += compared
        return candidates[:found]

    # --- the curve ----------------------------------------------------------------------------------

    def _build(self) -> None:
        rows = np.fromiter(self._rows.values(), np.int64, len(self._rows))
        lows, highs = self._lows[rows], self._highs[rows]
        self._axes = np.array(most_selective(lows, highs, INDEXED))
        bits = min(_MOST_BITS, _POSITION_BITS // len(self._axes))
        self._curve = curve("hilbert", len(self._axes), bits)
        shares = np.arange(1, 1 << bits) / (1 << bits)
        ends = np.sort(np.concatenate((lows, highs))[:, self._axes], axis=0)
        self._edges = np.ascontiguousarray(ends[(shares * len(ends)).astype(np.int64)].T)
        self._scratch = np.empty((NODE_CAP + 1, ROW), np.int64), np.empty((3, NODE_CAP + 1), np.int64)
        cells = self._cells(lows), self._cells(highs)
        offsets, starts, ends, _ = convert(self._curve, *cells, MAX_RUNS, NODE_CAP)
        self._stabbing = Stabbing()
        self._stabbing.add_many(np.repeat(rows, np.diff(offsets)), starts, ends)
        edges = offsets.tolist()
        self._starts = {row: starts[edges[n] : edges[n + 1]] for n, row in enumerate(rows.tolist())}
        self._next = 2 * len(rows)

    def _cells(self, points: Longs) -> Longs:
        axes = zip(self._axes.tolist(), self._edges, strict=True)
        return np.stack([edges.searchsorted(points[:, axis], "right") for axis, edges in axes], axis=1)

    def _runs(self, low: Longs, high: Longs) -> Runs:
        assert self._curve is not None
        rows, others = self._scratch
        found = _box_to_runs(low, high, self._axes, self._edges, self._curve.bits, rows, others)
        return others[1, :found].copy(), others[2, :found].copy()

    def check_invariants(self) -> None:
        """Raise `AssertionError` if the runs of a box are not those it should have, or do not hold it."""
        rows = sorted(self._rows.values())
        assert sorted([*rows, *self._free]) == list(range(len(rows) + len(self._free)))
        assert self._handles[list(self._rows.values())].tolist() == list(self._rows)
        if self._curve is None:
            return
        self._stabbing.check_invariants()
        assert sorted(self._starts) == rows
        for row in rows:
            for corner in (self._lows[row], self._highs[row]):
                assert row in self._at(corner)
        assert len(self._stabbing) == sum(map(len, self._starts.values()))


def moved(lows: Longs, highs: Longs, axis: int, old: Longs, new: Longs) -> Runs:
    """Return boxes elsewhere on an axis: from an old integer up to just before another becomes the same of new ones."""
    lows, highs = lows.copy(), highs.copy()
    lows[..., axis] = new[old.searchsorted(lows[..., axis])]
    highs[..., axis] = new[old.searchsorted(highs[..., axis] + 1)] - 1
    return lows, highs


def _longer(array: Longs) -> Longs:
    larger = np.empty((max(2 * len(array), FEW), *array.shape[1:]), np.int64)
    larger[: len(array)] = array
    return larger


@kernel
def _box_to_runs(low: Longs, high: Longs, axes: Longs, edges: Longs, bits: int, rows: Longs, others: Longs) -> int:
    """Write the runs of a box to `others[1]` and `others[2]`, and return how many: `convert` for one, and quick."""
    first, last = np.empty(len(axes), np.int64), np.empty(len(axes), np.int64)
    for axis in range(len(axes)):
        first[axis] = np.searchsorted(edges[axis], low[axes[axis]], "right")
        last[axis] = np.searchsorted(edges[axis], high[axes[axis]], "right")
    starts, ends = others[1], others[2]
    found = descend(first, last, bits, True, rows, starts, ends, len(starts))
    if found > len(starts):
        found, _ = cut(first, last, bits, True, len(starts) - 1, rows, others[0], starts, ends)
    return close_gaps(starts, ends, found, MAX_RUNS)


@kernel
def _verify(
    candidates: Longs, lows: Longs, highs: Longs, low: Longs, high: Longs, how: int, limit: int, besides: int
) -> tuple[int, int]:
    """Bring those that lie as asked to the front; return how many they are, and how many were compared."""
    found = compared = 0
    for candidate in candidates:
        if found == limit:
            break
        compared += 1
        if candidate != besides and _lies(lows[candidate], highs[candidate], low, high, how):
            candidates[found] = candidate
            found += 1
    return found, compared


@kernel
def _lies(first: Longs, last: Longs, low: Longs, high: Longs, how: int) -> bool:
    around = meeting = inside = True
    different, touching = 0, True
    for axis in range(len(low)):
        around = around and first[axis] <= low[axis] and high[axis] <= last[axis]
        inside = inside and low[axis] <= first[axis] and last[axis] <= high[axis]
        apart = first[axis] > high[axis] or low[axis] > last[axis]
        meeting = meeting and not apart
        if first[axis] != low[axis] or last[axis] != high[axis]:
            different += 1
            # Only what is apart is stepped towards the other, so nothing overflows.
            if first[axis] > high[axis]:
                touching = first[axis] - 1 == high[axis]
            elif low[axis] > last[axis]:
                touching = last[axis] + 1 == low[axis]
    if how == _AROUND:
        return bool(around)
    if how == _MEETING:
        return bool(meeting)
    if how == _INSIDE:
        return bool(inside)
    return bool(around or inside or (different == 1 and touching))
