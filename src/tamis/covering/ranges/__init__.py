"""Subscriptions as runs on a Hilbert curve (MICS, specs/001): covering, subsumption and merging in one pass."""

from tamis.covering.ranges.active import ActiveTable
from tamis.covering.ranges.boxindex import BoxIndex
from tamis.covering.ranges.groups import GroupedTable
from tamis.covering.ranges.projection import most_selective, overlap_probabilities
from tamis.covering.ranges.space import ContentSpace
from tamis.covering.ranges.subtraction import subsumed
from tamis.covering.ranges.table import RangeTable

__all__ = [
    "ActiveTable",
    "BoxIndex",
    "ContentSpace",
    "GroupedTable",
    "RangeTable",
    "most_selective",
    "overlap_probabilities",
    "subsumed",
]
