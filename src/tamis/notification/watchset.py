"""`tamis.WatchSet`: values of many items in, those who want to know out."""

import functools
import os
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from tamis.notification.checks import check_arena
from tamis.notification.circle import Doubles, Longs
from tamis.notification.law import LAWS, Law, checked_value
from tamis.notification.notified import Notified
from tamis.notification.shard import NOT_FINITE, NOT_POSITIVE, TAKEN, Handles, Shard, kind_of, scatter
from tamis.notification.snapshot import SetState, decode, encode
from tamis.notification.wanted import Id, checked_id, checked_law, wanted, wanted_many

#: Threads at work, at most.
MOST_THREADS: Final = 16

_REASONS: Final = {
    NOT_FINITE: "the value is missing or no finite number",
    NOT_POSITIVE: "the value is not above 0, but is watched with relative radii",
}


class WatchSet:
    """Subscriptions to many items, each known by a key: what `Watch` is to one value, for a stream of many.

    An event tells in its attribute `by` the key of an item, and in `on` its new value: `WatchSet("symbol", "price")`.
    Keys, and likewise ids, are strings or 64-bit integers, of one type in one set. An id may watch many items, each of
    them once. Values are remembered also while nobody watches.

    Every method either does what it says or raises and changes nothing. A set is for one thread at a time; it uses all
    cores itself.
    """

    def __init__(self, by: str, on: str, relaxed: bool = False, trim: bool = False) -> None:
        """Make a set without subscriptions; see `Watch` for the options."""
        self.by, self.on = by, on
        self._relaxed, self._trim = relaxed, trim
        self._threads = min(MOST_THREADS, len(os.sched_getaffinity(0)))
        self._shards = [Shard(relaxed, trim) for _ in range(self._threads)]
        self._items: dict[Id, int] = {}
        #: By item: the handle of each id.
        self._handles: list[dict[Id, int]] = []
        self._ids: list[Id | None] = []
        self._free: list[int] = []
        #: Makes an array of all ids as they are now; None after a change.
        self._names: Callable[[], pa.Array] | None = None

    # --- subscriptions ------------------------------------------------------------------------------

    def subscribe(
        self,
        id: Id,
        key: Id,
        radius: float | None = None,
        *,
        relative: float | None = None,
        factor: float | None = None,
        may: float | None = None,
    ) -> float | None:
        """Let an id watch an item; return the value that it is told at once, None if there is none yet."""
        asked = wanted(radius, relative, factor, may)
        self._check_types([id], [key])
        value = self.value(key)
        if value is not None:
            checked_value(value, asked.law)
        if (id, key) in self:
            raise ValueError(f"{id!r} watches {key!r} already; unsubscribe it to change its radius")
        item = self._item(key)
        handle = self._handle(id)
        self._handles[item][id] = handle
        shard, number = self._at(item)
        return shard.add(number, kind_of(LAWS.index(asked.law), asked.loose), handle, asked.may, asked.must)

    def subscribe_many(
        self, ids: Iterable[Id], keys: Iterable[Id], radii: Any, *, law: Law = "absolute", mays: Any = None
    ) -> None:
        """Let many ids watch items, row by row, all or none. It is quick for items that nobody watches yet."""
        listed, named = _listed(ids), _listed(keys)
        may, must = wanted_many(radii, checked_law(law), mays)
        if not len(listed) == len(named) == len(must):
            raise ValueError(f"{len(listed)} ids, {len(named)} keys and {len(must)} radii")
        self._check_types(listed, named)
        self._check_all_new(listed, named, law)
        items = np.array([self._item(key) for key in named], np.int64)
        handles = np.array([self._handle(id) for id in listed], np.int64)
        for id, item, handle in zip(listed, items.tolist(), handles.tolist(), strict=True):
            self._handles[item][id] = handle
        kinds = np.array([kind_of(LAWS.index(law), False), kind_of(LAWS.index(law), True)])[(may < must).astype(int)]
        for number, shard in enumerate(self._shards):
            for kind in np.unique(kinds).tolist():
                mine = (items % self._threads == number) & (kinds == kind)
                shard.add_many(kind, items[mine] // self._threads, handles[mine], may[mine], must[mine])

    def unsubscribe(self, id: Id, key: Id) -> None:
        """Let an id no longer watch an item."""
        if (id, key) not in self:
            raise KeyError(f"{id!r} does not watch {key!r}")
        item = self._items[key]
        handle = self._handles[item].pop(id)
        self._at(item)[0].arena.remove(handle)
        self._ids[handle] = None
        self._free.append(handle)
        self._names = None

    # --- values -------------------------------------------------------------------------------------

    def update(self, event: Mapping[str, Any]) -> list[Id]:
        """Take an event; return the ids of those who are told of it, in any order."""
        for attribute in (self.by, self.on):
            if event.get(attribute) is None:
                raise ValueError(f"the event has no {attribute!r}")
        key = event[self.by]
        self._check_types([], [key])
        value = checked_value(event[self.on])
        shard, number = self._at(self._item(key))
        _, pieces, states = shard.update(np.array([number]), np.array([value]))
        if states[0] != TAKEN:
            raise ValueError(f"{self.on!r} of {key!r} is {value!r}: {_REASONS[int(states[0])]}")
        return [self._ids[handle] for piece in pieces for handle in piece.tolist()]

    def update_many(self, batch: pa.RecordBatch | pa.Table) -> Notified:
        """Take the rows of a batch in order, on all cores. A row that cannot be taken is refused, others are not."""
        count = batch.num_rows
        items, values = self._read_keys(batch), _read_values(batch, self.on)
        missing = items < 0
        chosen = [np.flatnonzero((items % self._threads == each) & ~missing) for each in range(self._threads)]

        def work(number: int) -> tuple[Longs, list[Handles], Longs]:
            rows = chosen[number]
            return self._shards[number].update(items[rows] // self._threads, values[rows])

        if count and self._threads > 1:
            with ThreadPoolExecutor(self._threads) as pool:
                found = list(pool.map(work, range(self._threads)))
        else:
            found = [work(number) for number in range(self._threads)]
        counts, states = np.zeros(count, np.int64), np.zeros(count, np.int64)
        for rows, (told, _, state) in zip(chosen, found, strict=True):
            counts[rows], states[rows] = told, state
        offsets = np.append(0, np.cumsum(counts))
        positions = np.empty(int(offsets[-1]), np.int32)
        for rows, (told, pieces, _) in zip(chosen, found, strict=True):
            done = 0
            for piece in pieces:
                done = scatter(rows, told, done, piece, offsets, positions)
        refused = {int(row): f"the key {self.by!r} is missing" for row in np.flatnonzero(missing)}
        refused |= {int(row): _REASONS[int(states[row])] for row in np.flatnonzero(states)}
        return Notified(offsets, positions, self._all_names(), dict(sorted(refused.items())))

    def value(self, key: Id) -> float | None:
        """Return the last value of an item; None if there was none."""
        item = self._items.get(key)
        if item is None:
            return None
        shard, number = self._at(item)
        value = float(shard.values[number])
        return value if value == value else None

    def last_told(self, id: Id, key: Id) -> float | None:
        """Return what an id was told last of an item; None if it waits for the first value."""
        if (id, key) not in self:
            raise KeyError(f"{id!r} does not watch {key!r}")
        item = self._items[key]
        centre = self._at(item)[0].arena.place(self._handles[item][id])[-1]
        return None if self.value(key) is None else centre

    def stats(self) -> dict[str, int]:
        """Return figures: `items`, `subscriptions`, and the `bytes` of the arrays."""
        used = sum(shard.arena.bytes for shard in self._shards)
        return {"items": len(self._items), "subscriptions": len(self), "bytes": used}

    # --- state --------------------------------------------------------------------------------------

    def snapshot(self) -> bytes:
        """Return everything that there is to know, so that `restore` goes on exactly from here, on any machine."""
        values = np.full(len(self._items), np.nan)
        numbers, reals = [], []
        for each, shard in enumerate(self._shards):
            mine = values[each :: self._threads]
            mine[:] = shard.values[: len(mine)]
            rows, measures = shard.state()
            rows[:, 0] = rows[:, 0] * self._threads + each
            numbers.append(rows)
            reals.append(measures)
        return encode(
            SetState(
                self.by,
                self.on,
                self._relaxed,
                self._trim,
                list(self._items),
                self._ids,
                self._free,
                values.tobytes(),
                np.concatenate(numbers).tobytes(),
                np.concatenate(reals).tobytes(),
            )
        )

    @classmethod
    def restore(cls, snapshot: bytes) -> "WatchSet":
        """Return a set as it was when a snapshot of it was taken."""
        state = decode(snapshot, SetState)
        made = cls(state.by, state.on, state.relaxed, state.trim)
        for key in state.keys:
            made._item(key)
        made._ids, made._free = list(state.ids), list(state.free)
        values = np.frombuffer(state.values)
        numbers = np.frombuffer(state.numbers, np.int64).reshape(-1, 5).copy()
        reals = np.frombuffer(state.reals).reshape(-1, 3)
        for item, handle in numbers[:, [0, 2]].tolist():
            id = made._ids[handle]
            assert id is not None
            made._handles[item][id] = handle
        for each, shard in enumerate(made._shards):
            mine = values[each :: made._threads]
            shard.values[: len(mine)] = mine
            chosen = numbers[:, 0] % made._threads == each
            rows = numbers[chosen]
            rows[:, 0] //= made._threads
            shard.load(rows, reals[chosen])
        return made

    def __len__(self) -> int:
        return len(self._ids) - len(self._free)

    def __contains__(self, watching: object) -> bool:
        """Say whether an id watches an item: `(id, key) in watches`."""
        if not isinstance(watching, tuple) or len(watching) != 2:
            return False
        id, key = watching
        return key in self._items and id in self._handles[self._items[key]]

    def check_invariants(self) -> None:
        """Raise `AssertionError` if something does not fit together."""
        assert sum(map(len, self._handles)) == len(self)
        for shard in self._shards:
            check_arena(shard.arena)

    # --- inside -------------------------------------------------------------------------------------

    def _at(self, item: int) -> tuple[Shard, int]:
        return self._shards[item % self._threads], item // self._threads

    def _item(self, key: Id) -> int:
        """Return the number of an item, a new one if need be."""
        item = self._items.get(key)
        if item is None:
            item = self._items[key] = len(self._items)
            self._handles.append({})
            shard, number = self._at(item)
            shard.make_room(number + 1)
        return item

    def _handle(self, id: Id) -> int:
        self._names = None
        if self._free:
            handle = self._free.pop()
            self._ids[handle] = id
            return handle
        self._ids.append(id)
        return len(self._ids) - 1

    def _check_types(self, ids: list[Id], keys: list[Id]) -> None:
        """Raise a `ValueError` for an id or a key that is not of the type of the others."""
        for what, given, known in (("an id", ids, self._known_id()), ("a key", keys, next(iter(self._items), None))):
            for each in given:
                checked_id(each, what)
            types = {type(each) for each in given} | ({type(known)} if known is not None else set())
            if len(types) > 1:
                raise ValueError(f"{what} is either a string or an integer in one set, not both")

    def _known_id(self) -> Id | None:
        return next((id for id in reversed(self._ids) if id is not None), None)

    def _check_all_new(self, ids: list[Id], keys: list[Id], law: Law) -> None:
        seen: set[tuple[Id, Id]] = set()
        for row, pair in enumerate(zip(ids, keys, strict=True)):
            if pair in self or pair in seen:
                raise ValueError(f"row {row}: {pair[0]!r} watches {pair[1]!r} already")
            seen.add(pair)
        if law != "absolute":
            for key in set(keys):
                value = self.value(key)
                if value is not None:
                    checked_value(value, law)

    def _all_names(self) -> Callable[[], pa.Array]:
        if self._names is None:
            kept = list(self._ids)
            self._names = functools.cache(lambda: pa.array(kept))
        return self._names

    def _read_keys(self, batch: pa.RecordBatch | pa.Table) -> Longs:
        """Return the item of each row, -1 where there is no key."""
        coded = _column(batch, self.by).dictionary_encode()
        if pa.types.is_floating(coded.type.value_type) or pa.types.is_nested(coded.type.value_type):
            raise ValueError(f"column {self.by!r} has no strings or integers, but {coded.type.value_type}")
        keys = coded.dictionary.to_pylist()
        if len(coded) > coded.null_count:
            self._check_types([], [key for key in keys if key is not None])
        numbers = np.array([-1 if key is None else self._item(key) for key in keys] + [-1], np.int64)
        where: npt.NDArray[np.int64] = pc.fill_null(coded.indices.cast(pa.int64()), len(keys)).to_numpy()
        return numbers[where]


def _column(batch: pa.RecordBatch | pa.Table, name: str) -> pa.Array:
    if name not in batch.schema.names:
        raise ValueError(f"the batch has no column {name!r}; it has: {', '.join(batch.schema.names)}")
    column = batch.column(name)
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
    return column.dictionary_decode() if pa.types.is_dictionary(column.type) else column


def _read_values(batch: pa.RecordBatch | pa.Table, name: str) -> Doubles:
    """Return a column of numbers as doubles, NaN for null."""
    column = _column(batch, name)
    if not (pa.types.is_floating(column.type) or pa.types.is_integer(column.type) or pa.types.is_decimal(column.type)):
        raise ValueError(f"column {name!r} has no numbers, but {column.type}")
    doubles = column.cast(pa.float64(), safe=False).fill_null(np.nan)
    values: Doubles = doubles.to_numpy(zero_copy_only=False)
    return values


def _listed(given: Iterable[Id]) -> list[Id]:
    if isinstance(given, pa.Array | pa.ChunkedArray):
        listed: list[Id] = given.to_pylist()
        return listed
    return given.tolist() if isinstance(given, np.ndarray) else list(given)
