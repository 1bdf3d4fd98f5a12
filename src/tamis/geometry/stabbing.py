"""Which owners have a run at a curve position, or overlapping a run (specs/001 F11)?

The specification keeps elementary segments with an owner set each. A run that spans many segments is then copied into
all of them, so n wide runs take n² memory. Here every run is stored once, sorted by start, and leaves know their
greatest end. A leaf that begins before a position and whose greatest end is not before it has an owner of that
position, so no leaf is looked at in vain: a stab costs O(log n), a look at each `SPAN` leaves, and at worst a
short scan for each owner. Nothing is copied, split or merged.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from tamis.compiled import kernel
from tamis.geometry.leaves import (
    ABOVE,
    GREATEST,
    KEY,
    ORDER,
    SIZE,
    SPAN,
    TIE,
    TOP,
    VALUE,
    Leaves,
    Longs,
    drop,
    has_room,
    locate,
    put,
)


class Stabbing:
    """Runs with owners, which are integers. The runs of one owner are disjoint."""

    def __init__(self) -> None:
        self._leaves = Leaves(ties=True)

    def __len__(self) -> int:
        """How many runs there are."""
        return len(self._leaves)

    def add(self, owner: int, starts: Longs, ends: Longs) -> None:
        """Store the runs of an owner."""
        self.add_many(np.full(len(starts), owner), starts, ends)

    def add_many(self, owners: Longs, starts: Longs, ends: Longs) -> None:
        """Store runs, each with its owner beside it."""
        if not len(self._leaves):
            self._leaves.fill(starts, ends, owners)
            return
        done = 0
        while True:
            done = _add(self._leaves.cells, self._leaves.directory, owners, starts, ends, done)
            if done == len(starts):
                return
            self._leaves.grow()

    def remove(self, owner: int, starts: Longs) -> None:
        """Forget runs of an owner, which are known by their starts."""
        missing = _remove(self._leaves.cells, self._leaves.directory, owner, starts)
        if missing >= 0:
            raise KeyError(f"owner {owner} has no run that starts at {starts[missing]}")

    def stab(self, point: int) -> Longs:
        """Return the owners of a position, each once."""
        return _overlap(self._leaves.cells, self._leaves.directory, np.array([point]), np.array([point]))

    def overlap(self, starts: Longs, ends: Longs) -> Longs:
        """Return the owners of runs that overlap one of these, each once, in ascending order."""
        return np.unique(_overlap(self._leaves.cells, self._leaves.directory, starts, ends))

    @property
    def leaves(self) -> Leaves:
        """The runs as kernels see them: by start and owner, with their end as value."""
        return self._leaves

    @property
    def bytes(self) -> int:
        """How much memory the runs take."""
        return self._leaves.bytes

    def check_invariants(self) -> None:
        """Raise `AssertionError` if the runs of an owner overlap."""
        self._leaves.check_invariants()
        starts, ends, owners = self._leaves.entries()
        order = np.lexsort((starts, owners))
        starts, owners, ends = starts[order], owners[order], ends[order]
        assert (starts <= ends).all()
        assert ((owners[1:] > owners[:-1]) | (starts[1:] > ends[:-1])).all()


@kernel
def _add(cells: Longs, directory: Longs, owners: Longs, starts: Longs, ends: Longs, done: int) -> int:
    while done < len(starts) and has_room(directory):
        put(cells, directory, starts[done], owners[done], ends[done])
        done += 1
    return done


@kernel
def _remove(cells: Longs, directory: Longs, owner: int, starts: Longs) -> int:
    """Return -1, or the number of the first start that is not there; then nothing is removed."""
    for number in range(len(starts)):
        leaf, slot = locate(cells, directory, starts[number], owner)
        block = directory[ORDER, leaf]
        if slot < 0 or cells[block, KEY, slot] != starts[number] or cells[block, TIE, slot] != owner:
            return number
    for start in starts:
        leaf, slot = locate(cells, directory, start, owner)
        drop(cells, directory, leaf, slot)
    return -1


@kernel
def stab(
    cells: Longs, directory: Longs, first: int, last: int, out: npt.NDArray[np.signedinteger[Any]], used: int
) -> int:
    """Write the owners of all runs that overlap the run from first to last; return how many are written then.

    What has no room is counted and not written.
    """
    most, end = locate(cells, directory, last, GREATEST)
    for span in range(most // SPAN + 1):
        if directory[ABOVE, span] < first:
            continue
        for leaf in range(span * SPAN, min((span + 1) * SPAN, most + 1)):
            if directory[TOP, leaf] < first:
                continue
            block = directory[ORDER, leaf]
            values, owners = cells[block, VALUE], cells[block, TIE]
            for slot in range(end + 1 if leaf == most else directory[SIZE, block]):
                if values[slot] >= first:
                    if used < len(out):
                        out[used] = owners[slot]
                    used += 1
    return used


@kernel
def _overlap(cells: Longs, directory: Longs, starts: Longs, ends: Longs) -> Longs:
    out = np.empty(64, np.int64)
    used = 0
    for number in range(len(starts)):
        before = used
        used = stab(cells, directory, starts[number], ends[number], out, before)
        if used > len(out):
            larger = np.empty(2 * used, np.int64)
            larger[:before] = out[:before]
            out = larger
            used = stab(cells, directory, starts[number], ends[number], out, before)
    return out[:used]
