"""What a structure over intervals can do, and how its answers are read."""

from collections.abc import Iterator
from typing import Any, NamedTuple, Protocol, Self, TypeAlias

import numpy as np
import numpy.typing as npt

from tamis.compiled import kernel

Ints: TypeAlias = npt.NDArray[np.int32]
Longs: TypeAlias = npt.NDArray[np.int64]
#: Integers or doubles, but no NaN: the ends of intervals and the points are of one type.
Values: TypeAlias = npt.NDArray[Any]

#: How many answers there is room for beyond one for each interval.
SPARE_ANSWERS = 1 << 16


class Structure(Protocol):
    """Intervals, numbered from 0, both of whose ends belong to them; no interval ends before it begins."""

    @classmethod
    def build(cls, low: Values, high: Values) -> Self:
        """Return the structure for these intervals."""

    def locate(self, points: Values) -> Longs:
        """Return for each point where in the structure it lies, without reading what the structure says there."""

    def enumerate(self, first: int, points: Values, ends: Longs, out: Ints) -> int:
        """Write the intervals that contain the points, from the first on, one behind the other into ``out``.

        ``ends[point]`` is how many were written up to and including a point. It stops before a point for which
        ``out`` may not have room, never before the first, and returns the point that it did not do.
        """

    @property
    def bytes(self) -> int:
        """How much memory the arrays take, those of the intervals themselves left out."""


class Lists(NamedTuple):
    """Lists of intervals: list k is ``intervals[offsets[k] : offsets[k + 1]]``."""

    offsets: Longs
    intervals: Ints

    @property
    def bytes(self) -> int:
        """How much memory they take."""
        return self.offsets.nbytes + self.intervals.nbytes


@kernel
def copy_list(lists: Lists, number: int, used: int, out: Ints) -> int:
    """Copy a list to where ``out`` is not used yet, and return how much of it is used then."""
    for at in range(lists.offsets[number], lists.offsets[number + 1]):
        out[used] = lists.intervals[at]
        used += 1
    return used


def rounds(structure: Structure, points: Values, ends: Longs, out: Ints) -> Iterator[tuple[int, int]]:
    """Enumerate all points, in as many rounds as ``out`` makes necessary; yield from where to where each went."""
    first = 0
    while first < len(points):
        reached = structure.enumerate(first, points, ends, out)
        yield first, reached
        first = reached


def answers(structure: Structure, intervals: int, points: Values) -> list[list[int]]:
    """Return for each point the intervals that contain it, in the structure's order."""
    ends = np.zeros(len(points), np.int64)
    out = np.zeros(intervals + SPARE_ANSWERS, np.int32)
    found: list[list[int]] = []
    for first, reached in rounds(structure, points, ends, out):
        parts = np.split(out[: ends[reached - 1]], ends[first : reached - 1])
        found.extend(part.tolist() for part in parts)
    return found
