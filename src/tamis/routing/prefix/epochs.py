"""The last few routing trees of a broker, so that events on their way outlive an update (specs/004 §4)."""

from collections.abc import Hashable, Iterator, Mapping
from itertools import repeat
from typing import Any, Final, Generic, TypeVar

from tamis.routing.prefix.filters import Filter
from tamis.routing.prefix.forwarding import ForwardingTree, extract
from tamis.routing.prefix.snapshot import EMPTY, Snapshot
from tamis.routing.prefix.tags import Split, Tags

Interface = TypeVar("Interface", bound=Hashable)

#: So many trees are kept.
KEPT: Final = 8


class Epochs(Generic[Interface]):
    """What one broker knows: the filters of its interfaces, tagged in each of the last trees.

    At first there is the empty tree of epoch 0, the same for all brokers: everything is tagged at its root.
    """

    def __init__(self, split: Split = "fork", kept: int = KEPT) -> None:
        self._split = split
        self._kept = kept
        self._filters: dict[Interface, dict[Filter, int]] = {}
        self._newest: Tags[Interface] = Tags(EMPTY, split)
        #: By the seal of the tree, oldest first.
        self._trees: dict[int, Tags[Interface]] = {EMPTY.seal: self._newest}

    @property
    def newest(self) -> Snapshot:
        """The tree that events are matched with."""
        return self._newest.snapshot

    def add(self, interface: Interface, wanted: Filter) -> None:
        """Let an interface get at least the events that meet a filter."""
        held = self._filters.setdefault(interface, {})
        held[wanted] = held.get(wanted, 0) + 1
        if held[wanted] == 1:
            for tags in self._trees.values():
                tags.add(interface, wanted)

    def remove(self, interface: Interface, wanted: Filter) -> None:
        """Take a filter of an interface back. One that it does not have is a `KeyError`."""
        held = self._filters[interface]
        held[wanted] -= 1
        if not held[wanted]:
            del held[wanted]
            if not held:
                del self._filters[interface]
            for tags in self._trees.values():
                tags.remove(interface, wanted)

    def filters(self) -> Iterator[Filter]:
        """Go through all filters, those of several sides several times."""
        for held in self._filters.values():
            for wanted, count in held.items():
                yield from repeat(wanted, count)

    def counts(self) -> dict[Interface, int]:
        """Return how many filters each interface has."""
        return {interface: sum(held.values()) for interface, held in self._filters.items()}

    def switch(self, snapshot: Snapshot) -> bool:
        """Take a tree that the optimiser published; return whether it is later than all others.

        The oldest tree is forgotten when there are too many.
        """
        if (snapshot.epoch, snapshot.seal) <= (self.newest.epoch, self.newest.seal):
            return False
        tags: Tags[Interface] = Tags(snapshot, self._split)
        for interface, held in self._filters.items():
            for wanted in held:
                tags.add(interface, wanted)
        self._newest = self._trees[snapshot.seal] = tags
        if len(self._trees) > self._kept:
            del self._trees[next(iter(self._trees))]
        return True

    def emptied(self) -> "Epochs[Interface]":
        """Return the same trees without any filters."""
        made: Epochs[Interface] = Epochs(self._split, self._kept)
        for tags in self._trees.values():
            made.switch(tags.snapshot)
        return made

    def extract(self, event: Mapping[str, Any], depth: int | None = None) -> ForwardingTree:
        """Return the prefix of an event in the newest tree."""
        return extract(self.newest, event, depth)

    def knows(self, prefix: ForwardingTree) -> bool:
        """Return whether the tree of a prefix is here."""
        return prefix.seal in self._trees

    def forward(self, prefix: ForwardingTree) -> set[Interface]:
        """Return the interfaces that an event goes to: all that hold any filter, if its tree is not here."""
        tags = self._trees.get(prefix.seal)
        return set(self._filters) if tags is None else tags.forward(prefix)

    def check_invariants(self) -> None:
        """Raise `AssertionError` if something does not fit together."""
        assert len(self._trees) <= self._kept
        epochs = [tags.snapshot.epoch for tags in self._trees.values()]
        assert epochs == sorted(epochs)
        for tags in self._trees.values():
            tags.check_invariants()
            assert tags.holders == {interface: len(held) for interface, held in self._filters.items()}
