"""The events of a workload, as Arrow batches or as one dictionary each."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa

from tamis.lab.workloads.draws import Flags, Ints, Numbers, offsets_of

#: Rows in one batch unless told otherwise.
BATCH_ROWS = 1024


class Events(ABC):
    """A finite sequence of events. Batches are wide: a column per attribute, null where an event has none."""

    @abstractmethod
    def __len__(self) -> int: ...

    @property
    @abstractmethod
    def schema(self) -> pa.Schema:
        """The columns of every batch."""

    @abstractmethod
    def batches(self, rows: int = BATCH_ROWS) -> Iterator[pa.RecordBatch]:
        """Yield the events in order, `rows` at a time."""

    @abstractmethod
    def rows(self) -> Iterator[dict[str, Any]]:
        """Yield each event as a dictionary without nulls."""

    def table(self) -> pa.Table:
        """Return all events at once: many bytes where there are thousands of attributes."""
        return pa.Table.from_batches(list(self.batches()), schema=self.schema)


@dataclass(frozen=True, eq=False)
class SparseEvents(Events):
    """Events that hold a few of many attributes, kept as pairs.

    Event number i has the pairs `offsets[i]` to `offsets[i + 1]`: an attribute's number in `codes`,
    ascending within the event, and its value in `values`. Where there are `words`, a value is a
    position in them.
    """

    attributes: tuple[str, ...]
    offsets: Ints
    codes: Ints
    values: Numbers
    words: pa.Array | None = None

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def find(self, rows: Ints, codes: Ints) -> tuple[Flags, Numbers]:
        """Return, for each pair of event and attribute, whether it is there, and its value where it is."""
        wanted = rows * len(self.attributes) + codes
        places = np.searchsorted(self._keys, wanted).clip(max=len(self._keys) - 1)
        return self._keys[places] == wanted, self.values[places]

    @cached_property
    def _keys(self) -> Ints:
        owners = np.repeat(np.arange(len(self)), np.diff(self.offsets))
        return owners * len(self.attributes) + self.codes

    @cached_property
    def schema(self) -> pa.Schema:
        """A column per attribute, all of one type."""
        return pa.schema([(name, self._kind) for name in self.attributes])

    @property
    def _kind(self) -> pa.DataType:
        return pa.from_numpy_dtype(self.values.dtype) if self.words is None else self.words.type

    def batches(self, rows: int = BATCH_ROWS) -> Iterator[pa.RecordBatch]:
        for first in range(0, len(self), rows):
            count = min(rows, len(self) - first)
            empty = pa.nulls(count, self._kind)
            columns = [empty] * len(self.attributes)
            start, end = self.offsets[first], self.offsets[first + count]
            places = np.repeat(np.arange(count), np.diff(self.offsets[first : first + count + 1]))
            order = np.argsort(self.codes[start:end], kind="stable")
            present, starts = np.unique(self.codes[start:end][order], return_index=True)
            ends = np.append(starts[1:], len(order))
            for code, low, high in zip(present.tolist(), starts.tolist(), ends.tolist(), strict=True):
                chosen = order[low:high]
                values = np.zeros(count, dtype=self.values.dtype)
                absent = np.ones(count, dtype=np.bool_)
                values[places[chosen]] = self.values[start:end][chosen]
                absent[places[chosen]] = False
                columns[code] = self._array(values, absent)
            yield pa.RecordBatch.from_arrays(columns, schema=self.schema)

    def _array(self, values: Numbers, absent: Flags) -> pa.Array:
        array = pa.array(values, mask=absent)
        return array if self.words is None else self.words.take(array)

    def rows(self) -> Iterator[dict[str, Any]]:
        values = self.values.tolist() if self.words is None else self.words.take(pa.array(self.values)).to_pylist()
        names = [self.attributes[code] for code in self.codes.tolist()]
        bounds = self.offsets.tolist()
        for start, end in pairwise(bounds):
            yield dict(zip(names[start:end], values[start:end], strict=True))


@dataclass(frozen=True, eq=False)
class TableEvents(Events):
    """Events kept as the table they are."""

    columns: pa.Table

    def __len__(self) -> int:
        return int(self.columns.num_rows)

    @property
    def schema(self) -> pa.Schema:
        """The columns of the table."""
        return self.columns.schema

    def batches(self, rows: int = BATCH_ROWS) -> Iterator[pa.RecordBatch]:
        yield from self.columns.combine_chunks().to_batches(max_chunksize=rows)

    def table(self) -> pa.Table:
        return self.columns

    def rows(self) -> Iterator[dict[str, Any]]:
        for batch in self.batches():
            for row in batch.to_pylist():
                yield _present(row)


def _present(row: Mapping[str, Any]) -> dict[str, Any]:
    found = {}
    for name, value in row.items():
        kept = _present(value) if isinstance(value, dict) else value
        if kept is not None and kept != {}:
            found[name] = kept
    return found


def sparse_events(
    attributes: tuple[str, ...], sizes: Ints, codes: Ints, values: Numbers, words: pa.Array | None = None
) -> SparseEvents:
    """Return events of these sizes; the pairs of each may come in any order."""
    owners = np.repeat(np.arange(len(sizes)), sizes)
    order = np.lexsort((codes, owners))
    return SparseEvents(attributes, offsets_of(sizes), codes[order], values[order], words)
