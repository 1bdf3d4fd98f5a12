"""Conditions of any shape under handles, as a relation that graphs stand on."""

from collections.abc import Iterator
from itertools import chain, combinations, count
from typing import NamedTuple

from tamis.covering.containment import Shape, covering
from tamis.covering.detectors import Detector, Longs, detector_class
from tamis.covering.graphs.graph import Relation
from tamis.covering.hull import Box, box

#: How many times more candidates are asked for when some turned out not to cover.
_MORE = 4


class _Held(NamedTuple):
    shape: Shape
    box: Box
    #: Grows with every condition that is added.
    age: int


class Conditions(Relation):
    """Conditions that can match. The detector finds by their boxes who may cover one; the conditions themselves decide.

    There is a detector for each set of attributes that conditions constrain. Whoever covers a condition constrains no
    attributes but those that it constrains, so only the detectors of subsets are asked.

    Of conditions that cover each other, or may do so, only the older covers the younger. Otherwise three equal ones
    of different form could lead round in a circle once the first is gone, and no one would be forwarded.
    """

    def __init__(self, detector: str | None) -> None:
        self._detector = None if detector is None else detector_class(detector)
        self._held: dict[int, _Held] = {}
        self._groups: dict[tuple[str, ...], Detector] = {}
        self._ages = count()
        #: Conditions about which a question could not be decided: somebody may cover them, but it is not certain.
        self.undecided: set[int] = set()
        #: How often coverers were asked for, how many candidates there were, and how many of them covered.
        self.calls = 0
        self.candidates = 0
        self.confirmed = 0
        self._touched = 0

    @property
    def touched(self) -> int:
        """How many boxes, or nodes that stand for several, the detectors looked at."""
        return self._touched + sum(each.touched for each in self._groups.values())

    @property
    def groups(self) -> int:
        """How many sets of attributes there are."""
        return len(self._groups)

    def add(self, handle: int, shape: Shape) -> None:
        """Take in a condition that can match."""
        around = box(shape.form)
        self._held[handle] = _Held(shape, around, next(self._ages))
        if self._detector is not None:
            if around.attributes not in self._groups:
                self._groups[around.attributes] = self._detector(len(around.attributes))
            self._groups[around.attributes].add(handle, around.low, around.high)

    def remove(self, handle: int) -> None:
        """Let a condition go."""
        attributes = self._held.pop(handle).box.attributes
        self.undecided.discard(handle)
        if self._detector is not None:
            group = self._groups[attributes]
            group.remove(handle)
            if not group:
                self._touched += group.touched
                del self._groups[attributes]

    def covers(self, a: int, b: int) -> bool:
        upper, lower = self._held[a], self._held[b]
        answer = covering(upper.shape, lower.shape)
        if answer is None:
            self.undecided.add(b)
        if not answer:
            return False
        return upper.age < lower.age or covering(lower.shape, upper.shape) is False

    def coverers(self, handle: int, limit: int) -> list[int]:
        self.calls += 1
        found: list[int] = []
        around = self._held[handle].box
        for attributes in self._subsets(around.attributes):
            low, high = around.low, around.high
            if len(attributes) < len(around.attributes):
                places = [around.attributes.index(each) for each in attributes]
                low, high = low[places], high[places]
            found += self._confirmed(self._groups[attributes], handle, low, high, limit - len(found))
            if len(found) == limit:
                break
        return found

    def _confirmed(self, group: Detector, handle: int, low: Longs, high: Longs, limit: int) -> list[int]:
        """Return those of a group that cover a condition, asking for more while some do not."""
        asked = limit
        known: dict[int, bool] = {}
        while True:
            there = group.coverers(low, high, asked, besides=handle)
            for each in there:
                if each not in known:
                    known[each] = self.covers(each, handle)
            found = [each for each in there if known[each]]
            if len(found) >= limit or len(there) < asked:
                break
            asked *= _MORE
        self.candidates += len(known)
        self.confirmed += len(found)
        return found[:limit]

    def _subsets(self, attributes: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
        """Yield those sets of attributes, of which there are conditions, that are within one."""
        if 2 ** len(attributes) < len(self._groups):
            every = chain.from_iterable(combinations(attributes, size) for size in range(len(attributes) + 1))
            return (each for each in every if each in self._groups)
        names = frozenset(attributes)
        return (each for each in self._groups if names.issuperset(each))

    def check_invariants(self) -> None:
        """Raise `AssertionError` if something does not fit together."""
        if self._detector is not None:
            assert {held.box.attributes for held in self._held.values()} == self._groups.keys()
            assert sum(map(len, self._groups.values())) == len(self._held)
        for group in self._groups.values():
            group.check_invariants()
        assert self.undecided <= self._held.keys()
