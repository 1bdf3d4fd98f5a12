"""Matching events by blocks: a condition is met by all events of a block at once (see `masks`).

Where few events of a block share a leaf, they are matched one by one instead (see `singly`).
"""

from typing import Final

import numpy as np

from tamis.compiled import kernel
from tamis.matching.ranks.lists import Ints, Longs
from tamis.matching.segments.answers import Answers
from tamis.matching.segments.cuts import Octets, Words
from tamis.matching.segments.evaluation import MOST_NUMBERS, evaluate
from tamis.matching.segments.masks import (
    EVENTS,
    EVERYBODY,
    MOST_LEAVES,
    Block,
    clear,
    spread_out,
    write_masks,
)
from tamis.matching.segments.rows import LOOSE, RANGES, Rows
from tamis.matching.segments.singly import LOOKED_AT, TOUCHED, Shorts, is_marked, look, mark, unmark
from tamis.matching.segments.vectors import WORDS

#: Up to so many events that share a leaf are matched one by one.
FEW: Final = 4
#: Events that look at so many rows each, or less, are matched one by one.
_LIGHT: Final = 512
#: Numbers that describe rows to be evaluated.
RUN: Final = 4
#: All answers are wanted.
NO_LIMIT: Final = 2**62
#: Rows that are evaluated before answers are counted, if there is a limit.
_AT_A_TIME: Final = 64
_ONE: Final = np.uint64(1)


@kernel
def match_blocks(
    first: int,
    last: int,
    offsets: Longs,
    leaves: Ints,
    rows: Rows,
    ranged: Ints,
    block: Block,
    pairs: Ints,
    limit: int,
    kept: bool,
) -> Answers:
    """Return the rows that events meet, of each event at most `limit`; only how many they are unless they are `kept`.

    `ranged` says by dimension from where on its ranges are looked at. `pairs` is room for the answers of a block,
    replaced if it does not do.
    """
    only_points = rows.ends[RANGES] == rows.ends[LOOSE]
    for on in range(len(ranged)):
        only_points &= ranged[on] == rows.ranged[on + 1]
    ends = np.zeros(last - first + 1, np.int64)
    found = np.empty(max(1024, 4 * (last - first)) if kept else 0, np.int32)
    total, counted = 0, 0
    at = np.empty(EVENTS, np.int64)
    while first < last:
        size = _block_size(first, last, offsets)
        used, pairs = _match_block(
            first, first + size, offsets, leaves, rows, ranged, only_points, block, pairs, limit, kept
        )
        done = len(ends) - 1 - (last - first)
        for event in range(size):
            at[event] = counted
            counted += block.answers[event]
            ends[done + event + 1] = counted
        if total + used > len(found):
            larger = np.empty(max(2 * len(found), total + used), np.int32)
            larger[:total] = found[:total]
            found = larger
        for each in range(used):
            event = pairs[2 * each]
            found[at[event]] = pairs[2 * each + 1]
            at[event] += 1
        total += used
        first += size
    return Answers(ends, found[:total])


@kernel
def _block_size(first: int, last: int, offsets: Longs) -> int:
    """Return how many events make the next block: less than usual if they have very many attributes."""
    size = min(EVENTS, last - first)
    while size > 1 and offsets[first + size] - offsets[first] > MOST_LEAVES:
        size //= 2
    return size


@kernel
def _match_block(
    first: int,
    last: int,
    offsets: Longs,
    leaves: Ints,
    rows: Rows,
    ranged: Ints,
    only_points: bool,
    block: Block,
    pairs: Ints,
    limit: int,
    kept: bool,
) -> tuple[int, Ints]:
    """Write the answers of a block as pairs of event and row, and how many there are into `answers`."""
    for event in range(EVENTS):
        block.answers[event] = 0
    used, few = 0, EVENTS
    if not only_points or not _is_light(first, last, offsets, leaves, rows):
        few = FEW
        used, pairs = _match_many(first, last, offsets, leaves, rows, ranged, block, pairs, limit, kept)
    event = first
    while event < last:
        event, used = _match_few(
            event,
            first,
            last,
            few,
            limit,
            kept,
            offsets,
            leaves,
            rows.dimension,
            rows.base,
            rows.point,
            rows.spot,
            rows.guard,
            rows.term_start,
            rows.terms,
            rows.code_start,
            rows.code,
            block.hits,
            block.ranks,
            block.present,
            block.ends,
            block.places,
            block.answers,
            block.work,
            pairs,
            used,
        )
        if event < last:
            pairs = _larger(pairs, used)
    for place in range(offsets[first], offsets[last]):
        block.hits[leaves[place]] = 0
    return used, pairs


@kernel
def _is_light(first: int, last: int, offsets: Longs, leaves: Ints, rows: Rows) -> bool:
    """Return whether events look at so few rows at points that masks are not worth it."""
    candidates = 0
    for place in range(offsets[first], offsets[last]):
        candidates += rows.point[leaves[place] + 1] - rows.point[leaves[place]]
    return candidates <= _LIGHT * (last - first)


@kernel
def _match_many(
    first: int,
    last: int,
    offsets: Longs,
    leaves: Ints,
    rows: Rows,
    ranged: Ints,
    block: Block,
    pairs: Ints,
    limit: int,
    kept: bool,
) -> tuple[int, Ints]:
    """Match the events of a block at once with all rows but those at leaves that few of the events share."""
    term_start, terms, code_start, code = rows.term_start, rows.terms, rows.code_start, rows.code
    masks, mask_of, frames, ends = block.masks, block.mask_of, block.frames, block.ends
    kept_masks, kept_rows = block.kept_masks, block.kept_rows
    present = spread_out(first, last, offsets, leaves, rows, block)
    used_masks = write_masks(last - first, present, rows, block)
    used = counted = 0
    whole = limit >= NO_LIMIT and kept
    for run in range(0, RUN * _list_runs(present, used_masks, rows, ranged, block), RUN):
        row, end, start, skip = block.runs[run], block.runs[run + 1], block.runs[run + 2], block.runs[run + 3]
        block.work[LOOKED_AT] += end - row
        while row < end:
            stop = end if whole else min(end, row + _AT_A_TIME)
            row, used = evaluate(
                row,
                stop,
                start,
                skip,
                term_start,
                terms,
                code_start,
                code,
                masks,
                mask_of,
                frames,
                ends,
                kept_masks,
                kept_rows,
                pairs,
                used,
            )
            if not whole:
                used = counted = _count(counted, used, pairs, block.answers, masks, start, limit, kept)
            if row < stop:
                pairs = _larger(pairs, used)
    if whole:
        for each in range(used):
            block.answers[pairs[2 * each]] += 1
    clear(present, rows, block)
    return used, pairs


@kernel
def _list_runs(present: int, used: int, rows: Rows, ranged: Ints, block: Block) -> int:
    """Write which rows to evaluate, and for which events: first, last, the place of their mask, known terms."""
    runs, count = block.runs, 0
    for number in range(present):
        on = block.dimensions[number]
        at, end = block.starts[number], block.starts[number + 1]
        while at < end:
            leaf = block.leaves[at]
            many = int(block.hits[leaf])
            if many > FEW and rows.point[leaf] < rows.point[leaf + 1]:
                start = used * WORDS
                used += 1
                for word in range(WORDS):
                    block.masks[start + word] = 0
                for each in range(at, at + many):
                    event = block.events[each]
                    block.masks[start + (event >> 6)] |= _ONE << np.uint64(event & 63)
                runs[count], runs[count + 1] = rows.point[leaf], rows.point[leaf + 1]
                runs[count + 2], runs[count + 3] = start, 1
                count += RUN
            at += many
        if ranged[on] < rows.ranged[on + 1]:
            runs[count], runs[count + 1] = ranged[on], rows.ranged[on + 1]
            runs[count + 2], runs[count + 3] = EVERYBODY * WORDS, 0
            count += RUN
    runs[count], runs[count + 1] = rows.ends[RANGES], rows.ends[LOOSE]
    runs[count + 2], runs[count + 3] = EVERYBODY * WORDS, 0
    return count // RUN + 1


@kernel
def _count(
    counted: int, used: int, pairs: Ints, answers: Longs, masks: Words, start: int, limit: int, kept: bool
) -> int:
    """Count the last answers, and keep those within the limit. Events that have enough are asked for nothing more."""
    found = counted
    for each in range(counted, used):
        event = pairs[2 * each]
        if answers[event] < limit:
            answers[event] += 1
            pairs[2 * found], pairs[2 * found + 1] = event, pairs[2 * each + 1]
            found += kept
            if answers[event] == limit:
                enough = ~(_ONE << np.uint64(event & 63))
                masks[EVERYBODY * WORDS + (event >> 6)] &= enough
                masks[start + (event >> 6)] &= enough
    return found


@kernel
def _match_few(
    event: int,
    first: int,
    last: int,
    few: int,
    limit: int,
    kept: bool,
    offsets: Longs,
    leaves: Ints,
    dimension: Ints,
    base: Ints,
    point: Ints,
    spot: Ints,
    guard: Ints,
    term_start: Ints,
    terms: Ints,
    code_start: Ints,
    code: Ints,
    hits: Shorts,
    ranks: Ints,
    present: Octets,
    ends: Ints,
    places: Ints,
    answers: Longs,
    work: Longs,
    pairs: Ints,
    used: int,
) -> tuple[int, int]:
    """Match events one by one with the rows at leaves that few of the block share.

    Return the event that was not done, for want of room or because it is the last one, and how many answers there are.
    """
    room = len(pairs) // 2 - 1
    while event < last:
        before, had = used, answers[event - first]
        found = 0
        for place in range(offsets[event], offsets[event + 1]):
            leaf = leaves[place]
            ranks[dimension[leaf]] = leaf
            mark(leaf, present)
            places[2 * found], places[2 * found + 1] = point[leaf], point[leaf + 1]
            found += hits[leaf] <= few and point[leaf] < point[leaf + 1]
        # To touch all that will be read lets the machine fetch it at once, not one after the other.
        for each in range(found):
            work[TOUCHED] += spot[places[2 * each]]
        answered = had
        for each in range(found):
            if answered >= limit:
                break
            work[LOOKED_AT] += places[2 * each + 1] - places[2 * each]
            for row in range(places[2 * each], places[2 * each + 1]):
                if not is_marked(spot[row], present):
                    continue
                at = np.uint32(3 * row)
                leaf = ranks[np.uint32(guard[at])]
                if leaf < guard[at + 1] or leaf >= guard[at + 2]:
                    continue
                if used < room and answered < limit and look(row, 2, term_start, terms, code_start, code, ranks, ends):
                    answered += 1
                    pairs[2 * used], pairs[2 * used + 1] = event - first, row
                    used += kept
        for place in range(offsets[event], offsets[event + 1]):
            on = dimension[leaves[place]]
            ranks[on] = base[on]
            unmark(leaves[place], present)
        if used == room:
            return event, before
        answers[event - first] = answered
        event += 1
    return event, used


@kernel
def _larger(pairs: Ints, used: int) -> Ints:
    """Return pairs with more room, for the answers of one row at least."""
    larger = np.empty(2 * len(pairs) + 2 * MOST_NUMBERS, np.int32)
    larger[: 2 * used] = pairs[: 2 * used]
    return larger
