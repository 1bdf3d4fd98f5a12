"""Which rows are matched by windows: ranges, where there are many of them on few lines.

By masks (see `blocks`) a row looks at all events of a block. Rows that are anchored at a range need not: if events are
sorted by where they lie on the line of the anchor, those in the range are next to each other. So here thousands of
events are sorted by each such line in turn; a row looks only at its *window*, the words of bits for the events in its
range, and there at which of them the other lines let through (see `sliding`).

Masks of so many events are long, so there are few of them: the events on a line are dealt into *buckets* of neighbours,
and a mask says which events lie in the buckets before one. Cuts are rounded outwards to buckets, and before that to
*steps*, of which a line has two thousand at most, so that tables of them stay in the cache. So what is found may be too
much at the ends of ranges, and is looked at again.
"""

from typing import Final, NamedTuple

import numpy as np

from tamis.matching.ranks.lists import Ints, Longs
from tamis.matching.segments.cuts import Octets, Words
from tamis.matching.segments.rows import Rows
from tamis.matching.segments.runs import counts
from tamis.matching.segments.singly import Shorts

#: Events that are sorted at a time, and words of their masks.
EVENTS: Final = 8_192
WIDTH: Final = EVENTS // 64
#: Buckets of a line: their numbers are bytes.
BUCKETS: Final = 127
#: Masks of a line: a bucket has one of the events before it, and one more is of all of them.
MASKS: Final = BUCKETS + 1
#: With fewer events, masks of blocks are as fast.
LEAST_EVENTS: Final = 1_024
#: Answers of events that are sorted together take so many numbers; if they take more, fewer events are, but not fewer
#: than these.
MOST_NUMBERS: Final = 1 << 23
FEWEST: Final = 256
#: Rows that are looked at before any is confirmed.
AT_A_TIME: Final = 32
#: Numbers that describe a line to kernels: its first leaf, its first step in the tables, by how many bits leaves are
#: rounded to steps, and the places of its column and of its first mask.
ABOUT: Final = 5
FIRST_LEAF, FIRST_STEP, ROUNDED, COLUMN, FIRST_MASK = range(ABOUT)

#: A line has so many steps at most, as a power of two.
_STEPS: Final = 11
#: Masks of a line are worth it for more rows than this.
_WORTH: Final = 128
#: Lines on which anything is matched by windows: more would take too much memory.
_MOST_LINES: Final = 64
#: Stands for a line on which nothing is.
NONE: Final = -1


class Room(NamedTuple):
    """What a thread needs to match by windows, beside what is in `Windows`.

    By slot (see `Windows`) and event: `column`, its leaf; `order`, the events by their leaves; and `sorted`, the column
    in the order of the current anchor. By step: `begins`, how many events lie before it, and `lower` and `upper`, how
    many buckets end before it and how many begin before it. By slot and bucket: `starts`, where in the order it begins,
    of as many as `sizes` says by slot. By event: `position` in the current order, and `answers`. Words of bits that are
    found go to `words`, with their `places`; `ends` says by row where its words end. `most` is how many events are
    sorted together.
    """

    column: Ints
    order: Shorts
    sorted: Ints
    begins: Shorts
    lower: Octets
    upper: Octets
    starts: Shorts
    sizes: Ints
    position: Shorts
    answers: Ints
    about: Ints
    masks: Words
    words: Words
    places: Shorts
    ends: Ints
    most: Longs


class Windows(NamedTuple):
    """What is matched by windows: of some lines, those rows anchored at a range of them that have no code.

    `lines` are all that such rows ask for, and `slot` is by line its number among them, or `NONE`. `anchors` are those
    by which rows are anchored; `needs[need_start[n] : need_start[n + 1]]` are the slots of the other lines that rows of
    the nth of them ask for. `rest` says by line from where on its ranges are matched otherwise.
    """

    lines: Ints
    slot: Ints
    anchors: Ints
    need_start: Ints
    needs: Ints
    rest: Ints


def windows_of(rows: Rows) -> Windows:
    """Return what is worth to be matched by windows, lines with the most ranges first."""
    ends = _plain(rows)
    sizes = ends - rows.ranged[:-1]
    asked: dict[int, Ints] = {}
    lines: set[int] = set()
    many = np.flatnonzero(sizes > _WORTH)
    for on in many[np.argsort(-sizes[many], kind="stable")].tolist():
        needed = _asked(rows, int(rows.ranged[on]), int(ends[on]))
        more = lines.union(needed.tolist())
        if sizes[on] > _WORTH * (len(needed) - 1) and len(more) <= _MOST_LINES:
            lines, asked[on] = more, needed
    slot: Ints = np.full(len(sizes), NONE, np.int32)
    slot[sorted(lines)] = np.arange(len(lines))
    anchors = sorted(asked)
    needs = [slot[asked[on][asked[on] != on]] for on in anchors]
    rest: Ints = rows.ranged[:-1].copy()
    rest[anchors] = ends[anchors]
    return Windows(
        np.array(sorted(lines), np.int32),
        slot,
        np.array(anchors, np.int32),
        np.cumsum([0, *map(len, needs)], dtype=np.int32),
        np.concatenate([slot[:0], *needs]),
        rest,
    )


def room_for(windows: Windows, rows: Rows) -> Room:
    """Return what a thread needs."""
    base, lines = rows.base.astype(np.int64), len(windows.lines)
    lengths = np.diff(base)
    rounded = np.array([max(0, length.bit_length() - _STEPS) for length in lengths.tolist()], np.int64)
    # One more for cuts that are rounded upwards, and one for the end.
    steps = np.where(windows.slot == NONE, 0, (lengths >> rounded) + 2)
    about = np.zeros((len(lengths), ABOUT), np.int32)
    about[:, FIRST_LEAF], about[:, ROUNDED] = base[:-1], rounded
    about[:, FIRST_STEP] = np.cumsum(steps) - steps
    about[:, COLUMN] = np.maximum(windows.slot, 0) * EVENTS
    total, most = int(steps.sum()), AT_A_TIME * WIDTH + 1
    return Room(
        column=np.zeros(lines * EVENTS, np.int32),
        order=np.zeros(lines * EVENTS, np.uint16),
        sorted=np.zeros(lines * EVENTS, np.int32),
        begins=np.zeros(total, np.uint16),
        lower=np.zeros(total, np.uint8),
        upper=np.zeros(total, np.uint8),
        starts=np.zeros(lines * (MASKS + 1), np.uint16),
        sizes=np.zeros(lines, np.int32),
        position=np.zeros(EVENTS, np.uint16),
        answers=np.zeros(EVENTS, np.int32),
        about=about.reshape(-1),
        # Besides, one of no event and one of all events.
        masks=np.zeros((lines * MASKS + 2) * WIDTH, np.uint64),
        words=np.zeros(most, np.uint64),
        places=np.zeros(most, np.uint16),
        ends=np.zeros(AT_A_TIME, np.int32),
        most=np.full(1, EVENTS, np.int64),
    )


def _plain(rows: Rows) -> Ints:
    """Return by line the first of its ranges that has code, or where its ranges end."""
    coded = np.flatnonzero(rows.code_start[1:] > rows.code_start[:-1])
    first = np.append(coded, len(rows.code_start))[np.searchsorted(coded, rows.ranged[:-1])]
    ends: Ints = np.minimum(first, rows.ranged[1:]).astype(np.int32)
    return ends


def _asked(rows: Rows, first: int, last: int) -> Ints:
    """Return the lines that some rows ask for."""
    terms = rows.terms[3 * rows.term_start[first] : 3 * rows.term_start[last] : 3]
    return np.flatnonzero(counts(terms, len(rows.base) - 1)).astype(np.int32)
