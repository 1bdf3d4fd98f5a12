"""A hash table from ids to rows, in one flat array, for kernels.

Open addressing with linear probing, built once. A slot is 0 when empty, otherwise 31 bits of the id's hash and 32 bits
of its row plus one; the other 32 bits of the hash give the slot where a search starts. So a search looks at an id only
if it is almost surely the right one. Only the first row of an id that occurs twice is in the table.

The hash multiplies numbers of 32 bits with factors of 31, so that nothing exceeds 63 bits, compiled or not. It is part
of the file format: tables are stored.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from tamis.compiled import brief, kernel
from tamis.matching.ranks.lists import Longs

Text = npt.NDArray[np.uint8]

#: Seven slots in ten are in use: 11.4 bytes for each id.
_SLOTS, _USED = 10, 7
#: So that the product of 32 bits of hash and the number of slots does not exceed 63 bits.
MAX_IDS = 1 << 30

_HALF = (1 << 32) - 1
_TAG = (1 << 31) - 1
_FIRST_START, _FIRST_FACTOR = 2_166_136_261, 16_777_619
_SECOND_START, _SECOND_FACTOR = 2_654_435_769, 1_540_483_477
_MIX_ONE, _MIX_TWO = 0x7FEB352D, 0x31848BAB


def slots_for(ids: int) -> int:
    """Return the length of the table for so many ids; one slot at least stays empty."""
    return ids * _SLOTS // _USED + 1


@kernel
def _mixed(number: int) -> int:
    """Spread 32 bits: each bit of the answer depends on all of the number."""
    number = ((number ^ (number >> 16)) * _MIX_ONE) & _HALF
    number = ((number ^ (number >> 15)) * _MIX_TWO) & _HALF
    return number ^ (number >> 16)


@kernel
def hash_text(data: Text, start: int, end: int) -> int:
    """Return 63 bits for some bytes: two FNV-1a sums with different factors, mixed."""
    one, other = _FIRST_START, _SECOND_START
    for place in range(start, end):
        byte: Any = np.int64(data[place])  # signed, as all numbers here
        one = ((one ^ byte) * _FIRST_FACTOR) & _HALF
        other = ((other ^ byte) * _SECOND_FACTOR) & _HALF
    one = _mixed(one ^ _mixed(other))
    return (one << 31) | (_mixed(other ^ _SECOND_START) & _TAG)


@kernel
def hash_number(number: int) -> int:
    """Return 63 bits for a 64-bit number."""
    low, high = number & _HALF, (number >> 32) & _HALF
    one = _mixed(low ^ _mixed(high ^ _FIRST_START))
    return (one << 31) | (_mixed(high ^ _mixed(low ^ _SECOND_START)) & _TAG)


@kernel
def _home(hashed: int, slots: int) -> int:
    return ((hashed >> 31) * slots) >> 32


@kernel
def _row(slot: int) -> int:
    return (slot & _HALF) - 1


@kernel
def _is_text_at(row: int, offsets: Longs, data: Text, other: Text, start: int, end: int) -> bool:
    at = offsets[row]
    if offsets[row + 1] - at != end - start:
        return False
    for place in range(end - start):  # noqa: SIM110  a generator is not compiled
        if data[at + place] != other[start + place]:
            return False
    return True


@kernel
def _text_slot(offsets: Longs, data: Text, table: Longs, hashed: int, other: Text, start: int, end: int) -> int:
    """Return the slot of some bytes, or the empty one where they would go."""
    at = _home(hashed, len(table))
    while table[at] != 0:
        if table[at] >> 32 == hashed & _TAG and _is_text_at(_row(table[at]), offsets, data, other, start, end):
            break
        at = at + 1 if at + 1 < len(table) else 0
    return at


@kernel
def _number_slot(values: Longs, table: Longs, number: int) -> int:
    """Return the slot of a number, or the empty one where it would go."""
    hashed = hash_number(number)
    at = _home(hashed, len(table))
    while table[at] != 0:
        if table[at] >> 32 == hashed & _TAG and values[_row(table[at])] == number:
            break
        at = at + 1 if at + 1 < len(table) else 0
    return at


@kernel
def enter_texts(offsets: Longs, data: Text, table: Longs) -> None:
    """Fill an empty table. Text `r` is `data[offsets[r] : offsets[r + 1]]`."""
    for row in range(len(offsets) - 1):
        start, end = offsets[row], offsets[row + 1]
        hashed = hash_text(data, start, end)
        at = _text_slot(offsets, data, table, hashed, data, start, end)
        if table[at] == 0:
            table[at] = ((hashed & _TAG) << 32) | (row + 1)


@kernel
def enter_numbers(values: Longs, table: Longs) -> None:
    """Fill an empty table."""
    for row in range(len(values)):
        at = _number_slot(values, table, values[row])
        if table[at] == 0:
            table[at] = ((hash_number(values[row]) & _TAG) << 32) | (row + 1)


@brief
def find_text(offsets: Longs, data: Text, table: Longs, other: Text) -> int:
    """Return the first row of some bytes, or -1."""
    hashed = hash_text(other, 0, len(other))
    return _row(table[_text_slot(offsets, data, table, hashed, other, 0, len(other))])


@kernel
def find_texts(offsets: Longs, data: Text, table: Longs, starts: Longs, others: Text) -> Longs:
    """Return the first row of each of other texts, or -1."""
    found = np.empty(len(starts) - 1, np.int64)
    for number in range(len(starts) - 1):
        start, end = starts[number], starts[number + 1]
        hashed = hash_text(others, start, end)
        found[number] = _row(table[_text_slot(offsets, data, table, hashed, others, start, end)])
    return found


@brief
def find_number(values: Longs, table: Longs, number: int) -> int:
    """Return the first row of a number, or -1."""
    return _row(table[_number_slot(values, table, number)])


@kernel
def find_numbers(values: Longs, table: Longs, others: Longs) -> Longs:
    """Return the first row of each of other numbers, or -1."""
    found = np.empty(len(others), np.int64)
    for number in range(len(others)):
        found[number] = _row(table[_number_slot(values, table, others[number])])
    return found


@kernel
def check_rows(rows: Longs, length: int) -> None:
    """Raise `IndexError` if one of the rows is none."""
    for row in rows:
        if row < 0 or row >= length:
            raise IndexError("a row is outside the ids")


@brief
def numbers_at(values: Longs, rows: Longs) -> Longs:
    """Return the numbers in some rows."""
    check_rows(rows, len(values))
    found = np.empty(len(rows), np.int64)
    for number in range(len(rows)):
        found[number] = values[rows[number]]
    return found


@brief
def texts_at(offsets: Longs, data: Text, rows: Longs) -> tuple[Longs, Text]:
    """Return the texts in some rows behind each other, and where they meet, counted in characters."""
    check_rows(rows, len(offsets) - 1)
    length = 0
    for row in rows:
        length += offsets[row + 1] - offsets[row]
    cuts, gathered = np.zeros(len(rows) + 1, np.int64), np.empty(length, np.uint8)
    at, characters = 0, 0
    for number in range(len(rows)):
        for place in range(offsets[rows[number]], offsets[rows[number] + 1]):
            gathered[at] = data[place]
            at += 1
            # All bytes of a character but the first begin with the bits 10.
            characters += data[place] & 0xC0 != 0x80
        cuts[number + 1] = characters
    return cuts, gathered


@kernel
def missing_rows(table: Longs, rows: int) -> Longs:
    """Return the rows that are not in a table; `[-1]` if it holds a row twice, or one that is none of so many."""
    seen = np.zeros(rows, np.bool_)
    count = 0
    for slot in table:
        if slot != 0:
            row = _row(slot)
            if slot < 0 or row < 0 or row >= rows or seen[row]:
                return np.full(1, -1, np.int64)
            seen[row] = True
            count += 1
    missing = np.empty(rows - count, np.int64)
    number = 0
    for row in range(rows):
        if not seen[row]:
            missing[number] = row
            number += 1
    return missing
