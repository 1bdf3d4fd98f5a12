"""The sbstree beside counting: how long they take for an event with so many bits, and how many steps that is."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple

import msgspec

from tamis.lab.content import best_seconds
from tamis.routing.bloom import ForwardingTable, Places, make_table

SBSTREE, COUNTING, COMPILED = "sbstree", "counting, in Python", "counting, compiled"
NAMES: Final = (SBSTREE, COUNTING, COMPILED)


class Walk(NamedTuple):
    """What an event's way through a trie takes: nodes visited, edges there, and edges that had to be looked up."""

    nodes: int
    edges: int
    looked_up: int


class Trie:
    """The layout of an sbstree, on which its steps are counted."""

    def __init__(self, table: ForwardingTable) -> None:
        self._root: Any = table.layout()

    def walk(self, places: Places) -> Walk:
        """Count the steps of an event with these bits.

        The thesis goes through all edges of a node; ours through the edges or the event's bits, whichever are fewer.
        """
        held = frozenset(places)
        waiting = [self._root]
        nodes = edges = looked_up = 0
        while waiting:
            _, children = waiting.pop()
            nodes += 1
            edges += len(children)
            looked_up += min(len(children), len(held))
            waiting += [children[place] for place in children.keys() & held]
        return Walk(nodes, edges, looked_up)


class PlainCounting(ForwardingTable):
    """The counting sbstree without a compiled loop, so that it speaks the language of the sbstree."""

    def __init__(self, bits: int) -> None:
        super().__init__(bits)
        self._having: dict[int, list[int]] = {}
        self._need: dict[int, int] = {}

    def insert(self, slot: int, places: Places) -> None:
        self._need[slot] = len(places)
        for place in places:
            self._having.setdefault(place, []).append(slot)

    def delete(self, slot: int, places: Places) -> None:
        del self._need[slot]
        for place in places:
            self._having[place].remove(slot)

    def found(self, places: Places) -> list[int]:
        seen: dict[int, int] = {}
        for place in places:
            for slot in self._having.get(place, ()):
                seen[slot] = seen.get(slot, 0) + 1
        return [slot for slot, count in seen.items() if count == self._need[slot]]

    def layout(self) -> object:
        slots = self.slots()
        return {place: {slots[slot] for slot in having} for place, having in self._having.items() if having}

    def postings(self, places: Places) -> int:
        """Return how often a filter is counted for an event with these bits."""
        return sum(len(self._having.get(place, ())) for place in places)


class Heat(msgspec.Struct, frozen=True):
    """What events took: microseconds for one by table, and the work for one."""

    microseconds: Mapping[str, float]
    bits: float
    nodes: float
    edges: float
    looked_up: float
    postings: float
    #: Events for which the tables do not agree, and filters found for an event.
    disagree: int
    found: float


def heat(filters: Sequence[Places], events: Sequence[Places], bits: int) -> Heat:
    """Let the tables find filters by the bits of events, in turns."""
    plain = PlainCounting(bits)
    tables = {SBSTREE: make_table("sbstree", bits), COUNTING: plain, COMPILED: make_table("counting", bits)}
    for table in tables.values():
        for number, places in enumerate(filters):
            table.add(places, number, number)
    answers = {name: [table.match(places) for places in events] for name, table in tables.items()}
    works: dict[str, Callable[[], object]] = {
        name: lambda each=table: [each.match(places) for places in events]  # type: ignore[misc]
        for name, table in tables.items()
    }
    seconds = best_seconds(works)
    trie = Trie(tables[SBSTREE])
    walks = [trie.walk(places) for places in events]
    count = len(events)
    return Heat(
        microseconds={name: 1e6 * each / count for name, each in seconds.items()},
        bits=sum(map(len, events)) / count,
        nodes=sum(each.nodes for each in walks) / count,
        edges=sum(each.edges for each in walks) / count,
        looked_up=sum(each.looked_up for each in walks) / count,
        postings=sum(map(plain.postings, events)) / count,
        disagree=sum(len({tuple(sorted(each)) for each in found}) > 1 for found in zip(*answers.values(), strict=True)),
        found=sum(map(len, answers[SBSTREE])) / count,
    )


def columns() -> list[str]:
    """Return what `cells` has."""
    return [
        "bits of an event",
        *(f"{name}, µs" for name in NAMES),
        "sbstree: nodes visited",
        "its edges, which the thesis goes through",
        "looked up, as ours does",
        "counting: postings",
        "filters found",
    ]


def cells(each: Heat) -> list[float]:
    """Return a row of a table."""
    return [
        each.bits,
        *(each.microseconds[name] for name in NAMES),
        each.nodes,
        each.edges,
        each.looked_up,
        each.postings,
        each.found,
    ]
