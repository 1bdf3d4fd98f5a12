"""Bloom-filter routing and what it is compared with, on the filters and events of XSiena (specs/004 §8, §9).

Everything here is Python, the sbsposet, the sbstree and the relation graphs alike, and all of them compare and test
predicates by the same functions. So their times may be compared; only the counting table has a compiled loop.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from tamis.covering.conditions import Conditions
from tamis.covering.containment import Shape
from tamis.covering.graphs import Graph, graphs
from tamis.lab.workloads import Conjunctions, SparseEvents, Workload, XSiena, generate
from tamis.lab.workloads.draws import Flags
from tamis.language.values import read
from tamis.routing.bloom import Filter, ForwardingTable, Places, Predicate, SbsPoset, filters_of
from tamis.sketches import Hashes

#: The predicates of a filter, each with its bits.
Marked: TypeAlias = tuple[tuple[Predicate, Places], ...]


@dataclass(frozen=True, eq=False)
class Load:
    """Filters and events in the forms that structures take. To make these is not what experiments time."""

    workload: Workload
    texts: list[str]
    filters: list[Filter]
    events: list[dict[str, Any]]

    def marked(self, hashes: Hashes) -> list[Marked]:
        """Return the filters with their bits, which a subscriber finds before it subscribes (thesis §5.1)."""
        return [tuple((each, hashes.places(each.text)) for each in conjunction) for conjunction in self.filters]


def load(spec: XSiena, seed: int) -> Load:
    """Draw filters and events."""
    workload = generate(spec, seed)
    texts = [str(text) for text in workload.conditions.texts().to_pylist()]
    filters = [each for text in texts for each in filters_of(text).filters]
    assert len(filters) == len(texts)
    return Load(workload, texts, filters, list(workload.events.rows()))


def truth(workload: Workload) -> Flags:
    """Return which event, by row, meets which filter, by column: all pairs that share a name are tried.

    Nothing of the routing room takes part.
    """
    filters, events = workload.conditions, workload.events
    assert isinstance(filters, Conjunctions)
    assert isinstance(events, SparseEvents)
    met = np.zeros((len(events), len(filters)), np.uint8)
    owners = np.repeat(np.arange(len(filters)), np.diff(filters.offsets))
    rows = np.repeat(np.arange(len(events)), np.diff(events.offsets))
    asked, said = np.argsort(filters.codes, kind="stable"), np.argsort(events.codes, kind="stable")
    for code in np.intersect1d(filters.codes, events.codes).tolist():
        predicates = asked[slice(*np.searchsorted(filters.codes[asked], (code, code + 1)))]
        pairs = said[slice(*np.searchsorted(events.codes[said], (code, code + 1)))]
        each = np.tile(predicates, len(pairs))
        found = filters.predicates.accept(each, np.repeat(events.values[pairs], len(predicates)))
        # A name occurs once in a filter and once in an event, so no cell is counted twice.
        met[np.ix_(rows[pairs], owners[predicates])] += found.reshape(len(pairs), len(predicates))
    return np.asarray(met == np.diff(filters.offsets).astype(np.uint8))


# --- Bloom-filter routing ------------------------------------------------------------------------------------


def bits_of(marked: Marked) -> Places:
    """Return the bits of a filter."""
    return tuple(sorted({place for _, places in marked for place in places}))


def fill_poset(poset: SbsPoset, filters: Iterable[Marked]) -> None:
    """Put the predicates of filters into an sbsposet."""
    for marked in filters:
        for predicate, places in marked:
            poset.add(predicate, places)


def fill_table(table: ForwardingTable, filters: Iterable[Marked], first: int = 0) -> None:
    """Put filters, the first of which has a number, into a table; each has an interface of its own."""
    for number, marked in enumerate(filters, first):
        table.add(bits_of(marked), number, number)


class Metered(Predicate):
    """A predicate that counts how often any such is compared with another, and with an event."""

    __slots__ = ()

    compared = 0
    tested = 0

    def covers(self, other: Predicate) -> bool:
        """Compare, and count it."""
        Metered.compared += 1
        return super().covers(other)

    def met_by(self, kind: Any, value: Any, event: Mapping[str, Any]) -> bool:
        """Test, and count it."""
        Metered.tested += 1
        return super().met_by(kind, value, event)


def metered(filters: Iterable[Marked]) -> list[Marked]:
    """Return the same with predicates that are counted, beginning at 0."""
    Metered.compared = Metered.tested = 0
    return [tuple((Metered(*predicate), places) for predicate, places in marked) for marked in filters]


# --- relation graphs -----------------------------------------------------------------------------------------


class Growing:
    """A poset or forest of filters that become more."""

    def __init__(self, name: str) -> None:
        self.relation = Conditions(None)
        self.graph: Graph = graphs()[name](self.relation)
        self.size = 0

    def add(self, shapes: Iterable[Shape]) -> None:
        """Take in more filters."""
        for each in shapes:
            self.relation.add(self.size, each)
            self.graph.add(self.size)
            self.size += 1


class Matched(NamedTuple):
    """The filters that an event meets, and how many were tested."""

    filters: list[int]
    tested: int


class Descent:
    """Matches events with a relation graph: from those at the top down through filters that are met (specs/004 §3)."""

    def __init__(self, grown: Growing, filters: Sequence[Filter]) -> None:
        self._filters = filters
        self._top = sorted(grown.graph.forwarded())
        self._below: dict[int, list[int]] = {}
        for low in range(grown.size):
            for high in grown.graph.above(low):
                self._below.setdefault(high, []).append(low)

    def match(self, event: Mapping[str, Any]) -> Matched:
        """Return what an event meets."""
        # Read once for all filters, as the sbsposet does.
        values = {name: read(event, name) for name in event}
        found: list[int] = []
        waiting = self._top
        seen: set[int] = set()
        tested = 0
        while waiting:
            tested += len(waiting)
            met = [each for each in waiting if self._meets(each, values, event)]
            found += met
            waiting = []
            for high in met:
                waiting += [low for low in self._below.get(high, ()) if low not in seen]
                seen.update(waiting)
        return Matched(found, tested)

    def _meets(self, number: int, values: Mapping[str, tuple[Any, Any]], event: Mapping[str, Any]) -> bool:
        for predicate in self._filters[number]:
            value = values.get(predicate.attribute)
            if value is None or not predicate.met_by(*value, event):
                return False
        return True
