"""The stretches of the lines of a segment: which cuts the values of a kind can pass."""

from typing import Final

import numpy as np

from tamis.compiled import kernel
from tamis.language.values import Kind
from tamis.matching.ranks.lists import Bytes, Ints
from tamis.matching.segments.cuts import BOUNDARY, NO_INTEGER, Cuts

#: Doubles, whose cuts are not where those of integers are. Null has no values to be found: they have its place.
REAL: Final = Kind.NULL
_REAL, _NUMBER = int(REAL), int(Kind.NUMBER)
#: Kinds of values, and the end of all.
KINDS: Final = len(Kind) + 1


class Stretches:
    """By dimension and kind of values: where the cuts begin and end that these can pass."""

    def __init__(self, cuts: Cuts, dimensions: int) -> None:
        self.cuts = cuts
        self.begin, self.end = _stretches(cuts.dimension, cuts.kind, cuts.flag, dimensions)

    def of(self, dimension: int, kind: Kind) -> tuple[int, int]:
        """Return where the cuts begin and end that values of a kind can pass, on the line of a dimension."""
        at = dimension * KINDS + kind
        return int(self.begin[at]), int(self.end[at])

    def passing(self, dimension: int) -> int:
        """Return the leaf of the events that pass the filter which a dimension is."""
        begin, end = self.of(dimension, Kind.BOOLEAN)
        return begin - 1 + int(np.searchsorted(self.cuts.whole[begin:end], 1, side="right"))


@kernel
def _stretches(dimension: Ints, kind: Bytes, flag: Bytes, dimensions: int) -> tuple[Ints, Ints]:
    begin, end = np.zeros(dimensions * KINDS, np.int32), np.zeros(dimensions * KINDS, np.int32)
    for cut in range(len(dimension)):
        end[dimension[cut] * KINDS + kind[cut]] += 1
    for own in range(1, len(end)):
        begin[own] = end[own - 1]
        end[own] += end[own - 1]
    for cut in range(len(dimension)):
        if flag[cut] == BOUNDARY:
            begin[dimension[cut] * KINDS + kind[cut]] += 1
    for line in range(dimensions):
        number = line * KINDS + _NUMBER
        begin[line * KINDS + _REAL], end[line * KINDS + _REAL] = begin[number], end[number]
    for cut in range(len(dimension)):
        if flag[cut] == NO_INTEGER:
            end[dimension[cut] * KINDS + _NUMBER] -= 1
    return begin, end
