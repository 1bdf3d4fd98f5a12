"""Matches on their way to the shards that remember: one packet for each shard and batch, whatever the columns.

Spark's cost is by row, and that of state in Python by key. So rows are few and large here, and so are shards. What is
remembered of a subscription and a key lies in the shard of the key, so that most events go to one shard only; where
there is no key, in that of the subscription.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, NamedTuple

import msgspec
import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from tamis.compiled import kernel
from tamis.language import Kind
from tamis.language.columns import Column, Columns
from tamis.matching.ranks.lists import Ints, Longs
from tamis.matching.segments.idtable import Text, hash_number, hash_text
from tamis.matching.segments.texts import Texts
from tamis.pipeline.attached import Attached, Ready
from tamis.pipeline.keytexts import key_texts
from tamis.pipeline.packets import packed
from tamis.pipeline.particulars import NO_KEY, Particulars, particulars
from tamis.pipeline.spread import spread_keys
from tamis.pipeline.task import Task

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
#: In the place of a shard: there is no key, or no clause.
_NOWHERE: Final = -1


class Met(NamedTuple):
    """Events of one version with pairs: event `e` has those from `offsets[e]` to `offsets[e + 1]`."""

    version: int
    events: pa.RecordBatch
    offsets: Longs
    #: By pair, the row of the clause, or -1.
    rows: Longs
    #: Gives the ids of some pairs.
    ids: Callable[[Longs], pa.Array]


class Dealer(msgspec.Struct, frozen=True):
    """How the columns of matches are to be read: those of the events, then the ids, then the version."""

    path: str
    names: Sequence[str]
    #: Whether there is a list of ids, or one.
    lists: bool
    shards: int
    #: The column by which all shards are to be told how far the stream is, because events wait there; none if none do.
    ticks: str | None = None
    #: With it columns are not those of matches, but of events, which are matched here.
    task: Task | None = None

    def run(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Turn matches into packets."""
        latest = _NEVER
        found = self._found(batches) if self.task is None else self._matched(batches, self.task)
        for turn, met in enumerate(found):
            latest = max(latest, self._latest(met.events))
            packets = [*self._packets(met, turn % self.shards)]
            if packets:
                yield packet_batch(packets, met.version, self.shards)
        if latest > _NEVER:
            data = latest.to_bytes(8, "little", signed=True)
            yield packet_batch([(shard, TICK, data) for shard in range(self.shards)], None, self.shards)

    def _found(self, batches: Iterator[pa.RecordBatch]) -> Iterator[Met]:
        """Yield what was matched elsewhere."""
        for batch in batches:
            versions = batch.column(len(self.names) + 1)
            different = pc.unique(versions).to_pylist()
            for version in different:
                if version is None:
                    raise ValueError("a match carries no version of the subscriptions: its column is null")
                rows = batch if len(different) == 1 else batch.filter(pc.equal(versions, version))
                offsets, ids = self._pairs(rows.column(len(self.names)))
                found = particulars(self.path, version).find(ids)
                yield Met(version, self._events(rows.columns), offsets, found, _taken(ids))

    def _matched(self, batches: Iterator[pa.RecordBatch], task: Task) -> Iterator[Met]:
        """Match events: no id is made of those with a clause."""
        for piece, version, answers in task.met(batches, _rows_met):
            known = particulars(self.path, version)
            events = self._events([piece.column(at) for at in task.kept])
            for part, offsets, rows in answers:
                yield Met(version, events, offsets, part.clauses(known)[rows], _named(part, rows))

    def _events(self, columns: Sequence[pa.Array]) -> pa.RecordBatch:
        return pa.RecordBatch.from_arrays(columns[: len(self.names)], names=list(self.names))

    def _pairs(self, column: pa.Array) -> tuple[Longs, pa.Array]:
        """Return where the pairs of events begin, and the ids of all pairs."""
        counts: Longs = np.ones(len(column), np.int64)
        ids = column
        if self.lists:
            counts = pc.list_value_length(column).fill_null(0).to_numpy().astype(np.int64)
            ids = pc.list_flatten(column)
        if ids.null_count:
            # An event without a subscription is none of a pair.
            owners = np.repeat(np.arange(len(counts)), counts)
            counts = np.bincount(owners[ids.is_valid().to_numpy(zero_copy_only=False)], minlength=len(counts))
            ids = ids.drop_null()
        return np.append(0, np.cumsum(counts)), ids

    def _latest(self, events: pa.RecordBatch) -> int:
        if self.ticks is None:
            return _NEVER
        times, valid = times_of(events.column(self.names.index(self.ticks)))
        return int(times[valid].max(initial=_NEVER))

    def _packets(self, met: Met, turn: int) -> Iterator[tuple[int, int, bytes]]:
        free = np.flatnonzero(met.rows < 0)
        for start in range(0, len(free), _MOST_PAIRS):
            some = free[start : start + _MOST_PAIRS]
            owners = np.searchsorted(met.offsets, some, side="right") - 1
            told = with_column(met.events.take(pa.array(owners)), met.ids(some))
            yield turn, TOLD, packed(told)
        if len(free) < len(met.rows):
            yield from self._dealt(met, particulars(self.path, met.version))

    def _dealt(self, met: Met, known: Particulars) -> Iterator[tuple[int, int, bytes]]:
        fixed = known.shards(self.shards, shards_of)
        homes = self._homes(met, known)
        owners, starts, rows, firsts, bounds = _split(met.offsets, met.rows, known.key_codes, homes, fixed, self.shards)
        for shard in np.flatnonzero(np.diff(bounds)).tolist():
            mine = slice(firsts[shard], firsts[shard + 1])
            numbers = rows[bounds[shard] : bounds[shard + 1]]
            offsets = np.append(starts[mine], len(numbers)).astype(np.int32)
            lists = pa.ListArray.from_arrays(pa.array(offsets), pa.array(numbers))
            yield shard, EVENTS, packed(with_column(met.events.take(pa.array(owners[mine])), lists))

    def _homes(self, met: Met, known: Particulars) -> Ints:
        """Return by key that a clause names, and by event, the shard of its value."""
        homes = np.full((len(known.keys), met.events.num_rows), _NOWHERE, np.int32)
        columns = Columns(met.events)
        if known.sole_key is not None:
            asked = [known.sole_key]
        else:
            asked = np.flatnonzero(np.bincount(known.key_codes[met.rows[met.rows >= 0]] + 1)[1:]).tolist()
        for code in asked:
            if code != NO_KEY:
                homes[code] = _homes_of_keys(columns.column(known.keys[code]), self.shards)
        return homes


def _rows_met(index: Attached, events: pa.RecordBatch) -> tuple[list[tuple[Ready, Longs, Ints]], int]:
    found = [(part, *part.match_rows(events)) for part in index.parts]
    return found, sum(len(rows) for _, _, rows in found)


def _taken(ids: pa.Array) -> Callable[[Longs], pa.Array]:
    return lambda pairs: ids.take(pa.array(pairs))


def _named(part: Ready, rows: Ints) -> Callable[[Longs], pa.Array]:
    return lambda pairs: part.ids(rows[pairs])


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


# --- where a pair is remembered -------------------------------------------------------------------------


def shards_of(ids: pa.Array, count: int) -> Ints:
    """Return for each id, or text of a key, its shard: the same in all versions and processes."""
    if pa.types.is_integer(ids.type):
        return (_hash_numbers(ids.cast(pa.int64()).to_numpy()) % count).astype(np.int32)
    arrays = Texts.of(ids.cast(pa.large_string())).arrays()
    return (_hash_texts(arrays["offsets"], arrays["data"]) % count).astype(np.int32)


def homes_of(ids: pa.Array, keys: pa.Array, count: int) -> Ints:
    """Return the shard of each pair: that of its key, a text of `key_texts`, or where it is null that of its id."""
    homes = _or_nowhere(keys, count)
    return np.where(homes < 0, shards_of(ids, count), homes)


def _homes_of_keys(column: Column, count: int) -> Ints:
    """Return the shard of the key of each event, or -1."""
    if column.kind in (Kind.NULL, Kind.OTHER):
        return np.full(len(column.valid), _NOWHERE, np.int32)
    # Only different ones become texts.
    coded: Any = column.array.dictionary_encode()
    homes = np.append(_or_nowhere(key_texts(Column(coded.dictionary)), count), np.int32(_NOWHERE))
    places: Longs = coded.indices.fill_null(len(homes) - 1).to_numpy()
    return homes[places]


def _or_nowhere(keys: pa.Array, count: int) -> Ints:
    there = keys.is_valid().to_numpy(zero_copy_only=False)
    return np.where(there, shards_of(keys.fill_null(""), count), np.int32(_NOWHERE))


@kernel
def _split(
    offsets: Longs, rows: Longs, codes: Longs, homes: Ints, fixed: Ints, shards: int
) -> tuple[Longs, Ints, Ints, Longs, Longs]:
    """Return pairs by shard: its events, where the rows of each begin there, the rows; and where both begin by shard.

    A clause's row has a code of its key, and `homes` by code and event a shard; without one, it is that which is
    `fixed` for the row.
    """
    home = np.full(len(rows), _NOWHERE, np.int32)
    firsts, bounds = np.zeros(shards + 1, np.int64), np.zeros(shards + 1, np.int64)
    last = np.full(shards, -1, np.int64)
    for event in range(len(offsets) - 1):
        for pair in range(offsets[event], offsets[event + 1]):
            row = rows[pair]
            if row < 0:
                continue
            shard = homes[codes[row], event] if codes[row] != NO_KEY else np.int32(_NOWHERE)
            if shard < 0:
                shard = fixed[row]
            home[pair] = shard
            bounds[shard + 1] += 1
            if last[shard] != event:
                last[shard] = event
                firsts[shard + 1] += 1
    firsts, bounds = np.cumsum(firsts), np.cumsum(bounds)
    owners, starts = np.empty(firsts[-1], np.int64), np.empty(firsts[-1], np.int32)
    found = np.empty(bounds[-1], np.int32)
    next_event, next_pair = firsts.copy(), bounds.copy()
    last[:] = -1
    for event in range(len(offsets) - 1):
        for pair in range(offsets[event], offsets[event + 1]):
            shard = home[pair]
            if shard < 0:
                continue
            if last[shard] != event:
                last[shard] = event
                owners[next_event[shard]] = event
                starts[next_event[shard]] = next_pair[shard] - bounds[shard]
                next_event[shard] += 1
            found[next_pair[shard]] = rows[pair]
            next_pair[shard] += 1
    return owners, starts, found, firsts, bounds


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
