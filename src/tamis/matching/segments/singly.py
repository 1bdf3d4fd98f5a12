"""Matching events one by one: from the leaves of an event to the rows anchored there."""

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from tamis.compiled import brief, inlined, kernel
from tamis.matching.ranks.lists import Ints, Longs
from tamis.matching.segments.addresses import array_at
from tamis.matching.segments.cuts import Doubles, Octets
from tamis.matching.segments.draft import ANY
from tamis.matching.segments.locating import locate
from tamis.matching.segments.rows import LOOSE, SPREAD, Rows

Shorts: TypeAlias = npt.NDArray[np.uint16]

# What is counted: rows looked at; the other is a sum of no meaning, which is there for what it reads.
LOOKED_AT, TOUCHED = range(2)


@inlined
def mark(leaf: int, present: Octets) -> None:
    """Note that an event lies on a leaf. The number of all leaves is always noted."""
    present[np.uint32(leaf) >> 3] |= np.uint8(1 << (leaf & 7))


@inlined
def unmark(leaf: int, present: Octets) -> None:
    """Forget a leaf."""
    present[np.uint32(leaf) >> 3] &= np.uint8(~(1 << (leaf & 7)) & 255)


@inlined
def is_marked(leaf: int, present: Octets) -> bool:
    """Return whether an event lies on a leaf."""
    return bool(present[np.uint32(leaf) >> 3] >> (leaf & 7) & 1)


@kernel
def _holds(at: int, code: Ints, ranks: Ints, ends: Ints) -> bool:
    """Return whether code is true. In `ends` are where the connectives around the current place end, and what they are.

    Parts that do not matter any more are jumped over.
    """
    depth = 0
    while True:
        on = code[at]
        if on < 0:
            ends[2 * depth], ends[2 * depth + 1] = at + 3 * code[at + 1], on == ANY
            depth += 1
            at += 3
            continue
        truth = code[at + 1] <= ranks[on] < code[at + 2]
        at += 3
        while depth > 0:
            end = ends[2 * depth - 2]
            if truth != (ends[2 * depth - 1] == 1) and at < end:
                break
            at = end
            depth -= 1
        if depth == 0:
            return bool(truth)


@inlined
def look(
    row: int,
    skip: int,
    term_start: Ints,
    terms: Ints,
    code_start: Ints,
    code: Ints,
    ranks: Ints,
    ends: Ints,
) -> bool:
    """Return whether the event in `ranks` meets a row, without the first terms if they are known to be met."""
    at, end = np.uint32(3 * (term_start[row] + skip)), np.uint32(3 * term_start[row + 1])
    while at < end:
        leaf = ranks[np.uint32(terms[at])]
        if leaf < terms[at + 1] or leaf >= terms[at + 2]:
            return False
        at += np.uint32(3)
    if code_start[row] == code_start[row + 1]:
        return True
    return _holds(3 * code_start[row], code, ranks, ends)


@kernel
def match_event(
    leaves: Ints,
    rows: Rows,
    ranks: Ints,
    present: Octets,
    stamps: Ints,
    clock: Ints,
    ends: Ints,
    work: Longs,
    out: Ints,
    limit: int,
) -> int:
    """Write the rows that an event meets into `out`, at most `limit`, and return how many they are.

    `out` has room for all. `ranks` is as `base`, and in `present` only the number of all leaves is marked; they are
    left so. `stamps` (by spread row) tells by `clock` which rows were looked at; in `work` is counted how many.
    """
    term_start, terms, code_start, code = rows.term_start, rows.terms, rows.code_start, rows.code
    used = 0
    clock[0] += 1
    now = clock[0]
    for leaf in leaves:
        ranks[rows.dimension[leaf]] = leaf
        mark(leaf, present)
    first = rows.ends[SPREAD - 1]
    for leaf in leaves:
        if used >= limit:
            break
        work[LOOKED_AT] += rows.point[leaf + 1] - rows.point[leaf]
        for row in range(rows.point[leaf], rows.point[leaf + 1]):
            if not is_marked(rows.spot[row], present):
                continue
            guard = np.uint32(3 * row)
            held = ranks[np.uint32(rows.guard[guard])]
            if rows.guard[guard + 1] <= held < rows.guard[guard + 2]:
                out[used] = row
                used += look(row, 2, term_start, terms, code_start, code, ranks, ends)
        for place in range(rows.spread_start[leaf], rows.spread_start[leaf + 1]):
            row = rows.spread[place]
            if stamps[row - first] != now:
                stamps[row - first] = now
                work[LOOKED_AT] += 1
                out[used] = row
                used += look(row, 0, term_start, terms, code_start, code, ranks, ends)
        on = rows.dimension[leaf]
        work[LOOKED_AT] += rows.ranged[on + 1] - rows.ranged[on]
        for row in range(rows.ranged[on], rows.ranged[on + 1]):
            at = 3 * term_start[row]
            if terms[at + 1] <= leaf < terms[at + 2]:
                out[used] = row
                used += look(row, 1, term_start, terms, code_start, code, ranks, ends)
    row = rows.ends[SPREAD]
    while row < rows.ends[LOOSE] and used < limit:
        work[LOOKED_AT] += 1
        out[used] = row
        used += look(row, 0, term_start, terms, code_start, code, ranks, ends)
        row += 1
    for leaf in leaves:
        on = rows.dimension[leaf]
        ranks[on] = rows.base[on]
        unmark(leaf, present)
    return min(used, limit)


@kernel
def match_event_held(on: Ints, wholes: Longs, reals: Doubles, others: Ints, held: Longs, limit: int) -> int:
    """Match an event as `match_event` does, after its numbers were located; `others` are leaves that are known.

    `held` are the addresses of all fields of `Rows`, of what `match_event` works with, of room for leaves, and of what
    `locate` needs.
    """
    leaves = array_at(held, 21, np.int32)
    count = locate(
        on,
        wholes,
        reals,
        array_at(held, 22, np.int32),
        array_at(held, 23, np.int32),
        array_at(held, 24, np.int64),
        array_at(held, 25, np.float64),
        leaves,
    )
    if count + len(others) > len(leaves):
        raise ValueError("an event has more leaves than there are lines")
    for leaf in others:
        leaves[count] = leaf
        count += 1
    rows = Rows(
        array_at(held, 0, np.int32),
        array_at(held, 1, np.int32),
        array_at(held, 2, np.int8),
        array_at(held, 3, np.int32),
        array_at(held, 4, np.int32),
        array_at(held, 5, np.int32),
        array_at(held, 6, np.int32),
        array_at(held, 7, np.int32),
        array_at(held, 8, np.int32),
        array_at(held, 9, np.int64),
        array_at(held, 10, np.int32),
        array_at(held, 11, np.int32),
        array_at(held, 12, np.int32),
        array_at(held, 13, np.int32),
    )
    return match_event(
        leaves[:count],
        rows,
        array_at(held, 14, np.int32),
        array_at(held, 15, np.uint8),
        array_at(held, 16, np.int32),
        array_at(held, 17, np.int32),
        array_at(held, 18, np.int32),
        array_at(held, 19, np.int64),
        array_at(held, 20, np.int32),
        limit,
    )


@brief
def match_event_briefly(on: Ints, wholes: Longs, reals: Doubles, others: Ints, held: Longs, limit: int) -> int:
    """Do the same for an event that has few rows to look at: it is done before another thread could wake up."""
    return match_event_held(on, wholes, reals, others, held, limit)
