"""What a forwarding table is, and which there are (specs/004 §5): from the bits of an event to interfaces.

A new table is one file with a class decorated with `@register(name)`; importing that file in `tamis.routing.bloom` puts
it under the tests that all tables share.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterable
from typing import Any, TypeAlias, TypeVar

#: Bits that are set, in ascending order: the sparse form of a Bloom filter.
Places: TypeAlias = tuple[int, ...]
#: Where events may go: a neighbour or a local client, in whatever hashable way its user tells them apart.
Interface: TypeAlias = Any


class ForwardingTable(ABC):
    """Filters by their bits. An event goes to the interface of every filter whose bits are all among its own.

    [FIX] What is held is a pair of filter and interface, not of bits and interface: two filters with the same bits are
    two, or the predicates of the second would never be known and its events be lost. The bits alone decide about
    events, so filters with the same bits share a *slot*, and the structures below know slots only.
    """

    def __init__(self, bits: int) -> None:
        self.bits = bits
        self._slots: dict[Places, int] = {}
        self._leaves: dict[int, dict[Interface, set[Hashable]]] = {}
        self._free: list[int] = []
        #: For each interface when it came, and how many filters it has.
        self._order: dict[Interface, int] = {}
        self._counts: dict[Interface, int] = {}
        self._came = 0

    def add(self, places: Places, key: Hashable, interface: Interface) -> bool:
        """Hold a filter, known by a key, with its bits for an interface; return whether that is news."""
        slot = self._slots.get(places)
        if slot is None:
            self._check(places)
            slot = self._free.pop() if self._free else len(self._slots)
            self._slots[places] = slot
            self._leaves[slot] = {}
            self.insert(slot, places)
        held = self._leaves[slot].setdefault(interface, set())
        if key in held:
            return False
        held.add(key)
        if interface not in self._order:
            self._order[interface] = self._came
            self._counts[interface] = 0
            self._came += 1
        self._counts[interface] += 1
        return True

    def _check(self, places: Places) -> None:
        if list(places) != sorted(set(places)) or (places and not 0 <= places[0] <= places[-1] < self.bits):
            raise ValueError(f"bits are numbers from 0 to {self.bits - 1} in ascending order, not {places}")

    def remove(self, places: Places, key: Hashable, interface: Interface) -> bool:
        """No longer hold a filter for an interface; return whether it was held."""
        slot = self._slots.get(places)
        held = None if slot is None else self._leaves[slot].get(interface)
        if slot is None or held is None or key not in held:
            return False
        held.remove(key)
        self._counts[interface] -= 1
        if not self._counts[interface]:
            del self._counts[interface], self._order[interface]
        if not held:
            del self._leaves[slot][interface]
            if not self._leaves[slot]:
                self.delete(slot, places)
                del self._slots[places], self._leaves[slot]
                self._free.append(slot)
        return True

    def holds(self, places: Places, key: Hashable, interface: Interface) -> bool:
        """Say whether a filter is held for an interface."""
        slot = self._slots.get(places)
        return slot is not None and key in self._leaves[slot].get(interface, ())

    def match(self, places: Places) -> list[Interface]:
        """Return the interfaces for an event with these bits, in the order in which they came."""
        if places and not 0 <= min(places) <= max(places) < self.bits:
            raise ValueError(f"an event has bits from 0 to {self.bits - 1}, not {places}")
        found: set[Interface] = set()
        for slot in self.found(places):
            found.update(self._leaves[slot])
            if len(found) == len(self._order):
                break
        return sorted(found, key=self._order.__getitem__)

    @abstractmethod
    def insert(self, slot: int, places: Places) -> None:
        """Take in a slot with its bits."""

    @abstractmethod
    def delete(self, slot: int, places: Places) -> None:
        """Let a slot go, of which the bits are given."""

    @abstractmethod
    def found(self, places: Places) -> Iterable[int]:
        """Return the slots all of whose bits are among these."""

    @abstractmethod
    def layout(self) -> object:
        """Return what the structure looks like, with bits in place of slots: it depends on the filters alone."""

    def __len__(self) -> int:
        """Return how many pairs of filter and interface are held."""
        return sum(self._counts.values())

    def slots(self) -> dict[int, Places]:
        """Return all slots with their bits."""
        return {slot: places for places, slot in self._slots.items()}

    def check_invariants(self) -> None:
        """Raise `AssertionError` if something does not fit together."""
        assert sorted([*self._leaves, *self._free]) == list(range(len(self._leaves) + len(self._free)))
        assert self.slots().keys() == self._leaves.keys()
        counts: dict[Interface, int] = {}
        for leaves in self._leaves.values():
            assert leaves
            for interface, held in leaves.items():
                assert held
                counts[interface] = counts.get(interface, 0) + len(held)
        assert counts == self._counts
        assert self._order.keys() == counts.keys()
        fresh = type(self)(self.bits)
        for places in sorted(self._slots):
            fresh.add(places, None, None)
        assert fresh.layout() == self.layout()


T = TypeVar("T", bound=type[ForwardingTable])

_registry: dict[str, type[ForwardingTable]] = {}


def register(name: str) -> Callable[[T], T]:
    """Register a class of tables, which takes the number of bits, under a name."""

    def decorate(table: T) -> T:
        if name in _registry:
            raise ValueError(f"there is a forwarding table named {name!r} already")
        _registry[name] = table
        return table

    return decorate


def tables() -> dict[str, type[ForwardingTable]]:
    """Return all tables by name."""
    return dict(_registry)


def make_table(name: str, bits: int) -> ForwardingTable:
    """Return a new table."""
    if name not in _registry:
        raise ValueError(f"there is no forwarding table {name!r}; there are: {', '.join(sorted(_registry))}")
    return _registry[name](bits)
