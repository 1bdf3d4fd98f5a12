"""Matching events by windows (see `windows`): the kernels.

Places in arrays are unsigned here: then nobody asks whether they are negative, which would take as long as all else.
"""

from typing import Final

import numpy as np

from tamis.compiled import inlined, kernel
from tamis.matching.ranks.lists import Ints, Longs
from tamis.matching.segments.answers import Answers, longer
from tamis.matching.segments.bits import lowest, without_lowest
from tamis.matching.segments.cuts import Octets
from tamis.matching.segments.masks import Block
from tamis.matching.segments.rows import Rows
from tamis.matching.segments.singly import LOOKED_AT, Shorts
from tamis.matching.segments.windows import (
    ABOUT,
    AT_A_TIME,
    BUCKETS,
    COLUMN,
    EVENTS,
    FEWEST,
    FIRST_LEAF,
    FIRST_MASK,
    FIRST_STEP,
    MASKS,
    MOST_NUMBERS,
    ROUNDED,
    Room,
    Windows,
)

_ONE: Final = np.uint64(1)
_TWO: Final = np.uint64(2)
_TERM: Final = np.uint64(3)
_ABOUT: Final = np.uint64(ABOUT)
_LEAF: Final = np.uint64(FIRST_LEAF)
_STEP: Final = np.uint64(FIRST_STEP)
_ROUNDED: Final = np.uint64(ROUNDED)
_COLUMN: Final = np.uint64(COLUMN)
_MASK: Final = np.uint64(FIRST_MASK)
_SIX: Final = np.uint64(6)
_LAST: Final = np.uint64(63)
#: Numbers that the answers of some rows may take.
_SPARE: Final = 2 * AT_A_TIME * EVENTS
#: Stands for more answers than there should be at a time.
_TOO_MANY: Final = -1


@kernel
def match_windows(
    offsets: Longs, leaves: Ints, rows: Rows, windows: Windows, room: Room, block: Block, pairs: Ints, kept: bool
) -> tuple[Answers, Ints]:
    """Return the rows that events meet, of those that are matched by windows; only how many unless they are `kept`.

    `pairs` is room for answers, and is returned, longer if it did not do.
    """
    events = len(offsets) - 1
    ends = np.zeros(events + 1, np.int64)
    found = np.empty(0, np.int32)
    first = 0
    while first < events:
        passes = (events - first + room.most[0] - 1) // room.most[0]
        last = first + (events - first + passes - 1) // passes
        used, pairs = _match_pass(first, last, offsets, leaves, rows, windows, room, block, pairs)
        if used == _TOO_MANY:
            room.most[0] = (last - first) // 2
            continue
        _count(used, pairs, first, last, ends, room.answers)
        if kept:
            if ends[last] > len(found):
                # As if all events had as many answers as those so far.
                found = longer(found, ends[last] * events // last + EVENTS)
            _write(used, pairs, room.answers, found[ends[first] :])
        if 8 * used < MOST_NUMBERS:
            room.most[0] = min(2 * room.most[0], EVENTS)
        first = last
    return Answers(ends, found[: ends[events] if kept else 0]), pairs


@kernel
def _count(used: int, pairs: Ints, first: int, last: int, ends: Longs, answers: Ints) -> None:
    """Write where the answers of events end, and into `answers` where they begin, counted from the first."""
    for event in range(last - first):
        answers[event] = 0
    for each in range(np.uint64(used)):
        answers[np.uint64(pairs[_TWO * each])] += 1
    for event in range(last - first):
        ends[first + event + 1] = ends[first + event] + answers[event]
        answers[event] = ends[first + event] - ends[first]


@kernel
def _write(used: int, pairs: Ints, answers: Ints, found: Ints) -> None:
    """Write answers to where they belong."""
    for each in range(np.uint64(used)):
        event = np.uint64(pairs[_TWO * each])
        found[np.uint64(answers[event])] = pairs[_TWO * each + _ONE]
        answers[event] += 1


@kernel
def _match_pass(
    first: int,
    last: int,
    offsets: Longs,
    leaves: Ints,
    rows: Rows,
    windows: Windows,
    room: Room,
    block: Block,
    pairs: Ints,
) -> tuple[int, Ints]:
    """Write the answers of some events as pairs of event and row, and return how many there are.

    If they would take too much memory and there are many events, give up.
    """
    size = last - first
    width = (size + 63) // 64
    _fill_columns(first, last, offsets, leaves, rows, windows, room)
    for slot in range(len(windows.lines)):
        on = windows.lines[slot]
        room.about[ABOUT * on + FIRST_MASK] = slot * MASKS * width
        _sort(slot, on, size, rows, room, block)
    nobody = len(windows.lines) * MASKS * width
    for word in range(width):
        room.masks[nobody + word] = 0
        room.masks[nobody + width + word] = ~np.uint64(0) >> np.uint64(64 - min(size - 64 * word, 64))
    used = 0
    for number in range(len(windows.anchors)):
        on = windows.anchors[number]
        slot = windows.slot[on]
        for place in range(size):
            event = room.order[slot * EVENTS + place]
            room.position[event] = place
            room.sorted[slot * EVENTS + place] = room.column[slot * EVENTS + event]
        for need in range(windows.need_start[number], windows.need_start[number + 1]):
            _write_masks(windows.needs[need], width, room)
        row, end = rows.ranged[on], windows.rest[on]
        block.work[LOOKED_AT] += end - row
        while row < end:
            row, used = _match_rows(row, end, slot, width, nobody, rows.term_start, rows.terms, room, pairs, used)
            if row < end:
                if 2 * used + _SPARE > MOST_NUMBERS and size >= 2 * FEWEST:
                    return _TOO_MANY, pairs
                pairs = longer(pairs, 2 * used + _SPARE)
    return used, pairs


@kernel
def _fill_columns(
    first: int, last: int, offsets: Longs, leaves: Ints, rows: Rows, windows: Windows, room: Room
) -> None:
    """Write for each line that is asked for the leaves of events. What an event lacks is null."""
    for slot in range(len(windows.lines)):
        null = rows.base[windows.lines[slot]]
        for event in range(slot * EVENTS, slot * EVENTS + last - first):
            room.column[event] = null
    for event in range(first, last):
        for place in range(offsets[event], offsets[event + 1]):
            slot = windows.slot[rows.dimension[leaves[place]]]
            if slot >= 0:
                room.column[slot * EVENTS + event - first] = leaves[place]


@kernel
def _sort(slot: int, on: int, size: int, rows: Rows, room: Room, block: Block) -> None:
    """Sort events by their leaves on a line, deal them into buckets, and write the tables of the line."""
    column, order, hits, marks, cursor = room.column, room.order, block.hits, block.marks, block.cursor
    begin = slot * EVENTS
    first = last = column[begin]
    for event in range(begin, begin + size):
        leaf = column[event]
        first, last = min(first, leaf), max(last, leaf)
        hits[leaf] += 1
        marks[leaf >> 6] |= _ONE << np.uint64(leaf & 63)
    full = (size + BUCKETS - 1) // BUCKETS
    step = first_step = room.about[ABOUT * on + FIRST_STEP]
    null, rounded = rows.base[on], room.about[ABOUT * on + ROUNDED]
    buckets, held, before = 0, full, 0
    for word in range(first >> 6, (last >> 6) + 1):
        mark = marks[word]
        marks[word] = 0
        while mark:
            leaf = 64 * word + lowest(mark)
            mark = without_lowest(mark)
            # Events on one leaf stay together.
            fresh = held >= full
            while step <= first_step + ((leaf - null) >> rounded):
                room.begins[step] = before
                room.lower[step] = buckets - (not fresh)
                room.upper[step] = buckets
                step += 1
            if fresh:
                room.starts[slot * (MASKS + 1) + buckets] = before
                buckets += 1
                held = 0
            cursor[leaf] = before
            held += hits[leaf]
            before += hits[leaf]
            hits[leaf] = 0
    room.starts[slot * (MASKS + 1) + buckets] = before
    room.sizes[slot] = buckets
    while step < first_step + ((rows.base[on + 1] - null) >> rounded) + 2:
        room.begins[step] = before
        room.lower[step] = room.upper[step] = buckets
        step += 1
    for event in range(size):
        leaf = column[begin + event]
        order[begin + cursor[leaf]] = event
        cursor[leaf] += 1


@kernel
def _write_masks(slot: int, width: int, room: Room) -> None:
    """Write the masks and the column of a line for events in the order of the current anchor."""
    masks, order, position = room.masks, room.order, room.position
    first = np.uint64(slot * EVENTS)
    mask = slot * MASKS * width
    for word in range(mask, mask + width):
        masks[word] = 0
    begin = slot * (MASKS + 1)
    for bucket in range(begin, begin + room.sizes[slot]):
        mask += width
        for word in range(mask, mask + width):
            masks[word] = masks[word - width]
        for place in range(np.uint64(room.starts[bucket]), np.uint64(room.starts[bucket + 1])):
            event = np.uint64(order[first + place])
            at = np.uint64(position[event])
            masks[np.uint64(mask) + (at >> _SIX)] |= _ONE << (at & _LAST)
            room.sorted[first + at] = room.column[first + event]


@kernel
def _match_rows(
    row: int,
    last: int,
    slot: int,
    width: int,
    nobody: int,
    term_start: Ints,
    terms: Ints,
    room: Room,
    pairs: Ints,
    used: int,
) -> tuple[int, int]:
    """Write which events meet rows that are anchored at the line of a slot.

    Return the row that was not done, for want of room or because it is the last one, and how many answers there are.
    Some rows at a time are narrowed down to words with any event, and then these are confirmed: so the machine, which
    guesses how loops go on, does not guess wrong while it waits for masks.
    """
    order = room.order[slot * EVENTS : (slot + 1) * EVENTS]
    while row < last:
        if 2 * used + _SPARE > len(pairs):
            return row, used
        stop = min(last, row + AT_A_TIME)
        _narrow(row, stop, width, nobody, term_start, terms, room)
        place = 0
        for each in range(row, stop):
            found = room.ends[each - row]
            begin, end = _TERM * np.uint64(term_start[each]), _TERM * np.uint64(term_start[each + 1])
            while place < found:
                first = np.uint64(room.places[place]) << _SIX
                used = _confirm(room.words[place], first, begin, end, each, terms, order, room, pairs, used)
                place += 1
        row = stop
    return row, used


@inlined
def _narrow(row: int, stop: int, width: int, nobody: int, term_start: Ints, terms: Ints, room: Room) -> None:
    """Write the words of windows with events that may meet rows, and by row where its words end."""
    begins, lower, upper, about, masks = room.begins, room.lower, room.upper, room.about, room.masks
    words, places = room.words, room.places
    wide, none, everybody = np.uint64(width), np.uint64(nobody), np.uint64(nobody + width)
    count = np.uint64(0)
    for each in range(row, stop):
        at, end = _TERM * np.uint64(term_start[each]), _TERM * np.uint64(term_start[each + 1])
        word = np.uint64(begins[_step_below(at, terms, about)]) >> _SIX
        beyond = (np.uint64(begins[_step_above(at, terms, about)]) + _LAST) >> _SIX
        # The next two terms at once, because nearly all rows have as many.
        low = further_low = none
        high = further_high = everybody
        at += _TERM
        if at < end:
            low, high = _masks_of(at, terms, about, lower, upper, wide)
            at += _TERM
        if at < end:
            further_low, further_high = _masks_of(at, terms, about, lower, upper, wide)
            at += _TERM
        begin = count
        while word < beyond:
            bits = masks[high + word] & ~masks[low + word] & masks[further_high + word] & ~masks[further_low + word]
            words[count], places[count] = bits, word
            count += np.uint64(bits != 0)
            word += _ONE
        while at < end:
            low, high = _masks_of(at, terms, about, lower, upper, wide)
            place = kept = begin
            while place < count:
                word = np.uint64(places[place])
                bits = words[place] & masks[high + word] & ~masks[low + word]
                words[kept], places[kept] = bits, word
                kept += np.uint64(bits != 0)
                place += _ONE
            count = kept
            at += _TERM
        room.ends[each - row] = count


@inlined
def _confirm(
    bits: np.uint64,
    first: np.uint64,
    begin: np.uint64,
    end: np.uint64,
    row: int,
    terms: Ints,
    order: Shorts,
    room: Room,
    pairs: Ints,
    used: int,
) -> int:
    """Write which events of a word meet a row."""
    while bits:
        position = first + np.uint64(lowest(bits))
        bits = without_lowest(bits)
        met, at = True, begin
        while at < end:
            leaf = room.sorted[np.uint64(room.about[_ABOUT * np.uint64(terms[at]) + _COLUMN]) + position]
            met &= (leaf >= terms[at + _ONE]) & (leaf < terms[at + _TWO])
            at += _TERM
        pairs[np.uint64(2 * used)], pairs[np.uint64(2 * used + 1)] = order[position], row
        used += met
    return used


@inlined
def _masks_of(
    at: np.uint64, terms: Ints, about: Ints, lower: Octets, upper: Octets, width: np.uint64
) -> tuple[np.uint64, np.uint64]:
    """Return the places of the masks of events that surely lie before a term, and of those that may not lie behind."""
    first = np.uint64(about[_ABOUT * np.uint64(terms[at]) + _MASK])
    low = first + width * np.uint64(lower[_step_below(at, terms, about)])
    return low, first + width * np.uint64(upper[_step_above(at, terms, about)])


@inlined
def _step_below(at: np.uint64, terms: Ints, about: Ints) -> np.uint64:
    """Return the step at or before the lower cut of a term."""
    line = _ABOUT * np.uint64(terms[at])
    leaf = np.uint64(terms[at + _ONE]) - np.uint64(about[line + _LEAF])
    return np.uint64(about[line + _STEP]) + (leaf >> np.uint64(about[line + _ROUNDED]))


@inlined
def _step_above(at: np.uint64, terms: Ints, about: Ints) -> np.uint64:
    """Return the step at or behind the upper cut of a term."""
    line = _ABOUT * np.uint64(terms[at])
    rounded = np.uint64(about[line + _ROUNDED])
    leaf = np.uint64(terms[at + _TWO]) - np.uint64(about[line + _LEAF])
    return np.uint64(about[line + _STEP]) + ((leaf + (_ONE << rounded) - _ONE) >> rounded)
