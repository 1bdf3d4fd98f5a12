"""How fast is a MICS table against looking at every box, and how much less does it forward?

    python bench/ranges.py [--boxes 100000] [--asked 1000] [--json FILE]

Cubes of side 4 on 256 cells an axis (specs/001 §3). When the table holds so many, the next ones are tested for covering
and inserted, in bulk and one by one, and publications are matched. The peer is a compiled loop over all boxes that
no other covers, which ends at the first hit; it answers less, since it knows coverers and no subsumption. CPU time
of all threads, conversion to runs included, the best of seven passes. Answers are compared with the union of all boxes
as a bitmap; a wrong one ends the run with an error.
"""

import argparse
from collections.abc import Callable, Iterator
from pathlib import Path
from time import process_time
from typing import Final

import numpy as np
import numpy.typing as npt

from harness.figures import Figure, at_least, at_most
from harness.report import tell
from tamis.covering.ranges import ContentSpace, RangeTable
from tamis.geometry import curve
from tamis.lab.content import BITS, LAWS, Linear, content, distinct
from tamis.lab.workloads.mics import CELLS

SEED: Final = 7
#: Passes of which the fastest counts, ours and the peer's.
PASSES: Final = 7
#: How much faster than the peer it must be, and the share of boxes that may be forwarded.
FASTER: Final = 20
FORWARDED: Final = 10

Longs = npt.NDArray[np.int64]


def main() -> None:
    """Measure, print a table for each question, and say whether the bars are reached."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--boxes", type=int, default=100_000)
    arguments.add_argument("--asked", type=int, default=1_000, help="boxes and publications that are timed")
    arguments.add_argument("--json", type=Path, metavar="FILE", help="write all figures there")
    chosen = arguments.parse_args()
    sections = {"speed": speed(chosen.boxes, chosen.asked), "forwarded": forwarded(chosen.boxes)}
    tell(sections, chosen.json)


def speed(count: int, asked: int) -> Iterator[Figure]:
    """A table of cubes in 3 dimensions against the loop over all boxes."""
    for law in LAWS:
        yield from speed_under(law, count, asked)


def speed_under(law: str, count: int, asked: int) -> Iterator[Figure]:
    """The same under one law."""
    lows, highs, points = content(SEED, subscriptions=count + asked, events=asked, attributes=3, law=law)
    ours = RangeTable(ContentSpace(curve("hilbert", 3, BITS)))
    start = process_time()
    ours.add_many(range(count), lows[:count], highs[:count])
    yield Figure("speed", law, count, "fill", (process_time() - start) / count * 1e6, "µs")
    # All cubes have one size, so one covers another only if they are equal.
    theirs = Linear(*distinct(lows[:count], highs[:count]), asked)
    new = lows[count:], highs[count:]
    # Compiled before the clock runs.
    theirs.insert(new[0][:1], new[1][:1])
    judge(ours, theirs, lows[:count], highs[:count], new, points)

    pairs, handles = list(zip(*new, strict=True)), range(count, count + asked)
    yield from compared(
        law, count, asked, "covering test", lambda: ours.is_covered_many(*new), lambda: theirs.covered(*new), FASTER
    )
    yield from compared(
        law,
        count,
        asked,
        "covering test, one by one",
        lambda: [ours.is_covered(*each) for each in pairs],
        lambda: theirs.covered(*new),
    )

    def withdraw() -> None:
        for handle in handles:
            ours.remove(handle)

    yield from compared(
        law,
        count,
        asked,
        "insertion",
        lambda: ours.add_many(handles, *new),
        lambda: theirs.insert(*new),
        FASTER,
        withdraw,
    )
    yield from compared(
        law,
        count,
        asked,
        "insertion, one by one",
        lambda: [ours.add(*each) for each in zip(handles, *new, strict=True)],
        lambda: theirs.insert(*new),
        None,
        withdraw,
    )
    yield from compared(law, count, asked, "matching", lambda: ours.match_many(points), lambda: theirs.matched(points))


def compared(
    law: str,
    count: int,
    asked: int,
    measure: str,
    ours: Callable[[], object],
    theirs: Callable[[], object],
    bar: int | None = None,
    after: Callable[[], object] | None = None,
) -> Iterator[Figure]:
    """Yield our time, and how often it fits into the peer's. The two take turns, so that both meet the same noise."""
    times: list[tuple[float, float]] = []
    for _ in range(PASSES):
        start = process_time()
        ours()
        between = process_time()
        theirs()
        times.append((between - start, process_time() - between))
        if after is not None:
            after()
    quickest, peer = map(min, zip(*times, strict=True))
    yield Figure("speed", law, count, measure, quickest / asked * 1e6, "µs")
    needed = None if bar is None else at_least(bar)
    yield Figure("speed", law, count, f"{measure}, peer to ours", peer / quickest, "x", needed)


def forwarded(count: int) -> Iterator[Figure]:
    """What is forwarded of squares under Zipf's law: by covering alone, and by subsumption."""
    lows, highs, _ = content(SEED, subscriptions=count, events=1, attributes=2, law="zipf")
    ours = RangeTable(ContentSpace(curve("hilbert", 2, BITS)))
    offsets, _, _ = ours.add_many(range(count), lows, highs)
    covering = len(np.unique(lows, axis=0))
    subsumption = int((np.diff(offsets) > 0).sum())
    yield Figure("forwarded", "zipf", count, "covering", covering / count * 100, "%")
    yield Figure("forwarded", "zipf", count, "subsumption", subsumption / count * 100, "%", at_most(FORWARDED))
    yield Figure("forwarded", "zipf", count, "runs stored", len(ours.runs()[0]))


def judge(ours: RangeTable, theirs: Linear, lows: Longs, highs: Longs, new: tuple[Longs, Longs], points: Longs) -> None:
    """End the run if the table or the peer is wrong."""
    union = np.zeros((CELLS,) * 3, np.bool_)
    for (x, y, z), (u, v, w) in zip(lows.tolist(), (highs + 1).tolist(), strict=True):
        union[x:u, y:v, z:w] = True
    inside = [
        bool(union[x:u, y:v, z:w].all())
        for (x, y, z), (u, v, w) in zip(new[0].tolist(), (new[1] + 1).tolist(), strict=True)
    ]
    if ours.is_covered_many(*new).tolist() != inside:
        raise SystemExit("the table does not subsume what the union of all boxes contains")
    if (theirs.covered(*new) & ~np.array(inside)).any():
        raise SystemExit("the peer finds a coverer of what the union of all boxes does not contain")
    expected = union[tuple(points.T)]
    if not np.array_equal(ours.match_many(points), expected) or not np.array_equal(theirs.matched(points), expected):
        raise SystemExit("the table or the peer does not match what lies in the union of all boxes")


if __name__ == "__main__":
    main()
