"""What all engines on rank space share: the way from events to a compiled loop and back."""

import os
from abc import abstractmethod
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from threading import local
from typing import Any

import numpy as np
import pyarrow as pa

from tamis.matching.engine import Engine, Rows
from tamis.matching.footprint import footprint
from tamis.matching.ranks.encoding import Encoded, encode, encode_batch
from tamis.matching.ranks.kernels import CANDIDATES, TESTS, Predicates
from tamis.matching.ranks.line import Merge, Split
from tamis.matching.ranks.lists import Ints, Longs
from tamis.matching.ranks.space import Space

#: Fewer rows than this are not worth a second thread.
ROWS_PER_THREAD = 256
#: How many answers beyond one for each subscription a kernel has room for before it must stop.
_SPARE_ANSWERS = 1 << 16


class RankEngine(Engine):
    """An engine whose predicates are in rank space and whose search is a kernel.

    A subclass keeps what it stores by leaf right in `split` and `merge`, and finds subscriptions in `search`.
    """

    #: Whether the shapes of predicates are asked for.
    shaped = True

    def __init__(self) -> None:
        self.space = Space(shaped=self.shaped)
        #: Subscriptions that no event meets, of which nothing is stored.
        self.never: set[int] = set()
        #: How many subscriptions a subclass stores.
        self.stored = 0
        #: Above all positions.
        self.top = 0
        self._candidates = 0
        self._tests = 0
        self._local = local()

    # --- what a subclass says -----------------------------------------------------------------------

    def split(self, split: Split) -> None:
        """Give the new leaf what the old leaf holds. Not called while nothing is stored."""

    def merge(self, merge: Merge) -> None:
        """Take away what the dropped leaf holds: its number will be used again."""

    def prepare(self) -> None:
        """Bring what is stored in order before a search, which several threads may run."""
        self.space.settle()

    @abstractmethod
    def search(self, first: int, last: int, events: Encoded, ends: Longs, out: Ints, work: Longs) -> int:
        """Match the rows from first to last by a kernel.

        The answers go to `out` one behind the other; `ends[row]` is how many there are up to and including a row.
        When `out` has room for less than `top` answers before a row, the kernel stops; it always has room before the
        first row. The row it did not do is returned. The work done is added to `work`.
        """

    @abstractmethod
    def extra_bytes(self) -> int:
        """Return the bytes of what the subclass stores."""

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
        """Return what a search finds, by as many threads as are worth it."""
        self.prepare()
        threads = max(1, min(os.cpu_count() or 1, events.rows // ROWS_PER_THREAD))
        edges = [events.rows * number // threads for number in range(threads + 1)]
        if threads == 1:
            parts = [self._rows(search, 0, events.rows, events)]
        else:
            tasks = [_pool().submit(self._rows, search, edges[n], edges[n + 1], events) for n in range(threads)]
            parts = [task.result() for task in tasks]
        counts = np.concatenate([counts for counts, _, _ in parts])
        for _, _, work in parts:
            self.count(work)
        offsets = np.zeros(events.rows + 1, np.int64)
        np.cumsum(counts, out=offsets[1:])
        return offsets, np.concatenate([found for _, found, _ in parts])

    def _rows(self, search: Callable[..., int], first: int, last: int, events: Encoded) -> tuple[Longs, Longs, Longs]:
        """Return how many answers each row has, the answers, and the work done, in one thread."""
        out = self.answers()
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

    def count(self, work: Longs) -> None:
        """Add work that was done to the figures."""
        self._candidates += int(work[CANDIDATES])
        self._tests += int(work[TESTS])

    # --- for kernels --------------------------------------------------------------------------------

    def answers(self) -> Ints:
        """Return this thread's room for answers."""
        return self.scratch("out", self.top + _SPARE_ANSWERS)

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
        return {
            "candidates": self._candidates,
            "predicate_tests": self._tests,
            "predicates": self.space.predicates,
            "leaves": self.space.leaves,
            "bytes": self.space.bytes + self.extra_bytes() + footprint(self.never),
        }

    def check_invariants(self) -> None:
        self.space.check_invariants()
        assert not self.ranks().any()


def joined(left: Rows, right: Rows) -> Rows:
    """Return the answers of two searches over the same rows."""
    rows = np.concatenate([np.repeat(np.arange(len(offsets) - 1), np.diff(offsets)) for offsets, _ in (left, right)])
    positions = np.concatenate([left[1], right[1]])
    return left[0] + right[0], positions[np.argsort(rows, kind="stable")]


@cache
def _pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(max_workers=os.cpu_count(), thread_name_prefix="tamis-match")
