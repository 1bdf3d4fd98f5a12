"""The masks of a block of events: for every leaf of a line that occurs, a bit for each event that lies before it.

For every dimension that the events of a block have, their different leaves are sorted. `masks` holds, for each of them
and line after line, which events lie before it; `mask_of` gives for each cut the mask of the events before it. So

    events in a stretch = masks[mask_of[high]] & ~masks[mask_of[low]]

is a few operations for 512 events. A mask is one line of the cache.
"""

from typing import Final, NamedTuple

import numpy as np

from tamis.compiled import kernel
from tamis.matching.ranks.lists import Ints, Longs
from tamis.matching.segments.bits import lowest, without_lowest
from tamis.matching.segments.cuts import Octets, Words
from tamis.matching.segments.rows import Rows
from tamis.matching.segments.singly import Shorts
from tamis.matching.segments.vectors import WORDS

#: Events in a block.
EVENTS: Final = 64 * WORDS
#: The first masks: of no event, and of all events.
NOBODY, EVERYBODY = range(2)
#: A block has at most so many masks: their numbers are short.
MOST_MASKS: Final = 1 << 16
#: And so many leaves of its events: each takes one mask at most, as does each dimension, and each group of events.
MOST_LEAVES: Final = 2 * MOST_MASKS // 5
_ONE: Final = np.uint64(1)


class Block(NamedTuple):
    """What a thread needs for a block.

    Between blocks `mask_of` is `NOBODY` at null and `EVERYBODY` elsewhere; `hits` (by leaf: events of the block on it),
    `marks` (by 64 leaves) and `counts` (by dimension) are zero, `ranks` is as `base`, and in `present` only the number
    of all leaves is marked. `work` counts how many rows were looked at, by one event or at once by all of a block.
    """

    mask_of: Shorts
    hits: Shorts
    cursor: Shorts
    marks: Words
    counts: Ints
    ranks: Ints
    present: Octets
    masks: Words
    frames: Words
    ends: Ints
    kept_masks: Words
    kept_rows: Ints
    places: Ints
    dimensions: Ints
    starts: Ints
    leaves: Ints
    events: Ints
    runs: Ints
    answers: Longs
    work: Longs


@kernel
def spread_out(first: int, last: int, offsets: Longs, leaves: Ints, rows: Rows, block: Block) -> int:
    """Put the leaves of a block by dimension, sorted and with their events; return how many dimensions there are."""
    count, present = block.counts, 0
    for place in range(offsets[first], offsets[last]):
        leaf = leaves[place]
        on = rows.dimension[leaf]
        if count[on] == 0:
            block.dimensions[present] = on
            present += 1
        count[on] += 1
        block.hits[leaf] += 1
    total = 0
    for number in range(present):
        on = block.dimensions[number]
        block.starts[number] = total
        total += count[on]
        count[on] = block.starts[number]
    block.starts[present] = total
    for event in range(first, last):
        for place in range(offsets[event], offsets[event + 1]):
            on = rows.dimension[leaves[place]]
            block.leaves[count[on]] = leaves[place]
            block.events[count[on]] = event - first
            count[on] += 1
    for number in range(present):
        on = block.dimensions[number]
        count[on] = 0
        _sort(block.starts[number], block.starts[number + 1], block)
    return present


@kernel
def _sort(begin: int, end: int, block: Block) -> None:
    """Sort the leaves of one dimension, with their events, by counting. `marks` tells which leaves there are."""
    leaves, events, hits, places = block.leaves, block.events, block.hits, block.places
    first = last = leaves[begin]
    for at in range(begin, end):
        leaf = leaves[at]
        first, last = min(first, leaf), max(last, leaf)
        block.marks[leaf >> 6] |= _ONE << np.uint64(leaf & 63)
    room = 0
    for word in range(first >> 6, (last >> 6) + 1):
        mark = block.marks[word]
        block.marks[word] = 0
        while mark:
            leaf = 64 * word + lowest(mark)
            block.cursor[leaf] = room
            room += hits[leaf]
            mark = without_lowest(mark)
    for at in range(begin, end):
        leaf = leaves[at]
        place = block.cursor[leaf]
        block.cursor[leaf] += 1
        places[2 * place], places[2 * place + 1] = leaf, events[at]
    for at in range(end - begin):
        leaves[begin + at], events[begin + at] = places[2 * at], places[2 * at + 1]


@kernel
def write_masks(size: int, present: int, rows: Rows, block: Block) -> int:
    """Write the masks of a block, and for the cuts of dimensions that are masked, which one is theirs.

    Return how many there are.
    """
    masks, mask_of = block.masks, block.mask_of
    for word in range(WORDS):
        left = min(max(size - 64 * word, 0), 64)
        masks[NOBODY * WORDS + word] = 0
        masks[EVERYBODY * WORDS + word] = ~np.uint64(0) >> np.uint64(64 - left) if left else np.uint64(0)
    used = 2
    for number in range(present):
        on = block.dimensions[number]
        if not rows.masked[on]:
            continue
        begin, end = block.starts[number], block.starts[number + 1]
        # First the events that lack the dimension, which lie before all others.
        for word in range(WORDS):
            masks[used * WORDS + word] = masks[EVERYBODY * WORDS + word]
        for at in range(begin, end):
            event = block.events[at]
            masks[used * WORDS + (event >> 6)] &= ~(_ONE << np.uint64(event & 63))
        cut = rows.base[on] + 1
        at = begin
        while at < end:
            leaf = block.leaves[at]
            mask_of[cut : leaf + 1] = used
            cut = leaf + 1
            used += 1
            for word in range(WORDS):
                masks[used * WORDS + word] = masks[(used - 1) * WORDS + word]
            while at < end and block.leaves[at] == leaf:
                event = block.events[at]
                masks[used * WORDS + (event >> 6)] |= _ONE << np.uint64(event & 63)
                at += 1
        mask_of[cut : rows.base[on + 1]] = used
        used += 1
    return used


@kernel
def clear(present: int, rows: Rows, block: Block) -> None:
    """Leave everything as it was before the block, but for `hits`."""
    for number in range(present):
        on = block.dimensions[number]
        if rows.masked[on]:
            block.mask_of[rows.base[on] + 1 : rows.base[on + 1]] = EVERYBODY
