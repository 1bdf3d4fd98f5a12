"""Everything that a broker knows by direction: its own clients' subscriptions, and those behind each neighbour."""

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping
from typing import Any, Final, Generic, TypeVar

import numpy as np

from tamis.routing.conditions import is_canonical, parsed
from tamis.routing.interface import Entry, Interface
from tamis.routing.keys import Keys, KeyTable
from tamis.routing.packets import Name, Subscription

T = TypeVar("T", bound=Hashable)

#: The place of local clients in the key table.
LOCAL: Final = 0


class Interfaces(Generic[T]):
    """An interface for local clients and one for each neighbour, and one table in which all keys are looked up."""

    def __init__(self, engine: str) -> None:
        self._engine = engine
        self.local: Interface[Subscription] = Interface(engine)
        self.behind: dict[Name, Interface[T]] = {}
        self.keys = KeyTable()
        #: Neighbours are places in the key table.
        self._places: dict[Name, int] = {}
        self._free: list[int] = []
        self._named: dict[int, list[Subscription]] = {}

    def open(self, neighbour: Name) -> None:
        """Make an interface for a new neighbour."""
        self.behind[neighbour] = Interface(self._engine)
        self._places[neighbour] = self._free.pop() if self._free else len(self._places) + 1

    def interface(self, entries: Iterable[Entry[T]]) -> Interface[T]:
        """Return an interface with these subscriptions that belongs to nobody yet."""
        made: Interface[T] = Interface(self._engine)
        made.add(entries)
        return made

    def emptied(self) -> "Interfaces[T]":
        """Return the same without local clients, all indexes and keys made anew."""
        made: Interfaces[T] = Interfaces(self._engine)
        for neighbour, interface in self.behind.items():
            made.open(neighbour)
            made.add(neighbour, (entry for entry in interface.entries() if is_canonical(entry.condition)))
        return made

    def close(self, neighbour: Name) -> list[Entry[T]]:
        """Forget a neighbour; return what lay behind it."""
        entries = list(self.behind[neighbour].entries())
        self.remove(neighbour, [entry.item for entry in entries])
        del self.behind[neighbour]
        self._free.append(self._places.pop(neighbour))
        return entries

    def add(self, neighbour: Name, entries: Iterable[Entry[T]]) -> None:
        """Add subscriptions behind a neighbour that are not there yet."""
        listed = list(entries)
        self.behind[neighbour].add(listed)
        self.keys.add(np.array([entry.key for entry in listed], np.uint32), self._places[neighbour])

    def remove(self, neighbour: Name, items: Iterable[T]) -> list[int]:
        """Remove subscriptions behind a neighbour that are there; return their keys."""
        keys = self.behind[neighbour].remove(items)
        self.keys.remove(keys, self._places[neighbour])
        return [int(key) for key in keys]

    def add_local(self, subscription: Subscription, key: int) -> None:
        """Add a subscription of a local client."""
        self.local.add((Entry(subscription, subscription.condition, key),))
        self.keys.add(np.array([key], np.uint32), LOCAL)
        self._named.setdefault(key, []).append(subscription)

    def remove_local(self, subscription: Subscription) -> int:
        """Remove a subscription of a local client; return its key."""
        keys = self.local.remove((subscription,))
        self.keys.remove(keys, LOCAL)
        (key,) = keys.tolist()
        self._named[key].remove(subscription)
        if not self._named[key]:
            del self._named[key]
        return int(key)

    def look_up(self, keys: Keys, source: Name) -> tuple[Keys, dict[Name, Keys]]:
        """Return which keys are those of local clients, and which lie behind each neighbour but one."""
        found, ends = self.keys.sorted_by_place(keys, len(self._places) + len(self._free) + 1, self._places[source])
        stops = ends.tolist()
        behind = {
            neighbour: found[stops[place - 1] : stops[place]]
            for neighbour, place in self._places.items()
            if stops[place - 1] < stops[place]
        }
        return found[: stops[LOCAL]], behind

    def named(self, keys: Keys, event: Mapping[str, Any]) -> list[Subscription]:
        """Return the subscriptions of local clients that an event meets, given the keys of all that it meets.

        A subscription elsewhere may have the same key, so each is compared with the event by itself: whoever named the
        key may know of that other one while we do not yet.
        """
        return [
            subscription
            for key in keys.tolist()
            for subscription in self._named[key]
            if parsed(subscription.condition).matches(event)
        ]

    def __len__(self) -> int:
        return len(self.local) + sum(map(len, self.behind.values()))

    def check_invariants(self) -> None:
        """Raise `AssertionError` if something does not fit together."""
        self.keys.check_invariants()
        self.local.check_invariants()
        expected = Counter((entry.key, LOCAL) for entry in self.local.entries())
        for neighbour, interface in self.behind.items():
            interface.check_invariants()
            expected.update((entry.key, self._places[neighbour]) for entry in interface.entries())
        assert self.keys.entries() == dict(expected)
        assert self._places.keys() == self.behind.keys()
        taken = [*self._places.values(), *self._free]
        assert sorted(taken) == list(range(1, len(taken) + 1))
        named = sorted((key, repr(each)) for key, held in self._named.items() for each in held)
        assert named == sorted((entry.key, repr(entry.item)) for entry in self.local.entries())
