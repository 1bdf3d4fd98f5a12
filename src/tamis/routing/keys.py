"""Subscriptions as numbers of 32 bits, and where each lies (specs/000 §3: keys and the KeyTable).

An event that travels with the keys of some subscriptions that it meets need not be compared with them again: whoever
knows a key knows in which direction its subscription lies.
"""

from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt
from xxhash import xxh32_intdigest

from tamis.compiled import kernel

Keys: TypeAlias = npt.NDArray[np.uint32]
Longs: TypeAlias = npt.NDArray[np.int64]

#: On the wire a key has so many bytes, lowest first.
KEY_BYTES: Final = 4
#: The greatest key.
MOST: Final = (1 << 32) - 1
#: What a slot of the table holds: a key, where it lies, and how many subscriptions there have it (0: free).
_KEY, _WHERE, _COUNT = 0, 1, 2
_FIRST_SLOTS: Final = 64


def key_of(text: str, salt: int = 0) -> int:
    """Return the key of a text. Another salt gives another key."""
    return xxh32_intdigest(text.encode("utf-8", "surrogatepass"), seed=salt)


def to_wire(keys: Keys) -> bytes:
    """Return keys as they travel."""
    return keys.astype("<u4", copy=False).tobytes()


def from_wire(data: bytes) -> Keys:
    """Return keys that have travelled. Bytes that are no keys are a `ValueError`."""
    return np.frombuffer(data, "<u4").astype(np.uint32, copy=False)


class KeyTable:
    """Key -> the places where subscriptions with this key lie; places are small numbers.

    Two subscriptions may have the same key, also in different places: then the key lies in all of them.
    It is a hash table with linear probing in one flat array, so that all keys of a message are looked up at once.
    """

    def __init__(self) -> None:
        self._slots: Longs = np.zeros((_FIRST_SLOTS, 3), np.int64)
        self._used = 0

    def __len__(self) -> int:
        """Return how many pairs of a key and a place there are."""
        return self._used

    def __contains__(self, key: int) -> bool:
        return bool(_has(self._slots, key))

    def add(self, keys: Keys, where: int) -> None:
        """Let one more subscription with each of these keys lie in a place."""
        if 2 * (self._used + len(keys)) > len(self._slots):
            larger = np.zeros((1 << int(4 * (self._used + len(keys)) - 1).bit_length(), 3), np.int64)
            _move(self._slots, larger)
            self._slots = larger
        self._used += _add(self._slots, keys, where)

    def remove(self, keys: Keys, where: int) -> None:
        """Let one subscription less with each of these keys lie in a place. They must lie there."""
        self._used -= _remove(self._slots, keys, where)

    def sorted_by_place(self, keys: Keys, places: int, but: int) -> tuple[Keys, Longs]:
        """Look keys up and put them in order of their places: those in place p end at `ends[p]`, where p + 1 begins.

        Places are the numbers below `places`; one of them is left out.
        """
        return _sorted_by_place(self._slots, keys, places, but)

    def entries(self) -> dict[tuple[int, int], int]:
        """Return how many subscriptions there are by key and place."""
        used = self._slots[self._slots[:, _COUNT] > 0]
        return {(int(key), int(where)): int(count) for key, where, count in used}

    def check_invariants(self) -> None:
        """Raise `AssertionError` if a key cannot be found where it is."""
        entries = self.entries()
        assert len(entries) == self._used
        assert 2 * self._used <= len(self._slots)
        for key, where in entries:
            _, ends = self.sorted_by_place(np.array([key], np.uint32), where + 1, -1)
            assert np.diff(ends, prepend=0)[where] == 1


@kernel
def _has(slots: Longs, key: int) -> bool:
    mask = len(slots) - 1
    at = key & mask
    while slots[at, _COUNT] > 0:
        if slots[at, _KEY] == key:
            return True
        at = (at + 1) & mask
    return False


@kernel
def _slot(slots: Longs, key: int | np.int64, where: int) -> int:
    """Return where a pair is, or where it could be put."""
    mask = len(slots) - 1
    at = key & mask
    while slots[at, _COUNT] > 0 and not (slots[at, _KEY] == key and slots[at, _WHERE] == where):
        at = (at + 1) & mask
    return int(at)


@kernel
def _move(slots: Longs, larger: Longs) -> None:
    for number in range(len(slots)):
        if slots[number, _COUNT] > 0:
            larger[_slot(larger, slots[number, _KEY], slots[number, _WHERE])] = slots[number]


@kernel
def _add(slots: Longs, keys: Keys, where: int) -> int:
    """Return how many slots were free before."""
    fresh = 0
    for each in keys:
        key = np.int64(each)
        at = _slot(slots, key, where)
        if slots[at, _COUNT] == 0:
            slots[at, _KEY] = key
            slots[at, _WHERE] = where
            fresh += 1
        slots[at, _COUNT] += 1
    return fresh


@kernel
def _remove(slots: Longs, keys: Keys, where: int) -> int:
    """Return how many slots are free now that were not."""
    mask = len(slots) - 1
    freed = 0
    for each in keys:
        hole = _slot(slots, np.int64(each), where)
        slots[hole, _COUNT] -= 1
        if slots[hole, _COUNT] > 0:
            continue
        freed += 1
        # What follows without a gap moves up, unless it would come before the slot where a search for it begins.
        at = (hole + 1) & mask
        while slots[at, _COUNT] > 0:
            if (at - (slots[at, _KEY] & mask)) & mask >= (at - hole) & mask:
                slots[hole] = slots[at]
                slots[at, _COUNT] = 0
                hole = at
            at = (at + 1) & mask
    return freed


@kernel
def _sorted_by_place(slots: Longs, keys: Keys, places: int, but: int) -> tuple[Keys, Longs]:
    mask = len(slots) - 1
    ends = np.zeros(places, np.int64)
    for each in keys:
        key = np.int64(each)
        at = key & mask
        while slots[at, _COUNT] > 0:
            if slots[at, _KEY] == key and slots[at, _WHERE] != but and slots[at, _WHERE] < places:
                ends[slots[at, _WHERE]] += 1
            at = (at + 1) & mask
    total = 0
    for place in range(places):
        count = ends[place]
        ends[place] = total
        total += count
    found = np.empty(total, np.uint32)
    for each in keys:
        key = np.int64(each)
        at = key & mask
        while slots[at, _COUNT] > 0:
            if slots[at, _KEY] == key and slots[at, _WHERE] != but and slots[at, _WHERE] < places:
                found[ends[slots[at, _WHERE]]] = each
                ends[slots[at, _WHERE]] += 1
            at = (at + 1) & mask
    return found, ends
