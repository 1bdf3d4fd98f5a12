"""The values of one event, taken apart once for all parts of an index."""

from collections.abc import Collection, Mapping
from typing import Any, Final

import numpy as np

from tamis.language.limits import MAX_INTEGER, MIN_INTEGER
from tamis.matching.ranks.lists import Longs
from tamis.matching.segments.cuts import Doubles

#: Fewer numbers are found sooner one by one, as values that are remembered.
FEW: Final = 8
_NO_WHOLES: Final[Longs] = np.empty(0, np.int64)
_NO_REALS: Final[Doubles] = np.empty(0)


class Values:
    """An event with its numbers in arrays, which kernels search for, and all else as it came."""

    __slots__ = ("event", "names", "reals", "rest", "wholes")

    def __init__(self, event: Mapping[str, Any]) -> None:
        self.event = event
        #: The integers, and the doubles.
        self.wholes, self.reals = _NO_WHOLES, _NO_REALS
        #: Of the integers, then of the doubles.
        self.names: Collection[str] = ()
        #: What is not a number of 64 bits, or one of a few.
        self.rest: Mapping[str, Any] = event
        kinds = list(map(type, event.values()))
        wholes = kinds.count(int)
        if wholes + kinds.count(float) < FEW:
            return
        # Many events have integers only: that is seen without a loop.
        if wholes == len(kinds):
            try:
                self.wholes = np.array(list(event.values()), np.int64)
            except OverflowError:
                self._sort_out()
            else:
                self.names, self.rest = event, {}
        else:
            self._sort_out()

    def _sort_out(self) -> None:
        wholes: dict[str, int] = {}
        reals: dict[str, float] = {}
        rest: dict[str, Any] = {}
        for name, value in self.event.items():
            kind = type(value)
            if kind is float:
                reals[name] = value
            elif kind is int and MIN_INTEGER <= value <= MAX_INTEGER:
                wholes[name] = value
            else:
                rest[name] = value
        self.names, self.rest = (*wholes, *reals), rest
        self.wholes, self.reals = np.array(list(wholes.values()), np.int64), np.array(list(reals.values()), np.float64)
