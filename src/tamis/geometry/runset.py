"""A set of curve positions as disjoint runs (specs/001 F5, F6, F8): the table that a MICS broker matches against.

Algorithm 1 of the paper with its repairs: steps 1 to 3 are done for every run, containment of runs is meant where the
paper writes membership, every run that is not covered is added, and what is returned is all that became covered,
the filler between merged runs too. Who forwards less loses deliveries once theta is above one: a later subscription
inside the filler would be suppressed here, and downstream never heard of it.
"""

import numpy as np
import numpy.typing as npt

from tamis.compiled import kernel
from tamis.geometry.leaves import (
    KEY,
    ORDER,
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
    put,
)


class RunSet:
    """Runs between any two of which at least `theta` positions are missing; 1 merges what touches and nothing else.

    The set is the union of what was inserted with all smaller gaps closed, whatever the order was.
    Within `insert`, runs are sorted and disjoint; positions lie between 0 and 2**63 - 1.
    """

    def __init__(self, theta: int = 1) -> None:
        if theta < 1:
            raise ValueError(f"theta is the least gap that stays open, at least 1, not {theta}")
        self.theta = theta
        self._leaves = Leaves()

    def __len__(self) -> int:
        return len(self._leaves)

    def insert(self, starts: Longs, ends: Longs) -> Runs:
        """Add runs and return the positions that became covered by it; none if all were covered before."""
        _, starts, ends = self.insert_many(np.array([0, len(starts)]), starts, ends)
        return starts, ends

    def insert_many(self, offsets: Longs, starts: Longs, ends: Longs) -> tuple[Longs, Longs, Longs]:
        """Add lists of runs one after the other: list n is from `offsets[n]` up to `offsets[n + 1]`.

        What became covered by each is returned in the same form.
        """
        out, marks = np.empty((2, len(starts) + 8), np.int64), np.zeros(len(offsets), np.int64)
        which, done, used = 0, 0, 0
        while True:
            out, which, done, used = _insert_lists(
                self._leaves.cells,
                self._leaves.directory,
                offsets,
                starts,
                ends,
                self.theta,
                which,
                done,
                out,
                used,
                marks,
            )
            if which == len(offsets) - 1:
                return marks, out[0, :used], out[1, :used]
            self._leaves.grow()

    def cut(self, starts: Longs, ends: Longs) -> Runs:
        """Take stretches out and return what was covered of them; one that comes twice is not there the second time."""
        out, done, used = np.empty((2, len(starts) + 8), np.int64), 0, 0
        while True:
            out, done, used = _cut_runs(self._leaves.cells, self._leaves.directory, starts, ends, done, out, used)
            if done == len(starts):
                return out[0, :used], out[1, :used]
            self._leaves.grow()

    def match(self, point: int) -> bool:
        """Return whether a position is covered."""
        return bool(_match(self._leaves.cells, self._leaves.directory, np.array([point], np.int64))[0])

    def match_many(self, points: Longs) -> npt.NDArray[np.bool_]:
        """Return for each position whether it is covered."""
        return _match(self._leaves.cells, self._leaves.directory, points)

    def covers(self, starts: Longs, ends: Longs) -> bool:
        """Return whether all positions of some runs are covered: each lies in one run of the set (F7)."""
        return _covers(self._leaves.cells, self._leaves.directory, starts, ends, 0, len(starts))

    def covers_many(self, offsets: Longs, starts: Longs, ends: Longs) -> npt.NDArray[np.bool_]:
        """Return for each list of runs, from `offsets[n]` up to `offsets[n + 1]`, whether it is covered."""
        return _covers_many(self._leaves.cells, self._leaves.directory, offsets, starts, ends)

    def runs(self) -> Runs:
        """Return all runs in order."""
        starts, ends, _ = self._leaves.entries()
        return starts, ends

    @property
    def leaves(self) -> Leaves:
        """The runs as kernels see them: by start, with their end as value."""
        return self._leaves

    @property
    def bytes(self) -> int:
        """How much memory the runs take."""
        return self._leaves.bytes

    def check_invariants(self) -> None:
        """Raise `AssertionError` if runs overlap or are closer than theta."""
        self._leaves.check_invariants()
        starts, ends = self.runs()
        assert (starts <= ends).all()
        assert (starts[1:] - ends[:-1] - 1 >= self.theta).all()


@kernel
def emit(out: Longs, base: int, used: int, start: int, end: int) -> tuple[Longs, int]:
    """Append a run to the runs written so far; it is joined to the last one from `base` on if it touches that."""
    if used > base and out[1, used - 1] + 1 == start:
        out[1, used - 1] = end
        return out, used
    if used == out.shape[1]:
        larger = np.empty((2, 2 * used), np.int64)
        larger[:, :used] = out
        out = larger
    out[0, used], out[1, used] = start, end
    return out, used + 1


@kernel
def _insert_lists(
    cells: Longs,
    directory: Longs,
    offsets: Longs,
    starts: Longs,
    ends: Longs,
    theta: int,
    which: int,
    done: int,
    out: Longs,
    used: int,
    marks: Longs,
) -> tuple[Longs, int, int, int]:
    """Insert runs, from number `done` in list `which` on, while there is room; return how far it got."""
    leaf = 0
    while which < len(offsets) - 1:
        while done < offsets[which + 1]:
            if not has_room(directory):
                return out, which, done, used
            out, used, leaf = _insert(cells, directory, starts[done], ends[done], theta, out, marks[which], used, leaf)
            done += 1
        which += 1
        marks[which] = used
    return out, which, done, used


@kernel
def _insert(
    cells: Longs, directory: Longs, a: int, b: int, theta: int, out: Longs, base: int, used: int, near: int
) -> tuple[Longs, int, int]:
    low, high, fresh, bare, alone = a, b, a, True, True
    leaf, slot = locate_near(cells, directory, a, near)
    if slot >= 0:
        block = directory[ORDER, leaf]
        start, end = cells[block, KEY, slot], cells[block, VALUE, slot]
        if b <= end:
            return out, used, leaf
        if a - end <= theta:
            low, fresh, alone = start, end + 1, False
    before = leaf, slot
    while True:
        leaf, slot = following(directory, leaf, slot)
        if slot < 0:
            break
        block = directory[ORDER, leaf]
        start, end = cells[block, KEY, slot], cells[block, VALUE, slot]
        if start - b > theta:
            break
        if fresh < start:
            out, used = emit(out, base, used, fresh, start - 1)
        drop(cells, directory, leaf, slot)
        high, alone = max(high, end), False
        # Nothing is behind the greatest position, so it is not stepped over.
        if end >= b:
            bare = False
            break
        fresh = end + 1
        leaf, slot = locate(cells, directory, a, 0)
    if bare and fresh <= b:
        out, used = emit(out, base, used, fresh, b)
    if alone:
        place(cells, directory, before[0], before[1], low, 0, high)
    else:
        put(cells, directory, low, 0, high)
    return out, used, before[0]


@kernel
def _cut_runs(
    cells: Longs, directory: Longs, starts: Longs, ends: Longs, done: int, out: Longs, used: int
) -> tuple[Longs, int, int]:
    while done < len(starts) and has_room(directory):
        a, b = starts[done], ends[done]
        done += 1
        leaf, slot = locate(cells, directory, a, 0)
        if slot < 0 or cells[directory[ORDER, leaf], VALUE, slot] < a:
            leaf, slot = following(directory, leaf, slot)
        while slot >= 0 and cells[directory[ORDER, leaf], KEY, slot] <= b:
            block = directory[ORDER, leaf]
            start, end = cells[block, KEY, slot], cells[block, VALUE, slot]
            drop(cells, directory, leaf, slot)
            if start < a:
                put(cells, directory, start, 0, a - 1)
            if b < end:
                put(cells, directory, b + 1, 0, end)
            out, used = emit(out, 0, used, max(start, a), min(end, b))
            leaf, slot = locate(cells, directory, a - 1, 0)
            leaf, slot = following(directory, leaf, slot)
    return out, done, used


@kernel
def _covers(cells: Longs, directory: Longs, starts: Longs, ends: Longs, first: int, last: int) -> bool:
    """Return whether each of the runs from first to last lies in one run of the set."""
    leaf = 0
    for number in range(first, last):
        leaf, slot = locate_near(cells, directory, starts[number], leaf)
        if slot < 0 or cells[directory[ORDER, leaf], VALUE, slot] < ends[number]:
            return False
    return True


@kernel
def _covers_many(cells: Longs, directory: Longs, offsets: Longs, starts: Longs, ends: Longs) -> npt.NDArray[np.bool_]:
    found = np.empty(len(offsets) - 1, np.bool_)
    for number in range(len(found)):
        found[number] = _covers(cells, directory, starts, ends, offsets[number], offsets[number + 1])
    return found


@kernel
def _match(cells: Longs, directory: Longs, points: Longs) -> npt.NDArray[np.bool_]:
    found = np.empty(len(points), np.bool_)
    for number in range(len(points)):
        leaf, slot = locate(cells, directory, points[number], 0)
        found[number] = slot >= 0 and cells[directory[ORDER, leaf], VALUE, slot] >= points[number]
    return found
