"""Sorted entries in leaves of fixed width under one directory: the B+ tree that runs, counts and owners are kept in.

An entry is a key, a value, and if wanted a tie, which orders entries with equal keys. A leaf is the columns `KEY`,
`VALUE` and `TIE` of `cells[block, :, :size]`; the directory has one column for each leaf, from left to right. Its
unused columns hold the blocks that are free. A split moves half a leaf into a free block, so an entry costs a search
and a short move; a million entries have about five thousand leaves.

Where there are ties, which is for stabbing, the directory knows the greatest value of each leaf and of each `SPAN`
leaves.
"""

from itertools import pairwise
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt

from tamis.compiled import kernel
from tamis.geometry.moving import move

Longs: TypeAlias = npt.NDArray[np.int64]
#: Sorted, disjoint, closed intervals: their starts and their ends.
Runs: TypeAlias = tuple[Longs, Longs]

#: Entries in a leaf, and leaves that share one greatest value.
WIDTH: Final = 256
SPAN: Final = 64
#: How full leaves are that are filled at once.
_FILLED: Final = 192

KEY, VALUE, TIE = range(3)
#: Rows of the directory: by leaf from left to right its block, its first key and tie, and its greatest value; by block
#: the number of entries; by span of leaves the greatest value; and at the head the number of leaves and of entries.
ORDER, FIRST, FIRST_TIE, TOP, SIZE, ABOVE, HEAD = range(7)
LEAVES, ENTRIES = 0, 1

#: The least and the greatest key.
LEAST: Final = int(np.iinfo(np.int64).min)
GREATEST: Final = int(np.iinfo(np.int64).max)

_FIRST_BLOCKS: Final = 8
#: A step of a kernel never needs more free blocks than this.
SPARE: Final = 4


class Leaves:
    """The arrays. Kernels change them; this class makes room and looks at the whole."""

    def __init__(self, ties: bool = False) -> None:
        self.cells: Longs = np.zeros((_FIRST_BLOCKS, 3 if ties else 2, WIDTH), np.int64)
        self.directory: Longs = np.zeros((7, _FIRST_BLOCKS), np.int64)
        self.directory[ORDER] = np.arange(_FIRST_BLOCKS)
        self.directory[TOP] = self.directory[ABOVE] = LEAST
        self.directory[HEAD, LEAVES] = 1

    def __len__(self) -> int:
        return int(self.directory[HEAD, ENTRIES])

    def grow(self) -> None:
        """Make room for twice as many leaves."""
        blocks = len(self.cells)
        self.cells = np.concatenate((self.cells, np.zeros_like(self.cells)))
        self.directory = np.concatenate((self.directory, np.zeros_like(self.directory)), axis=1)
        self.directory[ORDER, blocks:] = np.arange(blocks, 2 * blocks)

    def fill(self, keys: Longs, values: Longs, ties: Longs) -> None:
        """Hold exactly these entries, which need not be sorted. Much faster than one by one."""
        order = np.lexsort((ties, keys))
        while len(self.cells) * _FILLED < len(keys) + SPARE * WIDTH:
            self.grow()
        _fill(self.cells, self.directory, keys[order], values[order], ties[order])

    def entries(self) -> tuple[Longs, Longs, Longs]:
        """Return all keys, values and ties in order."""
        count = int(self.directory[HEAD, LEAVES])
        blocks = self.directory[ORDER, :count]
        sizes = self.directory[SIZE, blocks].tolist()
        parts = [self.cells[block, :, :size] for block, size in zip(blocks.tolist(), sizes, strict=True)]
        keys, values, *ties = np.concatenate(parts, axis=1)
        return keys, values, ties[0] if ties else np.zeros_like(keys)

    @property
    def bytes(self) -> int:
        """How much memory the leaves take."""
        return self.cells.nbytes + self.directory.nbytes

    def check_invariants(self) -> None:
        """Raise `AssertionError` if leaves are not in order or the directory does not tell what is in them."""
        directory, count = self.directory, int(self.directory[HEAD, LEAVES])
        assert sorted(directory[ORDER].tolist()) == list(range(len(self.cells)))
        sizes = directory[SIZE, directory[ORDER, :count]]
        assert (sizes <= WIDTH).all()
        assert count == 1 or (sizes > 0).all()
        assert sizes.sum() == len(self)
        keys, values, ties = self.entries()
        pairs = list(zip(keys.tolist(), ties.tolist(), strict=True))
        assert all(left < right for left, right in pairwise(pairs))
        if not pairs:
            return
        starts = np.cumsum(sizes) - sizes
        assert (directory[FIRST, :count] == keys[starts]).all()
        if self.cells.shape[1] > TIE:
            assert (directory[FIRST_TIE, :count] == ties[starts]).all()
            assert (directory[TOP, :count] == np.maximum.reduceat(values, starts)).all()
            above = np.maximum.reduceat(directory[TOP, :count], np.arange(0, count, SPAN))
            assert (directory[ABOVE, : len(above)] == above).all()


@kernel
def has_room(directory: Longs) -> bool:
    """Return whether the next step surely finds the free blocks it needs."""
    return bool(directory[HEAD, LEAVES] + SPARE <= directory.shape[1])


@kernel
def locate(cells: Longs, directory: Longs, key: int, tie: int) -> tuple[int, int]:
    """Return the leaf and the slot of the last entry that is not behind a key and tie; slot -1 if there is none."""
    leaf = _leaf_of(cells, directory, key, tie)
    return leaf, _slot_in(cells, directory, leaf, key, tie)


@kernel
def locate_near(cells: Longs, directory: Longs, key: int, near: int) -> tuple[int, int]:
    """Do as `locate` where there are no ties, and look at a leaf first; any number will do."""
    last = directory[HEAD, LEAVES] - 1
    if near > last or directory[FIRST, near] > key or (near < last and directory[FIRST, near + 1] <= key):
        near = _leaf_of(cells, directory, key, 0)
    return near, _slot_in(cells, directory, near, key, 0)


@kernel
def _leaf_of(cells: Longs, directory: Longs, key: int, tie: int) -> int:
    tied = cells.shape[1] > TIE
    low, high = 0, directory[HEAD, LEAVES]
    while low < high:
        middle = (low + high) >> 1
        first = directory[FIRST, middle]
        if first < key or (first == key and (not tied or directory[FIRST_TIE, middle] <= tie)):
            low = middle + 1
        else:
            high = middle
    return max(low - 1, 0)


@kernel
def _slot_in(cells: Longs, directory: Longs, leaf: int, key: int, tie: int) -> int:
    tied, block = cells.shape[1] > TIE, directory[ORDER, leaf]
    low, high = 0, directory[SIZE, block]
    while low < high:
        middle = (low + high) >> 1
        at = cells[block, KEY, middle]
        if at < key or (at == key and (not tied or cells[block, TIE, middle] <= tie)):
            low = middle + 1
        else:
            high = middle
    return low - 1


@kernel
def following(directory: Longs, leaf: int, slot: int) -> tuple[int, int]:
    """Return the leaf and the slot of the next entry; slot -1 if there is none."""
    if slot + 1 < directory[SIZE, directory[ORDER, leaf]]:
        return leaf, slot + 1
    if leaf + 1 < directory[HEAD, LEAVES]:
        return leaf + 1, 0
    return leaf, -1


@kernel
def put(cells: Longs, directory: Longs, key: int, tie: int, value: int) -> None:
    """Write an entry; one with the same key and tie gets the new value. There must be room."""
    leaf, slot = locate(cells, directory, key, tie)
    block, tied = directory[ORDER, leaf], cells.shape[1] > TIE
    if slot < 0 or cells[block, KEY, slot] != key or (tied and cells[block, TIE, slot] != tie):
        place(cells, directory, leaf, slot, key, tie, value)
        return
    gone, cells[block, VALUE, slot] = cells[block, VALUE, slot], value
    if tied:
        if value >= directory[TOP, leaf]:
            _raise(directory, leaf, value)
        elif gone == directory[TOP, leaf]:
            _summarise(cells, directory, leaf)


@kernel
def place(cells: Longs, directory: Longs, leaf: int, slot: int, key: int, tie: int, value: int) -> tuple[int, int]:
    """Write an entry behind the one that `locate` found for it, which is another one; return where it is.

    There must be room.
    """
    block = directory[ORDER, leaf]
    if directory[SIZE, block] == WIDTH:
        _split(cells, directory, leaf)
        if slot >= WIDTH // 2:
            leaf, slot = leaf + 1, slot - WIDTH // 2
            block = directory[ORDER, leaf]
    at = slot + 1
    for column in range(cells.shape[1]):
        move(cells[block, column], at, at + 1, directory[SIZE, block] - at)
    cells[block, KEY, at], cells[block, VALUE, at] = key, value
    directory[SIZE, block] += 1
    directory[HEAD, ENTRIES] += 1
    if at == 0:
        directory[FIRST, leaf] = key
    if cells.shape[1] > TIE:
        cells[block, TIE, at] = tie
        if at == 0:
            directory[FIRST_TIE, leaf] = tie
        _raise(directory, leaf, value)
    return leaf, at


@kernel
def drop(cells: Longs, directory: Longs, leaf: int, slot: int) -> None:
    """Take an entry out. Leaves that are half empty together become one."""
    block, tied = directory[ORDER, leaf], cells.shape[1] > TIE
    gone = cells[block, VALUE, slot]
    directory[SIZE, block] -= 1
    directory[HEAD, ENTRIES] -= 1
    size = directory[SIZE, block]
    for column in range(cells.shape[1]):
        move(cells[block, column], slot + 1, slot, size - slot)
    if slot == 0 and size:
        directory[FIRST, leaf] = cells[block, KEY, 0]
        if tied:
            directory[FIRST_TIE, leaf] = cells[block, TIE, 0]
    if tied and gone == directory[TOP, leaf]:
        _summarise(cells, directory, leaf)
    if leaf + 1 < directory[HEAD, LEAVES] and size + directory[SIZE, directory[ORDER, leaf + 1]] <= WIDTH // 2:
        _join(cells, directory, leaf)
    elif leaf > 0 and size + directory[SIZE, directory[ORDER, leaf - 1]] <= WIDTH // 2:
        _join(cells, directory, leaf - 1)


@kernel
def _raise(directory: Longs, leaf: int, value: int) -> None:
    """Let a leaf have a value that may be its greatest."""
    directory[TOP, leaf] = max(directory[TOP, leaf], value)
    directory[ABOVE, leaf // SPAN] = max(directory[ABOVE, leaf // SPAN], value)


@kernel
def _summarise(cells: Longs, directory: Longs, leaf: int) -> None:
    """Write down the greatest value of a leaf, and of its span."""
    block, top = directory[ORDER, leaf], LEAST
    for slot in range(directory[SIZE, block]):
        top = max(top, cells[block, VALUE, slot])
    directory[TOP, leaf] = top
    _summarise_spans(directory, leaf // SPAN, leaf // SPAN + 1)


@kernel
def _summarise_spans(directory: Longs, first: int, last: int) -> None:
    for span in range(first, last):
        top = LEAST
        for leaf in range(span * SPAN, min((span + 1) * SPAN, directory[HEAD, LEAVES])):
            top = max(top, directory[TOP, leaf])
        directory[ABOVE, span] = top


@kernel
def _split(cells: Longs, directory: Longs, leaf: int) -> None:
    """Move the upper half of a full leaf into a new one behind it."""
    leaves, tied = directory[HEAD, LEAVES], cells.shape[1] > TIE
    free = directory[ORDER, leaves]
    for row in range(SIZE if tied else FIRST_TIE):
        move(directory[row], leaf + 1, leaf + 2, leaves - leaf - 1)
    block, half = directory[ORDER, leaf], WIDTH // 2
    for column in range(cells.shape[1]):
        for slot in range(half):
            cells[free, column, slot] = cells[block, column, half + slot]
    directory[HEAD, LEAVES] = leaves + 1
    directory[ORDER, leaf + 1], directory[FIRST, leaf + 1] = free, cells[free, KEY, 0]
    directory[SIZE, block] = directory[SIZE, free] = half
    if tied:
        directory[FIRST_TIE, leaf + 1] = cells[free, TIE, 0]
        _summarise(cells, directory, leaf)
        _summarise(cells, directory, leaf + 1)
        _summarise_spans(directory, leaf // SPAN, leaves // SPAN + 1)


@kernel
def _join(cells: Longs, directory: Longs, leaf: int) -> None:
    """Move all entries of the leaf behind a leaf into it, and give that one's block back."""
    tied, leaves = cells.shape[1] > TIE, directory[HEAD, LEAVES] - 1
    block, free = directory[ORDER, leaf], directory[ORDER, leaf + 1]
    size, added = directory[SIZE, block], directory[SIZE, free]
    for column in range(cells.shape[1]):
        for slot in range(added):
            cells[block, column, size + slot] = cells[free, column, slot]
    directory[SIZE, block] = size + added
    if size == 0:
        directory[FIRST, leaf] = directory[FIRST, leaf + 1]
        directory[FIRST_TIE, leaf] = directory[FIRST_TIE, leaf + 1]
    directory[TOP, leaf] = max(directory[TOP, leaf], directory[TOP, leaf + 1])
    for row in range(SIZE if tied else FIRST_TIE):
        move(directory[row], leaf + 2, leaf + 1, leaves - leaf - 1)
    directory[ORDER, leaves] = free
    directory[HEAD, LEAVES] = leaves
    if tied:
        _summarise_spans(directory, leaf // SPAN, leaves // SPAN + 1)


@kernel
def _fill(cells: Longs, directory: Longs, keys: Longs, values: Longs, ties: Longs) -> None:
    leaves = max(1, -(-len(keys) // _FILLED))
    directory[HEAD, LEAVES], directory[HEAD, ENTRIES] = leaves, len(keys)
    for leaf in range(leaves):
        block, begin = directory[ORDER, leaf], leaf * _FILLED
        size, top = min(_FILLED, len(keys) - begin), LEAST
        for slot in range(size):
            cells[block, KEY, slot] = keys[begin + slot]
            cells[block, VALUE, slot] = values[begin + slot]
            if cells.shape[1] > TIE:
                cells[block, TIE, slot] = ties[begin + slot]
            top = max(top, values[begin + slot])
        if size:
            directory[FIRST, leaf], directory[FIRST_TIE, leaf] = keys[begin], ties[begin]
        directory[SIZE, block], directory[TOP, leaf] = size, top
    _summarise_spans(directory, 0, (leaves - 1) // SPAN + 1)
