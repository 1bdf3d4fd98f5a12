"""Has it moved enough to tell, for each subscription and each key? What decides after a condition has matched."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from tamis.language import Kind, Notify
from tamis.language.values import read, typed
from tamis.notification.circle import Doubles, Longs
from tamis.notification.keys import MISSING, Key, key_bytes, key_of
from tamis.notification.law import ABSOLUTE, FACTOR, RELATIVE
from tamis.notification.snapshot import GateState, decode, encode
from tamis.notification.told import (
    COUNT,
    EMPTY,
    FULL,
    KEY_BITS,
    LAW,
    MARK,
    NO_KEY,
    PASSED,
    REFUSED,
    SEEN,
    TURN,
    fill,
    step,
    step_many,
)
from tamis.notification.wanted import Id, checked_id

#: So many keys, those that were seen last, each subscription remembers at least; and at most twice as many.
KEYS_KEPT: Final = 1 << 16
#: The smallest table, and so many unused keys may be kept in addition to twice those in use.
FEWEST: Final = 64
SPARE_KEYS: Final = 1024

Mask = npt.NDArray[np.bool_]


class Gate:
    """Remembers for each subscription with a `notify` clause, and each key, the value told last.

    An event passes if its value is as far from that as the clause asks (`law`, as in `Watch`); then it is the value
    told last. The first value of a key passes: it is the initial notification (specs/003 §0). Events without the key
    are those of one more key. Of two radii the greater one decides: here is nobody whom an earlier word could spare
    anything (specs/003 F11).

    An event does not pass, changes nothing and is counted in `refused` if its value is missing, null, no number or
    not finite, if it is not above 0 where the clause is relative or a factor, or if its key is an array or an object.

    A subscription remembers the last `keys` keys that it saw, at least, and twice as many at most. One that is
    forgotten is told again when it comes back, so nobody is left with a value that is too far off.

    Every method either does what it says or raises and changes nothing. A gate is for one thread at a time.
    """

    def __init__(self, keys: int = KEYS_KEPT) -> None:
        """Make a gate without subscriptions."""
        if keys < 1:
            raise ValueError(f"keys is {keys}, but at least one has to be remembered")
        #: How many events were refused.
        self.refused = 0
        self._kept = keys
        self._numbers: dict[Id, int] = {}
        self._clauses: list[tuple[Id, Notify] | None] = []
        self._free: list[int] = []
        self._asked: Longs = np.zeros((0, 3), np.int64)
        self._radii: Doubles = np.zeros(0)
        #: The numbers of keys; that of `MISSING` is always 0.
        self._keys: dict[Key, int] = {MISSING: 0}
        self._most_keys = SPARE_KEYS
        self._used: Longs = np.zeros(1, np.int64)
        self._table, self._told = _empty(FEWEST)

    # --- subscriptions ------------------------------------------------------------------------------

    def add(self, id: Id, notify: Notify) -> int:
        """Add a subscription, which was told nothing yet; return its number, for `pass_many`."""
        if checked_id(id) in self._numbers:
            raise ValueError(f"subscription {id!r} is there already")
        number = self._free.pop() if self._free else len(self._clauses)
        if number == len(self._clauses):
            self._clauses.append(None)
            self._make_room(len(self._clauses))
        self._numbers[id] = number
        self._clauses[number] = id, notify
        self._asked[number, LAW] = _law(notify)
        self._radii[number] = notify.must
        return number

    def remove(self, id: Id) -> None:
        """Remove a subscription and forget what it was told."""
        number = self.number(id)
        del self._numbers[id]
        self._clauses[number] = None
        self._free.append(number)
        # Whoever gets this number next must not find anything.
        self._asked[number, TURN] += 2
        self._asked[number, COUNT] = 0

    def number(self, id: Id) -> int:
        """Return the number of a subscription."""
        if id not in self:
            raise KeyError(f"there is no subscription {id!r}")
        return self._numbers[id]

    # --- events -------------------------------------------------------------------------------------

    def passes(self, id: Id, content: Mapping[str, Any]) -> bool:
        """Say whether a subscription is told of an event that meets its condition; if so, it now has been."""
        number = self.number(id)
        _, notify = self._clauses[number]  # type: ignore[misc] # it is there
        kind, value = read(content, notify.attribute)
        key = MISSING if notify.key is None else read(content, notify.key)
        double = _double(value) if kind is Kind.NUMBER else np.nan
        self._forget_keys()
        known = self._key(key)
        outcome = FULL
        while outcome == FULL:
            outcome = step(
                number, known, double, self._asked, self._radii, self._table, self._told, self._used, self._kept
            )
            if outcome == FULL:
                self._rebuild()
        self.refused += outcome == REFUSED
        return bool(outcome == PASSED)

    def pass_many(self, numbers: Any, codes: Any, names: Sequence[Any], values: Any) -> Mask:
        """Do what `passes` does for many rows, in order; return for each whether it passes.

        A row is the number of a subscription, the place of its event's key in `names`, or -1 for none, and the value of
        the attribute that the clause names, NaN for none. Rows of all subscriptions may stand between each other.
        """
        rows, places, doubles = _column(numbers, "iu"), _column(codes, "iu"), _column(values, "iuf")
        if not len(rows) == len(places) == len(doubles):
            raise ValueError(f"{len(rows)} numbers, {len(places)} codes and {len(doubles)} values")
        self._check_numbers(rows)
        self._forget_keys()
        keys = self._numbered(places, names)
        out = np.empty(len(rows), np.uint8)
        done = 0
        while True:
            done = step_many(
                rows,
                keys,
                doubles,
                done,
                self._asked,
                self._radii,
                self._table,
                self._told,
                self._used,
                self._kept,
                out,
            )
            if done == len(rows):
                break
            self._rebuild()
        self.refused += int((out == REFUSED).sum())
        passed: Mask = out == PASSED
        return passed

    # --- state --------------------------------------------------------------------------------------

    def snapshot(self) -> bytes:
        """Return everything that there is to know, so that `restore` goes on exactly from here."""
        self._rebuild(forget=True)
        rows, told = self._live()
        order = np.argsort(rows[:, MARK])
        rows, told = rows[order], told[order]
        ages = self._asked[rows[:, MARK] >> KEY_BITS, TURN] - rows[:, SEEN]
        return encode(
            GateState(
                self._kept,
                self.refused,
                list(self._clauses),
                list(self._free),
                self._asked[: len(self._clauses), COUNT].tolist(),
                [(int(key[0]), key_bytes(key)) for key in self._keys],
                np.ascontiguousarray(rows[:, MARK]).tobytes(),
                ages.astype(np.uint8).tobytes(),
                told.tobytes(),
            )
        )

    @classmethod
    def restore(cls, snapshot: bytes) -> "Gate":
        """Return a gate as it was when a snapshot of it was taken."""
        state = decode(snapshot, GateState)
        gate = cls(state.keys_kept)
        gate.refused, gate._free = state.refused, list(state.free)
        gate._clauses = list(state.clauses)
        gate._make_room(len(gate._clauses))
        for number, held in enumerate(gate._clauses):
            gate._asked[number, COUNT] = state.counts[number]
            if held is not None:
                gate._numbers[held[0]] = number
                gate._asked[number, LAW] = _law(held[1])
                gate._radii[number] = held[1].must
        gate._keys = {key_of(Kind(kind), data): number for number, (kind, data) in enumerate(state.keys)}
        marks = np.frombuffer(state.marks, np.int64)
        turns = gate._asked[marks >> KEY_BITS, TURN] - np.frombuffer(state.ages, np.uint8)
        gate._fill(np.stack([marks, turns], axis=1), np.frombuffer(state.told))
        return gate

    def stats(self) -> dict[str, int]:
        """Return figures: `subscriptions`, `told`, pairs of one and a key that are remembered, `bytes` of arrays."""
        arrays = (self._table, self._told, self._asked, self._radii)
        return {
            "subscriptions": len(self),
            "told": len(self._live()[0]),
            "bytes": sum(array.nbytes for array in arrays),
        }

    def __len__(self) -> int:
        return len(self._numbers)

    def __contains__(self, id: object) -> bool:
        return not isinstance(id, bool) and id in self._numbers

    def check_invariants(self) -> None:
        """Raise `AssertionError` if something does not fit together."""
        held = {each[0]: number for number, each in enumerate(self._clauses) if each is not None}
        assert held == self._numbers
        assert sorted(self._free) == [number for number, each in enumerate(self._clauses) if each is None]
        assert list(self._keys.values()) == list(range(len(self._keys)))
        taken = self._table[:, MARK] != EMPTY
        assert taken.sum() == self._used[0] < len(self._table)
        rows, told = self._live()
        assert np.isfinite(told).all()
        counts: dict[int, list[int]] = {}
        for mark, seen in rows.tolist():
            number = mark >> KEY_BITS
            assert self._clauses[number] is not None
            assert mark & ((1 << KEY_BITS) - 1) < len(self._keys)
            counts.setdefault(number, [0, 0])[int(self._asked[number, TURN]) - seen] += 1
        for number, (new, old) in counts.items():
            assert new == self._asked[number, COUNT] < self._kept
            assert old <= self._kept

    # --- inside -------------------------------------------------------------------------------------

    def _make_room(self, count: int) -> None:
        if count > len(self._radii):
            more = max(count, 2 * len(self._radii), FEWEST) - len(self._radii)
            fresh = np.zeros((more, 3), np.int64)
            fresh[:, TURN] = 1
            self._asked = np.concatenate([self._asked, fresh])
            self._radii = np.concatenate([self._radii, np.zeros(more)])

    def _check_numbers(self, rows: Longs) -> None:
        held = np.ones(len(self._clauses) + 1, np.bool_)
        held[[*self._free, len(self._clauses)]] = False
        bad = ~held[np.where((rows >= 0) & (rows < len(self._clauses)), rows, len(self._clauses))]
        if bad.any():
            raise ValueError(f"row {int(bad.argmax())}: no subscription has the number {rows[bad][0]}")

    def _numbered(self, places: Longs, names: Sequence[Any]) -> Longs:
        """Return the numbers of keys that are given as places in a list."""
        bad = (places < -1) | (places >= len(names))
        if bad.any():
            raise ValueError(f"row {int(bad.argmax())}: the code is {places[bad][0]}, but there are {len(names)} names")
        met = np.zeros(len(names) + 1, np.bool_)
        met[places] = True
        known = np.zeros(len(names) + 1, np.int64)
        for place in np.flatnonzero(met[:-1]).tolist():
            known[place] = self._key(typed(names[place]))
        return known[places]

    def _key(self, key: Key) -> int:
        """Return the number of a key, a new one if need be."""
        if key[0] is Kind.OTHER:
            return NO_KEY
        return self._keys.setdefault(key, len(self._keys))

    def _forget_keys(self) -> None:
        """Forget keys that no subscription remembers, if there may be many of them."""
        if len(self._keys) > self._most_keys:
            self._rebuild(forget=True)
            self._most_keys = 2 * len(self._keys) + SPARE_KEYS

    def _live(self) -> tuple[Longs, Doubles]:
        """Return the rows of the table that are remembered, and the values told."""
        rows, told = self._table[self._table[:, MARK] != EMPTY], self._told[self._table[:, MARK] != EMPTY]
        live = rows[:, SEEN] >= self._asked[rows[:, MARK] >> KEY_BITS, TURN] - 1
        return rows[live], told[live]

    def _rebuild(self, forget: bool = False) -> None:
        """Leave out of the table what is forgotten, and of the keys those that nobody remembers; make room."""
        rows, told = self._live()
        if forget:
            subscriptions, keys = rows[:, MARK] >> KEY_BITS, rows[:, MARK] & ((1 << KEY_BITS) - 1)
            kept = np.union1d(keys, [0])
            names = list(self._keys)
            self._keys = {names[key]: number for number, key in enumerate(kept.tolist())}
            rows[:, MARK] = (subscriptions << KEY_BITS) | np.searchsorted(kept, keys)
        self._fill(rows, told)

    def _fill(self, rows: Longs, told: Doubles) -> None:
        size = FEWEST
        while size < 2 * len(rows) + 2:
            size *= 2
        self._table, self._told = _empty(size)
        self._used[0] = len(rows)
        fill(self._table, self._told, rows, told)


def _empty(size: int) -> tuple[Longs, Doubles]:
    table = np.zeros((size, 2), np.int64)
    table[:, MARK] = EMPTY
    return table, np.zeros(size)


def _law(notify: Notify) -> int:
    return ABSOLUTE if notify.radius is not None else RELATIVE if notify.relative is not None else FACTOR


def _double(value: float) -> float:
    try:
        return float(value)
    except OverflowError:
        return np.nan


def _column(given: Any, kinds: str) -> npt.NDArray[Any]:
    column = np.asarray(given)
    if column.ndim != 1 or (column.dtype.kind not in kinds and len(column)):
        raise ValueError(f"a column of {'numbers' if 'f' in kinds else 'integers'} is wanted, not {column.dtype}")
    return np.ascontiguousarray(column, np.float64 if "f" in kinds else np.int64)
