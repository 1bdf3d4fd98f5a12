"""A sample of the events that an index was asked for: what is likely is learnt from it."""

import contextlib
import random
from collections import deque
from collections.abc import Mapping
from itertools import islice
from typing import Any, Final

import numpy as np
import pyarrow as pa

from tamis.matching.ranks.lists import Ints, Longs
from tamis.matching.segments.lines import Lines
from tamis.matching.segments.runs import counts

#: So many events, or handfuls of rows, are kept; newer ones replace older ones.
_KEPT: Final = 256
#: Rows of a handful.
_ROWS: Final = 64
#: One in so many is kept, of single events when there are enough.
_ONE_IN: Final = 16
#: Fewer events say nothing.
_ENOUGH: Final = 64


class Sample:
    """Some of the last events, as they came. Threads may note events at the same time."""

    def __init__(self) -> None:
        self._kept: deque[Mapping[str, Any] | pa.RecordBatch] = deque(maxlen=_KEPT)
        #: How many events were noted, kept or not.
        self.seen = 0

    def note(self, event: Mapping[str, Any]) -> None:
        """Keep an event, once in a while."""
        self.seen += 1
        if self.seen % _ONE_IN == 0 or len(self._kept) < _KEPT:
            # A copy: whoever gave the event may go on to change it.
            self._kept.append(dict(event))

    def note_rows(self, batch: pa.RecordBatch) -> None:
        """Keep some rows, of the first batch and then once in a while: it takes time for each of the columns."""
        self.seen += batch.num_rows
        if batch.num_rows and (not self._kept or random.random() * _ONE_IN < 1):  # noqa: S311 - any will do
            rows = random.sample(range(batch.num_rows), min(_ROWS, batch.num_rows))
            # A copy: a slice would keep all of the batch in memory. Batches of types that Arrow cannot copy row by row,
            # such as lists of views, go unnoted: a sample need not have everything.
            with contextlib.suppress(pa.ArrowNotImplementedError):
                self._kept.append(batch.take(pa.array(rows)))

    def events(self, most: int) -> list[Mapping[str, Any]]:
        """Return events as dictionaries, the last ones first."""
        found: list[Mapping[str, Any]] = []
        for each in reversed(list(self._kept)):
            found += each.to_pylist() if isinstance(each, pa.RecordBatch) else [each]
            if len(found) >= most:
                break
        return list(islice(found, most))

    def hits(self, lines: Lines) -> tuple[Longs | None, int]:
        """Count how many events fell on each leaf of some lines, and of how many; none if they are too few."""
        found: list[Ints] = []
        events = 0
        for each in list(self._kept):
            if isinstance(each, pa.RecordBatch):
                found.append(lines.leaves_of_rows(each)[1])
                events += each.num_rows
            else:
                found.append(np.array(lines.leaves_of(each), np.int32))
                events += 1
        return (counts(np.concatenate(found), len(lines.cuts.dimension)), events) if events >= _ENOUGH else (None, 0)
