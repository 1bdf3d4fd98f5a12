"""All that one broker knows of filters: the sbsposet for events that enter here, a forwarding table for all events."""

from collections.abc import Callable, Mapping
from typing import Any

from tamis.routing.bloom.filters import Filter, filters_of
from tamis.routing.bloom.forwarding import Interface, Places, make_table
from tamis.routing.bloom.sbsposet import SbsPoset


class Store:
    """Conditions with their interfaces. `places` gives the bits of a predicate's text, the same at every broker.

    An event goes to every interface with a condition that it meets, provided that its bits were made by a broker that
    knows the same conditions; it may go to others because of bits that predicates share.
    """

    def __init__(self, table: str, bits: int, places: Callable[[str], Places]) -> None:
        self.poset = SbsPoset()
        self.table = make_table(table, bits)
        self._places = places
        #: How many conditions have too many clauses, so that everything is taken to meet them.
        self.blunt = 0

    def add(self, condition: str, interface: Interface) -> bool:
        """Hold a condition for an interface; return whether that is news."""
        found = filters_of(condition)
        news = False
        for number, each in enumerate(found.filters):
            # [FIX] The table first: the predicates are known if and only if the filter is.
            if self.table.add(self._bits(each), (condition, number), interface):
                news = True
                for predicate in each:
                    self.poset.add(predicate, self._places(predicate.text))
        self.blunt += found.blunt and news
        return news

    def remove(self, condition: str, interface: Interface) -> bool:
        """No longer hold a condition for an interface; return whether it was held."""
        found = filters_of(condition)
        news = False
        for number, each in enumerate(found.filters):
            if self.table.remove(self._bits(each), (condition, number), interface):
                news = True
                for predicate in each:
                    self.poset.remove(predicate)
        self.blunt -= found.blunt and news
        return news

    def holds(self, condition: str, interface: Interface) -> bool:
        """Say whether a condition is held for an interface."""
        return all(
            self.table.holds(self._bits(each), (condition, number), interface)
            for number, each in enumerate(filters_of(condition).filters)
        )

    def _bits(self, conjunction: Filter) -> Places:
        return tuple(sorted({place for predicate in conjunction for place in self._places(predicate.text)}))

    def bits_of(self, event: Mapping[str, Any]) -> Places:
        """Return the bits of an event, by its content."""
        return self.poset.match(event)

    def interfaces(self, places: Places) -> list[Interface]:
        """Return where an event with these bits goes."""
        return self.table.match(places)

    def check_invariants(self) -> None:
        """Raise `AssertionError` if something does not fit together."""
        self.poset.check_invariants()
        self.table.check_invariants()
