"""Sets of values of one ordered kind, as unions of intervals.

A set is the sorted list of *cuts* at which membership changes. A cut is `(value, side)`: side 0 lies just
before the value, side 1 just after it. So `x > 5` is one cut `(5, 1)`, and `x = 5` two: `(5, 0), (5, 1)`.
These are the cuts of the PS-Tree (specs/002 §4). Values are taken as dense: nothing is inferred from the
fact that no integer lies between 5 and 6, because an event may say 5.5.
"""

from bisect import bisect_right
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from tamis.language.values import Literal

Cut = tuple[Any, int]


class Interval(NamedTuple):
    """One run of values. An end of `None` is open to infinity."""

    low: Literal | None
    low_open: bool
    high: Literal | None
    high_open: bool

    @property
    def is_point(self) -> bool:
        """Whether it holds one value only."""
        return self.low is not None and self.low == self.high


class Ranges(NamedTuple):
    """A set of values: `starts_inside` says whether the smallest values belong to it."""

    starts_inside: bool
    cuts: tuple[Cut, ...]

    def __contains__(self, value: object) -> bool:
        passed = bisect_right(self.cuts, (value, 0))
        return self.starts_inside ^ (passed % 2 == 1)

    def complement(self) -> "Ranges":
        """Return all other values."""
        return Ranges(not self.starts_inside, self.cuts)

    def intersection(self, other: "Ranges") -> "Ranges":
        """Return the values in both."""
        return _combine(self, other, lambda a, b: a and b)

    def union(self, other: "Ranges") -> "Ranges":
        """Return the values in either."""
        return _combine(self, other, lambda a, b: a or b)

    def intervals(self) -> Iterator[Interval]:
        """Yield the maximal intervals in order."""
        ends: list[Cut | None] = list(self.cuts)
        if self.starts_inside:
            ends.insert(0, None)
        if len(ends) % 2:
            ends.append(None)
        for low, high in zip(ends[::2], ends[1::2], strict=True):
            yield Interval(
                low[0] if low else None,
                bool(low and low[1]),
                high[0] if high else None,
                bool(high and not high[1]),
            )


EVERYTHING = Ranges(True, ())
NOTHING = Ranges(False, ())


def _combine(left: Ranges, right: Ranges, keep: Callable[[bool, bool], bool]) -> Ranges:
    in_left, in_right = left.starts_inside, right.starts_inside
    starts_inside = inside = keep(in_left, in_right)
    cuts: list[Cut] = []
    a, b = left.cuts, right.cuts
    i = j = 0
    while i < len(a) or j < len(b):
        cut = a[i] if j == len(b) or (i < len(a) and a[i] <= b[j]) else b[j]
        if i < len(a) and a[i] == cut:
            in_left = not in_left
            i += 1
        if j < len(b) and b[j] == cut:
            in_right = not in_right
            j += 1
        if keep(in_left, in_right) is not inside:
            inside = not inside
            cuts.append(cut)
    return Ranges(starts_inside, tuple(cuts))


def compared(operator: str, value: Literal) -> Ranges:
    """Return the values for which `x operator value` is true."""
    before, after = (value, 0), (value, 1)
    match operator:
        case "=":
            return Ranges(False, (before, after))
        case "<>":
            return Ranges(True, (before, after))
        case "<":
            return Ranges(True, (before,))
        case "<=":
            return Ranges(True, (after,))
        case ">":
            return Ranges(False, (after,))
        case _:
            return Ranges(False, (before,))


def between(low: Literal, high: Literal) -> Ranges:
    """Return the closed interval; it is empty if its ends are the wrong way round."""
    return Ranges(False, ((low, 0), (high, 1))) if (low, 0) < (high, 1) else NOTHING


def points(values: tuple[Literal, ...]) -> Ranges:
    """Return the set of exactly these values."""
    return Ranges(False, tuple((value, side) for value in sorted(set(values)) for side in (0, 1)))
