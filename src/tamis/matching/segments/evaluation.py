"""Conditions on the masks of a block: which of its events meet a row."""

from typing import Final

import numpy as np

from tamis.compiled import inlined, kernel
from tamis.matching.ranks.lists import Ints
from tamis.matching.segments.bits import lowest, ones, without_lowest
from tamis.matching.segments.cuts import Words
from tamis.matching.segments.draft import ALL
from tamis.matching.segments.masks import EVENTS, EVERYBODY, NOBODY
from tamis.matching.segments.singly import Shorts
from tamis.matching.segments.vectors import WORDS, narrow

#: Answers that are written from a word without looking how many there are.
_AHEAD: Final = 4
#: Numbers that the answers of one row take, and some more that are written and then overwritten.
MOST_NUMBERS: Final = 2 * (EVENTS + _AHEAD)
_WIDTH: Final = np.uint64(WORDS)
#: The places of the mask of no event, and of the first mask of `frames`.
_NOBODY: Final = np.uint64(NOBODY * WORDS)
_FIRST: Final = np.uint64(0)
_ONE: Final = np.uint64(1)
_TWO: Final = np.uint64(2)
_THREE: Final = np.uint64(3)
#: Numbers of the last terms, which are looked at without asking whether any event is left: a wrong guess costs more.
_UNASKED: Final = np.uint64(6)
#: Rows that are evaluated before any is written.
AT_A_TIME: Final = 256
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
    kept: Words,
    kept_rows: Ints,
    pairs: Ints,
    used: int,
) -> tuple[int, int]:
    """Write which of the events of a mask meet rows, without their first terms if these are known to be met.

    Return the row that was not done, for want of room or because it is the last one, and how many answers there are.
    Some rows at a time are evaluated, and those that any event meets are kept; then these are written. So the machine,
    which guesses how loops go on, does not guess wrong while it waits for masks.
    """
    room = (len(pairs) - MOST_NUMBERS) // 2
    asked = np.uint64(start)
    while row < last:
        stop = min(last, row + len(kept_rows))
        count = 0
        for each in range(row, stop):
            at, end = np.uint64(3 * (term_start[each] + skip)), np.uint64(3 * term_start[each + 1])
            to = np.uint64(count) * _WIDTH
            lower, upper = _NOBODY, asked
            if at < end:
                lower, upper = _masks_of(at, terms, mask_of)
                at += _THREE
            words = narrow(masks, asked, masks, lower, upper, kept, to)
            while at < end and (words or end - at <= _UNASKED):
                lower, upper = _masks_of(at, terms, mask_of)
                words = narrow(kept, to, masks, lower, upper, kept, to)
                at += _THREE
            kept_rows[count] = each
            count += words != 0
        for number in range(count):
            row = kept_rows[number]
            if used > room:
                return row, used
            place = np.uint64(number) * _WIDTH
            words = narrow(kept, place, masks, _NOBODY, asked, frames, _FIRST)
            if code_start[row] < code_start[row + 1]:
                words = _evaluate_code(3 * code_start[row], code, masks, mask_of, frames, ends)
            while words:
                word = lowest(words)
                used = _write(frames[word], 64 * word, row, pairs, used)
                words = without_lowest(words)
        row = stop
    return row, used


@inlined
def _masks_of(at: np.uint64, terms: Ints, mask_of: Shorts) -> tuple[np.uint64, np.uint64]:
    """Return the places of the masks of the events that lie before a term, and of those that do not lie behind it."""
    lower = np.uint64(mask_of[np.uint32(terms[at + _ONE])]) * _WIDTH
    upper = np.uint64(mask_of[np.uint32(terms[at + _TWO])]) * _WIDTH
    return lower, upper


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
def _evaluate_code(at: int, code: Ints, masks: Words, mask_of: Shorts, frames: Words, ends: Ints) -> int:
    """Leave in the first mask of `frames` those of its events that meet the code at a place; return as `narrow`.

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
            return narrow(frames, _FIRST, masks, np.uint64(lower), np.uint64(upper), frames, _FIRST)
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
                everybody = np.uint64(EVERYBODY * WORDS)
                return narrow(frames, np.uint64(frame + WORDS), masks, _NOBODY, everybody, frames, _FIRST)
            if ends[2 * depth + 1]:
                for word in range(WORDS):
                    frames[asked + WORDS + word] = frames[frame + WORDS + word]
                    left |= frames[frame + WORDS + word]
            else:
                for word in range(WORDS):
                    frames[asked + WORDS + word] |= frames[frame + WORDS + word]
                    left |= frames[asked + word] & ~frames[asked + WORDS + word]
