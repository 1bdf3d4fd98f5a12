"""All values that an attribute can have, on one line, cut where predicates begin and end.

This is the *predicate space* of the PS-Tree (specs/002 §4) for every kind of value at once. The kinds lie one behind
the other: null, numbers, strings, Booleans, timestamps, dates, everything else. A *cut* is a place between two values:

    (kind,)               the beginning of a kind; always there
    (kind, value, 0)      just before a value
    (kind, value, 1)      just after it

The stretch from one cut to the next is a *leaf*. All values in a leaf meet the same predicates, so to match a value is
to find its leaf. A leaf keeps its number for life; its place among the leaves is its *rank*, which changes as
cuts come and go. The leaf of null has rank 0.
"""

import sys
from array import array
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from enum import IntEnum
from itertools import chain
from typing import Any, Final, NamedTuple, Protocol, TypeAlias

import numpy as np

from tamis.language import Between, Comparison, In, Predicate
from tamis.language.ranges import Cut, Ranges
from tamis.language.values import ORDERED_KINDS, Kind
from tamis.language.valueset import ValueSet

Key: TypeAlias = tuple[Any, ...]
#: The cuts at which the stretches of a predicate begin and end.
Keys: TypeAlias = tuple[Key, ...]
#: A stretch of the line: from one cut up to another.
Stretch: TypeAlias = tuple[Key, Key]

#: Where the line ends. No value lies behind it.
END: Final[Key] = (len(Kind),)
#: No leaf.
NONE: Final = -1
#: Kinds in which the same values can be written in several ways.
_AWKWARD: Final = (Kind.NULL, Kind.BOOLEAN)
#: So many new cuts are put into their places one by one; more are sorted in.
_FEW: Final = 64
#: The cuts that are always there.
FIXED: Final[Keys] = (*((int(kind),) for kind in Kind), END)


class Split(NamedTuple):
    """A leaf was divided: the new leaf to the right of it meets what the old one met."""

    old: int
    new: int


class Merge(NamedTuple):
    """A leaf was given up: its values belong to its left neighbour now."""

    kept: int
    dropped: int


class Line(Protocol):
    """The cuts of one attribute. Every cut is counted: it stays as long as a predicate needs it."""

    def insert(self, keys: Iterable[Key]) -> list[Split]:
        """Count one more use of each cut and return the leaves that had to be split, from left to right.

        Cuts may also come as a `Counter`, which says how many uses of each to count. An old leaf that is split into
        many is named with each of its new ones.
        """

    def remove(self, keys: Iterable[Key]) -> list[Merge]:
        """Count one use less of each cut and return the leaves that went away, from left to right.

        A leaf that went away may get its number back at the next `insert`.
        """

    def locate(self, kind: Kind, value: Any) -> int:
        """Return the leaf of a value."""

    def starting(self, key: Key) -> int:
        """Return the leaf that begins at a cut, or `NONE` if there is no such cut."""

    def leaves(self) -> Sequence[int]:
        """Return all leaves from left to right; the last one begins at the end of the line."""

    def keys(self) -> list[Key]:
        """Return all cuts from left to right, so that the leaf with rank r begins at the cut with number r."""

    @property
    def bytes(self) -> int:
        """How much memory the line takes."""


class SortedCuts:
    """A line as one sorted list of cuts, searched by bisection. The backend that the engines use."""

    def __init__(self, allocate: Callable[[int], list[int]], release: Callable[[int], None]) -> None:
        self._allocate = allocate
        self._release = release
        self._keys: list[Key] = list(FIXED)
        #: By place: the leaf that begins there, and how many predicates need the cut.
        self._leaves = array("i", allocate(len(FIXED)))
        self._uses = array("i", [0] * len(FIXED))

    def insert(self, keys: Iterable[Key]) -> list[Split]:
        counts = Counter(keys)
        for key in FIXED:
            counts.pop(key, None)
        places: list[int] = []
        fresh: list[Key] = []
        for key in sorted(counts):
            at = bisect_left(self._keys, key)
            if self._keys[at] == key:
                self._uses[at] += counts[key]
            else:
                places.append(at)
                fresh.append(key)
        if not fresh:
            return []
        leaves = self._allocate(len(fresh))
        splits = [Split(self._leaves[at - 1], leaf) for at, leaf in zip(places, leaves, strict=True)]
        if len(fresh) <= _FEW:
            for at, key, leaf in zip(reversed(places), reversed(fresh), reversed(leaves), strict=True):
                self._keys.insert(at, key)
                self._leaves.insert(at, leaf)
                self._uses.insert(at, counts[key])
        else:
            self._keys += fresh
            self._keys.sort()
            self._leaves = _widened(self._leaves, places, leaves)
            self._uses = _widened(self._uses, places, [counts[key] for key in fresh])
        return splits

    def remove(self, keys: Iterable[Key]) -> list[Merge]:
        merges = []
        for key in sorted(keys):
            if len(key) == 1:
                continue
            at = bisect_left(self._keys, key)
            if self._keys[at] != key:
                raise KeyError(key)
            self._uses[at] -= 1
            if self._uses[at] == 0:
                merges.append(Merge(self._leaves[at - 1], self._leaves[at]))
                self._release(self._leaves[at])
                del self._keys[at], self._leaves[at], self._uses[at]
        return merges

    def locate(self, kind: Kind, value: Any) -> int:
        point = (int(kind), value, 0) if kind in ORDERED_KINDS else (int(kind),)
        return self._leaves[bisect_right(self._keys, point) - 1]

    def starting(self, key: Key) -> int:
        at = bisect_left(self._keys, key)
        return self._leaves[at] if self._keys[at] == key else NONE

    def leaves(self) -> Sequence[int]:
        return self._leaves

    def keys(self) -> list[Key]:
        return self._keys

    @property
    def bytes(self) -> int:
        values = sum(sys.getsizeof(key[1]) for key in self._keys if len(key) > 1)
        return sum(map(sys.getsizeof, (self._keys, self._leaves, self._uses, *self._keys))) + values


def _widened(numbers: "array[int]", places: Sequence[int], added: Sequence[int]) -> "array[int]":
    """Return the numbers with others put in before the given places."""
    return array("i", np.insert(np.frombuffer(numbers, np.int32), places, added).tobytes())


class Points(dict[Any, tuple[Key, Key]]):
    """By value: the cuts just before and just after it. They are made once, however many predicates end there."""

    def __init__(self, kind: Kind) -> None:
        super().__init__()
        self._kind = int(kind)

    def __missing__(self, value: Any) -> tuple[Key, Key]:
        found = self[value] = (self._kind, value, 0), (self._kind, value, 1)
        return found


def points_by_kind() -> tuple[Points, ...]:
    """Return the points of each kind, of which none is made yet."""
    return tuple(map(Points, Kind))


def bounds(predicate: Predicate, points: Sequence[Points]) -> Keys | None:
    """Return where the stretches of a predicate begin and end, or None if it needs `stretches` to find out.

    This is a short cut for the predicates that most conditions are made of; the result is the same.
    """
    # `is` and not `isinstance`, which takes several times as long where the answer is no.
    if type(predicate) is In:
        if predicate.kind in _AWKWARD or predicate.has_null or "" in predicate.values:
            return None
        values = sorted(set(predicate.values))
        found: Keys = tuple(chain.from_iterable(map(points[predicate.kind].__getitem__, values)))
    elif type(predicate) is Comparison:
        if predicate.kind in _AWKWARD or predicate.value == "":
            return None
        return _bounds_of_comparison(predicate.kind, predicate.operator, points[predicate.kind][predicate.value])
    elif type(predicate) is Between:
        low, high = predicate.low, predicate.high
        if predicate.kind in _AWKWARD or low == "" or low > high:  # type: ignore[operator]
            return None
        found = points[predicate.kind][low][0], points[predicate.kind][high][1]
    else:
        return None
    return (FIXED[predicate.kind], *found, FIXED[predicate.kind + 1]) if predicate.negated else found


def _bounds_of_comparison(kind: int, operator: str, point: tuple[Key, Key]) -> Keys:
    before, after = point
    if operator == "=":
        return point
    if operator == "<>":
        return FIXED[kind], before, after, FIXED[kind + 1]
    if operator[0] == "<":
        return FIXED[kind], after if operator == "<=" else before
    return after if operator == ">" else before, FIXED[kind + 1]


def complement(keys: Keys) -> Keys:
    """Return the bounds of all other values of the same kind, for bounds that `bounds` found."""
    kind = keys[0][0]
    start, end = FIXED[kind], FIXED[kind + 1]
    keys = keys[1:] if keys[0] == start else (start, *keys)
    return keys[:-1] if keys[-1] == end else (*keys, end)


def stretches(values: ValueSet) -> list[Stretch]:
    """Return a set of values as stretches of the line, from left to right, none touching the next."""
    found: list[Stretch] = []
    for start, end in _pieces(values):
        if found and found[-1][1] == start:
            found[-1] = (found[-1][0], end)
        else:
            found.append((start, end))
    return found


def _pieces(values: ValueSet) -> Iterator[Stretch]:
    if values.null:
        yield (int(Kind.NULL),), (int(Kind.NULL) + 1,)
    for kind, ranges in values.kinds():
        yield from _of_kind(kind, ranges)
    if values.other:
        yield (int(Kind.OTHER),), END


def _of_kind(kind: Kind, ranges: Ranges) -> Iterator[Stretch]:
    ends: list[Key] = [_key(kind, cut) for cut in ranges.cuts]
    if ranges.starts_inside:
        ends.insert(0, (int(kind),))
    if len(ends) % 2:
        ends.append((int(kind) + 1,))
    yield from zip(ends[::2], ends[1::2], strict=True)


def _key(kind: Kind, cut: Cut) -> Key:
    return (int(kind), *cut)


class Shape(IntEnum):
    """What a predicate looks like, the most selective first when nothing is known of events (specs/002 §2)."""

    ONE_VALUE = 0
    VALUES = 1
    INTERVAL = 2
    HALF_LINE = 3
    NOT_VALUES = 4
    NOT_ONE_VALUE = 5
    #: A null test, or anything else that spans kinds.
    BROAD = 6


def shape(keys: Keys) -> Shape:
    """Return what a set of values looks like whose stretches begin and end at these cuts."""
    first, last = keys[0], keys[-1]
    if last[0] - first[0] > (len(last) == 1):
        return Shape.BROAD
    if len(first) == 1 and len(last) == 1 and len(keys) > 2:
        return Shape.NOT_ONE_VALUE if len(keys) == 4 else Shape.NOT_VALUES
    if len(first) == 1 or len(last) == 1:
        return Shape.HALF_LINE
    for at in range(0, len(keys), 2):
        if keys[at][1] != keys[at + 1][1]:
            return Shape.INTERVAL
    return Shape.ONE_VALUE if len(keys) == 2 else Shape.VALUES
