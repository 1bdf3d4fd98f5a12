"""The stretches of the lines of a segment: which cuts the values of a kind can pass."""

from typing import Final

import numpy as np

from tamis.language.values import Kind
from tamis.matching.ranks.lists import Ints
from tamis.matching.segments.cuts import BOUNDARY, NO_INTEGER, Cuts

#: Doubles, whose cuts are not where those of integers are. Null has no values to be found: they have its place.
REAL: Final = Kind.NULL
#: Kinds of values, and the end of all.
KINDS: Final = len(Kind) + 1


class Stretches:
    """By dimension and kind of values: where the cuts begin and end that these can pass."""

    def __init__(self, cuts: Cuts, dimensions: int) -> None:
        self.cuts = cuts
        own = cuts.dimension.astype(np.int64) * KINDS + cuts.kind
        begin = np.searchsorted(own, np.arange(dimensions * KINDS)).astype(np.int32)
        end = np.searchsorted(own, np.arange(dimensions * KINDS), side="right").astype(np.int32)
        begin[own[cuts.flag == BOUNDARY]] += 1
        begin[REAL::KINDS], end[REAL::KINDS] = begin[Kind.NUMBER :: KINDS], end[Kind.NUMBER :: KINDS]
        no_integer = np.bincount(cuts.dimension[cuts.flag == NO_INTEGER], minlength=dimensions)
        end[Kind.NUMBER :: KINDS] -= no_integer.astype(np.int32)
        self.begin: Ints = begin
        self.end: Ints = end

    def of(self, dimension: int, kind: Kind) -> tuple[int, int]:
        """Return where the cuts begin and end that values of a kind can pass, on the line of a dimension."""
        at = dimension * KINDS + kind
        return int(self.begin[at]), int(self.end[at])

    def passing(self, dimension: int) -> int:
        """Return the leaf of the events that pass the filter which a dimension is."""
        begin, end = self.of(dimension, Kind.BOOLEAN)
        return begin - 1 + int(np.searchsorted(self.cuts.whole[begin:end], 1, side="right"))
