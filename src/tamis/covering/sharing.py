"""Equal subscriptions are one: they share a handle, and one of them speaks for all (specs/000 §5)."""

from collections.abc import Hashable, Iterator
from typing import Generic, TypeVar

Id = TypeVar("Id", bound=Hashable)


class Sharing(Generic[Id]):
    """Subscriptions by id, each with the handle that it shares with its equals. Handles are small and used again."""

    def __init__(self) -> None:
        self._handles: dict[Id, int] = {}
        self._by_key: dict[Hashable, int] = {}
        self._keys: dict[int, Hashable] = {}
        #: By handle: who has it, in order of arrival. The first speaks for all.
        self._members: dict[int, dict[Id, None]] = {}
        self._free: list[int] = []

    def join(self, id: Id, key: Hashable) -> tuple[int, bool]:
        """Take in a subscription that is not there; return its handle and whether it is the first of its kind."""
        handle = self._by_key.get(key)
        first = handle is None
        if handle is None:
            handle = self._free.pop() if self._free else len(self._members)
            self._by_key[key], self._keys[handle], self._members[handle] = handle, key, {}
        self._members[handle][id] = None
        self._handles[id] = handle
        return handle, first

    def leave(self, id: Id) -> tuple[int, bool]:
        """Let a subscription go that is there; return the handle it had and whether it was the last of its kind."""
        handle = self._handles.pop(id)
        members = self._members[handle]
        del members[id]
        if members:
            return handle, False
        del self._members[handle], self._by_key[self._keys.pop(handle)]
        self._free.append(handle)
        return handle, True

    def speaker(self, handle: int) -> Id:
        """Return who speaks for a handle."""
        return next(iter(self._members[handle]))

    def handle(self, id: Id) -> int:
        """Return the handle of a subscription."""
        return self._handles[id]

    @property
    def handles(self) -> int:
        """How many different subscriptions there are."""
        return len(self._members)

    def __len__(self) -> int:
        return len(self._handles)

    def __contains__(self, id: object) -> bool:
        return id in self._handles

    def __iter__(self) -> Iterator[Id]:
        return iter(self._handles)

    def check_invariants(self) -> None:
        """Raise `AssertionError` if something does not fit together."""
        assert {id: handle for handle, members in self._members.items() for id in members} == self._handles
        assert all(self._members.values())
        assert self._by_key == {key: handle for handle, key in self._keys.items()}
        assert self._keys.keys() == self._members.keys()
        assert sorted([*self._members, *self._free]) == list(range(len(self._members) + len(self._free)))
