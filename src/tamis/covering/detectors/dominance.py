"""Shen's ε-approximate detector (specs/000 §6, thesis §4.6-4.8): covering as point dominance on the Z curve.

The points that dominate that of a box fill a rectangle at the top corner of a grid. Of its volume a search goes through
at least `1 - epsilon`, in cubes from the largest down; coverers in the rest, among the smallest cubes, are missed. That
is no harm: a subscription is forwarded although it need not be. A grid cannot tell all points apart, so each hit is
verified with the box itself, and the search goes on if it fails; the thesis does not say so.
"""

from fractions import Fraction
from math import isqrt
from typing import Final, Literal, get_args

import numpy as np

from tamis.compiled import kernel
from tamis.covering.detectors.cells import cells_of, quantiles, uniform
from tamis.covering.detectors.corners import dominates, enter, roomy
from tamis.covering.detectors.detector import NOBODY, Detector, Longs, register
from tamis.covering.detectors.populated import UNKNOWN, search
from tamis.covering.detectors.sfcarray import SfcArray, interleave
from tamis.geometry.extremal import Extremal

Mode = Literal["populated", "faithful"]

EPSILON: Final = 0.05
#: Bits of a coordinate, and how many there may be: that many cuts are kept for each.
BITS: Final = 10
MOST_BITS: Final = 16
#: So many sides of boxes are on the grid; the others are only verified.
MOST_SIDES: Final = 31
#: How many cubes a faithful search goes through at most.
CUBES: Final = 100_000
#: Newcomers are merged into the array when there are so many more than half the square root of those in it: each costs
#: a comparison on every question, and merging costs a step for each box.
_FEW: Final = 8


@register("dominance")
class Dominance(Detector):
    """All boxes as points on a grid, in the order of the Z curve; and newcomers, which are compared one by one.

    It may miss coverers; with an `epsilon` of 0 it does not. `mode`: `populated` follows only those cubes that hold
    points; `faithful` goes through all cubes as the thesis does, of which there are very many, and gives up after
    `cubes` of them. It may stop in the middle of a level of cubes; with `finish_level` both find the same.

    The cells of the grid have equal widths between `bounds`, if these are given. Otherwise they are learned: about
    equally many of the boxes held begin, and end, in each; and anew when more have come since than there were.
    """

    def __init__(
        self,
        dimensions: int,
        epsilon: Fraction | float = EPSILON,
        bits: int = BITS,
        mode: Mode = "populated",
        bounds: tuple[int, int] | None = None,
        cubes: int = CUBES,
        finish_level: bool = False,
    ) -> None:
        super().__init__(dimensions)
        if not 0 <= epsilon < 1:
            raise ValueError(f"epsilon is {epsilon}, but it must be at least 0 and below 1")
        if not 1 <= bits <= MOST_BITS:
            raise ValueError(f"bits is {bits}, but a coordinate has from 1 to {MOST_BITS} bits")
        if mode not in get_args(Mode):
            raise ValueError(f"there is no mode {mode!r}; there are: {', '.join(get_args(Mode))}")
        if cubes < 1:
            raise ValueError(f"cubes is {cubes}, but a search must go through at least 1")
        self.epsilon, self.bits, self.mode = epsilon, bits, mode
        self.cubes, self.finish_level = cubes, finish_level
        #: The share of the last question's rectangle that the search covered; `populated`, would cover without a hit.
        self.coverage = 1.0
        #: Cubes that faithful searches went through.
        self.probed = 0
        self._sides = min(dimensions, MOST_SIDES)
        self._learns = bounds is None
        #: How many boxes the cells were learned from, and how many were put in their places since.
        self._learned_from = self._since = 0
        # As long as there are no cuts, all points are in one cell.
        self._cuts: Longs = np.empty((2 * self._sides, 0), np.int64)
        if bounds is not None:
            self._cuts = uniform(self._sides, bits, *bounds)
        self._points: Longs = np.empty((0, 2 * dimensions), np.int64)
        self._array = SfcArray(2 * self._sides * bits)
        #: Those that are not in the array yet, and where they are among these.
        self._newcomers: Longs = np.empty(0, np.int64)
        self._places: dict[int, int] = {}

    def add(self, handle: int, low: Longs, high: Longs) -> None:
        self._points = roomy(self._points, handle + 1)
        enter(low, high, self._points, handle)
        place = len(self._places)
        self._newcomers = roomy(self._newcomers, place + 1)
        self._newcomers[place] = handle
        self._places[handle] = place

    def remove(self, handle: int) -> None:
        place = self._places.pop(handle, None)
        if place is None:
            self._array.delete(self._keys(np.array([handle]))[0], handle)
        elif place < len(self._places):
            last = int(self._newcomers[len(self._places)])
            self._newcomers[place], self._places[last] = last, place

    def coverers(self, low: Longs, high: Longs, limit: int, besides: int = NOBODY) -> list[int]:
        self.calls += 1
        array = self._array
        faithful = self.mode == "faithful" and self.dimensions > 0
        most = 0 if faithful else _FEW + isqrt(len(array)) // 2
        if len(self._places) > most or 2 * array.gaps > len(array.owners):
            self._settle()
        limit = min(limit, len(self))
        if not limit:
            return []
        return (self._faithful if faithful else self._populated)(low, high, limit, besides)

    def _settle(self) -> None:
        """Put the newcomers in their places."""
        owners = self._newcomers[: len(self._places)].copy()
        self._places.clear()
        self._since += len(owners)
        if self._learns and self._since > self._learned_from:
            owners = np.concatenate((self._array.held(), owners))
            self._learned_from, self._since = len(owners), 0
            self._cuts = quantiles(self._points[owners, : 2 * self._sides], self.bits)
            self._array.fill(self._keys(owners), owners)
        else:
            self._array.merge(self._keys(owners), owners)

    def _keys(self, owners: Longs) -> Longs:
        keys = np.empty((len(owners), self._array.words), np.int64)
        _write_keys(self._points, owners, self._cuts, self.bits, keys)
        return keys

    def _populated(self, low: Longs, high: Longs, limit: int, besides: int) -> list[int]:
        array = self._array
        out = np.empty(limit, np.int64)
        level = 0 if self.epsilon == 0 else UNKNOWN
        while True:
            found, touched, self.coverage = search(
                array.keys,
                array.owners,
                self._newcomers[: len(self._places)],
                self._points,
                self._cuts,
                self.bits,
                low,
                high,
                besides,
                1.0 - float(self.epsilon),
                level,
                out,
            )
            if found >= 0:
                break
            level = self._rectangle(self._point(low, high)).level_for(self.epsilon)
        self.touched += touched
        return list(out[:found].tolist())

    def _faithful(self, low: Longs, high: Longs, limit: int, besides: int) -> list[int]:
        point = self._point(low, high)
        rectangle = self._rectangle(point)
        wanted = (1 - Fraction(self.epsilon)) * rectangle.volume
        volume, left = 0, self.cubes
        found: list[int] = []
        for level in range(rectangle.top_level, -1, -1):
            cube = 1 << level * rectangle.dimensions
            for first, last in rectangle.ranges(level):
                fits = min((last + 1 - first) // cube, left)
                begin, end = self._array.between(first, first + fits * cube - 1)
                for owner in self._array.owners[begin:end].tolist():
                    if owner in (NOBODY, besides) or len(found) == limit:
                        continue
                    if dominates(self._points, owner, point):
                        found.append(owner)
                self.touched += 1 + end - begin
                volume += fits * cube
                left -= fits
                if len(found) == limit or not left or (volume >= wanted and not self.finish_level):
                    break
            if len(found) == limit or not left or volume >= wanted:
                break
        self.probed += self.cubes - left
        self.coverage = float(Fraction(volume, rectangle.volume))
        return found

    def _point(self, low: Longs, high: Longs) -> Longs:
        point: Longs = np.empty((1, 2 * self.dimensions), np.int64)
        enter(low, high, point, 0)
        return point.ravel()

    def _rectangle(self, point: Longs) -> Extremal:
        """Return where the cells of all points lie that dominate one."""
        cells = np.empty(2 * self._sides, np.int64)
        cells_of(point, self._cuts, cells)
        return Extremal.above(cells.tolist(), self.bits)

    def __len__(self) -> int:
        return len(self._array) + len(self._places)

    def check_invariants(self) -> None:
        array = self._array
        array.check_invariants()
        living = np.flatnonzero(array.owners != NOBODY)
        owners = array.owners[living]
        assert (self._keys(owners) == array.keys[living]).all()
        assert sorted(self._places, key=self._places.__getitem__) == self._newcomers[: len(self._places)].tolist()
        assert len(self._places.keys() | set(owners.tolist())) == len(self)
        assert (self._cuts[:, 1:] >= self._cuts[:, :-1]).all()


@kernel
def _write_keys(points: Longs, owners: Longs, cuts: Longs, bits: int, keys: Longs) -> None:
    cells = np.empty(len(cuts), np.int64)
    for at in range(len(owners)):
        cells_of(points[owners[at]], cuts, cells)
        interleave(cells, bits, keys[at])
