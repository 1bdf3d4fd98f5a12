"""What a shard does with its packets: events in their order through its memory, and answers as packets again."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final, NamedTuple

import msgspec
import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from tamis.language import Kind
from tamis.language.columns import Column, Columns
from tamis.notification.circle import Doubles, Longs
from tamis.notification.told import HELD, LATE, NO_KEY, PASSED, REFUSED, Outcomes
from tamis.pipeline.dealing import EVENTS, INITIAL, TICK, TOLD, times_of
from tamis.pipeline.keytexts import key_texts, shown
from tamis.pipeline.memory import Memory
from tamis.pipeline.packets import packed, unpacked
from tamis.pipeline.particulars import Particulars, particulars
from tamis.pipeline.recalling import recall

#: By outcome, what the answer says; nothing is said of what is held back.
OUTCOMES: Final = {PASSED: "told", REFUSED: "refused", LATE: "late"}
#: So many events a shard keeps waiting, at most; then the oldest are taken before their turn.
MOST_WAITING: Final = 1 << 20
#: Rows of an answer in one packet, at most.
_MOST_ROWS: Final = 1 << 16

_END: Final = (1 << 63) - 1
_TEXTS: Final = pa.array([OUTCOMES.get(code) for code in range(max(OUTCOMES) + 1)])

Mask = npt.NDArray[np.bool_]
#: The version, the kind and the data.
Packet = tuple[int | None, int, bytes]


class Held(NamedTuple):
    """Events of one version with the rows of clauses that they meet: `rows[offsets[e] : offsets[e + 1]]`."""

    version: int
    events: pa.RecordBatch
    offsets: Longs
    rows: Longs
    owners: Longs
    times: Longs
    #: Where there is a time.
    valid: Mask


class Teller(msgspec.Struct, frozen=True):
    """How a shard tells. Times are those of the column `sequence`, as integers."""

    path: str
    #: The columns of events.
    names: Sequence[str]
    sequence: str
    identity: str | None
    #: By how much events may come out of order; none: all of them are here, as in a table.
    lateness: int | None
    #: After how long a pair that is silent is forgotten.
    ttl: int | None

    def take(
        self, memory: Memory, packets: Iterable[Packet], waiting: Iterable[Packet]
    ) -> tuple[list[bytes], list[Packet]]:
        """Take packets and those that wait; return the answers, and what waits then."""
        answers: list[bytes] = []
        events: dict[int, list[pa.RecordBatch]] = {}
        for version, kind, data in (*waiting, *packets):
            if kind == INITIAL:
                recall(memory, unpacked(data))
                continue
            if kind == TICK:
                memory.latest = max(memory.latest, int.from_bytes(data, "little", signed=True))
                continue
            assert version is not None
            if kind == TOLD:
                answers += self._free(unpacked(data), version)
            else:
                events.setdefault(version, []).append(unpacked(data))
        held = [self._held(version, events[version]) for version in sorted(events)]
        if not held:
            return answers, []
        until = self._until(memory, held)
        known = [particulars(self.path, each.version) for each in held]
        keys = [_keys(memory, *both) for both in zip(held, known, strict=True)]
        values = [_values(*both) for both in zip(held, known, strict=True)]
        outcomes = [np.zeros(len(each.rows), np.uint8) for each in held]
        for at, order in self._runs(held, until):
            pairs = _numbers(memory, held[at], known[at]), keys[at], values[at]
            memory.step(order, held[at].offsets, held[at].times, pairs, self.ttl, outcomes[at])
            self._forget(memory, held[at].version)
        memory.done = min(until, memory.latest)
        later: list[Packet] = []
        for each, out, mine in zip(held, outcomes, keys, strict=True):
            out[~each.valid[each.owners]] = REFUSED
            answers += self._answers(memory, each, out, mine)
            waits = np.flatnonzero(each.valid & (each.times > until))
            if len(waits):
                later.append((each.version, EVENTS, packed(each.events.take(pa.array(waits)))))
        return answers, later

    # --- inside -------------------------------------------------------------------------------------

    def _held(self, version: int, batches: Sequence[pa.RecordBatch]) -> Held:
        batch = pa.concat_batches(batches) if len(batches) > 1 else batches[0]
        lists = batch.column(len(self.names))
        offsets = lists.offsets.to_numpy().astype(np.int64)
        rows = lists.values.to_numpy()[offsets[0] : offsets[-1]].astype(np.int64)
        times, valid = self._times(batch)
        owners = np.repeat(np.arange(batch.num_rows), np.diff(offsets))
        return Held(version, batch, offsets - offsets[0], rows, owners, times, valid)

    def _times(self, batch: pa.RecordBatch) -> tuple[Longs, Mask]:
        return times_of(batch.column(self.names.index(self.sequence)))

    def _until(self, memory: Memory, held: Sequence[Held]) -> int:
        """Return up to which time events are taken now."""
        times = np.concatenate([each.times[each.valid] for each in held])
        memory.latest = max(memory.latest, int(times.max(initial=memory.latest)))
        if self.lateness is None:
            return _END
        until = max(memory.done, memory.latest - self.lateness)
        if (times > until).sum() > MOST_WAITING:
            until = int(np.partition(times, len(times) - MOST_WAITING - 1)[len(times) - MOST_WAITING - 1])
        return until

    def _runs(self, held: Sequence[Held], until: int) -> Iterator[tuple[int, Longs]]:
        """Yield events in order, as the number of a version and those that come in a row."""
        ready = [np.flatnonzero(each.valid & (each.times <= until)) for each in held]
        times = np.concatenate([each.times[some] for each, some in zip(held, ready, strict=True)])
        which = np.repeat(np.arange(len(held)), [len(some) for some in ready])
        where = np.concatenate(ready)
        order = np.argsort(times, kind="stable")
        if self.identity is not None and (np.diff(times[order]) == 0).any():
            place = self.names.index(self.identity)
            parts = [each.events.column(place).take(pa.array(some)) for each, some in zip(held, ready, strict=True)]
            table = pa.table({"time": times, "version": which, "identity": pa.chunked_array(parts)})
            keys = [("time", "ascending"), ("version", "ascending"), ("identity", "ascending")]
            order = pc.sort_indices(table, sort_keys=keys).to_numpy().astype(np.int64)
        which, where = which[order], where[order]
        for run in np.split(np.arange(len(where)), np.flatnonzero(np.diff(which)) + 1):
            if len(run):
                yield int(which[run[0]]), where[run]

    def _forget(self, memory: Memory, version: int) -> None:
        """Forget subscriptions that a newer version does not have, or with another clause."""
        if version <= memory.version:
            return
        memory.version = version
        known = particulars(self.path, version)
        rows = known.find(memory.ids.arrow())
        memory.retain(np.where(rows < 0, -1, known.since[rows]) if len(known.ids) else rows)

    def _answers(self, memory: Memory, held: Held, outcomes: Outcomes, keys: Longs) -> Iterator[bytes]:
        said = np.flatnonzero(outcomes != HELD)
        ids = particulars(self.path, held.version).ids.arrow()
        for start in range(0, len(said), _MOST_ROWS):
            some = said[start : start + _MOST_ROWS]
            yield self._answer(
                held.events.take(pa.array(held.owners[some])),
                ids.take(pa.array(held.rows[some])),
                held.version,
                shown(memory.key_texts(keys[some])),
                _TEXTS.take(pa.array(outcomes[some])),
            )

    def _free(self, batch: pa.RecordBatch, version: int) -> Iterator[bytes]:
        count = batch.num_rows
        told = _TEXTS.take(pa.array(np.full(count, PASSED)))
        yield self._answer(batch, batch.column(len(self.names)), version, pa.nulls(count, pa.string()), told)

    def _answer(self, events: pa.RecordBatch, ids: pa.Array, version: int, keys: pa.Array, outcomes: pa.Array) -> bytes:
        """Return a row for each pair: the columns of its event, what is said, and what tells it from others."""
        columns = events.columns[: len(self.names)]
        times, valid = self._times(events)
        identity = pa.nulls(len(ids), pa.string())
        if self.identity is not None:
            identity = events.column(self.names.index(self.identity)).cast(pa.string())
        columns += [
            ids if pa.types.is_integer(ids.type) else ids.cast(pa.string()),
            pa.array(np.full(len(ids), version, np.int64)),
            keys,
            outcomes,
            pa.array(times, mask=~valid),
            identity,
        ]
        return packed(pa.RecordBatch.from_arrays(columns, names=[str(number) for number in range(len(columns))]))


def _numbers(memory: Memory, held: Held, known: Particulars) -> Longs:
    """Return the numbers of the subscriptions of all pairs, whose clauses are those of this version from now on."""
    met = np.zeros(len(known.ids), np.bool_)
    met[held.rows] = True
    rows = np.flatnonzero(met)
    numbers = np.zeros(len(met), np.int64)
    numbers[rows] = memory.numbers(known.ids.select(rows), known.since[rows], known.laws[rows], known.radii[rows])
    return numbers[held.rows]


def _each(codes: Longs, sole: int | None, rows: Longs) -> Iterator[tuple[int, Mask | slice]]:
    """Yield every code that is not below 0 among those of clauses, and where it is."""
    if sole is not None:
        found, mine = [sole + 1], codes[:0]
    else:
        mine = codes[rows]
        found = np.flatnonzero(np.bincount(mine + 1)).tolist()
    for code in found:
        if code:
            yield code - 1, slice(None) if len(found) == 1 else mine == code - 1


def _values(held: Held, known: Particulars) -> Doubles:
    values: Doubles = np.full(len(held.rows), np.nan)
    columns = Columns(held.events)
    for code, mine in _each(known.attribute_codes, known.sole_attribute, held.rows):
        column = columns.column(known.attributes[code])
        if column.kind is Kind.NUMBER:
            values[mine] = np.where(column.valid, column.values, np.nan).astype(np.float64)[held.owners[mine]]
    return values


def _keys(memory: Memory, held: Held, known: Particulars) -> Longs:
    keys: Longs = np.zeros(len(held.rows), np.int64)
    columns = Columns(held.events)
    for code, mine in _each(known.key_codes, known.sole_key, held.rows):
        keys[mine] = _numbered(memory, columns.column(known.keys[code]))[held.owners[mine]]
    return keys


def _numbered(memory: Memory, column: Column) -> Longs:
    """Return the number of the key of each event; what has none is under that of no key."""
    if column.kind is Kind.NULL:
        return np.zeros(len(column.valid), np.int64)
    if column.kind is Kind.OTHER:
        return np.where(column.valid, NO_KEY, 0)
    # Only different ones become texts.
    coded: Any = column.array.dictionary_encode()
    numbers = np.append(memory.keys(key_texts(Column(coded.dictionary))), 0)
    places: Longs = coded.indices.fill_null(len(numbers) - 1).to_numpy()
    return numbers[places]
