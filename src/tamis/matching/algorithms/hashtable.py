"""A hash table from pairs of 31-bit numbers to 32-bit numbers in flat arrays, for kernels.

Open addressing with linear probing. A key is `left << 32 | right`. An entry that is erased leaves no tombstone: those
behind it move up. The table doubles when it is fuller than `FULL`, and never shrinks.
"""

from typing import NamedTuple

import numpy as np

from tamis.compiled import kernel
from tamis.matching.ranks.lists import Ints, Longs

#: What stands where no key is.
EMPTY = -1
#: The largest share of the slots in use: a search for a key that is not there looks at 3 or 4 slots then.
FULL = 0.6

_FIRST_SLOTS = 1024
_RIGHT_HALF = (1 << 32) - 1
#: Primes below 2**30, so that no product with 31-bit numbers exceeds 64 bits.
_LEFT_FACTOR, _RIGHT_FACTOR = 1_073_741_789, 668_265_263


class Table(NamedTuple):
    """What kernels see: by slot a key and its value; `used[0]` is the number of keys."""

    keys: Longs
    values: Ints
    used: Longs


class HashTable:
    """A growing `Table`. The number of slots is a power of two."""

    def __init__(self, slots: int = _FIRST_SLOTS) -> None:
        self.table = _empty(slots)

    def reserve(self, more: int) -> None:
        """Make room for so many keys more, so that kernels can enter them."""
        slots = len(self.table.keys)
        while self.table.used[0] + more > FULL * slots:
            slots *= 2
        if slots > len(self.table.keys):
            larger = _empty(slots)
            _enter_all(self.table, larger)
            self.table = larger

    @property
    def bytes(self) -> int:
        """How much memory the table takes."""
        return self.table.keys.nbytes + self.table.values.nbytes

    def check_invariants(self) -> None:
        """Raise `AssertionError` if a key would not be found where it is."""
        keys = self.table.keys
        assert len(keys) & (len(keys) - 1) == 0
        slots = np.flatnonzero(keys != EMPTY).tolist()
        assert len(slots) == self.table.used[0] <= FULL * len(keys)
        assert all(slot_of(keys[slot], keys) == slot for slot in slots)


def _empty(slots: int) -> Table:
    return Table(np.full(slots, EMPTY, np.int64), np.zeros(slots, np.int32), np.zeros(1, np.int64))


@kernel
def pair(one: int, other: int) -> int:
    """Return the key of two numbers, whatever their order."""
    return int((np.int64(min(one, other)) << 32) | max(one, other))


@kernel
def _home(key: int, slots: int) -> int:
    mixed = (key >> 32) * _LEFT_FACTOR + (key & _RIGHT_HALF) * _RIGHT_FACTOR
    return (mixed ^ (mixed >> 31)) & (slots - 1)


@kernel
def slot_of(key: int, keys: Longs) -> int:
    """Return the slot of a key, or the empty slot where it would go."""
    slot = _home(key, len(keys))
    while keys[slot] != key and keys[slot] != EMPTY:
        slot = (slot + 1) & (len(keys) - 1)
    return slot


@kernel
def put(slot: int, key: int, value: int, table: Table) -> None:
    """Put a new key into the empty slot where it goes. There must be room."""
    table.keys[slot] = key
    table.values[slot] = value
    table.used[0] += 1


@kernel
def erase(slot: int, table: Table) -> None:
    """Empty a slot; entries behind it that would not be found any more move up."""
    keys, values, used = table
    last = len(keys) - 1
    hole, at = slot, slot
    while True:
        at = (at + 1) & last
        if keys[at] == EMPTY:
            break
        if (at - _home(keys[at], len(keys))) & last >= (at - hole) & last:
            keys[hole], values[hole] = keys[at], values[at]
            hole = at
    keys[hole] = EMPTY
    used[0] -= 1


@kernel
def _enter_all(old: Table, new: Table) -> None:
    for slot in range(len(old.keys)):
        key = old.keys[slot]
        if key != EMPTY:
            put(slot_of(key, new.keys), key, old.values[slot], new)
