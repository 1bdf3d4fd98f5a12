"""What all engines for conjunctions share: rank space, and the way from events to a compiled loop and back."""

import os
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache, partial
from threading import local
from typing import Any

import numpy as np
import pyarrow as pa

from tamis.language import Expression
from tamis.matching.engine import Engine, Rows
from tamis.matching.footprint import footprint
from tamis.matching.ranks.encoding import Encoded, encode, encode_batch
from tamis.matching.ranks.kernels import CANDIDATES, TESTS, Predicates, scan
from tamis.matching.ranks.line import Merge, Split
from tamis.matching.ranks.lists import Ints, Lists, Longs
from tamis.matching.ranks.space import Space

#: Fewer rows than this are not worth a second thread.
ROWS_PER_THREAD = 256
#: A limit that is none.
ALL = np.iinfo(np.int32).max
#: How many answers beyond one for each subscription a kernel has room for before it must stop.
_SPARE_ANSWERS = 1 << 16


class ConjunctiveEngine(Engine):
    """An engine for conjunctions: a subscription is a list of predicates in rank space, all of which must be met.

    A subclass stores subscriptions in `insert` and `delete`, keeps what it stores by leaf right in `split` and `merge`,
    and finds them in `search`. It never sees subscriptions whose every predicate is also met by absent values
    (`a is null`, `true`): those could not be found through what an event says and are tested on every event here.
    """

    def __init__(self) -> None:
        self.space = Space()
        #: The predicates of each position.
        self.held = Lists()
        self._everywhere: dict[int, None] = {}
        self._never: set[int] = set()
        #: Above all positions.
        self.top = 0
        self._candidates = 0
        self._tests = 0
        self._local = local()

    # --- what a subclass says -----------------------------------------------------------------------

    @abstractmethod
    def insert(self, position: int, predicates: list[int]) -> None:
        """Store a subscription, at least one of whose predicates does not take null."""

    @abstractmethod
    def delete(self, position: int, predicates: list[int]) -> None:
        """Forget a subscription. Its predicates still exist."""

    def split(self, split: Split) -> None:
        """Give the new leaf what the old leaf holds."""

    def merge(self, merge: Merge) -> None:
        """Take away what the dropped leaf holds: its number will be used again."""

    @abstractmethod
    def search(self, first: int, last: int, events: Encoded, ends: Longs, out: Ints, work: Longs) -> int:
        """Match the rows from first to last by a kernel.

        The answers go to `out` one behind the other; `ends[row]` is how many there are up to and including a row.
        When `out` has room for less than `top` answers before a row, the kernel stops; it always has room before the
        first row. The row it did not do is returned. The work done is added to `work`.
        """

    def extra_bytes(self) -> int:
        """Return the bytes of what the subclass stores."""
        return 0

    # --- subscriptions ------------------------------------------------------------------------------

    def add(self, position: int, expression: Expression) -> None:
        predicates = self._acquire(position, expression)
        if predicates is not None:
            self.held.assign(position, predicates)
            if position not in self._everywhere:
                self.insert(position, predicates)

    def add_many(self, positions: Sequence[int], expressions: Sequence[Expression]) -> None:
        owners: list[int] = []
        sizes: list[int] = []
        flat: list[int] = []
        for position, expression in zip(positions, expressions, strict=True):
            predicates = self._acquire(position, expression)
            if predicates is not None:
                owners.append(position)
                sizes.append(len(predicates))
                flat += predicates
        self.held.extend(np.repeat(np.array(owners, np.int64), sizes), np.array(flat, np.int64))
        self.held.reserve(self.top)
        self.insert_many(np.array([each for each in owners if each not in self._everywhere], np.int32))

    def insert_many(self, positions: Ints) -> None:
        """Store many subscriptions, whose predicates are in `held`: one by one, unless a subclass can do better."""
        for position in positions.tolist():
            self.insert(position, self.held[position].tolist())

    def _acquire(self, position: int, expression: Expression) -> list[int] | None:
        """Make room for a subscription in rank space; None if no event meets it."""
        self.top = max(self.top, position + 1)
        acquired = self.space.acquire(expression)
        if acquired is None:
            self._never.add(position)
            return None
        predicates, splits = acquired
        for each in splits:
            self.split(each)
        takes_null = self.space.takes_null
        if all(takes_null[each] for each in predicates):
            self._everywhere[position] = None
        return predicates

    def remove(self, position: int) -> None:
        if position in self._never:
            self._never.remove(position)
            return
        predicates = self.held[position].tolist()
        if position in self._everywhere:
            del self._everywhere[position]
        else:
            self.delete(position, predicates)
        self.held.clear(position)
        for each in self.space.release(predicates):
            self.merge(each)

    # --- events -------------------------------------------------------------------------------------

    def match(self, event: Mapping[str, Any]) -> list[int]:
        _, found = self.match_encoded(encode(self.space, (event,)))
        positions: list[int] = found.tolist()
        return positions

    def match_batch(self, batch: pa.RecordBatch) -> Rows:
        return self.match_encoded(encode_batch(self.space, batch))

    def match_encoded(self, events: Encoded) -> Rows:
        """Return the positions that events in rank space meet. The leaves they fall on are counted."""
        np.add.at(self.space.hits, events.leaves, 1)
        return self.match_by(self.search, events)

    def match_by(self, search: Callable[..., int], events: Encoded) -> Rows:
        """Return what a search finds, and the subscriptions that no search finds."""
        self.space.settle()
        offsets, positions = self._in_threads(search, events)
        if self._everywhere:
            offsets, positions = _joined((offsets, positions), self._in_threads(self._search_everywhere, events))
        return offsets, positions

    def _search_everywhere(self, first: int, last: int, events: Encoded, ends: Longs, out: Ints, work: Longs) -> int:
        positions = np.fromiter(self._everywhere, np.int32, len(self._everywhere))
        return scan(first, last, events, positions, self.held.view(), self.predicates(), self.ranks(), ends, out, work)

    def _in_threads(self, search: Callable[..., int], events: Encoded) -> Rows:
        threads = max(1, min(os.cpu_count() or 1, events.rows // ROWS_PER_THREAD))
        edges = [events.rows * number // threads for number in range(threads + 1)]
        if threads == 1:
            parts = [self._rows(search, 0, events.rows, events)]
        else:
            tasks = [_pool().submit(self._rows, search, edges[n], edges[n + 1], events) for n in range(threads)]
            parts = [task.result() for task in tasks]
        counts = np.concatenate([counts for counts, _, _ in parts])
        self._candidates += sum(int(work[CANDIDATES]) for _, _, work in parts)
        self._tests += sum(int(work[TESTS]) for _, _, work in parts)
        offsets = np.zeros(events.rows + 1, np.int64)
        np.cumsum(counts, out=offsets[1:])
        return offsets, np.concatenate([found for _, found, _ in parts])

    def _rows(self, search: Callable[..., int], first: int, last: int, events: Encoded) -> tuple[Longs, Longs, Longs]:
        """Return how many answers each row has, the answers, and the work done, in one thread."""
        out = self.scratch("out", self.top + _SPARE_ANSWERS)
        ends = np.zeros(events.rows, np.int64)
        work = np.zeros(2, np.int64)
        counts, found = [], []
        row = first
        while row < last:
            reached = search(row, last, events, ends, out, work)
            counts.append(np.diff(ends[row:reached], prepend=0))
            found.append(out[: ends[reached - 1]].astype(np.int64))
            row = reached
        return np.concatenate(counts or [ends[:0]]), np.concatenate(found or [ends[:0]]), work

    # --- for kernels --------------------------------------------------------------------------------

    def predicates(self) -> Predicates:
        """Return rank space as kernels see it."""
        space = self.space
        return Predicates(space.rank, space.dimension, space.bounds.view())

    def ranks(self) -> Ints:
        """Return this thread's array by dimension, all zero; a kernel leaves it all zero."""
        return self.scratch("ranks", self.space.dimensions)

    def scratch(self, name: str, length: int) -> Ints:
        """Return an array of this thread with at least this length: zero at first, then as it was left."""
        array: Ints | None = getattr(self._local, name, None)
        if array is None or len(array) < length:
            array = np.zeros(length + length // 2, np.int32)
            setattr(self._local, name, array)
        return array

    # --- figures ------------------------------------------------------------------------------------

    def stats(self) -> dict[str, Any]:
        own = self.space.bytes + self.held.bytes + self.extra_bytes()
        tables = footprint(
            self._everywhere, self._never, [line.keys() for line in self.space.lines if line is not None]
        )
        return {
            "candidates": self._candidates,
            "predicate_tests": self._tests,
            "predicates": self.space.predicates,
            "leaves": self.space.leaves,
            "bytes": own + tables,
        }

    def check_invariants(self) -> None:
        self.space.check_invariants()
        self.held.check_invariants()
        assert not self.ranks().any()


class LimitedEngine(ConjunctiveEngine):
    """An engine whose kernel can stop at a number of answers (specs/000 §3: `find(event, limit)`)."""

    @abstractmethod
    def search_up_to(
        self, limit: int, first: int, last: int, events: Encoded, ends: Longs, out: Ints, work: Longs
    ) -> int:
        """Do as `search`, and go on to the next row as soon as a row has so many answers."""

    def search(self, first: int, last: int, events: Encoded, ends: Longs, out: Ints, work: Longs) -> int:
        return self.search_up_to(ALL, first, last, events, ends, out, work)

    def match_up_to(self, limit: int, events: Encoded) -> Rows:
        """Return at most so many positions for each event, and those that no search finds."""
        return self.match_by(partial(self.search_up_to, limit), events)

    def find(self, event: Mapping[str, Any], limit: int = ALL) -> list[int]:
        """Return positions that an event meets, at most so many, and stop as soon as they are found."""
        _, positions = self.match_up_to(limit, encode(self.space, (event,)))
        found: list[int] = positions[:limit].tolist()
        return found


def _joined(left: Rows, right: Rows) -> Rows:
    """Return the answers of two searches over the same rows."""
    rows = np.concatenate([np.repeat(np.arange(len(offsets) - 1), np.diff(offsets)) for offsets, _ in (left, right)])
    positions = np.concatenate([left[1], right[1]])
    return left[0] + right[0], positions[np.argsort(rows, kind="stable")]


@cache
def _pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(max_workers=os.cpu_count(), thread_name_prefix="tamis-match")
