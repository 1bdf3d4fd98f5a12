"""Matches on their way to the shards that remember: one packet for each shard and batch, whatever the columns.

Spark's cost is by row, and that of state in Python by key. So rows are few and large here, and so are shards.
"""

from collections.abc import Iterator, Sequence
from typing import Final

import msgspec
import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from tamis.compiled import kernel
from tamis.language.columns import Column
from tamis.matching.ranks.lists import Longs
from tamis.matching.segments.idtable import Text, hash_number, hash_text
from tamis.matching.segments.texts import Texts
from tamis.pipeline.packets import packed
from tamis.pipeline.particulars import Particulars, particulars
from tamis.pipeline.spread import spread_keys

#: Shards, at most.
MOST_SHARDS: Final = 4096
#: Pairs in one packet of those that need no memory, at most.
_MOST_PAIRS: Final = 1 << 16
#: What is in a packet: pairs that nobody need remember, events for a shard, what a shard is to begin with, or how far
#: the stream is.
TOLD: Final = 0
EVENTS: Final = 1
INITIAL: Final = 2
TICK: Final = 3
#: The columns of packets.
PACKETS: Final = "shard int, version long, kind int, data binary"
_SCHEMA: Final = pa.schema({"shard": pa.int32(), "version": pa.int64(), "kind": pa.int32(), "data": pa.binary()})

_NEVER: Final = -(1 << 63)

Shards = npt.NDArray[np.uint16]


class Dealer(msgspec.Struct, frozen=True):
    """How the columns of matches are to be read: those of the events, then the ids, then the version."""

    path: str
    names: Sequence[str]
    #: Whether there is a list of ids, or one.
    lists: bool
    shards: int
    #: The column by which all shards are to be told how far the stream is, because events wait there; none if none do.
    ticks: str | None = None

    def run(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Turn matches into packets."""
        turn, latest = 0, _NEVER
        for batch in batches:
            latest = max(latest, self._latest(batch))
            versions = batch.column(len(self.names) + 1)
            different = pc.unique(versions).to_pylist()
            for version in different:
                if version is None:
                    raise ValueError("a match carries no version of the subscriptions: its column is null")
                rows = batch if len(different) == 1 else batch.filter(pc.equal(versions, version))
                turn += 1
                packets = [*self._packets(rows, version, turn % self.shards)]
                if packets:
                    yield packet_batch(packets, version, self.shards)
        if latest > _NEVER:
            data = latest.to_bytes(8, "little", signed=True)
            yield packet_batch([(shard, TICK, data) for shard in range(self.shards)], None, self.shards)

    def _latest(self, batch: pa.RecordBatch) -> int:
        if self.ticks is None:
            return _NEVER
        times, valid = times_of(batch.column(self.names.index(self.ticks)))
        return int(times[valid].max(initial=_NEVER))

    def _packets(self, batch: pa.RecordBatch, version: int, turn: int) -> Iterator[tuple[int, int, bytes]]:
        owners, ids = self._pairs(batch.column(len(self.names)))
        events = pa.RecordBatch.from_arrays(batch.columns[: len(self.names)], names=list(self.names))
        known = particulars(self.path, version)
        rows = known.find(ids)
        free = np.flatnonzero(rows < 0)
        for start in range(0, len(free), _MOST_PAIRS):
            some = free[start : start + _MOST_PAIRS]
            told = with_column(events.take(pa.array(owners[some])), ids.take(pa.array(some)))
            yield turn, TOLD, packed(told)
        if len(free) < len(rows):
            bound = np.flatnonzero(rows >= 0)
            yield from self._dealt(events, owners[bound], rows[bound], known)

    def _pairs(self, column: pa.Array) -> tuple[Longs, pa.Array]:
        """Return the rows of events and the ids of all pairs."""
        if self.lists:
            owners = pc.list_parent_indices(column).to_numpy().astype(np.int64)
            ids = pc.list_flatten(column)
        else:
            owners, ids = np.arange(len(column)), column
        if ids.null_count:
            # An event without a subscription is none of a pair.
            valid = ids.is_valid()
            owners, ids = owners[valid.to_numpy(zero_copy_only=False)], ids.filter(valid)
        return owners, ids

    def _dealt(
        self, events: pa.RecordBatch, owners: Longs, rows: Longs, known: Particulars
    ) -> Iterator[tuple[int, int, bytes]]:
        shards = known.shards(self.shards, shards_of)[rows]
        order = np.argsort(shards, kind="stable")
        bounds = np.searchsorted(shards[order], np.arange(self.shards + 1))
        for shard in np.flatnonzero(np.diff(bounds)).tolist():
            some = order[bounds[shard] : bounds[shard + 1]]
            mine, numbers = owners[some], rows[some].astype(np.int32)
            starts = np.flatnonzero(np.append(True, mine[1:] != mine[:-1]))
            offsets = np.append(starts, len(mine)).astype(np.int32)
            lists = pa.ListArray.from_arrays(pa.array(offsets), pa.array(numbers))
            yield shard, EVENTS, packed(with_column(events.take(pa.array(mine[starts])), lists))


def times_of(array: pa.Array) -> tuple[Longs, npt.NDArray[np.bool_]]:
    """Return a column of integers or times as integers, and where it has any."""
    column = Column(array)
    return column.values.astype(np.int64), column.valid


def with_column(batch: pa.RecordBatch, column: pa.Array) -> pa.RecordBatch:
    """Return a batch with one column more."""
    return pa.RecordBatch.from_arrays([*batch.columns, column], names=[*batch.schema.names, ""])


def packet_batch(packets: Sequence[tuple[int, int, bytes]], version: int | None, shards: int) -> pa.RecordBatch:
    """Return packets as rows: each with its shard, kind and data."""
    spread = spread_keys(shards)
    keys = [spread[shard] for shard, _, _ in packets]
    columns = [
        pa.array(keys, pa.int32()),
        pa.array([version] * len(packets), pa.int64()),
        pa.array([kind for _, kind, _ in packets], pa.int32()),
        pa.array([data for _, _, data in packets], pa.binary()),
    ]
    return pa.RecordBatch.from_arrays(columns, schema=_SCHEMA)


def shards_of(ids: pa.Array, count: int) -> Shards:
    """Return for each id the shard that remembers it: the same in all versions and processes."""
    if pa.types.is_integer(ids.type):
        return (_hash_numbers(ids.cast(pa.int64()).to_numpy()) % count).astype(np.uint16)
    arrays = Texts.of(ids.cast(pa.large_string())).arrays()
    return (_hash_texts(arrays["offsets"], arrays["data"]) % count).astype(np.uint16)


@kernel
def _hash_numbers(numbers: Longs) -> Longs:
    out = np.empty(len(numbers), np.int64)
    for row in range(len(numbers)):
        out[row] = hash_number(numbers[row])
    return out


@kernel
def _hash_texts(offsets: Longs, data: Text) -> Longs:
    out = np.empty(len(offsets) - 1, np.int64)
    for row in range(len(out)):
        out[row] = hash_text(data, offsets[row], offsets[row + 1])
    return out
