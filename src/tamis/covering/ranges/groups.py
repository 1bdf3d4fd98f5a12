"""Attribute groups (specs/001 F15): several small content spaces instead of one of many dimensions."""

from collections.abc import Hashable, Sequence

import numpy as np
import numpy.typing as npt

from tamis.covering.ranges.space import ContentSpace
from tamis.covering.ranges.table import RangeTable
from tamis.geometry.leaves import Runs


class GroupedTable:
    """One `RangeTable` for each group of attributes; a publication may match only if all groups match.

    The paper only sketches this. Groups that match because of different boxes are false positives; no match is lost.
    """

    def __init__(self, spaces: Sequence[ContentSpace], theta: int = 1) -> None:
        if not spaces:
            raise ValueError("a grouped table needs at least one group")
        self.tables = [RangeTable(space, theta) for space in spaces]

    def __len__(self) -> int:
        return len(self.tables[0])

    def __contains__(self, handle: object) -> bool:
        return handle in self.tables[0]

    def add(self, handle: Hashable, low: npt.ArrayLike, high: npt.ArrayLike) -> list[Runs]:
        """Take in a box and return what each group has to forward; nothing is to be sent if none has."""
        runs = [table.space.runs(low, high) for table in self.tables]
        return [table.add_runs(handle, *each) for table, each in zip(self.tables, runs, strict=True)]

    def remove(self, handle: Hashable) -> list[Runs]:
        """Let a box go and return what each group has to withdraw."""
        return [table.remove(handle) for table in self.tables]

    def match(self, point: npt.ArrayLike) -> bool:
        """Return whether all groups match a publication."""
        return all(table.match(point) for table in self.tables)

    def match_many(self, points: npt.ArrayLike) -> npt.NDArray[np.bool_]:
        """Return for each publication whether all groups match it."""
        found = np.ones(len(np.asarray(points)), np.bool_)
        for table in self.tables:
            found &= table.match_many(points)
        return found

    def is_covered(self, low: npt.ArrayLike, high: npt.ArrayLike) -> bool:
        """Return whether a box would change nothing in any group."""
        return all(table.is_covered(low, high) for table in self.tables)

    def check_invariants(self) -> None:
        """Raise `AssertionError` if a group is not what it should be, or does not have all boxes."""
        for table in self.tables:
            table.check_invariants()
            assert len(table) == len(self)
