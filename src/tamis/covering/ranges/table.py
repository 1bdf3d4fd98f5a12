"""The table of a MICS broker (specs/001 F5-F9): subscriptions as merged runs, and what to tell the next broker."""

from collections.abc import Hashable, Sequence
from itertools import count, repeat
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from tamis.covering.ranges.space import ContentSpace
from tamis.geometry.countmap import CountMap
from tamis.geometry.leaves import GREATEST, Longs, Runs
from tamis.geometry.runset import RunSet

#: Boxes as runs: those of box n are from `offsets[n]` up to `offsets[n + 1]`.
_Boxes: TypeAlias = tuple[Longs, Longs, Longs]


class RangeTable:
    """Boxes under handles, of which only the merged runs are matched against and forwarded.

    Whoever applies all runs returned by `add`, and takes away those returned by `remove`, covers exactly what this
    table covers: the union of all boxes, as runs, with gaps of less than `theta` closed.
    """

    def __init__(self, space: ContentSpace, theta: int = 1) -> None:
        self.space = space
        self._table = RunSet(theta)
        self._counts = CountMap()
        #: The runs of each handle: those of one box among some that came together.
        self._held: dict[Hashable, tuple[_Boxes, int]] = {}

    def __len__(self) -> int:
        return len(self._held)

    def __contains__(self, handle: object) -> bool:
        return handle in self._held

    def add(self, handle: Hashable, low: npt.ArrayLike, high: npt.ArrayLike) -> Runs:
        """Take in a box and return the runs to forward. There are none if it is covered or subsumed already."""
        return self.add_runs(handle, *self.space.runs(low, high))

    def add_runs(self, handle: Hashable, starts: Longs, ends: Longs) -> Runs:
        """Take in a subscription that is given as runs, as another broker or a client forwards it."""
        if handle in self._held:
            raise ValueError(f"{handle!r} is in the table already")
        self._held[handle] = (np.array([0, len(starts)]), starts, ends), 0
        self._counts.add(starts, ends)
        return self._table.insert(starts, ends)

    def add_many(
        self, handles: Sequence[Hashable], lows: npt.ArrayLike, highs: npt.ArrayLike
    ) -> tuple[Longs, Longs, Longs]:
        """Take in boxes one after the other; what to forward for box n is from `offsets[n]` up to `offsets[n + 1]`."""
        fresh = set(handles)
        if len(fresh) < len(handles) or not self._held.keys().isdisjoint(fresh):
            seen: set[Hashable] = set(self._held)
            twice = next(each for each in handles if each in seen or seen.add(each))  # type: ignore[func-returns-value]
            raise ValueError(f"{twice!r} is in the table already")
        offsets, starts, ends = self.space.runs_of_many(lows, highs)
        if len(offsets) != len(handles) + 1:
            raise ValueError(f"there are {len(handles)} handles for {len(offsets) - 1} boxes")
        self._held.update(zip(handles, zip(repeat((offsets, starts, ends)), count()), strict=False))
        self._counts.add(starts, ends)
        return self._table.insert_many(offsets, starts, ends)

    def remove(self, handle: Hashable) -> Runs:
        """Let a box go and return the runs to withdraw: what nothing covers any more, and filler that joins nothing."""
        if handle not in self._held:
            raise KeyError(f"{handle!r} is not in the table")
        bare, _ = self._counts.remove(*_runs(*self._held.pop(handle)))
        starts, ends = self._counts.gaps(bare)
        # A gap between two runs is closed as long as it is smaller than theta.
        open_ended = (starts < 0) | (ends == GREATEST)
        wide = open_ended | (ends - starts >= self._table.theta - 1)
        return self._table.cut(starts[wide], ends[wide])

    def match(self, point: npt.ArrayLike) -> bool:
        """Return whether a publication lies in some run. It may lie in no box: the last broker looks at those."""
        return bool(self.match_many(np.asarray(point)[None])[0])

    def match_many(self, points: npt.ArrayLike) -> npt.NDArray[np.bool_]:
        """Return for each publication whether it lies in some run."""
        return self._table.match_many(self.space.keys(points))

    def is_covered(self, low: npt.ArrayLike, high: npt.ArrayLike) -> bool:
        """Return whether a box would be covered or subsumed (F7). Who covers it, merged runs cannot tell."""
        return self._table.covers(*self.space.runs(low, high))

    def is_covered_many(self, lows: npt.ArrayLike, highs: npt.ArrayLike) -> npt.NDArray[np.bool_]:
        """Return for each box whether it would be covered or subsumed."""
        return self._table.covers_many(*self.space.runs_of_many(lows, highs))

    def runs(self) -> Runs:
        """Return all runs of the table."""
        return self._table.runs()

    @property
    def bytes(self) -> int:
        """How much memory the table takes, without the runs of each box."""
        return self._table.bytes + self._counts.bytes

    def check_invariants(self) -> None:
        """Raise `AssertionError` if the table is not the closed union of its boxes."""
        self._table.check_invariants()
        self._counts.check_invariants()
        table, counts = RunSet(self._table.theta), CountMap()
        for held in self._held.values():
            table.insert(*_runs(*held))
            counts.add(*_runs(*held))
        assert all((ours == right).all() for ours, right in zip(self.runs(), table.runs(), strict=True))
        for ours, right in zip(self._counts.segments(), counts.segments(), strict=True):
            assert (ours == right).all()


def _runs(boxes: _Boxes, number: int) -> Runs:
    """Return the runs of one box."""
    offsets, starts, ends = boxes
    mine = slice(offsets[number], offsets[number + 1])
    return starts[mine], ends[mine]
