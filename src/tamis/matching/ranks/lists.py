"""Many small lists of integers in one flat array, which kernels can read.

List k is `data[start[k] : start[k] + size[k]]`. A list that outgrows its room moves to a larger block, whose length
is a power of two; the old block waits to be used again. So adding is cheap on average, and nothing is ever compacted.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from tamis.compiled import kernel

Bytes: TypeAlias = npt.NDArray[np.int8]
Ints: TypeAlias = npt.NDArray[np.int32]
Longs: TypeAlias = npt.NDArray[np.int64]

_FIRST_SIZE = 1024


def grown(array: npt.NDArray[Any], length: int) -> npt.NDArray[Any]:
    """Return an array of at least this length with the same beginning and zeros behind it."""
    if length <= len(array):
        return array
    larger = np.zeros(max(length, 2 * len(array)), array.dtype)
    larger[: len(array)] = array
    return larger


class View(NamedTuple):
    """What kernels see of lists: list k is `data[start[k] : start[k] + size[k]]`."""

    start: Longs
    size: Ints
    data: Ints


class Lists:
    """Lists of 32-bit integers under the keys 0, 1, 2, …; a key that was never used has an empty list."""

    def __init__(self) -> None:
        self.data: Ints = np.zeros(_FIRST_SIZE, np.int32)
        self.start: Longs = np.zeros(_FIRST_SIZE, np.int64)
        self.size: Ints = np.zeros(_FIRST_SIZE, np.int32)
        self._room: Ints = np.zeros(_FIRST_SIZE, np.int32)
        self._free: dict[int, list[int]] = {}
        self._top = 0

    def __getitem__(self, key: int) -> Ints:
        if key >= len(self.size):
            return self.data[:0]
        start = self.start[key]
        return self.data[start : start + self.size[key]]

    def view(self) -> View:
        """Return the arrays as they are now."""
        return View(self.start, self.size, self.data)

    def reserve(self, keys: int) -> None:
        """Make the keys below this number usable by kernels."""
        if keys <= len(self.size):
            return
        self.start = grown(self.start, keys)
        self.size = grown(self.size, keys)
        self._room = grown(self._room, keys)

    def pairs(self, keys: npt.NDArray[Any]) -> tuple[npt.NDArray[Any], Ints]:
        """Return all values of some lists, each with its key beside it."""
        sizes = self.size[keys]
        before = np.cumsum(sizes) - sizes
        places = np.repeat(self.start[keys] - before, sizes) + np.arange(sizes.sum())
        return np.repeat(keys, sizes), self.data[places]

    def append(self, key: int, value: int) -> None:
        """Put a value at the end of a list."""
        self.reserve(key + 1)
        if self.size[key] == self._room[key]:
            self._move(key, int(self.size[key]) + 1)
        self.data[self.start[key] + self.size[key]] = value
        self.size[key] += 1

    def extend(self, keys: npt.NDArray[Any], values: npt.NDArray[Any]) -> None:
        """Append the values to the lists of their keys, all at once."""
        if not len(keys):
            return
        self.reserve(int(keys.max()) + 1)
        needed = np.bincount(keys, minlength=len(self.size)) + self.size
        moved = np.flatnonzero(needed > self._room)
        rooms = 1 << np.ceil(np.log2(needed[moved])).astype(np.int64)
        starts = self._top + np.cumsum(rooms) - rooms
        self._top += int(rooms.sum())
        self.data = grown(self.data, self._top)
        for key in moved[self._room[moved] > 0]:
            self._free.setdefault(int(self._room[key]), []).append(int(self.start[key]))
        _move_all(self.data, self.start, self.size, self._room, moved, starts, rooms)
        _append_all(self.data, self.start, self.size, keys, values)

    def discard(self, key: int, value: int) -> None:
        """Take a value out of a list; the last one takes its place."""
        held = self[key]
        at = np.flatnonzero(held == value)[0]
        held[at] = held[-1]
        self.size[key] -= 1
        if self.size[key] == 0:
            self.clear(key)

    def assign(self, key: int, values: Sequence[int] | Ints) -> None:
        """Make a list hold exactly these values."""
        self.reserve(key + 1)
        if len(values) > self._room[key]:
            self._move(key, len(values))
        self.data[self.start[key] : self.start[key] + len(values)] = values
        self.size[key] = len(values)

    def clear(self, key: int) -> None:
        """Empty a list and give its block back."""
        if key < len(self.size) and self._room[key]:
            self._free.setdefault(int(self._room[key]), []).append(int(self.start[key]))
            self.size[key] = self._room[key] = 0

    def _move(self, key: int, length: int) -> None:
        """Give a list a block for so many values, and take what it holds there."""
        room = 1 << (length - 1).bit_length()
        waiting = self._free.get(room)
        if waiting:
            start = waiting.pop()
        else:
            start = self._top
            self._top += room
            self.data = grown(self.data, self._top)
        if self._room[key]:
            held = self[key]
            self.data[start : start + len(held)] = held
            self._free.setdefault(int(self._room[key]), []).append(int(self.start[key]))
        self.start[key], self._room[key] = start, room

    @property
    def bytes(self) -> int:
        """How much memory the lists take."""
        return self.data.nbytes + self.start.nbytes + self.size.nbytes + self._room.nbytes

    def check_invariants(self) -> None:
        """Raise `AssertionError` if two blocks overlap or a list is longer than its block."""
        assert (self.size <= self._room).all()
        used = [(int(self.start[key]), int(self._room[key])) for key in np.flatnonzero(self._room)]
        used += [(start, room) for room, starts in self._free.items() for start in starts]
        used.sort()
        for (start, room), (following, _) in pairwise(used):
            assert start + room <= following
        assert not used or sum(used[-1]) <= self._top <= len(self.data)


@kernel
def _move_all(data: Ints, start: Longs, size: Ints, room: Ints, moved: Longs, starts: Longs, rooms: Longs) -> None:
    for number in range(len(moved)):
        key = moved[number]
        for place in range(size[key]):
            data[starts[number] + place] = data[start[key] + place]
        start[key] = starts[number]
        room[key] = rooms[number]


@kernel
def _append_all(data: Ints, start: Longs, size: Ints, keys: Longs, values: Longs) -> None:
    for number in range(len(keys)):
        key = keys[number]
        data[start[key] + size[key]] = values[number]
        size[key] += 1
