"""How fast do boxes become runs on the Hilbert and the Z curve, and cells keys?

    python bench/curves.py [--boxes 1000000] [--peers 20000] [--json FILE]

Boxes lie at random on 256 cells an axis, as in the paper's experiments (specs/001 §3). Wall time on two cores, the best
of three passes, after compilation. The peer is what the paper does (specs/001 F3): encode every cell of a box, sort
the keys, join those that follow each other, with the same encoder and NumPy on one core. Answers are compared with it;
a wrong one ends the run with an error. The paper's own times (Table 1, another machine) are beside ours for their shape
alone.
"""

import argparse
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from harness.clock import best_seconds, on_cores
from harness.figures import Figure, at_most
from harness.report import tell
from tamis.geometry import Curve, convert, curve
from tamis.geometry.budget import USUAL_MAX_RUNS, USUAL_NODE_CAP

BITS: Final = 8
CORES: Final = 2
#: What is allowed for a million boxes of side 4 in 3 dimensions.
SECONDS_PER_MILLION: Final = 60.0
#: Milliseconds for a subscription in Table 1, by dimensions: sides 2, 4, 8, 16.
PAPER: Final = {2: (0.1, 0.1, 0.3, 1.0), 3: (0.1, 0.3, 1.9, 12.8), 4: (0.1, 1.1, 10.2, 124.1)}
SIDES: Final = (2, 4, 8, 16)
#: A table's cell takes so many runs at most, or memory would be what is measured.
RUNS_AT_ONCE: Final = 4_000_000

_Boxes = tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]


def main() -> None:
    """Measure, print a table for each question, and say whether the bar is reached."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--boxes", type=int, default=1_000_000)
    arguments.add_argument("--peers", type=int, default=20_000, help="boxes for the peer")
    arguments.add_argument("--json", type=Path, metavar="FILE", help="write all figures there")
    chosen = arguments.parse_args()
    with on_cores(CORES) as enough:
        sections = {
            "bulk": bulk(chosen.boxes, chosen.peers),
            "sizes": sizes(chosen.boxes),
            "keys": keys(chosen.boxes),
        }
        tell(sections, chosen.json, "" if enough else f"; there are no {CORES} cores")


def bulk(count: int, peers: int) -> Iterator[Figure]:
    """Boxes of side 4 in 3 dimensions into runs: exact, with a budget, and by the peer."""
    lows, highs = random_boxes(count, 3, 4)
    for name in ("hilbert", "z"):
        line = curve(name, 3, BITS)
        few = min(peers, count)
        start = perf_counter()
        convert(line, lows[:1], highs[:1], USUAL_MAX_RUNS, USUAL_NODE_CAP)
        yield Figure("bulk", name, count, "compile or load", perf_counter() - start, "s")
        found = convert(line, lows, highs)
        by_cells(line, lows[:1], highs[:1])
        if not same(found, by_cells(line, lows[:few], highs[:few])):
            raise SystemExit(f"{name}: the runs are not those of the sorted cells")
        seconds = best_seconds(partial(convert, line, lows, highs), perf_counter)
        bar = at_most(SECONDS_PER_MILLION * count / 1e6)
        yield Figure("bulk", name, count, "exact runs", seconds, "s", bar)
        yield Figure("bulk", name, count, "boxes per second", count / seconds)
        yield Figure("bulk", name, count, "runs per box", len(found.starts) / count)
        limited = best_seconds(partial(convert, line, lows, highs, 8, 8 * 16), perf_counter)
        yield Figure("bulk", name, count, "at most 8 runs each", limited, "s")
        peer = best_seconds(partial(by_cells, line, lows[:few], highs[:few]), perf_counter)
        yield Figure("bulk", name, count, "cells sorted, to ours", (peer / few) / (seconds / count), "x")


def sizes(count: int) -> Iterator[Figure]:
    """Table 1: time for a box by dimensions and side."""
    for dimensions, paper in PAPER.items():
        for side, theirs in zip(SIDES, paper, strict=True):
            boxes = max(10, min(count // 10, RUNS_AT_ONCE // side ** (dimensions - 1)))
            lows, highs = random_boxes(boxes, dimensions, side)
            line = curve("hilbert", dimensions, BITS)
            convert(line, lows[:1], highs[:1])
            seconds = best_seconds(partial(convert, line, lows, highs), perf_counter)
            subject = f"{dimensions} dimensions, side {side}"
            yield Figure("sizes", subject, boxes, "box", seconds / boxes * 1e6, "µs")
            yield Figure("sizes", subject, boxes, "paper", theirs * 1e3, "µs")


def keys(count: int) -> Iterator[Figure]:
    """Points to keys and back, on one thread."""
    for name in ("hilbert", "z"):
        for dimensions in (2, 3, 6):
            line = curve(name, dimensions, BITS)
            points = np.random.default_rng(1).integers(0, 1 << BITS, (count, dimensions))
            coded = line.encode(points)
            if not np.array_equal(line.decode(coded), points):
                raise SystemExit(f"{name}, {dimensions} dimensions: the points do not come back")
            subject = f"{name}, {dimensions} dimensions"
            for measure, work in (
                ("encode", partial(line.encode, points)),
                ("decode", partial(line.decode, coded)),
            ):
                yield Figure("keys", subject, count, measure, best_seconds(work, perf_counter) / count * 1e9, "ns")


def random_boxes(count: int, dimensions: int, side: int) -> _Boxes:
    """Return cubes anywhere on the grid."""
    lows = np.random.default_rng(7).integers(0, (1 << BITS) - side + 1, (count, dimensions))
    return lows, lows + side - 1


def by_cells(line: Curve, lows: npt.NDArray[np.int64], highs: npt.NDArray[np.int64]) -> tuple[Any, Any]:
    """Return the starts and ends of the runs of equal cubes by encoding and sorting all of their cells."""
    sides = highs[0] - lows[0] + 1
    steps = np.indices(sides).reshape(len(sides), -1).T
    coded = line.encode((lows[:, None, :] + steps).reshape(-1, len(sides))).reshape(len(lows), -1)
    coded.sort(axis=1)
    breaks = np.diff(coded, axis=1) > 1
    edge = np.ones((len(lows), 1), np.bool_)
    return coded[np.hstack((edge, breaks))], coded[np.hstack((breaks, edge))]


def same(found: Any, expected: tuple[Any, Any]) -> bool:
    """Say whether the first runs are these."""
    starts, ends = expected
    return np.array_equal(found.starts[: len(starts)], starts) and np.array_equal(found.ends[: len(ends)], ends)


if __name__ == "__main__":
    main()
