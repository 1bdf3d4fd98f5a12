"""Who wants what: conditions with their holders."""

from collections.abc import Hashable, Iterable, Iterator, Mapping
from itertools import islice
from typing import Any, Final, Generic

from typing_extensions import TypeVar

from tamis.matching import Index
from tamis.routing.conditions import parsed
from tamis.routing.packets import Name
from tamis.routing.several import Several

#: Tables that are not larger are simply read through.
SMALL: Final = 8
#: So many conditions are parsed at once when an index is made: all of them together might not fit into memory.
AT_ONCE: Final = 1 << 16

Holder = TypeVar("Holder", bound=Hashable, default=Name)


class Table(Generic[Holder]):
    """Conditions, each held by some clients, neighbours or brokers: who has to get an event?

    A condition that several hold is matched once. All answers come in the order in which holders came, so that a
    run can be repeated.
    """

    def __init__(self, engine: str = "auto") -> None:
        self._engine = engine
        self._held: Several[Holder, str] = Several()
        self._holders: Several[str, Holder] = Several()
        self._number: dict[str, int] = {}
        self._text: dict[Name, str] = {}
        self._index: Index | None = None
        self._next = 0

    def add(self, holder: Holder, condition: str) -> bool:
        """Let somebody hold a condition; return whether that is news."""
        number = self._number.get(condition)
        if number is not None:
            # One text for all that is kept.
            condition = self._text.get(number, condition)
        if not self._held.add(holder, condition):
            return False
        self._holders.add(condition, holder)
        if number is None:
            self._number[condition] = self._next
            self._text[self._next] = condition
            if self._index is not None:
                self._index.add(self._next, parsed(condition))
            self._next += 1
        return True

    def remove(self, holder: Holder, condition: str) -> bool:
        """Let somebody no longer hold a condition; return whether it was held."""
        if not self._held.remove(holder, condition):
            return False
        self._holders.remove(condition, holder)
        if condition not in self._holders:
            number = self._number.pop(condition)
            del self._text[number]
            if self._index is not None:
                self._index.remove(number)
        return True

    def drop(self, holder: Holder) -> list[str]:
        """Forget a holder; return what it held."""
        held = self.held_by(holder)
        for condition in held:
            self.remove(holder, condition)
        return held

    def held_by(self, holder: Holder) -> list[str]:
        """Return what somebody holds."""
        return list(self._held.of(holder))

    def holders(self, condition: str) -> list[Holder]:
        """Return who holds a condition."""
        return list(self._holders.of(condition))

    def met(self, event: Mapping[str, Any]) -> list[str]:
        """Return the conditions that an event meets."""
        if self._index is None:
            if len(self._holders) <= SMALL:
                return [condition for condition in self._holders if parsed(condition).matches(event)]
            self._index = Index(self._engine)
            rest = iter(self._text.items())
            while some := dict(islice(rest, AT_ONCE)):
                self._index.add_many(list(some), [parsed(text) for text in some.values()])
        return [self._text[number] for number in sorted(self._index.match(event))]

    def interested(self, event: Mapping[str, Any]) -> list[Holder]:
        """Return who holds a condition that an event meets, each once."""
        found: dict[Holder, None] = {}
        for condition in self.met(event):
            for holder in self._holders.of(condition):
                found[holder] = None
        return list(found)

    def pairs(self) -> Iterator[tuple[Holder, str]]:
        """Go through all holders with all that they hold."""
        return self._held.items()

    def __contains__(self, condition: object) -> bool:
        return condition in self._holders

    def __iter__(self) -> Iterator[str]:
        return iter(self._holders)

    def __len__(self) -> int:
        """Return how many conditions are held, counted once for each holder."""
        return self._held.pairs

    def mended(self, pairs: Iterable[tuple[Holder, str]]) -> "Table[Holder]":
        """Return a table of just these pairs: this one, if it is that and all its parts agree, or another."""
        made: Table[Holder] = Table(self._engine)
        for holder, condition in pairs:
            made.add(holder, condition)
        sound = (
            self._held == made._held
            and self._holders == made._holders
            and self._number.keys() == made._number.keys()
            and self._text == {number: text for text, number in self._number.items()}
            and (self._index is None or set(self._index) == self._text.keys())
            and self._next > max(self._text, default=-1)  # type: ignore[operator] # numbers are given here
        )
        return self if sound else made

    def check_invariants(self) -> None:
        """Raise `AssertionError` if something does not fit together."""
        self._held.check_invariants()
        self._holders.check_invariants()
        assert {(holder, condition) for condition, holder in self._holders.items()} == set(self.pairs())
        assert self._number.keys() == set(self._holders)
        assert {number: text for text, number in self._number.items()} == self._text
        if self._index is not None:
            assert set(self._index) == set(self._text)
