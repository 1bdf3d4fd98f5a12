"""A segment: conditions that never change, as arrays, with the kernels that match events against them."""

from collections.abc import Callable
from functools import cached_property
from threading import local
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tamis.matching.ranks.lists import Ints, Longs
from tamis.matching.segments import blocks, evaluation, masks
from tamis.matching.segments.addresses import addresses
from tamis.matching.segments.answers import Answers, both
from tamis.matching.segments.blocks import NO_LIMIT, match_blocks
from tamis.matching.segments.cuts import Cuts, Doubles, boundaries, concatenated, ranked
from tamis.matching.segments.draft import Draft
from tamis.matching.segments.lines import Lines
from tamis.matching.segments.masks import Block
from tamis.matching.segments.rows import LOOSE, RANGES, SPREAD, Rows, arrange, kept_triples, likelihood
from tamis.matching.segments.singly import LOOKED_AT, mark, match_event_briefly, match_event_held
from tamis.matching.segments.sliding import match_windows
from tamis.matching.segments.values import Values
from tamis.matching.segments.vectors import aligned
from tamis.matching.segments.windows import LEAST_EVENTS, MOST_NUMBERS, Room, Windows, room_for, windows_of

#: Room for the answers of a block that threads begin with.
_FIRST_PAIRS: Final = 1 << 16
#: So many events are matched one by one: masks are not worth it.
_FEW_EVENTS: Final = 4
#: Where the event before had more rows to look at, other threads are let run while one is matched, for some 60
#: microseconds and more. A shorter while would be over before they have woken up.
_MANY_ROWS: Final = 10_000
#: The clock of a thread starts anew here; it advances by one for each event.
_LAST_TICK: Final = 2**31 - 2


#: What is looked for of an event whose leaves are known.
_NO_NUMBERS: Final = (np.empty(0, np.int32), np.empty(0, np.int64), np.empty(0, np.float64))
#: Tells how many events fell on each leaf of some lines, and how many events there were.
Hits: TypeAlias = Callable[[Lines], tuple[Longs | None, int]]


class Segment:
    """Rows in order, and the lines on which they lie. Threads may match at the same time."""

    def __init__(self, lines: Lines, rows: Rows) -> None:
        self.lines = lines
        self.rows = Rows._make(map(read_only, rows))
        #: No row has more triples of code.
        self._longest = int(np.diff(rows.code_start).max(initial=0))
        #: How many rows were looked at, by one event or at once by all of a block.
        self.looked_at = 0
        self._local = local()

    def __len__(self) -> int:
        return len(self.rows.term_start) - 1

    # --- events -------------------------------------------------------------------------------------

    def match(self, values: Values, limit: int = NO_LIMIT) -> Ints:
        """Return the rows that an event meets, at most so many. The next event of this thread overwrites them."""
        on, others = self.lines.places_of(values)
        return self._match_one(on, values.wholes, values.reals, others, limit)

    def _match_one(self, on: Ints, wholes: Longs, reals: Doubles, others: Ints, limit: int) -> Ints:
        thread = self._thread()
        if thread.clock.item(0) > _LAST_TICK:
            thread.clock[0] = thread.stamps[:] = 0
        match_event = match_event_held if thread.looked_at > _MANY_ROWS else match_event_briefly
        used = match_event(on, wholes, reals, others, thread.held, limit)
        self._count(thread)
        return thread.out[:used]

    def match_batch(self, batch: pa.RecordBatch, limit: int = NO_LIMIT, kept: bool = True) -> Answers:
        """Return the rows that the rows of a batch meet, each at most so many; only how many unless they are kept."""
        return self.match_leaves(*self.lines.leaves_of_rows(batch), limit, kept)

    def match_leaves(self, offsets: Longs, leaves: Ints, limit: int = NO_LIMIT, kept: bool = True) -> Answers:
        """Return the rows that events meet whose leaves these are."""
        events = len(offsets) - 1
        if events <= _FEW_EVENTS or int(np.diff(offsets).max()) > masks.MOST_LEAVES:
            known = (leaves[offsets[n] : offsets[n + 1]] for n in range(events))
            found = [self._match_one(*_NO_NUMBERS, each, limit).copy() for each in known]
            ends = np.cumsum([0, *map(len, found)])
            return Answers(ends, np.concatenate([np.empty(0, np.int32), *found]) if kept else np.empty(0, np.int32))
        thread = self._thread()
        if events < LEAST_EVENTS or limit < NO_LIMIT or not len(self.windows.anchors):
            answers = self._match_blocks(offsets, leaves, self.rows.ranged[:-1], limit, kept)
        else:
            room, block, pairs = thread.room(self.windows), thread.block(), thread.wide_pairs
            answers, pairs = match_windows(offsets, leaves, self.rows, self.windows, room, block, pairs, kept)
            if len(pairs) <= 2 * MOST_NUMBERS:
                thread.wide_pairs = pairs
            if self._has_others:
                answers = both(answers, self._match_blocks(offsets, leaves, self.windows.rest, limit, kept))
        self._count(thread)
        return answers

    def _match_blocks(self, offsets: Longs, leaves: Ints, ranged: Ints, limit: int, kept: bool) -> Answers:
        thread = self._thread()
        return match_blocks(
            0, len(offsets) - 1, offsets, leaves, self.rows, ranged, thread.block(), thread.pairs, limit, kept
        )

    @cached_property
    def windows(self) -> Windows:
        """What of it is matched by windows, if there are many events."""
        return Windows._make(map(read_only, windows_of(self.rows)))

    @cached_property
    def _has_others(self) -> bool:
        """Whether events can meet anything that is not matched by windows."""
        return int((self.windows.rest - self.rows.ranged[:-1]).sum()) < int(self.rows.ends[LOOSE])

    # --- merging ------------------------------------------------------------------------------------

    def draft(self, kept: npt.NDArray[np.bool_]) -> Draft:
        """Return some rows as a draft, in their order."""
        rows = self.rows
        row, terms = kept_triples(rows.term_start, rows.terms.reshape(-1, 3), kept)
        code_row, code = kept_triples(rows.code_start, rows.code.reshape(-1, 3), kept)
        never = np.arange(len(self)) >= rows.ends[LOOSE]
        low, high = terms[:, 1], terms[:, 2]
        return Draft(self.lines.names, self.lines.cuts, row, low, high, code_row, code, never[kept])

    @property
    def bytes(self) -> int:
        """How much memory it takes."""
        return sum(array.nbytes for array in (*self.rows, *self.lines.cuts)) - self.rows.dimension.nbytes

    def _count(self, thread: "_Thread") -> None:
        thread.looked_at = thread.work.item(LOOKED_AT)
        self.looked_at += thread.looked_at
        thread.work.fill(0)

    def _thread(self) -> "_Thread":
        thread: _Thread | None = getattr(self._local, "thread", None)
        if thread is None:
            thread = self._local.thread = _Thread(self)
        return thread


class _Thread:
    """What one thread needs to match events against a segment."""

    def __init__(self, segment: Segment) -> None:
        rows, lines = segment.rows, segment.lines
        self._rows = rows
        self.ranks = rows.base[:-1].copy()
        leaves = len(rows.dimension)
        self.present = np.zeros(leaves // 8 + 1, np.uint8)
        mark(leaves, self.present)
        self.stamps = np.zeros(int(rows.ends[SPREAD] - rows.ends[RANGES]), np.int32)
        self.clock = np.zeros(1, np.int32)
        self.work = np.zeros(2, np.int64)
        #: How many rows the last call looked at.
        self.looked_at = 0
        self.ends = np.zeros(2 * segment._longest + 4, np.int32)
        self.out = np.empty(len(segment) + 1, np.int32)
        self._leaves = np.empty(len(rows.base), np.int32)
        #: For `match_event_held`.
        self.held = addresses(
            (
                *rows,
                *(self.ranks, self.present, self.stamps, self.clock, self.ends, self.work, self.out, self._leaves),
                *(lines.stretches.begin, lines.stretches.end, lines.cuts.whole, lines.cuts.real),
            )
        )
        self.pairs = np.empty(2 * _FIRST_PAIRS, np.int32)
        self.wide_pairs = self.pairs
        self._block: Block | None = None
        self._room: Room | None = None

    def room(self, windows: Windows) -> Room:
        if self._room is None:
            self._room = room_for(windows, self._rows)
        return self._room

    def block(self) -> Block:
        if self._block is None:
            rows, most = self._rows, masks.MOST_MASKS
            mask_of = np.full(len(rows.dimension), masks.EVERYBODY, np.uint16)
            mask_of[rows.base[:-1]] = masks.NOBODY
            leaves, lines = len(rows.dimension), min(most, len(rows.base))
            self._block = Block(
                mask_of=mask_of,
                hits=np.zeros(leaves, np.uint16),
                cursor=np.zeros(leaves, np.uint16),
                marks=np.zeros(leaves // 64 + 1, np.uint64),
                counts=np.zeros(len(rows.base), np.int32),
                ranks=self.ranks,
                present=self.present,
                masks=aligned(most + 1),
                frames=aligned(2 * (len(self.ends) // 2 + 1)),
                ends=self.ends,
                kept_masks=aligned(evaluation.AT_A_TIME),
                kept_rows=np.zeros(evaluation.AT_A_TIME, np.int32),
                places=np.zeros(2 * most, np.int32),
                dimensions=np.zeros(lines, np.int32),
                starts=np.zeros(lines + 1, np.int32),
                leaves=np.zeros(most, np.int32),
                events=np.zeros(most, np.int32),
                runs=np.zeros(blocks.RUN * (most + 1), np.int32),
                answers=np.zeros(masks.EVENTS, np.int64),
                work=self.work,
            )
        return self._block


def build(draft: Draft, hits: Hits | None = None) -> tuple[Segment, Longs]:
    """Return the segment of a draft, and for each of its rows the number that it has there."""
    every = np.arange(len(draft.names), dtype=np.int32)
    # Null has a leaf of its own on every line.
    cuts, places = ranked(concatenated([draft.cuts, boundaries(every, 0), boundaries(every, 1)]))
    cuts = Cuts._make(map(read_only, cuts))
    lines = Lines(draft.names, cuts)
    low, high = places[draft.low], places[draft.high]
    code = draft.code.copy()
    stretches = code[:, 0] >= 0
    code[stretches, 1] = places[code[stretches, 1]]
    code[stretches, 2] = places[code[stretches, 2]]
    counted, events = hits(lines) if hits is not None else (None, 0)
    likely = likelihood(lines.base, counted, events, low, high, cuts.dimension)
    rows, order = arrange(lines.base, cuts.dimension, likely, draft.row, low, high, draft.code_row, code, draft.never)
    return Segment(lines, rows), order


def read_only(array: Any) -> npt.NDArray[Any]:
    """Return an array that cannot be written, as those in files are: so kernels are compiled for one kind only."""
    view = np.ascontiguousarray(array).view()
    view.flags.writeable = False
    return view
