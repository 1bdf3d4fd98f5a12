"""The values of one event, taken apart once for all parts of an index."""

from collections.abc import Iterable, Mapping
from typing import Any, Final

import numpy as np

from tamis.language.limits import MAX_INTEGER, MIN_INTEGER
from tamis.matching.ranks.lists import Longs
from tamis.matching.segments.cuts import Doubles

_WHOLES: Final = {int}
_NO_REALS: Final[Doubles] = np.empty(0)


class Values:
    """An event with its numbers in arrays, which kernels search for, and all else as it came."""

    __slots__ = ("event", "names", "reals", "rest", "wholes")

    def __init__(self, event: Mapping[str, Any]) -> None:
        self.event = event
        #: What is not a number of 64 bits.
        self.rest: dict[str, Any] = {}
        #: The integers, and the doubles.
        self.wholes: Longs
        self.reals = _NO_REALS
        #: Of the integers, then of the doubles.
        self.names: Iterable[str] = event
        try:
            # Many events have integers only, and no loop is needed to see that.
            if set(map(type, event.values())) == _WHOLES:
                self.wholes = np.array(list(event.values()), np.int64)
                return
        except OverflowError:
            pass
        self._sort_out()

    def _sort_out(self) -> None:
        wholes: dict[str, int] = {}
        reals: dict[str, float] = {}
        for name, value in self.event.items():
            kind = type(value)
            if kind is float:
                reals[name] = value
            elif kind is int and MIN_INTEGER <= value <= MAX_INTEGER:
                wholes[name] = value
            else:
                self.rest[name] = value
        self.names = (*wholes, *reals)
        self.wholes = np.array(list(wholes.values()), np.int64)
        self.reals = np.array(list(reals.values()), np.float64)
