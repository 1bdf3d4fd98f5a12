"""Siena's poset for filters that look for a text in another: as fast as Python can walk it (specs/004 §3, §9 E6)."""

from collections.abc import Callable, Mapping
from itertools import compress, repeat
from operator import contains

from tamis.covering.detectors import Longs
from tamis.covering.graphs.graph import Relation
from tamis.covering.graphs.poset import Poset


class Texts(Relation):
    """Texts that are looked for in others, all different: one covers all that it is a part of."""

    def __init__(self) -> None:
        self.texts: dict[int, str] = {}

    def covers(self, a: int, b: int) -> bool:
        return self.texts[a] in self.texts[b]

    def coverers(self, handle: int, limit: int) -> list[int]:
        text = self.texts[handle]
        return [each for each, part in self.texts.items() if part in text and each != handle][:limit]

    def covering(self, among: Longs, handle: int) -> list[int]:
        self.compared += len(among)
        handles = among.tolist()
        return list(compress(handles, map(self.texts[handle].__contains__, map(self.texts.__getitem__, handles))))

    def covered(self, among: Longs, handle: int) -> list[int]:
        self.compared += len(among)
        handles, part = among.tolist(), repeat(self.texts[handle])
        return list(compress(handles, map(contains, map(self.texts.__getitem__, handles), part)))


class _Node:
    """A filter, with those right below it and their texts."""

    __slots__ = ("below", "number", "texts", "user")

    def __init__(self, number: int, user: int) -> None:
        self.number = number
        self.user = user
        self.below: list[_Node] = []
        self.texts: list[str] = []


class Walk:
    """Matches texts with a Hasse diagram that is laid out for it.

    From the top down through filters that are met. All filters below one are tested by one call, so that a test is one
    search for a substring and no step of the interpreter. It ends early when all users are found.
    """

    def __init__(self, poset: Poset, texts: Mapping[int, str], user: Callable[[int], int]) -> None:
        nodes = {number: _Node(number, user(number)) for number in texts}
        self._root = _Node(-1, -1)
        top = [(self._root, number) for number in sorted(poset.forwarded())]
        for high, low in [*top, *((nodes[high], low) for high, low in sorted(poset.edges()))]:
            high.below.append(nodes[low])
            high.texts.append(texts[low])
        self._users = len({each.user for each in nodes.values()})

    def match(self, text: str) -> set[int]:
        """Return the users with a filter that a text meets."""
        found: set[int] = set()
        seen: set[int] = set()
        waiting = [self._root]
        while waiting and len(found) < self._users:
            node = waiting.pop()
            for low in compress(node.below, map(text.__contains__, node.texts)):
                if low.number not in seen:
                    seen.add(low.number)
                    found.add(low.user)
                    if low.texts:
                        waiting.append(low)
        return found

    def tests(self, text: str) -> int:
        """Return how many filters are tested if nothing ends early: those below two that are met, twice."""
        met = {self._root}
        waiting = [self._root]
        while waiting:
            node = waiting.pop()
            further = [low for low, part in zip(node.below, node.texts, strict=True) if part in text and low not in met]
            met.update(further)
            waiting += further
        return sum(len(node.texts) for node in met)
