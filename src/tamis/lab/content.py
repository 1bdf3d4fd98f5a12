"""Boxes and publications that MICS is measured with, its table, and the loop it is compared with (specs/001 §3)."""

from collections.abc import Callable, Mapping
from time import process_time
from types import MappingProxyType
from typing import Any, Final, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from tamis.compiled import kernel
from tamis.covering.ranges import ContentSpace, RangeTable
from tamis.geometry import curve
from tamis.geometry.leaves import Longs
from tamis.lab.experiment import Scale
from tamis.lab.workloads import Conjunctions, Mics, SparseEvents, generate
from tamis.lab.workloads.mics import CELLS

Law = Literal["zipf", "uniform"]
LAWS: Final[tuple[Law, ...]] = ("zipf", "uniform")
NAMES: Final = {"zipf": "Zipf", "uniform": "uniform"}
BITS: Final = CELLS.bit_length() - 1
#: How many boxes there are: the grid of the paper's tables; its figures have none that survived.
SIZES: Final = {Scale.QUICK: (5_000, 20_000), Scale.FULL: (20_000, 60_000, 100_000, 150_000)}
DIMENSIONS: Final = (2, 3, 4)
#: Our aim: at so many boxes in so many dimensions, this many times as fast as the loop.
AIM_SIZE, AIM_DIMENSIONS, AIM_FACTOR = 100_000, 3, 20
#: Everything is done so many times, of which the fastest counts.
PASSES: Final = 5


class Content(NamedTuple):
    """Corners of boxes and publications, in cells."""

    lows: Longs
    highs: Longs
    points: Longs


def content(seed: int, **fields: Any) -> Content:
    """Draw a workload with these fields of `Mics`. What a box leaves out has all values."""
    spec = Mics(**fields)
    workload = generate(spec, seed)
    boxes, published = workload.conditions, workload.events
    assert isinstance(boxes, Conjunctions)
    assert isinstance(published, SparseEvents)
    lows = np.zeros((spec.subscriptions, spec.attributes), np.int64)
    highs = np.full_like(lows, CELLS - 1)
    rows = np.repeat(np.arange(len(lows)), np.diff(boxes.offsets))
    lows[rows, boxes.codes] = boxes.predicates.low
    highs[rows, boxes.codes] = boxes.predicates.high
    return Content(lows, highs, published.values.astype(np.int64).reshape(-1, spec.attributes))


def space(dimensions: int) -> ContentSpace:
    """Return a Hilbert curve through the cells of so many attributes."""
    return ContentSpace(curve("hilbert", dimensions, BITS))


def filled(lows: Longs, highs: Longs) -> RangeTable:
    """Return a table of boxes, whose handles are their numbers."""
    table = RangeTable(space(lows.shape[1]))
    table.add_many(range(len(lows)), lows, highs)
    return table


def distinct(lows: Longs, highs: Longs) -> tuple[Longs, Longs]:
    """Return the boxes that differ from all before them. If all have one size, these are those that none covers."""
    _, first = np.unique(np.concatenate((lows, highs), axis=1), axis=0, return_index=True)
    first.sort()
    return lows[first], highs[first]


def best_seconds(
    works: Mapping[str, Callable[[], object]], undo: Mapping[str, Callable[[], object]] = MappingProxyType({})
) -> dict[str, float]:
    """Return the processor time of the fastest of some passes for each work; after each pass it may be undone.

    They take turns, so that all meet the same noise.
    """
    times: dict[str, list[float]] = {name: [] for name in works}
    for _ in range(PASSES):
        for name, work in works.items():
            started = process_time()
            work()
            times[name].append(process_time() - started)
            if name in undo:
                undo[name]()
    return {name: min(each) for name, each in times.items()}


class Linear:
    """What the paper compares with, compiled: a loop over boxes that ends at the first that fits.

    There is room for some more boxes. What is inserted is forgotten before the next call.
    """

    def __init__(self, lows: Longs, highs: Longs, room: int = 0) -> None:
        self._held = len(lows)
        more = np.zeros((room, lows.shape[1]), np.int64)
        self._lows, self._highs = np.concatenate((lows, more)), np.concatenate((highs, more))

    def covered(self, lows: Longs, highs: Longs) -> npt.NDArray[np.bool_]:
        """Return which boxes one of its own contains."""
        return _linear(self._lows, self._highs, self._held, lows, highs, False)

    def matched(self, points: Longs) -> npt.NDArray[np.bool_]:
        """Return which points lie in one of its boxes."""
        return _linear(self._lows, self._highs, self._held, points, points, False)

    def insert(self, lows: Longs, highs: Longs) -> npt.NDArray[np.bool_]:
        """Take in the boxes that none contains, one after the other; return which one does contain."""
        return _linear(self._lows, self._highs, self._held, lows, highs, True)


@kernel
def _linear(
    held_lows: Longs, held_highs: Longs, held: int, lows: Longs, highs: Longs, insert: bool
) -> npt.NDArray[np.bool_]:
    found = np.zeros(len(lows), np.bool_)
    for number in range(len(lows)):
        for box in range(held):
            inside = True
            for axis in range(lows.shape[1]):
                if held_lows[box, axis] > lows[number, axis] or held_highs[box, axis] < highs[number, axis]:
                    inside = False
                    break
            if inside:
                found[number] = True
                break
        if insert and not found[number]:
            held_lows[held], held_highs[held] = lows[number], highs[number]
            held += 1
    return found
