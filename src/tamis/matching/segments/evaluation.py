"""Conditions on the masks of a block: which of its events meet a row."""

from typing import Final

import numpy as np

from tamis.compiled import inlined, kernel
from tamis.matching.ranks.lists import Ints
from tamis.matching.segments.bits import lowest, ones, without_lowest
from tamis.matching.segments.cuts import Words
from tamis.matching.segments.draft import ALL
from tamis.matching.segments.masks import EVENTS, WORDS
from tamis.matching.segments.singly import Shorts

#: Answers that are written from a word without looking how many there are.
_AHEAD: Final = 4
#: Numbers that the answers of one row take, and some more that are written and then overwritten.
MOST_NUMBERS: Final = 2 * (EVENTS + _AHEAD)
_WIDTH: Final = np.uint64(WORDS)
_ONE: Final = np.uint64(1)
_TWO: Final = np.uint64(2)
_THREE: Final = np.uint64(3)
#: What is kept of a connective that is being evaluated: which events are asked, and which have been found to meet it.
_FRAME: Final = 2 * WORDS


@kernel
def evaluate(
    row: int,
    last: int,
    start: int,
    skip: int,
    term_start: Ints,
    terms: Ints,
    code_start: Ints,
    code: Ints,
    masks: Words,
    mask_of: Shorts,
    frames: Words,
    ends: Ints,
    pairs: Ints,
    used: int,
) -> tuple[int, int]:
    """Write which of the events of a mask meet rows, without their first terms if these are known to be met.

    Return the row that was not done, for want of room or because it is the last one, and how many answers there are.
    The words of a mask are eight variables, which the compiler keeps in registers.
    """
    room = (len(pairs) - MOST_NUMBERS) // 2
    while row < last and used <= room:
        a0 = masks[start + 0]
        a1 = masks[start + 1]
        a2 = masks[start + 2]
        a3 = masks[start + 3]
        a4 = masks[start + 4]
        a5 = masks[start + 5]
        a6 = masks[start + 6]
        a7 = masks[start + 7]
        at, end = np.uint64(3 * (term_start[row] + skip)), np.uint64(3 * term_start[row + 1])
        alive = True
        while alive and at < end:
            lower = np.uint64(mask_of[np.uint32(terms[at + _ONE])]) * _WIDTH
            upper = np.uint64(mask_of[np.uint32(terms[at + _TWO])]) * _WIDTH
            a0 &= masks[upper + np.uint64(0)] & ~masks[lower + np.uint64(0)]
            a1 &= masks[upper + np.uint64(1)] & ~masks[lower + np.uint64(1)]
            a2 &= masks[upper + np.uint64(2)] & ~masks[lower + np.uint64(2)]
            a3 &= masks[upper + np.uint64(3)] & ~masks[lower + np.uint64(3)]
            a4 &= masks[upper + np.uint64(4)] & ~masks[lower + np.uint64(4)]
            a5 &= masks[upper + np.uint64(5)] & ~masks[lower + np.uint64(5)]
            a6 &= masks[upper + np.uint64(6)] & ~masks[lower + np.uint64(6)]
            a7 &= masks[upper + np.uint64(7)] & ~masks[lower + np.uint64(7)]
            alive = (a0 | a1 | a2 | a3 | a4 | a5 | a6 | a7) != 0
            at += _THREE
        if alive and code_start[row] < code_start[row + 1]:
            frames[0] = a0
            frames[1] = a1
            frames[2] = a2
            frames[3] = a3
            frames[4] = a4
            frames[5] = a5
            frames[6] = a6
            frames[7] = a7
            _narrow(3 * code_start[row], code, masks, mask_of, frames, ends)
            a0 = frames[0]
            a1 = frames[1]
            a2 = frames[2]
            a3 = frames[3]
            a4 = frames[4]
            a5 = frames[5]
            a6 = frames[6]
            a7 = frames[7]
        if alive:
            used = _write(a0, 0, row, pairs, used)
            used = _write(a1, 64, row, pairs, used)
            used = _write(a2, 128, row, pairs, used)
            used = _write(a3, 192, row, pairs, used)
            used = _write(a4, 256, row, pairs, used)
            used = _write(a5, 320, row, pairs, used)
            used = _write(a6, 384, row, pairs, used)
            used = _write(a7, 448, row, pairs, used)
        row += 1
    return row, used


@inlined
def _write(word: int, shift: int, row: int, pairs: Ints, used: int) -> int:
    """Write the events of a word with a row. Some are written without asking whether there are so many."""
    rest = word
    for ahead in range(_AHEAD):
        pairs[2 * (used + ahead)] = shift + lowest(rest)
        pairs[2 * (used + ahead) + 1] = row
        rest = without_lowest(rest)
    count = ones(word)
    if count > _AHEAD:
        at = used + _AHEAD
        while rest:
            pairs[2 * at], pairs[2 * at + 1] = shift + lowest(rest), row
            at += 1
            rest = without_lowest(rest)
    return used + count


@kernel
def _narrow(at: int, code: Ints, masks: Words, mask_of: Shorts, frames: Words, ends: Ints) -> None:
    """Leave in the first mask of `frames` those of its events that meet the code at a place.

    A frame is a connective: which events are asked, and of these, for `ALL` those that met every part so far, for `ANY`
    those that met one. What does not matter any more is jumped over. In `ends` are where and what the connectives are.
    """
    depth = 0
    # The frame below the first one holds what is asked of the code as a whole.
    for word in range(WORDS):
        frames[WORDS + word] = frames[word]
    while True:
        asked = depth * _FRAME
        if code[at] < 0:
            depth += 1
            frame = depth * _FRAME
            whole = code[at] == ALL
            ends[2 * depth], ends[2 * depth + 1] = at + 3 * code[at + 1], whole
            below = depth > 1 and ends[2 * depth - 1] == 0
            for word in range(WORDS):
                # Parts of a disjunction are asked only for events that met none before.
                interest = frames[asked + WORDS + word]
                if below:
                    interest = frames[asked + word] & ~interest
                frames[frame + word] = interest
                frames[frame + WORDS + word] = interest if whole else np.uint64(0)
            at += 3
            continue
        lower, upper = WORDS * np.int64(mask_of[code[at + 1]]), WORDS * np.int64(mask_of[code[at + 2]])
        at += 3
        if depth == 0:
            for word in range(WORDS):
                frames[word] &= masks[upper + word] & ~masks[lower + word]
            return
        left = np.uint64(0)
        if ends[2 * depth + 1]:
            for word in range(WORDS):
                frames[asked + WORDS + word] &= masks[upper + word] & ~masks[lower + word]
                left |= frames[asked + WORDS + word]
        else:
            for word in range(WORDS):
                frames[asked + WORDS + word] |= masks[upper + word] & ~masks[lower + word] & frames[asked + word]
                left |= frames[asked + word] & ~frames[asked + WORDS + word]
        while depth > 0 and (left == 0 or at == ends[2 * depth]):
            at = ends[2 * depth]
            frame = depth * _FRAME
            depth -= 1
            asked = depth * _FRAME
            left = np.uint64(0)
            if depth == 0:
                for word in range(WORDS):
                    frames[word] = frames[frame + WORDS + word]
                return
            if ends[2 * depth + 1]:
                for word in range(WORDS):
                    frames[asked + WORDS + word] = frames[frame + WORDS + word]
                    left |= frames[frame + WORDS + word]
            else:
                for word in range(WORDS):
                    frames[asked + WORDS + word] |= frames[frame + WORDS + word]
                    left |= frames[asked + word] & ~frames[asked + WORDS + word]
