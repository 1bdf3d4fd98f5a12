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

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator
from enum import IntEnum
from typing import Any, Final, NamedTuple, Protocol, TypeAlias

from tamis.language import Between, Comparison, In, Predicate
from tamis.language.ranges import Cut, Ranges
from tamis.language.values import ORDERED_KINDS, Kind
from tamis.language.valueset import ValueSet

Key: TypeAlias = tuple[Any, ...]
#: A stretch of the line: from one cut up to another.
Stretch: TypeAlias = tuple[Key, Key]

#: Where the line ends. No value lies behind it.
END: Final[Key] = (len(Kind),)
#: The cuts that are always there.
FIXED: Final[tuple[Key, ...]] = (*((int(kind),) for kind in Kind), END)


class Split(NamedTuple):
    """A leaf was divided: the right part got a number of its own and meets what the old leaf meets."""

    old: int
    new: int


class Merge(NamedTuple):
    """A leaf was given up: its values belong to its left neighbour now."""

    kept: int
    dropped: int


class Line(Protocol):
    """The cuts of one attribute. Every cut is counted: it stays as long as a predicate needs it."""

    def insert(self, keys: Iterable[Key]) -> list[Split]:
        """Count one more use of each cut and return the leaves that had to be split, from left to right."""

    def remove(self, keys: Iterable[Key]) -> list[Merge]:
        """Count one use less of each cut and return the leaves that went away, from left to right.

        A leaf that went away may get its number back at the next `insert`.
        """

    def locate(self, kind: Kind, value: Any) -> int:
        """Return the leaf of a value."""

    def starting(self, key: Key) -> int:
        """Return the leaf that begins at a cut."""

    def leaves(self) -> list[int]:
        """Return all leaves from left to right; the last one begins at the end of the line."""

    def keys(self) -> list[Key]:
        """Return all cuts from left to right, so that the leaf with rank r begins at the cut with number r."""


class SortedCuts:
    """A line as one sorted list of cuts, searched by bisection. The backend that the engines use."""

    def __init__(self, allocate: Callable[[int], list[int]], release: Callable[[int], None]) -> None:
        self._allocate = allocate
        self._release = release
        self._keys: list[Key] = list(FIXED)
        self._leaves: list[int] = allocate(len(FIXED))
        self._starting: dict[Key, int] = dict(zip(FIXED, self._leaves, strict=True))
        self._uses: dict[Key, int] = {}

    def insert(self, keys: Iterable[Key]) -> list[Split]:
        fresh: list[Key] = []
        for key in keys:
            if len(key) > 1:
                count = self._uses.get(key, 0)
                self._uses[key] = count + 1
                if count == 0:
                    fresh.append(key)
        if not fresh:
            return []
        fresh.sort()
        splits = []
        for key, leaf in zip(fresh, self._allocate(len(fresh)), strict=True):
            at = bisect_left(self._keys, key)
            splits.append(Split(self._leaves[at - 1], leaf))
            self._keys.insert(at, key)
            self._leaves.insert(at, leaf)
            self._starting[key] = leaf
        return splits

    def remove(self, keys: Iterable[Key]) -> list[Merge]:
        merges = []
        for key in sorted(keys):
            if len(key) == 1:
                continue
            self._uses[key] -= 1
            if self._uses[key] == 0:
                del self._uses[key], self._starting[key]
                at = bisect_left(self._keys, key)
                merges.append(Merge(self._leaves[at - 1], self._leaves[at]))
                self._release(self._leaves[at])
                del self._keys[at], self._leaves[at]
        return merges

    def locate(self, kind: Kind, value: Any) -> int:
        point = (int(kind), value, 0) if kind in ORDERED_KINDS else (int(kind),)
        return self._leaves[bisect_right(self._keys, point) - 1]

    def starting(self, key: Key) -> int:
        return self._starting[key]

    def leaves(self) -> list[int]:
        return self._leaves

    def keys(self) -> list[Key]:
        return self._keys


def bounds(predicate: Predicate) -> list[Key] | None:
    """Return where the stretches of a predicate begin and end, or None if it needs `stretches` to find out.

    This is a short cut for the predicates that most conditions are made of; the result is the same.
    """
    if not isinstance(predicate, Comparison | Between | In) or predicate.kind in (Kind.NULL, Kind.BOOLEAN):
        return None
    kind = int(predicate.kind)
    start, end = (kind,), (kind + 1,)
    found: list[Key]
    match predicate:
        case Comparison(operator=operator, value=value) if value != "":
            side = 0 if operator in ("<", ">=") else 1
            if operator in ("<", "<="):
                return [start, (kind, value, side)]
            if operator in (">", ">="):
                return [(kind, value, side), end]
            negated = operator == "<>"
            found = [(kind, value, 0), (kind, value, 1)]
        case Between(low=low, high=high, negated=negated) if low != "" and not low > high:  # type: ignore[operator]
            found = [(kind, low, 0), (kind, high, 1)]
        case In(values=values, negated=negated, has_null=False) if "" not in values:
            found = [(kind, value, side) for value in sorted(set(values)) for side in (0, 1)]
        case _:
            return None
    return [start, *found, end] if negated else found


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


def shape(keys: list[Key]) -> Shape:
    """Return what a set of values looks like whose stretches begin and end at these cuts."""
    first, last = keys[0], keys[-1]
    if last[0] - first[0] > (len(last) == 1):
        return Shape.BROAD
    if len(first) == 1 and len(last) == 1 and len(keys) > 2:
        return Shape.NOT_ONE_VALUE if len(keys) == 4 else Shape.NOT_VALUES
    if len(first) == 1 or len(last) == 1:
        return Shape.HALF_LINE
    if all(low[1] == high[1] for low, high in zip(keys[::2], keys[1::2], strict=True)):
        return Shape.ONE_VALUE if len(keys) == 2 else Shape.VALUES
    return Shape.INTERVAL
