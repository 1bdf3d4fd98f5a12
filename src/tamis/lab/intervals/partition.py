"""The line of values, cut where intervals begin and end: the leaves of the Segment-Tree and of the PS-Tree."""

from typing import NamedTuple

import numpy as np

from tamis.lab.intervals.structure import Longs, Values


class Partition(NamedTuple):
    """Leaves are numbered from left to right. The leaf of a point is the number of ``lasts`` that are less than it.

    Behind the last of ``lasts`` there is one more leaf. An interval covers the leaves from ``first`` to ``last``.
    """

    lasts: Values
    first: Longs
    last: Longs

    @property
    def leaves(self) -> int:
        """How many leaves there are."""
        return len(self.lasts) + 1


def partition(low: Values, high: Values) -> Partition:
    """Cut the line before every ``low``, which is after its predecessor, and after every ``high``.

    The least value of a type has no predecessor. It is its own if it is infinite and becomes the greatest if it is an
    integer: in either case the line gets a cut that no interval needs, which does no harm.
    """
    before = np.nextafter(low, -np.inf) if low.dtype.kind == "f" else low - low.dtype.type(1)
    lasts = np.unique(np.concatenate([before, high]))
    return Partition(lasts, np.searchsorted(lasts, low), np.searchsorted(lasts, high))
