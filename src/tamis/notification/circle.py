"""Subscriptions of one radius in a circle: as kernels on shared arrays (specs/003 F6 to F8, seed §4.2 and §4.3).

Sorted by centre and closed to a circle, their order never changes: an upward move takes the smallest centres and makes
them the largest. So the members stay where they are, at positions 0, 1, …, and only *runs* of members with one centre
change: they are a queue in ascending order of centres, which begins at the boundary, the position of the smallest
centre, and goes round. A move pops runs at one end of the queue and pushes one at the other (specs/003 §6: the label
tree of the seed as a run deque). A circle with one run begins at position 0, so equal circles look alike.

Lemma 1 of the seed, that two centres are less than a radius apart, holds in doubles as far as it is needed: if `g` was
a centre when the value became `c`, then `c > low(g)` as rounded, hence as it is, and `high(c) >= g`. So a value that
reaches `high` of the smallest centre is nowhere below the largest.
"""

from typing import Final

import numpy as np
import numpy.typing as npt

from tamis.compiled import kernel
from tamis.notification.law import high, low

Longs = npt.NDArray[np.int64]
Doubles = npt.NDArray[np.float64]

#: The columns of a circle: its tree and the slot of its leaf there; its runs, a ring of `ROOM` entries from `RING` on
#: of which `RUNS` from `HEAD` on are used; its members, `MEMBERS` from `PLACE` on where `BEDS` are kept; how often its
#: labels were changed.
TREE: Final = 0
SLOT: Final = 1
RING: Final = 2
ROOM: Final = 3
HEAD: Final = 4
RUNS: Final = 5
PLACE: Final = 6
BEDS: Final = 7
MEMBERS: Final = 8
EPOCH: Final = 9
COLUMNS: Final = 10

#: The columns of a run: its centre, and the position of its first member.
CENTRE: Final = 0
START: Final = 1


@kernel
def collapse(circles: Longs, rings: Doubles, circle: int, value: float) -> None:
    """Give all members one centre."""
    ring = circles[circle, RING]
    circles[circle, HEAD] = 0
    circles[circle, RUNS] = 1
    rings[ring, CENTRE] = value
    rings[ring, START] = 0


@kernel
def smallest(circles: Longs, rings: Doubles, circle: int) -> float:
    """Return the smallest centre."""
    return float(rings[circles[circle, RING] + circles[circle, HEAD], CENTRE])


@kernel
def largest(circles: Longs, rings: Doubles, circle: int) -> float:
    """Return the largest centre."""
    last = (circles[circle, HEAD] + circles[circle, RUNS] - 1) % circles[circle, ROOM]
    return float(rings[circles[circle, RING] + last, CENTRE])


@kernel
def move(circles: Longs, rings: Doubles, circle: int, law: int, radius: float, value: float) -> tuple[int, int, int]:
    """Move all members that are a radius away to a value; return from where to where they stand, and how many.

    The members affected stand from the first position up to, not including, the second, round the circle if need be.
    They are all if the positions are equal and the count is not zero.
    """
    ring, room = circles[circle, RING], circles[circle, ROOM]
    head, runs, members = circles[circle, HEAD], circles[circle, RUNS], circles[circle, MEMBERS]
    boundary = int(rings[ring + head, START])
    popped = 0
    while popped < runs and high(law, rings[ring + (head + popped) % room, CENTRE], radius) <= value:
        popped += 1
    if popped == runs:
        collapse(circles, rings, circle, value)
        return 0, 0, members
    if popped > 0:
        head = (head + popped) % room
        runs -= popped
        end = int(rings[ring + head, START])
        back = ring + (head + runs - 1) % room
        if rings[back, CENTRE] != value:
            back = ring + (head + runs) % room
            rings[back, CENTRE], rings[back, START] = value, boundary
            runs += 1
        circles[circle, HEAD], circles[circle, RUNS] = head, runs
        _settle(circles, rings, circle)
        return boundary, end, (end - boundary) % members
    while popped < runs and low(law, rings[ring + (head + runs - 1 - popped) % room, CENTRE], radius) >= value:
        popped += 1
    if popped == 0:
        return 0, 0, 0
    if popped == runs:
        collapse(circles, rings, circle, value)
        return 0, 0, members
    runs -= popped
    begin = int(rings[ring + (head + runs) % room, START])
    if rings[ring + head, CENTRE] != value:
        head = (head - 1) % room
        runs += 1
    rings[ring + head, CENTRE], rings[ring + head, START] = value, begin
    circles[circle, HEAD], circles[circle, RUNS] = head, runs
    _settle(circles, rings, circle)
    return begin, boundary, (boundary - begin) % members


@kernel
def _settle(circles: Longs, rings: Doubles, circle: int) -> None:
    if circles[circle, RUNS] == 1:
        rings[circles[circle, RING] + circles[circle, HEAD], START] = 0


@kernel
def gap_for(circles: Longs, rings: Doubles, circle: int, value: float) -> int:
    """Return the position at which a new member with a centre belongs: behind all centres that are not greater."""
    ring, room = circles[circle, RING], circles[circle, ROOM]
    head, runs, members = circles[circle, HEAD], circles[circle, RUNS], circles[circle, MEMBERS]
    run = 0
    while run < runs and rings[ring + (head + run) % room, CENTRE] <= value:
        run += 1
    position = int(rings[ring + (head + run % runs) % room, START]) if runs > 0 else 0
    # Before the first position is behind the last one, and there labels are easier to find.
    return members if position == 0 else position


@kernel
def open_run(circles: Longs, rings: Doubles, circle: int, value: float, position: int) -> None:
    """Make room in the runs for a new member at a position that `gap_for` gave; the ring has a free entry."""
    ring, room = circles[circle, RING], circles[circle, ROOM]
    head, runs, members = circles[circle, HEAD], circles[circle, RUNS], circles[circle, MEMBERS]
    run = 0
    while run < runs and rings[ring + (head + run) % room, CENTRE] <= value:
        run += 1
    for each in range(runs):
        at = ring + (head + each) % room
        # The position behind the last one is no run's, and nothing stands there.
        if rings[at, START] >= position:
            rings[at, START] += 1
    if run > 0 and rings[ring + (head + run - 1) % room, CENTRE] == value:
        circles[circle, MEMBERS] = members + 1
        _settle(circles, rings, circle)
        return
    for each in range(runs, run, -1):
        to, source = ring + (head + each) % room, ring + (head + each - 1) % room
        rings[to, CENTRE], rings[to, START] = rings[source, CENTRE], rings[source, START]
    at = ring + (head + run) % room
    rings[at, CENTRE], rings[at, START] = value, position
    circles[circle, RUNS] = runs + 1
    circles[circle, MEMBERS] = members + 1
    _settle(circles, rings, circle)


@kernel
def run_of(circles: Longs, rings: Doubles, circle: int, position: int) -> int:
    """Return the number of the run, from the boundary on, in which a position is."""
    ring, room = circles[circle, RING], circles[circle, ROOM]
    head, runs, members = circles[circle, HEAD], circles[circle, RUNS], circles[circle, MEMBERS]
    boundary = int(rings[ring + head, START])
    below, above = 0, runs
    while above - below > 1:
        middle = (below + above) // 2
        if (rings[ring + (head + middle) % room, START] - boundary) % members <= (position - boundary) % members:
            below = middle
        else:
            above = middle
    return below


@kernel
def close_run(circles: Longs, rings: Doubles, circle: int, position: int) -> None:
    """Take the member at a position out of the runs."""
    ring, room = circles[circle, RING], circles[circle, ROOM]
    head, runs, members = circles[circle, HEAD], circles[circle, RUNS], circles[circle, MEMBERS]
    run = run_of(circles, rings, circle, position)
    begin = int(rings[ring + (head + run) % room, START])
    end = int(rings[ring + (head + (run + 1) % runs) % room, START])
    length = members if runs == 1 else (end - begin) % members
    if length == 1:
        for each in range(run, runs - 1):
            to, source = ring + (head + each) % room, ring + (head + each + 1) % room
            rings[to, CENTRE], rings[to, START] = rings[source, CENTRE], rings[source, START]
        runs -= 1
        circles[circle, RUNS] = runs
    elif begin == position == members - 1:
        rings[ring + (head + run) % room, START] = 0
    for each in range(runs):
        at = ring + (head + each) % room
        if rings[at, START] > position:
            rings[at, START] -= 1
    circles[circle, MEMBERS] = members - 1
    _settle(circles, rings, circle)
