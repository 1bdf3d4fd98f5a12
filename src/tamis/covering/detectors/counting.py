"""Counting (specs/000 §4): a box covers another if as many of its sides do as there are."""

import numpy as np

from tamis.compiled import kernel
from tamis.covering.detectors.detector import NOBODY, Detector, Longs, register


@register("counting")
class Counting(Detector):
    """By dimension the sides of all boxes, sorted by where they begin; by row how many sides covered lately.

    Only a side that begins no later can cover another, so a query reads the front of each list and counts those that
    end no earlier. Counters are not reset: they hold only if their epoch is that of the query.
    """

    def __init__(self, dimensions: int) -> None:
        super().__init__(dimensions)
        #: By dimension: where the sides begin and end, and the row of each.
        self._lows: Longs = np.empty((dimensions, 16), np.int64)
        self._highs: Longs = np.empty((dimensions, 16), np.int64)
        self._owners: Longs = np.empty((dimensions, 16), np.int64)
        #: By row: the handle, and where the sides begin.
        self._handles: Longs = np.full(16, NOBODY, np.int64)
        self._begin: Longs = np.empty((16, dimensions), np.int64)
        #: By row: the query that counted last, and what it counted.
        self._epochs: Longs = np.zeros(16, np.int64)
        self._counts: Longs = np.zeros(16, np.int64)
        self._epoch = 0
        self._rows: dict[int, int] = {}
        self._free = list(range(15, -1, -1))

    def add(self, handle: int, low: Longs, high: Longs) -> None:
        if not self._free:
            self._double()
        row = self._free.pop()
        held = len(self._rows)
        self._rows[handle] = row
        self._handles[row] = handle
        self._begin[row] = low
        _insert(self._lows, self._highs, self._owners, held, low, high, row)

    def _double(self) -> None:
        size = len(self._handles)
        wide = ((0, 0), (0, size))
        self._lows, self._highs = np.pad(self._lows, wide), np.pad(self._highs, wide)
        self._owners = np.pad(self._owners, wide)
        self._handles = np.pad(self._handles, (0, size), constant_values=NOBODY)
        self._begin = np.pad(self._begin, ((0, size), (0, 0)))
        self._epochs, self._counts = np.pad(self._epochs, (0, size)), np.pad(self._counts, (0, size))
        self._free = list(range(2 * size - 1, size - 1, -1))

    def remove(self, handle: int) -> None:
        held = len(self._rows)
        row = self._rows.pop(handle)
        _delete(self._lows, self._highs, self._owners, held, self._begin[row], row)
        self._handles[row] = NOBODY
        self._free.append(row)

    def coverers(self, low: Longs, high: Longs, limit: int, besides: int = NOBODY) -> list[int]:
        self.calls += 1
        if not self.dimensions:
            self.touched += len(self._rows)
            return [handle for handle in self._rows if handle != besides][:limit]
        self._epoch += 1
        out = np.empty(min(limit, len(self._rows)), np.int64)
        found, touched = _count(
            self._lows,
            self._highs,
            self._owners,
            len(self._rows),
            low,
            high,
            self._handles,
            besides,
            self._epoch,
            self._epochs,
            self._counts,
            out,
        )
        self.touched += touched
        return list(out[:found].tolist())

    def __len__(self) -> int:
        return len(self._rows)

    def check_invariants(self) -> None:
        held = len(self._rows)
        rows = set(self._rows.values())
        assert {handle: int(self._handles[row]) for handle, row in self._rows.items()} == {
            each: each for each in self._rows
        }
        assert len(rows) == held
        assert sorted([*rows, *self._free]) == list(range(len(self._handles)))
        for dimension in range(self.dimensions):
            sorted_lows = self._lows[dimension, :held]
            assert (sorted_lows[:-1] <= sorted_lows[1:]).all()
            owners = self._owners[dimension, :held].tolist()
            assert set(owners) == rows
            assert (self._begin[owners, dimension] == sorted_lows).all()
            assert (self._highs[dimension, :held] >= sorted_lows).all()


@kernel
def _insert(lows: Longs, highs: Longs, owners: Longs, held: int, low: Longs, high: Longs, row: int) -> None:
    for dimension in range(len(low)):
        place = np.searchsorted(lows[dimension, :held], low[dimension])
        for array, value in ((lows, low[dimension]), (highs, high[dimension]), (owners, row)):
            for at in range(held, place, -1):
                array[dimension, at] = array[dimension, at - 1]
            array[dimension, place] = value


@kernel
def _delete(lows: Longs, highs: Longs, owners: Longs, held: int, low: Longs, row: int) -> None:
    for dimension in range(len(low)):
        place = np.searchsorted(lows[dimension, :held], low[dimension])
        while owners[dimension, place] != row:
            place += 1
        for array in (lows, highs, owners):
            for at in range(place, held - 1):
                array[dimension, at] = array[dimension, at + 1]


@kernel
def _count(
    lows: Longs,
    highs: Longs,
    owners: Longs,
    held: int,
    low: Longs,
    high: Longs,
    handles: Longs,
    besides: int,
    epoch: int,
    epochs: Longs,
    counts: Longs,
    out: Longs,
) -> tuple[int, int]:
    found = touched = 0
    for dimension in range(len(low)):
        last = dimension == len(low) - 1
        for at in range(held):
            if lows[dimension, at] > low[dimension] or found == len(out):
                break
            touched += 1
            if highs[dimension, at] < high[dimension]:
                continue
            row = owners[dimension, at]
            if epochs[row] != epoch:
                epochs[row], counts[row] = epoch, 0
            counts[row] += 1
            if last and counts[row] == len(low) and handles[row] != besides:
                out[found] = handles[row]
                found += 1
    return found, touched
