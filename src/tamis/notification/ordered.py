"""Keys in order, each with a handle: what the plain indexes of the seed are made of (B-tree(lr), B-tree(c)).

It is a B-tree of two levels, in flat arrays: blocks of at most `BLOCK` entries, sorted by key and handle, and a
directory of the blocks in order. A step is a search in the directory, one in a block, and a shift within the block.
"""

from typing import Final

import numpy as np

from tamis.compiled import kernel
from tamis.notification.circle import Doubles, Longs
from tamis.notification.law import ABSOLUTE, high, low

#: Entries in a block, at most. A split makes two halves; an empty block is given back.
BLOCK: Final = 128


class Ordered:
    """Pairs of a key and a handle, sorted."""

    def __init__(self) -> None:
        self._keys: Doubles = np.empty((4, BLOCK))
        self._handles: Longs = np.empty((4, BLOCK), np.int64)
        self._sizes: Longs = np.zeros(4, np.int64)
        #: The blocks in order, then those that are free; how many are in use.
        self._order: Longs = np.arange(4)
        self._used = np.zeros(2, np.int64)

    def add(self, keys: Doubles, handles: Longs) -> None:
        """Add pairs that are not there."""
        self._make_room(len(keys))
        insert(self._keys, self._handles, self._sizes, self._order, self._used, keys, handles)

    def remove(self, keys: Doubles, handles: Longs) -> None:
        """Remove pairs that are there."""
        delete(self._keys, self._handles, self._sizes, self._order, self._used, keys, handles)

    def up_to(self, value: float, law: int = ABSOLUTE, radius: float = 0.0) -> Longs:
        """Remove all pairs whose key is not above a value, even a radius higher, and return their handles."""
        return self._taken(value, law, radius, True)

    def down_to(self, value: float, law: int = ABSOLUTE, radius: float = 0.0) -> Longs:
        """Remove all pairs whose key is not below a value, even a radius lower, and return their handles."""
        return self._taken(value, law, radius, False)

    def put(self, key: float, handles: Longs, last: bool) -> None:
        """Add pairs with one key that is the greatest, or the least, as whole blocks."""
        self._make_room(len(handles))
        append(self._keys, self._handles, self._sizes, self._order, self._used, key, handles, last)

    def ends(self) -> tuple[float, float] | None:
        """Return the least and the greatest key; None if there is none."""
        if not len(self):
            return None
        first, last = int(self._order[0]), int(self._order[self._used[0] - 1])
        return float(self._keys[first, 0]), float(self._keys[last, self._sizes[last] - 1])

    def pairs(self) -> tuple[Doubles, Longs]:
        """Return all pairs in order."""
        blocks = self._order[: self._used[0]]
        inside = np.arange(BLOCK) < self._sizes[blocks][:, None]
        return self._keys[blocks][inside], self._handles[blocks][inside]

    def __len__(self) -> int:
        return int(self._used[1])

    def check_invariants(self) -> None:
        """Raise `AssertionError` if something does not fit together."""
        keys, handles = self.pairs()
        assert len(self) == len(keys)
        assert (self._sizes[self._order[: self._used[0]]] > 0).all()
        pairs = list(zip(keys.tolist(), handles.tolist(), strict=True))
        assert pairs == sorted(pairs)

    def _taken(self, value: float, law: int, radius: float, up: bool) -> Longs:
        out = np.empty(len(self), np.int64)
        arrays = (self._keys, self._handles, self._sizes, self._order, self._used)
        return out[: take(*arrays, value, law, radius, up, out)].copy()

    def _make_room(self, more: int) -> None:
        # A block splits when it is full, and then once more after every half block of insertions.
        used = int(self._used[0])
        needed = used + min(more, used + more // (BLOCK // 2) + 1) + 2
        have = len(self._sizes)
        if needed > have:
            grown = max(needed, 2 * have)
            self._keys = np.concatenate((self._keys, np.empty((grown - have, BLOCK))))
            self._handles = np.concatenate((self._handles, np.empty((grown - have, BLOCK), np.int64)))
            self._sizes = np.concatenate((self._sizes, np.zeros(grown - have, np.int64)))
            self._order = np.concatenate((self._order, np.arange(have, grown)))


@kernel
def _before(keys: Doubles, handles: Longs, block: int, at: int, key: float, handle: int) -> bool:
    return bool(keys[block, at] < key or (keys[block, at] == key and handles[block, at] < handle))


@kernel
def _find(keys: Doubles, handles: Longs, sizes: Longs, order: Longs, used: Longs, key: float, handle: int) -> int:
    """Return the number in the directory of the block in which a pair is or belongs."""
    below, above = 0, used[0] - 1
    while below < above:
        middle = (below + above) // 2
        block = order[middle]
        if _before(keys, handles, block, sizes[block] - 1, key, handle):
            below = middle + 1
        else:
            above = middle
    return below


@kernel
def _within(keys: Doubles, handles: Longs, sizes: Longs, block: int, key: float, handle: int) -> int:
    below, above = 0, sizes[block]
    while below < above:
        middle = (below + above) // 2
        if _before(keys, handles, block, middle, key, handle):
            below = middle + 1
        else:
            above = middle
    return below


@kernel
def _open(order: Longs, used: Longs, sizes: Longs, number: int) -> int:
    """Put a free block in the directory before a number, and return it."""
    block = order[used[0]]
    for at in range(used[0], number, -1):
        order[at] = order[at - 1]
    order[number] = block
    used[0] += 1
    sizes[block] = 0
    return int(block)


@kernel
def insert(
    keys: Doubles, handles: Longs, sizes: Longs, order: Longs, used: Longs, new_keys: Doubles, new_handles: Longs
) -> None:
    """Insert pairs, one after another; there are free blocks enough."""
    for each in range(len(new_keys)):
        key, handle = new_keys[each], new_handles[each]
        if used[0] == 0:
            _open(order, used, sizes, 0)
        number = _find(keys, handles, sizes, order, used, key, handle)
        block = order[number]
        if sizes[block] == BLOCK:
            half = BLOCK // 2
            other = _open(order, used, sizes, number + 1)
            for at in range(half, BLOCK):
                keys[other, at - half], handles[other, at - half] = keys[block, at], handles[block, at]
            sizes[block], sizes[other] = half, BLOCK - half
            if _before(keys, handles, block, half - 1, key, handle):
                block = other
        place = _within(keys, handles, sizes, block, key, handle)
        for at in range(sizes[block], place, -1):
            keys[block, at], handles[block, at] = keys[block, at - 1], handles[block, at - 1]
        keys[block, place], handles[block, place] = key, handle
        sizes[block] += 1
        used[1] += 1


@kernel
def delete(
    keys: Doubles, handles: Longs, sizes: Longs, order: Longs, used: Longs, old_keys: Doubles, old_handles: Longs
) -> None:
    """Delete pairs, one after another."""
    for each in range(len(old_keys)):
        number = _find(keys, handles, sizes, order, used, old_keys[each], old_handles[each])
        block = order[number]
        place = _within(keys, handles, sizes, block, old_keys[each], old_handles[each])
        sizes[block] -= 1
        for at in range(place, sizes[block]):
            keys[block, at], handles[block, at] = keys[block, at + 1], handles[block, at + 1]
        used[1] -= 1
        if sizes[block] == 0:
            _close(order, used, number, 1)


@kernel
def _close(order: Longs, used: Longs, number: int, count: int) -> None:
    """Take blocks out of the directory; they are free then."""
    gone = order[number : number + count].copy()
    used[0] -= count
    for at in range(number, used[0]):
        order[at] = order[at + count]
    order[used[0] : used[0] + count] = gone


@kernel
def take(
    keys: Doubles,
    handles: Longs,
    sizes: Longs,
    order: Longs,
    used: Longs,
    value: float,
    law: int,
    radius: float,
    up: bool,
    out: Longs,
) -> int:
    """Remove the pairs at one end that are a radius from a value, and write down their handles; return how many."""
    found = whole = 0
    for step in range(used[0]):
        block = order[step] if up else order[used[0] - 1 - step]
        size, count = sizes[block], 0
        while count < size:
            at = count if up else size - 1 - count
            key = keys[block, at]
            if (high(law, key, radius) > value) if up else (low(law, key, radius) < value):
                break
            out[found] = handles[block, at]
            found += 1
            count += 1
        if count < size:
            if up:
                for at in range(count, size):
                    keys[block, at - count], handles[block, at - count] = keys[block, at], handles[block, at]
            sizes[block] = size - count
            break
        whole += 1
    _close(order, used, 0 if up else used[0] - whole, whole)
    used[1] -= found
    return found


@kernel
def append(
    keys: Doubles, handles: Longs, sizes: Longs, order: Longs, used: Longs, key: float, new: Longs, last: bool
) -> None:
    """Add pairs with one key in blocks of their own, behind all others or before them; `new` is sorted."""
    number = used[0] if last else 0
    for begin in range(0, len(new), BLOCK):
        block = _open(order, used, sizes, number)
        number += 1
        size = min(BLOCK, len(new) - begin)
        for at in range(size):
            keys[block, at], handles[block, at] = key, new[begin + at]
        sizes[block] = size
    used[1] += len(new)
