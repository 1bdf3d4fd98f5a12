"""From events to leaves: what a kernel gets to see of an event."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from tamis.language.columns import Columns
from tamis.language.names import name_of
from tamis.language.values import Kind, typed
from tamis.matching.ranks.line import Line
from tamis.matching.ranks.lists import Ints, Longs
from tamis.matching.ranks.space import Space


class Encoded(NamedTuple):
    """Events in rank space: event r has the dimensions and leaves from `offsets[r]` up to `offsets[r + 1]`.

    Only dimensions that some predicate uses and that the event has a value for occur; the others are null.
    """

    offsets: Longs
    dimensions: Ints
    leaves: Ints

    @property
    def rows(self) -> int:
        """How many events these are."""
        return len(self.offsets) - 1


def encode(space: Space, events: Sequence[Mapping[str, Any]]) -> Encoded:
    """Encode events one by one."""
    dimensions: list[int] = []
    leaves: list[int] = []
    offsets = [0]
    for event in events:
        _encode_event(space, event, dimensions, leaves)
        offsets.append(len(leaves))
    return Encoded(np.array(offsets, np.int64), np.array(dimensions, np.int32), np.array(leaves, np.int32))


def _encode_event(space: Space, event: Mapping[str, Any], dimensions: list[int], leaves: list[int]) -> None:
    lines = space.lines
    by_first = space.by_first
    for name in event:
        for dimension, rest in by_first.get(name, _NOTHING).items():
            value = event[name]
            for part in rest:
                value = value.get(part) if isinstance(value, Mapping) else None
            kind, value = typed(value)
            line = lines[dimension]
            if kind is not Kind.NULL and line is not None:
                dimensions.append(dimension)
                leaves.append(line.locate(kind, value))
        for dimension, each in space.filters.get(name, _NOTHING).items():
            line = lines[dimension]
            if line is not None and each.matches(event):
                dimensions.append(dimension)
                leaves.append(line.locate(Kind.BOOLEAN, True))


_NOTHING: dict[int, Any] = {}


def encode_batch(space: Space, batch: pa.RecordBatch) -> Encoded:
    """Encode the rows of an Arrow batch by columns."""
    columns = Columns(batch)
    dimensions: list[int] = []
    found: list[Ints] = []
    for name in batch.schema.names:
        for dimension, rest in space.by_first.get(name, _NOTHING).items():
            line = space.lines[dimension]
            column = columns.column(name_of(name, *rest))
            if line is not None and column.kind is not Kind.NULL:
                ranks = _ranks(line, column.kind, column)
                found.append(np.where(column.valid, np.array(line.leaves(), np.int32)[ranks], -1))
                dimensions.append(dimension)
        for dimension, each in space.filters.get(name, _NOTHING).items():
            line = space.lines[dimension]
            if line is not None:
                passes = columns.column(each.attribute).passes(each)
                found.append(np.where(passes, np.int32(line.locate(Kind.BOOLEAN, True)), np.int32(-1)))
                dimensions.append(dimension)
    if not found:
        return Encoded(np.zeros(batch.num_rows + 1, np.int64), np.empty(0, np.int32), np.empty(0, np.int32))
    leaves = np.stack(found, axis=1)
    rows, places = np.nonzero(leaves >= 0)
    offsets = np.zeros(batch.num_rows + 1, np.int64)
    np.cumsum(np.bincount(rows, minlength=batch.num_rows), out=offsets[1:])
    return Encoded(offsets, np.array(dimensions, np.int32)[places], leaves[rows, places])


def _ranks(line: Line, kind: Kind, column: Any) -> Longs:
    keys = line.keys()
    first = keys.index((int(kind),))
    following = keys.index((int(kind) + 1,), first)
    ranks: Longs = first + column.passed([key[1:] for key in keys[first + 1 : following]])
    return ranks
