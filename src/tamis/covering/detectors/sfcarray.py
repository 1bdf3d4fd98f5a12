"""The SFC array (specs/000 §6): points in the order of the Z curve, so that every cube of the grid is one slice.

A key interleaves the bits of the cells, most significant first, dimension 0 first: (010, 011) is 001101. Keys may be
longer than 64 bits; so a key is several words, and comes before another if the first word that differs is smaller.
"""

from typing import Final

import numpy as np

from tamis.compiled import kernel
from tamis.covering.detectors.detector import NOBODY, Longs

#: Words are positive 64-bit integers.
WORD_BITS: Final = 63
_MASK: Final = (1 << WORD_BITS) - 1


class SfcArray:
    """Keys in ascending order, and who owns each. Where an owner left, nobody is; `merge` closes such gaps."""

    def __init__(self, key_bits: int) -> None:
        self.key_bits = key_bits
        self.words = max(1, -(-key_bits // WORD_BITS))
        self.keys: Longs = np.empty((0, self.words), np.int64)
        self.owners: Longs = np.empty(0, np.int64)
        self.gaps = 0

    def fill(self, keys: Longs, owners: Longs) -> None:
        """Hold these, and nothing else."""
        order = np.lexsort(keys.T[::-1])
        self.keys, self.owners, self.gaps = keys[order], owners[order], 0

    def merge(self, keys: Longs, owners: Longs) -> None:
        """Hold these too."""
        order = np.lexsort(keys.T[::-1])
        length = len(self) + len(owners)
        merged = np.empty((length, self.words), np.int64), np.empty(length, np.int64)
        _merge(self.keys, self.owners, keys[order], owners[order], *merged)
        (self.keys, self.owners), self.gaps = merged, 0

    def delete(self, key: Longs, owner: int) -> None:
        """Forget one that is there."""
        _delete(self.keys, self.owners, key, owner)
        self.gaps += 1

    def between(self, first: int, last: int) -> tuple[int, int]:
        """Return the slice with keys from one up to another, itself included."""
        begin = _bisect(self.keys, self._key(first))
        end = len(self.owners) if (last + 1) >> self.key_bits else _bisect(self.keys, self._key(last + 1))
        return begin, end

    def _key(self, number: int) -> Longs:
        number <<= self.words * WORD_BITS - self.key_bits
        places = range(WORD_BITS * (self.words - 1), -1, -WORD_BITS)
        return np.array([number >> place & _MASK for place in places], np.int64)

    def held(self) -> Longs:
        """Return all owners."""
        owned: Longs = self.owners[self.owners != NOBODY]
        return owned

    def __len__(self) -> int:
        return len(self.owners) - self.gaps

    def check_invariants(self) -> None:
        """Raise `AssertionError` if keys are not in order or gaps were not counted."""
        keys = [tuple(key) for key in self.keys.tolist()]
        assert keys == sorted(keys)
        assert len(keys) == len(self.owners)
        assert self.gaps == (self.owners == NOBODY).sum()


@kernel
def interleave(cells: Longs, bits: int, key: Longs) -> None:
    """Write down the key of a point given by its cells."""
    key[:] = 0
    place = 0
    for level in range(bits - 1, -1, -1):
        for dimension in range(len(cells)):
            if cells[dimension] >> level & 1:
                key[place // WORD_BITS] |= 1 << (WORD_BITS - 1 - place % WORD_BITS)
            place += 1


@kernel
def _before(keys: Longs, at: int, key: Longs) -> bool:
    for word in range(len(key)):
        if keys[at, word] != key[word]:
            return bool(keys[at, word] < key[word])
    return False


@kernel
def _bisect(keys: Longs, key: Longs) -> int:
    """Return how many keys are smaller."""
    low, high = 0, len(keys)
    while low < high:
        middle = (low + high) // 2
        if _before(keys, middle, key):
            low = middle + 1
        else:
            high = middle
    return low


@kernel
def _delete(keys: Longs, owners: Longs, key: Longs, owner: int) -> None:
    place = _bisect(keys, key)
    while owners[place] != owner:
        place += 1
    owners[place] = NOBODY


@kernel
def _merge(
    keys: Longs, owners: Longs, new_keys: Longs, new_owners: Longs, merged_keys: Longs, merged_owners: Longs
) -> None:
    new = out = 0
    for at in range(len(owners) + 1):
        while new < len(new_owners) and (at == len(owners) or not _before(keys, at, new_keys[new])):
            merged_keys[out], merged_owners[out] = new_keys[new], new_owners[new]
            new += 1
            out += 1
        if at < len(owners) and owners[at] != NOBODY:
            for word in range(keys.shape[1]):
                merged_keys[out, word] = keys[at, word]
            merged_owners[out] = owners[at]
            out += 1
