"""Keys with their values, in little memory where most keys have one."""

from collections.abc import Collection, Hashable, Iterator
from typing import Any, Final, Generic, TypeVar

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value", bound=Hashable)

_NONE: Final = object()


class Several(Generic[Key, Value]):
    """Keys, each with one value or several, in the order in which they came. A key goes with its last value.

    One value stands alone, without a dictionary around it: a broker has very many keys with one.
    """

    __slots__ = ("_by_key", "pairs")

    def __init__(self) -> None:
        #: A value is hashable, so a dictionary is none: its keys are the values.
        self._by_key: dict[Key, Any] = {}
        #: How many pairs of a key and a value there are.
        self.pairs = 0

    def add(self, key: Key, value: Value) -> bool:
        """Give a key a value; return whether that is news."""
        known = self._by_key.get(key, _NONE)
        if known is _NONE:
            self._by_key[key] = value
        elif type(known) is dict:
            if value in known:
                return False
            known[value] = None
        elif known == value:
            return False
        else:
            self._by_key[key] = {known: None, value: None}
        self.pairs += 1
        return True

    def remove(self, key: Key, value: Value) -> bool:
        """Take a value from a key; return whether it had it."""
        known = self._by_key.get(key, _NONE)
        if type(known) is dict:
            if value not in known:
                return False
            del known[value]
            if len(known) == 1:
                self._by_key[key] = next(iter(known))
        elif known is _NONE or known != value:
            return False
        else:
            del self._by_key[key]
        self.pairs -= 1
        return True

    def of(self, key: Key) -> Collection[Value]:
        """Return the values of a key. They must not change while one goes through them."""
        known = self._by_key.get(key, _NONE)
        if type(known) is dict:
            return known
        return () if known is _NONE else (known,)

    def items(self) -> Iterator[tuple[Key, Value]]:
        """Go through all pairs."""
        for key in self._by_key:
            for value in self.of(key):
                yield key, value

    def __contains__(self, key: object) -> bool:
        return key in self._by_key

    def __iter__(self) -> Iterator[Key]:
        return iter(self._by_key)

    def __len__(self) -> int:
        """Return how many keys there are."""
        return len(self._by_key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Several) and (self._by_key, self.pairs) == (other._by_key, other.pairs)

    __hash__ = None  # type: ignore[assignment] # it changes

    def check_invariants(self) -> None:
        """Raise `AssertionError` if a value stands in another way than it should, or pairs are miscounted."""
        assert all(len(each) > 1 for each in self._by_key.values() if type(each) is dict)
        assert self.pairs == sum(1 for _ in self.items())
