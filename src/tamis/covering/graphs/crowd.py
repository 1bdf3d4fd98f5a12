"""A set of handles that is an array at the same time, so that one can be compared with all of them at once."""

from collections.abc import Iterator

import numpy as np

from tamis.covering.detectors.detector import Longs


class Crowd:
    """Handles, each once, in no order."""

    __slots__ = ("_members", "_places")

    def __init__(self) -> None:
        self._members: Longs = np.empty(4, np.int64)
        self._places: dict[int, int] = {}

    def add(self, handle: int) -> None:
        """Take in a handle that is not there."""
        place = len(self._places)
        if place == len(self._members):
            self._members = np.concatenate((self._members, self._members))
        self._members[place] = handle
        self._places[handle] = place

    def remove(self, handle: int) -> None:
        """Let a handle go that is there."""
        place = self._places.pop(handle)
        last = len(self._places)
        if place < last:
            moved = int(self._members[last])
            self._members[place] = moved
            self._places[moved] = place

    def array(self) -> Longs:
        """Return all handles as they are now."""
        return self._members[: len(self._places)]

    def __len__(self) -> int:
        return len(self._places)

    def __contains__(self, handle: object) -> bool:
        return handle in self._places

    def __iter__(self) -> Iterator[int]:
        return iter(self._places)
