"""What a shard of subscriptions remembers: by subscription and key the value told last, in flat arrays."""

from typing import Final

import msgspec
import numpy as np
import pyarrow as pa

from tamis.matching.segments.ids import Ids
from tamis.notification.circle import Doubles, Longs
from tamis.notification.gate import KEYS_KEPT
from tamis.notification.told import COUNT, EMPTY, KEY_BITS, LAW, MARK, SEEN, TIME, TURN, Outcomes, fill
from tamis.pipeline.packets import packed, unpacked
from tamis.pipeline.steps import step_events

#: Before everything else; its last byte is the version of the format.
MAGIC: Final = b"tamis told 2\n"
#: The same, but each subscription was in one shard with all its keys.
_BY_SUBSCRIPTION: Final = b"tamis told 1\n"
#: The time before all times.
NEVER: Final = -(1 << 63)
#: The `since` of a subscription whose clause is not known yet: it takes that of the first one.
UNKNOWN: Final = -1

_KEY_MASK: Final = (1 << KEY_BITS) - 1
_FEWEST: Final = 64


class MemoryState(msgspec.Struct, frozen=True):
    """A `Memory` as bytes; columns are the bytes of arrays."""

    shards: int
    version: int
    latest: int
    done: int
    #: By number of a subscription: the id, by which clause, and how many keys were seen in this turn.
    ids: bytes
    since: bytes
    counts: bytes
    #: By number of a key.
    keys: bytes
    #: By pair: both numbers, whether it was seen in this turn or the last, when, and the value told.
    marks: bytes
    ages: bytes
    times: bytes
    told: bytes


class Memory:
    """By subscription and key the value told last, as in `Gate`, and when the pair was seen last.

    Subscriptions have numbers, which are good until `encode`. Each is remembered under the `since` of its clause: one
    that was made anew, or changed, has been told nothing.
    """

    def __init__(self, ids: pa.DataType, shards: int = 1, keys: int = KEYS_KEPT) -> None:
        #: How many shards there are: this is one of them. 0, if pairs are not dealt as `dealing` does now.
        self.shards = shards
        #: The newest version that was seen.
        self.version = 0
        #: The greatest time that was seen, and the one up to which everything is done.
        self.latest = self.done = NEVER
        self._kept = keys
        self._ids = Ids.of(pa.array([], ids))
        self._since: Longs = np.zeros(0, np.int64)
        self._asked: Longs = np.zeros((0, 3), np.int64)
        self._radii: Doubles = np.zeros(0)
        #: Number 0 is that of no key.
        self._keys = Ids.of([""])
        self._used: Longs = np.zeros(1, np.int64)
        self._table, self._told = _empty(_FEWEST)

    # --- subscriptions and keys ---------------------------------------------------------------------

    def numbers(self, ids: Ids, since: Longs, laws: Longs, radii: Doubles) -> Longs:
        """Return the numbers of subscriptions with these clauses; what was told by another clause is forgotten."""
        found = self._ids.find_many(ids) if len(self._ids) else np.full(len(ids), -1, np.int64)
        new = np.flatnonzero(found < 0)
        if len(new):
            found[new] = np.arange(len(self._ids), len(self._ids) + len(new))
            self._ids = Ids.concatenated([self._ids, ids.select(new)]) if len(self._ids) else ids.select(new)
            fresh = np.zeros((len(new), 3), np.int64)
            fresh[:, TURN] = 1
            self._asked = np.concatenate([self._asked, fresh])
            self._radii = np.concatenate([self._radii, np.zeros(len(new))])
            self._since = np.concatenate([self._since, np.full(len(new), UNKNOWN)])
        other = found[(self._since[found] != since) & (self._since[found] != UNKNOWN)]
        self._asked[other, TURN] += 2
        self._asked[other, COUNT] = 0
        self._since[found] = since
        self._asked[found, LAW] = laws
        self._radii[found] = radii
        return found

    def retain(self, since: Longs) -> None:
        """Forget the subscriptions whose clause is another one than that given by number, or none, which is -1."""
        gone = (self._since != since) & ((self._since != UNKNOWN) | (since < 0))
        self._asked[gone, TURN] += 2
        self._asked[gone, COUNT] = 0

    @property
    def ids(self) -> Ids:
        """The ids by number."""
        return self._ids

    def keys(self, texts: pa.Array) -> Longs:
        """Return the numbers of keys, which are texts of `key_texts`; null is no key."""
        coded = texts.dictionary_encode()
        names = Ids.of(coded.dictionary)
        found = self._keys.find_many(names) if len(names) else np.zeros(0, np.int64)
        new = np.flatnonzero(found < 0)
        if len(new):
            found[new] = np.arange(len(self._keys), len(self._keys) + len(new))
            self._keys = Ids.concatenated([self._keys, names.select(new)])
        places: Longs = coded.indices.fill_null(len(names)).to_numpy()
        return np.append(found, 0)[places]

    def key_texts(self, numbers: Longs) -> pa.Array:
        """Return the keys of some numbers; null where there is none."""
        return self._keys.arrow().take(pa.array(numbers, mask=numbers <= 0))

    # --- events -------------------------------------------------------------------------------------

    def step(
        self,
        order: Longs,
        offsets: Longs,
        times: Longs,
        pairs: tuple[Longs, Longs, Doubles],
        ttl: int | None,
        out: Outcomes,
    ) -> None:
        """Take events in an order; pairs are numbers, keys and values, and their outcomes are written down."""
        since = np.full(len(times), NEVER)
        if ttl is not None:
            since = np.where(times < NEVER + ttl, NEVER, times - ttl)
        at = 0
        while True:
            at = step_events(
                order,
                at,
                offsets,
                times,
                *pairs,
                self._asked,
                self._radii,
                self._table,
                self._told,
                self._used,
                self._kept,
                since,
                out,
            )
            if at == len(order):
                return
            event = order[at]
            self._fill(*self._live(), int(offsets[event + 1] - offsets[event]))

    # --- state --------------------------------------------------------------------------------------

    def encode(self, ttl: int | None = None) -> bytes:
        """Return everything that there is to know; what is forgotten, or silent for longer than `ttl`, is left out."""
        rows, told = self._live()
        if ttl is not None and self.done - NEVER > ttl:
            lively = rows[:, TIME] >= self.done - ttl
            rows, told = rows[lively], told[lively]
        order = np.argsort(rows[:, MARK])
        rows, told = rows[order], told[order]
        subscriptions, keys = rows[:, MARK] >> KEY_BITS, rows[:, MARK] & _KEY_MASK
        kept, mine = np.unique(subscriptions, return_inverse=True)
        kept_keys = np.union1d(keys, [0])
        marks = (mine << KEY_BITS) | np.searchsorted(kept_keys, keys)
        state = MemoryState(
            self.shards,
            self.version,
            self.latest,
            self.done,
            packed(pa.record_batch([self._ids.select(kept).arrow()], names=["id"])),
            self._since[kept].tobytes(),
            self._asked[kept, COUNT].tobytes(),
            packed(pa.record_batch([self._keys.select(kept_keys).arrow()], names=["key"])),
            marks.astype(np.int64).tobytes(),
            (self._asked[subscriptions, TURN] - rows[:, SEEN]).astype(np.uint8).tobytes(),
            np.ascontiguousarray(rows[:, TIME]).tobytes(),
            told.tobytes(),
        )
        return MAGIC + msgspec.msgpack.encode(state)

    @classmethod
    def decode(cls, data: bytes, keys: int = KEYS_KEPT) -> "Memory":
        """Return a memory as it was; bytes that hold none are a `ValueError`."""
        if not data.startswith((MAGIC, _BY_SUBSCRIPTION)):
            raise ValueError("this is no memory of notifications, or one of another version of Tamis")
        state = msgspec.msgpack.decode(memoryview(data)[len(MAGIC) :], type=MemoryState)
        ids = unpacked(state.ids).column(0)
        memory = cls(ids.type, state.shards if data.startswith(MAGIC) else 0, keys)
        memory.version, memory.latest, memory.done = state.version, state.latest, state.done
        memory._ids = Ids.of(ids)
        memory._since = np.frombuffer(state.since, np.int64).copy()
        memory._asked = np.zeros((len(ids), 3), np.int64)
        memory._asked[:, TURN] = 1
        memory._asked[:, COUNT] = np.frombuffer(state.counts, np.int64)
        memory._radii = np.zeros(len(ids))
        memory._keys = Ids.of(unpacked(state.keys).column(0))
        marks = np.frombuffer(state.marks, np.int64)
        rows = np.stack(
            [marks, 1 - np.frombuffer(state.ages, np.uint8).astype(np.int64), np.frombuffer(state.times, np.int64)],
            axis=1,
        )
        memory._fill(rows, np.frombuffer(state.told), 0)
        return memory

    def remember(self, ids: pa.Array, keys: pa.Array, values: Doubles, times: Longs) -> None:
        """Take over what was told elsewhere; where there are several rows of a pair, one of the latest wins."""
        coded = ids.dictionary_encode()
        names = Ids.of(coded.dictionary)
        nothing = np.zeros(len(names), np.int64)
        numbers = self.numbers(names, nothing + UNKNOWN, nothing, np.zeros(len(names)))[coded.indices.to_numpy()]
        known = self.keys(keys)
        good = np.flatnonzero(np.isfinite(values))
        order = good[np.argsort(times[good], kind="stable")][::-1]
        marks, first = np.unique((numbers << KEY_BITS | known)[order], return_index=True)
        chosen = order[first]
        rows = np.stack([marks, np.ones(len(marks), np.int64), times[chosen]], axis=1)
        counts = np.bincount(numbers[chosen], minlength=len(self._ids))
        self._asked[:, COUNT] = np.minimum(self._asked[:, COUNT] + counts, self._kept - 1)
        live, told = self._live()
        self._fill(np.concatenate([live, rows]), np.concatenate([told, values[chosen]]), 0)

    def rows(self) -> tuple[pa.Array, pa.Array, Longs, Doubles]:
        """Return what is remembered: ids, keys, times and values told."""
        rows, told = self._live()
        ids = self._ids.arrow().take(pa.array(rows[:, MARK] >> KEY_BITS))
        return ids, self.key_texts(rows[:, MARK] & _KEY_MASK), rows[:, TIME], told

    def check_invariants(self) -> None:
        """Raise `AssertionError` if something does not fit together."""
        assert len(self._ids) == len(self._since) == len(self._asked) == len(self._radii)
        assert self._ids.first_repeated() is None
        assert self._keys.first_repeated() is None
        assert (self._table[:, MARK] != EMPTY).sum() == self._used[0] < len(self._table)
        rows, told = self._live()
        assert np.isfinite(told).all()
        numbers, keys = rows[:, MARK] >> KEY_BITS, rows[:, MARK] & _KEY_MASK
        assert (numbers < len(self._ids)).all()
        assert (keys < len(self._keys)).all()
        assert (self._asked[:, COUNT] < self._kept).all()

    # --- inside -------------------------------------------------------------------------------------

    def _live(self) -> tuple[Longs, Doubles]:
        """Return the rows of the table that are remembered, and the values told."""
        taken = self._table[:, MARK] != EMPTY
        rows, told = self._table[taken], self._told[taken]
        live = rows[:, SEEN] >= self._asked[rows[:, MARK] >> KEY_BITS, TURN] - 1
        return rows[live], told[live]

    def _fill(self, rows: Longs, told: Doubles, more: int) -> None:
        """Fill the table anew, with room for as many again, and for more."""
        size = _FEWEST
        while size < 2 * (len(rows) + more) + 2:
            size *= 2
        self._table, self._told = _empty(size)
        self._used[0] = len(rows)
        fill(self._table, self._told, rows, told)


def _empty(size: int) -> tuple[Longs, Doubles]:
    table = np.zeros((size, TIME + 1), np.int64)
    table[:, MARK] = EMPTY
    return table, np.zeros(size)
