"""Runs of radii by centre: what the augmented tree knows, without a tree (specs/003 §6 for F7, carried over to F5).

Whoever is affected by one event has one centre from then on. So there are far fewer centres than radii, and of each the
radii come in few runs. Those of one centre that an event affects are the smallest ones: its runs are popped from the
front until a radius is too large, and all that is popped, in the order of radii, is the list of runs of the new centre.
A run that is popped was pushed once, or is a part of one that stays; so an event takes a comparison for each centre,
and steps for the ranges that it makes. Not in the seed. Changes of subscriptions are gathered and made at the next
event, in one pass over all radii: this is for many values between changes.
"""

from collections.abc import Sequence
from typing import Final

import numpy as np

from tamis.compiled import kernel
from tamis.notification.affected import AffectedRange
from tamis.notification.circle import Doubles, Longs
from tamis.notification.law import high, low
from tamis.notification.structure import Case, Row, Structure, register

#: The columns of a centre: its value, and the ends of the interval of its smallest radius.
CENTRE: Final = 0
LOW: Final = 1
HIGH: Final = 2
#: Half the bits of an integer: both ends of a run fit into one.
HALF: Final = 32


@register(
    "radius-runs",
    Case(
        radii="different",
        ranges=True,
        loose=False,
        summary="runs of radii by centre, popped from the front (after specs/003 §6; not in the seed)",
    ),
)
class RadiusRuns(Structure):
    """Radii in order; for each centre a list of runs of them."""

    def __init__(self, *args: object, **options: object) -> None:
        super().__init__(*args, **options)  # type: ignore[arg-type] # the same ones
        #: By handle: the radius; by radius: the centre it had when it was new.
        self._radius_of: dict[int, float] = {}
        self._new: dict[float, float] = {}
        self._stale = False
        #: Radii in order, all handles in that order, and where those of a radius begin.
        self._radii: Doubles = np.empty(0)
        self._handles: Longs = np.empty(0, np.int64)
        self._offsets: Longs = np.zeros(1, np.int64)
        #: By centre; and where in the pool its runs are, from the first up to the last. A run is from where to before
        #: where in the order of radii.
        self._centres: Doubles = np.empty((1, 3))
        self._slices: Longs = np.empty((1, 2), np.int64)
        self._pool: Longs = np.empty((1, 2), np.int64)
        #: How many centres there are, and how much of the pool is used.
        self._used = np.zeros(2, np.int64)
        #: What the last event affected: runs, and their least and greatest radius.
        self._runs: Longs = np.empty((1, 2), np.int64)
        self._edges: Doubles = np.empty((1, 2))

    def affected(self) -> Longs:
        out = np.empty(self.affected_count, np.int64)
        listing(self._runs, self.range_count, self._offsets, self._handles, out)
        return out

    def ranges(self) -> list[AffectedRange]:
        return [AffectedRange(self.law, *pair, *pair) for pair in self.radius_ranges().tolist()]

    def radius_ranges(self) -> Doubles:
        """Return the least and greatest radius of each range, as an array: quicker than `ranges`."""
        return self._edges[: self.range_count]

    def row(self, handle: int) -> Row:
        radius = self._radius_of[handle]
        return Row(handle, radius, radius, self._told()[radius], 0, 0)

    def rows(self) -> list[Row]:
        told = self._told()
        return sorted(
            (Row(handle, radius, radius, told[radius], 0, 0) for handle, radius in self._radius_of.items()),
            key=lambda row: row.may,
        )

    def __len__(self) -> int:
        return len(self._radius_of) + len(self._pending)

    def check_invariants(self) -> None:
        super().check_invariants()
        taken = np.zeros(len(self._radii), np.int64)
        for (centre, below, above), (first, last) in zip(*self._live(), strict=True):
            runs = self._pool[first:last]
            assert (runs[:, 0] < runs[:, 1]).all()
            assert (runs[1:, 0] > runs[:-1, 1]).all()
            smallest = float(self._radii[runs[0, 0]])
            assert (below, above) == (low(self.code, centre, smallest), high(self.code, centre, smallest))
            for begin, end in runs.tolist():
                taken[begin:end] += 1
        assert (taken == 1).all()

    def _live(self) -> tuple[list[list[float]], list[list[int]]]:
        count = int(self._used[0])
        return self._centres[:count].tolist(), self._slices[:count].tolist()

    def _told(self) -> dict[float, float]:
        """Return the centre of each radius."""
        told = np.empty(len(self._radii))
        for (centre, _, _), (first, last) in zip(*self._live(), strict=True):
            for begin, end in self._pool[first:last].tolist():
                told[begin:end] = centre
        return dict(zip(self._radii.tolist(), told.tolist(), strict=True)) | self._new

    def _restore(self, rows: Sequence[Row]) -> None:
        self._radius_of = {row.handle: row.may for row in rows}
        self._new = {row.may: row.centre for row in rows}
        self._stale = True

    def _insert(self, handles: Longs, mays: Doubles, musts: Doubles, value: float) -> list[float]:  # noqa: ARG002
        told, present = self._told(), set(self._radius_of.values())
        found = []
        for handle, radius in zip(handles.tolist(), mays.tolist(), strict=True):
            if radius not in present:
                present.add(radius)
                told[radius] = self._new[radius] = value
            self._radius_of[handle] = radius
            found.append(told[radius])
        self._stale = True
        return found

    def _delete(self, handle: int) -> None:
        del self._radius_of[handle]
        self._stale = True

    def _settle(self) -> None:
        """Make everything anew, with what came and without what went."""
        if not self._stale:
            return
        told = self._told()
        handles = np.fromiter(self._radius_of, np.int64, len(self._radius_of))
        radii = np.fromiter(self._radius_of.values(), np.float64, len(handles))
        order = np.argsort(radii, kind="stable")
        self._handles = handles[order]
        self._radii, first = np.unique(radii[order], return_index=True)
        self._offsets = np.append(first, len(handles))
        count = len(self._radii)
        centres = np.array([told[radius] for radius in self._radii.tolist()])
        begins = np.flatnonzero(np.append(True, np.diff(centres) != 0)) if count else np.empty(0, np.int64)
        runs = np.column_stack((begins, np.append(begins[1:], count)[: len(begins)]))
        runs = runs[np.lexsort((runs[:, 0], centres[runs[:, 0]]))]
        owners = centres[runs[:, 0]]
        slices = np.flatnonzero(np.append(True, np.diff(owners) != 0)) if count else begins
        self._used = np.array([len(slices), len(runs)])
        # Never more centres than radii, and one more; the pool is packed when it is full.
        self._centres, self._slices = np.empty((count + 1, 3)), np.empty((count + 1, 2), np.int64)
        self._pool, self._runs = np.empty((4 * count + 4, 2), np.int64), np.empty((count + 1, 2), np.int64)
        self._edges = np.empty((count + 1, 2))
        self._pool[: len(runs)] = runs
        self._slices[: len(slices), 0] = slices
        self._slices[: len(slices), 1] = np.append(slices[1:], len(runs))[: len(slices)]
        smallest = self._radii[runs[slices, 0]]
        self._centres[: len(slices), CENTRE] = owners[slices]
        self._centres[: len(slices), LOW] = low(self.code, owners[slices], smallest)
        self._centres[: len(slices), HIGH] = high(self.code, owners[slices], smallest)
        self._new.clear()
        self._stale = False

    def _move(self, value: float | None) -> None:
        if value is None:
            return
        self._settle()
        if len(self._radii):
            arrays = (self._centres, self._slices, self._pool, self._used, self._runs, self._edges, self._offsets)
            self.range_count, self.affected_count, self.visits = advance(self._radii, self.code, value, *arrays)
        else:
            self.range_count = self.affected_count = self.visits = 0

    def _first(self) -> None:
        self._settle()
        self.range_count = min(1, len(self._radii))
        self.affected_count = len(self._handles)
        self._runs[0] = 0, len(self._radii)
        if self.range_count:
            self._edges[0] = self._radii[0], self._radii[-1]


@kernel
def _reached(law: int, centre: float, radius: float, value: float) -> bool:
    return value >= high(law, centre, radius) or value <= low(law, centre, radius)


@kernel
def advance(
    radii: Doubles,
    law: int,
    value: float,
    centres: Doubles,
    slices: Longs,
    pool: Longs,
    used: Longs,
    runs: Longs,
    edges: Doubles,
    offsets: Longs,
) -> tuple[int, int, int]:
    """Move all radii that a value affects to it, and write down their maximal runs.

    Returns how many runs and how many subscriptions there are, and how many centres and runs were looked at.
    """
    count, popped = used[0], 0
    visits = count
    entry = 0
    while entry < count:
        if centres[entry, LOW] < value < centres[entry, HIGH]:
            entry += 1
            continue
        centre, first, last = centres[entry, CENTRE], slices[entry, 0], slices[entry, 1]
        while first < last:
            begin, end = pool[first, 0], pool[first, 1]
            visits += 1
            below, above = begin, end
            if _reached(law, centre, radii[end - 1], value):
                below = end
            while below < above:
                middle = (below + above) // 2
                if _reached(law, centre, radii[middle], value):
                    below = middle + 1
                else:
                    above = middle
            if below > begin:
                runs[popped, 0], runs[popped, 1] = begin, below
                popped += 1
            if below < end:
                pool[first, 0] = below
                break
            first += 1
        if first == last:
            count -= 1
            centres[entry] = centres[count]
            slices[entry] = slices[count]
        else:
            smallest = radii[pool[first, 0]]
            slices[entry, 0] = first
            centres[entry, LOW], centres[entry, HIGH] = low(law, centre, smallest), high(law, centre, smallest)
            entry += 1
    used[0] = count
    if popped == 0:
        return 0, 0, visits
    found = _joined(runs, popped)
    if used[1] + found > len(pool):
        _pack(slices, pool, used)
    at, affected = used[1], 0
    for number in range(found):
        begin, end = runs[number, 0], runs[number, 1]
        pool[at + number, 0], pool[at + number, 1] = begin, end
        edges[number, 0], edges[number, 1] = radii[begin], radii[end - 1]
        affected += offsets[end] - offsets[begin]
    smallest = radii[runs[0, 0]]
    slices[count, 0], slices[count, 1] = at, at + found
    centres[count, CENTRE] = value
    centres[count, LOW], centres[count, HIGH] = low(law, value, smallest), high(law, value, smallest)
    used[0], used[1] = count + 1, at + found
    return found, affected, visits


@kernel
def _joined(runs: Longs, popped: int) -> int:
    """Sort runs, and join those that touch; return how many are left."""
    keys = np.empty(popped, np.int64)
    for number in range(popped):
        keys[number] = runs[number, 0] << HALF | runs[number, 1]
    keys.sort()
    found = 0
    for number in range(popped):
        begin, end = keys[number] >> HALF, keys[number] & (1 << HALF) - 1
        if found > 0 and runs[found - 1, 1] == begin:
            runs[found - 1, 1] = end
        else:
            runs[found, 0], runs[found, 1] = begin, end
            found += 1
    return found


@kernel
def _pack(slices: Longs, pool: Longs, used: Longs) -> None:
    """Put the runs of all centres at the beginning of the pool."""
    kept = np.empty_like(pool)
    at = 0
    for entry in range(used[0]):
        first, last = slices[entry, 0], slices[entry, 1]
        kept[at : at + last - first] = pool[first:last]
        slices[entry, 0], slices[entry, 1] = at, at + last - first
        at += last - first
    pool[:at] = kept[:at]
    used[1] = at


@kernel
def listing(runs: Longs, found: int, offsets: Longs, handles: Longs, out: Longs) -> None:
    """Write down the handles of all radii in runs."""
    at = 0
    for number in range(found):
        first, last = offsets[runs[number, 0]], offsets[runs[number, 1]]
        out[at : at + last - first] = handles[first:last]
        at += last - first
