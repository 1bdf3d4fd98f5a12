"""Questions put to detectors: which of many random boxes cover another? (specs/000 §6, Experiment D)."""

from math import inf
from time import process_time
from typing import Final, NamedTuple

import msgspec
import numpy as np

from tamis.covering.detectors import Detector, Longs
from tamis.covering.detectors.dominance import BITS
from tamis.lab.replay import UNIT

#: All questions are asked so many times, of which the fastest counts.
PASSES: Final = 3


class Boxes(NamedTuple):
    """Boxes that are held, and boxes that are asked about."""

    low: Longs
    high: Longs
    asked_low: Longs
    asked_high: Longs


class Work(msgspec.Struct, frozen=True):
    """For each question, how many boxes a detector found and how many it looked at; microseconds for one."""

    found: list[int]
    touched: list[int]
    microseconds: float

    @property
    def answered(self) -> int:
        """How many questions had an answer."""
        return sum(map(bool, self.found))

    @property
    def hits(self) -> int:
        """How many boxes were found in all."""
        return sum(self.found)


def draw(rng: np.random.Generator, sides: int, size: int, queries: int) -> Boxes:
    """Return boxes of which each side lies between two uniform numbers."""
    ends = np.sort((rng.random((size + queries, sides, 2)) * UNIT).astype(np.int64), axis=2)
    low, high = np.ascontiguousarray(ends[..., 0]), np.ascontiguousarray(ends[..., 1])
    return Boxes(low[:size], high[:size], low[size:], high[size:])


def hold(detector: Detector, boxes: Boxes) -> None:
    """Let a detector hold the boxes, and be ready for questions."""
    for handle, (low, high) in enumerate(zip(boxes.low, boxes.high, strict=True)):
        detector.add(handle, low, high)
    # The first question makes the structure, and compiles what is not compiled yet.
    detector.coverers(boxes.asked_low[0], boxes.asked_high[0], 1)


def ask(detector: Detector, boxes: Boxes, limit: int) -> Work:
    """Ask about all boxes that are asked about, for so many coverers at most."""
    best = inf
    for _ in range(PASSES):
        found: list[int] = []
        touched = [detector.touched]
        started = process_time()
        for low, high in zip(boxes.asked_low, boxes.asked_high, strict=True):
            found.append(len(detector.coverers(low, high, limit)))
            touched.append(detector.touched)
        best = min(best, process_time() - started)
    return Work(found, np.diff(touched).tolist(), 1e6 * best / len(found))


def cells_of(low: Longs, high: Longs) -> Longs:
    """Return the points of boxes on the grid, as specs/000 §6 has them."""
    top = (1 << BITS) - 1
    shift = UNIT.bit_length() - 1 - BITS
    both = np.stack((top - np.minimum(low >> shift, top), np.minimum(high >> shift, top)), axis=2)
    return both.reshape(len(low), -1)
