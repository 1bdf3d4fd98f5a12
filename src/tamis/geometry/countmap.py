"""How many subscriptions cover each curve position (specs/001 F9), which is what makes deletion possible.

Merged runs do not know whose they were. A count map does not either, but it knows which positions lost their last
cover. It is kept as the positions where the count changes, each with the count from there on.
"""

import numpy as np

from tamis.compiled import kernel
from tamis.geometry.leaves import (
    GREATEST,
    KEY,
    ORDER,
    SIZE,
    VALUE,
    Leaves,
    Longs,
    Runs,
    drop,
    following,
    has_room,
    locate,
    locate_near,
    place,
)
from tamis.geometry.runset import emit


class CountMap:
    """Counts of cover. Runs given together are sorted and disjoint; positions lie between 0 and 2**63 - 1."""

    def __init__(self) -> None:
        self._leaves = Leaves()

    def __len__(self) -> int:
        """How many positions there are at which the count changes."""
        return len(self._leaves)

    def add(self, starts: Longs, ends: Longs) -> Runs:
        """Cover runs once more and return the positions that were not covered before."""
        return self._change(starts, ends, 1)

    def remove(self, starts: Longs, ends: Longs) -> Runs:
        """Cover runs once less and return the positions that are not covered any more."""
        bare = _first_bare(self._leaves.cells, self._leaves.directory, starts, ends)
        if bare >= 0:
            raise ValueError(f"the run from {starts[bare]} to {ends[bare]} is not covered, so it cannot be removed")
        return self._change(starts, ends, -1)

    def _change(self, starts: Longs, ends: Longs, amount: int) -> Runs:
        out, done, used = np.empty((2, 2 * len(starts) + 8), np.int64), 0, 0
        while True:
            out, done, used = _change_runs(
                self._leaves.cells, self._leaves.directory, starts, ends, amount, done, out, used
            )
            if done == len(starts):
                return out[0, :used], out[1, :used]
            self._leaves.grow()

    def gaps(self, starts: Longs) -> Runs:
        """Return for each position, none of which is covered, the whole gap it lies in; one gap may come twice.

        A gap that has no end on the left begins at -1, and one that has none on the right ends at 2**63 - 1.
        """
        return _gaps(self._leaves.cells, self._leaves.directory, starts)

    def count(self, point: int) -> int:
        """Return how often a position is covered."""
        leaf, slot = locate(self._leaves.cells, self._leaves.directory, point, 0)
        return int(self._leaves.cells[self._leaves.directory[ORDER, leaf], VALUE, slot]) if slot >= 0 else 0

    def segments(self) -> tuple[Longs, Longs]:
        """Return the positions where the count changes, and the count from each on."""
        starts, counts, _ = self._leaves.entries()
        return starts, counts

    @property
    def bytes(self) -> int:
        """How much memory the counts take."""
        return self._leaves.bytes

    def check_invariants(self) -> None:
        """Raise `AssertionError` if a count is negative or equal to the one before."""
        self._leaves.check_invariants()
        _, counts = self.segments()
        assert (counts >= 0).all()
        assert (np.diff(counts, prepend=0) != 0).all()


@kernel
def _change_runs(
    cells: Longs, directory: Longs, starts: Longs, ends: Longs, amount: int, done: int, out: Longs, used: int
) -> tuple[Longs, int, int]:
    """Change the counts of runs from number `done` on while there is room; return what was or is covered once."""
    bare, leaf = 0 if amount > 0 else 1, 0
    while done < len(starts) and has_room(directory):
        a, b = starts[done], ends[done]
        done += 1
        leaf, slot, outside = _broken(cells, directory, a, leaf)
        count, idle = 0, cells[directory[ORDER, leaf], VALUE, slot] + amount == outside
        # From one change of the count to the next; what is left behind is the last one inside the run.
        while True:
            block = directory[ORDER, leaf]
            start, count = cells[block, KEY, slot], cells[block, VALUE, slot]
            cells[block, VALUE, slot] = count + amount
            next_leaf, next_slot = following(directory, leaf, slot)
            limit = cells[directory[ORDER, next_leaf], KEY, next_slot] if next_slot >= 0 else GREATEST
            if count == bare:
                out, used = emit(out, 0, used, start, b if next_slot < 0 else min(b, limit - 1))
            if next_slot < 0 or limit > b:
                break
            leaf, slot = next_leaf, next_slot
        if b < GREATEST:
            if next_slot < 0 or limit > b + 1:
                place(cells, directory, leaf, slot, b + 1, 0, count)
            elif cells[directory[ORDER, next_leaf], VALUE, next_slot] == count + amount:
                drop(cells, directory, next_leaf, next_slot)
        if idle:
            leaf, slot = locate(cells, directory, a, 0)
            drop(cells, directory, leaf, slot)
    return out, done, used


@kernel
def _broken(cells: Longs, directory: Longs, point: int, near: int) -> tuple[int, int, int]:
    """Make a position one at which the count may change; return where it is, and the count before it."""
    leaf, slot = locate_near(cells, directory, point, near)
    block = directory[ORDER, leaf]
    if slot >= 0 and cells[block, KEY, slot] == point:
        if slot > 0:
            return leaf, slot, cells[block, VALUE, slot - 1]
        if leaf > 0:
            return leaf, slot, cells[directory[ORDER, leaf - 1], VALUE, directory[SIZE, directory[ORDER, leaf - 1]] - 1]
        return leaf, slot, 0
    count = cells[block, VALUE, slot] if slot >= 0 else 0
    leaf, slot = place(cells, directory, leaf, slot, point, 0, count)
    return leaf, slot, count


@kernel
def _first_bare(cells: Longs, directory: Longs, starts: Longs, ends: Longs) -> int:
    """Return the number of the first run that is not covered everywhere, -1 if there is none."""
    for number in range(len(starts)):
        leaf, slot = locate(cells, directory, starts[number], 0)
        if slot < 0:
            return number
        while slot >= 0 and cells[directory[ORDER, leaf], KEY, slot] <= ends[number]:
            if cells[directory[ORDER, leaf], VALUE, slot] == 0:
                return number
            leaf, slot = following(directory, leaf, slot)
    return -1


@kernel
def _gaps(cells: Longs, directory: Longs, starts: Longs) -> tuple[Longs, Longs]:
    first, last = np.empty(len(starts), np.int64), np.empty(len(starts), np.int64)
    for number in range(len(starts)):
        leaf, slot = locate(cells, directory, starts[number], 0)
        first[number] = cells[directory[ORDER, leaf], KEY, slot] if slot >= 0 else -1
        leaf, slot = following(directory, leaf, slot)
        last[number] = cells[directory[ORDER, leaf], KEY, slot] - 1 if slot >= 0 else GREATEST
    return first, last
