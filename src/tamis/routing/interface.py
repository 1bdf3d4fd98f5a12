"""What lies in one direction: subscriptions with their keys, and an index that says which of them an event meets."""

from collections.abc import Hashable, Iterable, Iterator, Mapping
from typing import Any, Final, Generic, NamedTuple, TypeVar

import numpy as np

from tamis.language.normal import TooManyClausesError, clauses
from tamis.matching import Index
from tamis.matching.engine import engines, make_engine
from tamis.routing.conditions import parsed
from tamis.routing.keys import Keys
from tamis.routing.remembered import remembered

T = TypeVar("T", bound=Hashable)

_FIRST_ROWS: Final = 16
#: More than any interface has.
ALL: Final = (1 << 31) - 1


class Entry(NamedTuple, Generic[T]):
    """What is known of one subscription: who it is, what it asks for, and its key."""

    item: T
    condition: str
    key: int


def check_engine(engine: str) -> None:
    """Raise `ValueError` if an interface cannot use an engine."""
    if engine == "auto":
        return
    make_engine(engine)
    capabilities = engines()[engine]
    if not (capabilities.exact and capabilities.dynamic):
        usable = (name for name, each in engines().items() if each.exact and each.dynamic)
        raise ValueError(
            f"engine {engine!r} cannot be used: it answers more than what matches, or is built anew after each change; "
            f"there are: auto, {', '.join(sorted(usable))}"
        )


@remembered
def _is_conjunction(condition: str) -> bool:
    try:
        clauses(parsed(condition), limit=1)
    except TooManyClausesError:
        return False
    return True


class Interface(Generic[T]):
    """The subscriptions behind a neighbour, or those of local clients (specs/000 §2: a table for each interface).

    Conditions that the engine does not take are kept in an index that takes all. Answers depend on nothing but what
    was added and removed before, so that a run can be repeated.
    """

    def __init__(self, engine: str) -> None:
        self._engine = None if engine == "auto" else make_engine(engine)
        self._takes_all = engine != "auto" and engines()[engine].arbitrary
        self._rest = Index()
        self._rows: dict[T, int] = {}
        self._entries: dict[int, Entry[T]] = {}
        #: Rows that nothing has been asked of yet: many at once are taken up much faster than one by one.
        self._fresh: dict[int, None] = {}
        self._free: list[int] = []
        self._keys: Keys = np.zeros(_FIRST_ROWS, np.uint32)

    def add(self, entries: Iterable[Entry[T]]) -> None:
        """Add subscriptions that are not here yet."""
        for entry in entries:
            row = self._free.pop() if self._free else len(self._rows)
            if row == len(self._keys):
                self._keys = np.concatenate((self._keys, np.zeros_like(self._keys)))
            self._rows[entry.item] = row
            self._entries[row] = entry
            self._keys[row] = entry.key
            self._fresh[row] = None

    def remove(self, items: Iterable[T]) -> Keys:
        """Remove subscriptions that are here; return their keys."""
        keys = []
        for item in items:
            row = self._rows.pop(item)
            keys.append(self._entries.pop(row).key)
            self._free.append(row)
            if row in self._fresh:
                del self._fresh[row]
            elif row in self._rest:
                self._rest.remove(row)
            elif self._engine is not None:
                self._engine.remove(row)
        return np.array(keys, np.uint32)

    def any(self, event: Mapping[str, Any]) -> bool:
        """Return whether an event meets a subscription, and stop at the first one."""
        self._settle()
        return bool(
            (self._engine is not None and self._engine.find(event, 1)) or (len(self._rest) and self._rest.any(event))
        )

    def find(self, event: Mapping[str, Any], limit: int | None = None) -> Keys:
        """Return the keys of subscriptions that an event meets, not more than `limit`."""
        return self._keys[self._match(event, ALL if limit is None else limit)]

    def met(self, event: Mapping[str, Any]) -> list[T]:
        """Return the subscriptions that an event meets."""
        return [self._entries[row].item for row in sorted(self._match(event, ALL))]

    def entries(self) -> Iterator[Entry[T]]:
        """Go through all subscriptions."""
        return iter(self._entries.values())

    def __contains__(self, item: object) -> bool:
        return item in self._rows

    def __len__(self) -> int:
        return len(self._rows)

    def check_invariants(self) -> None:
        """Raise `AssertionError` if something does not fit together."""
        assert sorted([*self._entries, *self._free]) == list(range(len(self._rows) + len(self._free)))
        assert all(self._rows[entry.item] == row for row, entry in self._entries.items())
        assert all(self._keys[row] == entry.key for row, entry in self._entries.items())
        assert set(self._rest) <= self._entries.keys() - self._fresh.keys()
        if self._engine is not None:
            self._engine.check_invariants()

    def _match(self, event: Mapping[str, Any], limit: int) -> list[Any]:
        self._settle()
        rows: list[Any] = [] if self._engine is None else self._engine.find(event, limit)
        if len(self._rest) and len(rows) < limit:
            # All of them in order: which ones are found first depends on what this index does in the background.
            rows += sorted(self._rest.match(event))[: limit - len(rows)]
        return rows

    def _settle(self) -> None:
        """Let the engine, or the index, have what came since the last event."""
        if not self._fresh:
            return
        taken: list[int] = []
        rest: list[int] = []
        for row in self._fresh:
            takes = self._engine is not None and (self._takes_all or _is_conjunction(self._entries[row].condition))
            (taken if takes else rest).append(row)
        self._fresh.clear()
        if self._engine is not None and taken:
            self._engine.add_many(taken, [parsed(self._entries[row].condition) for row in taken])
        self._rest.add_many(rest, [parsed(self._entries[row].condition) for row in rest])
