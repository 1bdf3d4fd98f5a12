"""Where the values of columns lie on the lines of a segment."""

from threading import local
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tamis.compiled import kernel
from tamis.language.values import Kind
from tamis.matching.ranks.lists import Ints, Longs
from tamis.matching.segments.bits import lowest, without_lowest
from tamis.matching.segments.cuts import Cuts, Doubles, Octets
from tamis.matching.segments.guides import Guide, stretch_of
from tamis.matching.segments.stretches import KINDS, REAL
from tamis.matching.segments.wildcards import utf8_rows

#: Where all rows of a column are valid.
ALL_VALID: Final = np.zeros(0, np.uint8)
#: Fewer cuts are searched as they are.
_SHORTEST: Final = 16
_WHOLE: Final = int(Kind.NUMBER)
_REAL: Final = int(REAL)


class _Room(local):
    """What a thread has to write entries into: it is kept for the next batch."""

    def __init__(self) -> None:
        self.row: Ints = np.empty(0, np.int32)
        self.leaf: Ints = np.empty(0, np.int32)


_ROOM: Final = _Room()


class Entries:
    """Rows of a batch with leaves on which they lie, column after column. A thread uses one at a time."""

    def __init__(self, rows: int) -> None:
        self._rows = rows
        self.used = 0

    def _room(self, more_rows: int | None = None) -> tuple[Ints, Ints, int]:
        """Return arrays of rows and leaves with room for so many more, or every row once; and how much is used."""
        needed = self._rows if more_rows is None else more_rows
        if self.used + needed > len(_ROOM.row):
            more = np.empty(max(len(_ROOM.row), 8 * needed), np.int32)
            _ROOM.row, _ROOM.leaf = np.concatenate((_ROOM.row, more)), np.concatenate((_ROOM.leaf, more))
        return _ROOM.row, _ROOM.leaf, self.used

    def add(self, rows: npt.NDArray[np.integer], leaves: Ints | int) -> None:
        """Add rows with their leaves."""
        row, leaf, used = self._room(len(rows))
        self.used += len(rows)
        row[used : self.used], leaf[used : self.used] = rows, leaves

    def look_up(self, values: npt.NDArray[Any], valid: Octets, shift: int, first: int, table: Ints) -> None:
        """Add the leaves of integers from a table, whose ends stand for all that lies beyond.

        `valid` has a bit for each row, after so many others, or is empty if all are valid.
        """
        self.used = _look_up(values, valid, shift, first, table, *self._room())

    def search(self, values: npt.NDArray[Any], valid: Octets, shift: int, cuts: npt.NDArray[Any], guide: Guide) -> None:
        """Add the leaves of numbers: of how many cuts of a line, to which there is a guide, they are not less."""
        row, leaf, used = self._room()
        self.used = _search(values, valid, shift, cuts, guide.first, guide.scale, guide.starts, row, leaf, used)

    def search_texts(self, texts: pa.Array, valid: Octets, shift: int, cuts: Cuts, line: tuple[int, int]) -> None:
        """Do the same for texts."""
        row, leaf, used = self._room()
        data, offsets = utf8_rows(texts)
        self.used = _search_texts(
            offsets, data, valid, shift, cuts.offset, cuts.text, line[0], line[1], row, leaf, used
        )

    def by_row(self) -> tuple[Longs, Ints]:
        """Return all leaves: those of row r lie from `offsets[r]` up to `offsets[r + 1]`."""
        return _by_row(self._rows, _ROOM.row[: self.used], _ROOM.leaf[: self.used])


@kernel
def _by_row(size: int, rows: Ints, leaves: Ints) -> tuple[Longs, Ints]:
    offsets = np.zeros(size + 2, np.int64)
    for row in rows:
        offsets[row + 2] += 1
    for row in range(size):
        offsets[row + 2] += offsets[row + 1]
    found = np.empty(len(leaves), np.int32)
    for each in range(len(rows)):
        row = rows[each]
        found[offsets[row + 1]] = leaves[each]
        offsets[row + 1] += 1
    return offsets[:-1], found


@kernel
def _valid_rows(size: int, valid: Octets, shift: int, rows: Ints, used: int) -> int:
    """Write which rows are valid, and return how much is used then."""
    if len(valid) == 0:
        for row in range(size):
            rows[used + row] = row
        return used + size
    row = 0
    while row < size:
        at = row + shift
        byte, within = at >> 3, at & 7
        bits = np.uint64(0)
        for each in range(min(8, len(valid) - byte)):
            bits |= np.uint64(valid[byte + each]) << np.uint64(8 * each)
        bits >>= np.uint64(within)
        width = min(64 - within, size - row)
        if width < 64:
            bits &= (np.uint64(1) << np.uint64(width)) - np.uint64(1)
        while bits:
            rows[used] = row + lowest(bits)
            used += 1
            bits = without_lowest(bits)
        row += width
    return used


@kernel
def _look_up(
    values: Longs, valid: Octets, shift: int, first: int, table: Ints, rows: Ints, leaves: Ints, used: int
) -> int:
    last = first + len(table) - 1
    end = _valid_rows(len(values), valid, shift, rows, used)
    for each in range(used, end):
        # Compared before they are subtracted: the difference of two integers may not fit.
        leaves[each] = table[max(first, min(int(values[rows[each]]), last)) - first]
    return end


@kernel
def _search(
    values: Doubles | Longs,
    valid: Octets,
    shift: int,
    cuts: Doubles | Longs,
    first: float,
    scale: float,
    starts: Ints,
    rows: Ints,
    leaves: Ints,
    used: int,
) -> int:
    for each in range(used, _valid_rows(len(values), valid, shift, rows, used)):
        row = rows[each]
        value = values[row]
        # What is not a number is not equal to itself.
        if value != value:
            continue
        stretch = stretch_of(float(value), first, scale, len(starts) - 1)
        low, high = starts[stretch], starts[stretch + 1]
        while low < high:
            middle = (low + high) >> 1
            if cuts[middle] <= value:
                low = middle + 1
            else:
                high = middle
        rows[used], leaves[used] = row, low - 1
        used += 1
    return used


@kernel
def _search_texts(
    offsets: Ints | Longs,
    data: Octets,
    valid: Octets,
    shift: int,
    cut_offsets: Longs,
    cuts: Octets,
    begin: int,
    end: int,
    rows: Ints,
    leaves: Ints,
    used: int,
) -> int:
    last = _valid_rows(len(offsets) - 1, valid, shift, rows, used)
    for each in range(used, last):
        row = rows[each]
        low, high = begin, end
        while low < high:
            middle = (low + high) >> 1
            if _passes(data, offsets[row], offsets[row + 1], cuts, cut_offsets[middle], cut_offsets[middle + 1]):
                low = middle + 1
            else:
                high = middle
        leaves[each] = low - 1
    return last


@kernel
def _passes(data: Octets, first: int, last: int, cuts: Octets, begin: int, end: int) -> bool:
    """Return whether a text is not less than that of a cut."""
    while begin < end:
        if first == last or data[first] < cuts[begin]:
            return False
        if data[first] > cuts[begin]:
            return True
        first += 1
        begin += 1
    return True


@kernel
def locate(
    on: Ints, wholes: Longs, reals: Doubles, begin: Ints, end: Ints, whole: Longs, real: Doubles, out: Ints
) -> int:
    """Write the leaves of the numbers of one event, first of integers, and return how many there are.

    NaN has none. `on` tells the line of each, or -1; `begin` and `end` are those of `Stretches`, the cuts
    are `whole` and `real`.
    """
    count = 0
    for number in range(len(on)):
        line = on[number] * KINDS
        if line < 0:
            continue
        if number < len(wholes):
            out[count] = _behind(whole, begin[line + _WHOLE], end[line + _WHOLE], wholes[number]) - 1
        else:
            value = reals[number - len(wholes)]
            if np.isnan(value):
                continue
            out[count] = _behind(real, begin[line + _REAL], end[line + _REAL], value) - 1
        count += 1
    return count


@kernel
def _behind(cuts: npt.NDArray[Any], low: int, high: int, value: float) -> int:
    """Return the place behind all cuts that are not greater than a value, between two places.

    A guess as if cuts lay evenly comes first: around it there are few to look at, and they lie together.
    """
    if high - low >= _SHORTEST:
        first, last = float(cuts[low]), float(cuts[high - 1])
        share = (float(value) - first) / (last - first) if last - first > 0.0 else 0.0
        if 0.0 < share < 1.0:
            guess = low + int(share * (high - low - 1))
            step = 2
            if cuts[guess] <= value:
                low = guess + 1
                while low + step < high and cuts[low + step] <= value:
                    low += step + 1
                    step *= 2
                high = min(high, low + step)
            else:
                high = guess
                while high - step > low and cuts[high - step] > value:
                    high -= step
                    step *= 2
                low = max(low, high - step)
    while low < high:
        middle = (low + high) // 2
        if cuts[middle] <= value:
            low = middle + 1
        else:
            high = middle
    return low
