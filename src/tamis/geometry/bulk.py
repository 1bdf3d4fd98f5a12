"""Many boxes into runs at once, on all cores (specs/001 F3, F4; the conversion of F13)."""

import os
from concurrent.futures import ThreadPoolExecutor
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from tamis.compiled import kernel
from tamis.geometry.curve import Curve, TooManyRunsError
from tamis.geometry.cutting import ROW, close_gaps, cut
from tamis.geometry.descent import descend
from tamis.geometry.grid import checked_boxes, checked_size
from tamis.geometry.integers import Integers, Longs, dtype_of, either

#: A thread takes so many boxes at a time.
BOXES_PER_TASK: Final = 4096
#: Room for so many runs of a box is made at first; what does not fit gets a further array.
_RUNS_PER_BOX: Final = 32
#: A cut takes some hundred bytes.
MOST_CUTS: Final = 1 << 22
_NO_LIMIT: Final = -1

_Flags = npt.NDArray[np.bool_]


class Conversion(NamedTuple):
    """The runs of many boxes: those of box i are `starts[offsets[i] : offsets[i + 1]]`, and `ends` likewise.

    They are ascending, disjoint and not adjacent, and hold every key of the box; `exact[i]` says that they hold no
    other.
    """

    offsets: Longs
    starts: Integers
    ends: Integers
    exact: _Flags


def convert(
    curve: Curve,
    lows: npt.ArrayLike,
    highs: npt.ArrayLike,
    max_runs: int | None = None,
    node_cap: int | None = None,
) -> Conversion:
    """Return the runs of closed boxes, given as arrays of shape (n, dimensions).

    The limits are for each box those of `tamis.geometry.budget.decompose`; None is no limit.
    """
    low, high = (curve.inward(corners) for corners in checked_boxes(lows, highs, curve.dimensions, curve.bits))
    limits = _checked_limits(max_runs, node_cap)
    tasks = [slice(first, first + BOXES_PER_TASK) for first in range(0, len(low), BOXES_PER_TASK)]

    def work(task: slice) -> "_Part":
        return _part(curve, task.start, low[task], high[task], *limits)

    threads = min(len(os.sched_getaffinity(0)), len(tasks))
    if threads > 1 and not curve.wide:
        with ThreadPoolExecutor(threads, thread_name_prefix="tamis-convert") as pool:
            parts = list(pool.map(work, tasks))
    else:
        parts = [work(task) for task in tasks]
    none: Integers = np.empty(0, dtype_of(curve.wide))
    offsets = np.zeros(len(low) + 1, np.int64)
    np.cumsum(np.concatenate([none.astype(np.int64), *(part.counts for part in parts)]), out=offsets[1:])
    return Conversion(
        offsets,
        np.concatenate([none, *(piece for part in parts for piece in part.starts)]),
        np.concatenate([none, *(piece for part in parts for piece in part.ends)]),
        np.concatenate([np.empty(0, np.bool_), *(part.exact for part in parts)]),
    )


class _Part(NamedTuple):
    counts: Longs
    exact: _Flags
    starts: list[Integers]
    ends: list[Integers]


def _checked_limits(max_runs: int | None, node_cap: int | None) -> tuple[int, int]:
    runs = _NO_LIMIT if max_runs is None else checked_size("max_runs", max_runs)
    cuts = _NO_LIMIT if node_cap is None else checked_size("node_cap", node_cap, least=0)
    if cuts > MOST_CUTS:
        raise ValueError(f"node_cap must be at most {MOST_CUTS}, not {cuts}; None is no limit")
    return runs, cuts


def _part(curve: Curve, first: int, lows: Integers, highs: Integers, max_runs: int, cuts: int) -> _Part:
    fill = _fill if curve.wide else _fill_compiled
    dtype = dtype_of(curve.wide)
    part = _Part(np.zeros(len(lows), np.int64), np.ones(len(lows), np.bool_), [], [])
    rows: Integers = np.empty((cuts + 1, ROW), dtype)
    heap = np.empty(cuts + 1, np.int64)
    room = max(_RUNS_PER_BOX * len(lows), cuts + 1)
    done = 0
    while done < len(lows):
        starts: Integers = np.empty(room, dtype)
        ends = np.empty_like(starts)
        done, used = fill(
            lows,
            highs,
            done,
            curve.bits,
            curve.turning,
            curve.most_runs,
            max_runs,
            cuts,
            curve.scratch(),
            rows,
            heap,
            starts,
            ends,
            *part[:2],
        )
        part.starts.append(starts[:used])
        part.ends.append(ends[:used])
        if done < len(lows):
            if part.counts[done] > curve.most_runs:
                raise TooManyRunsError(f"box {first + done}", curve.most_runs)
            room = max(room, int(part.counts[done]))
    return part


@either
def _fill(
    lows: Integers,
    highs: Integers,
    done: int,
    bits: int,
    turning: bool,
    most_runs: int,
    max_runs: int,
    cuts: int,
    waiting: Integers,
    rows: Integers,
    heap: Longs,
    starts: Integers,
    ends: Integers,
    counts: Longs,
    exact: _Flags,
) -> tuple[int, int]:
    """Write the runs of boxes while there is room; return which box is next, and how many runs there are.

    If a box has no room, its count is how much it needs.
    """
    used = 0
    for box in range(done, len(lows)):
        most = cuts + 1 if cuts >= 0 else most_runs
        found = descend(lows[box], highs[box], bits, turning, waiting, starts[used:], ends[used:], most)
        counts[box] = found
        if found > most and cuts >= 0 and len(starts) - used >= most:
            found, exact[box] = cut(lows[box], highs[box], bits, turning, cuts, rows, heap, starts[used:], ends[used:])
        elif found > min(most, len(starts) - used):
            return box, used
        if 0 < max_runs < found:
            found = close_gaps(starts[used:], ends[used:], found, max_runs)
            exact[box] = False
        counts[box] = found
        used += found
    return len(lows), used


_fill_compiled = kernel(_fill)
