"""Regions: the values that one predicate of a filter allows for its attribute (specs/004 §4).

All values there are stand in one line: null, numbers, texts, Booleans, timestamps, dates, everything else. A region is
the sorted list of cuts in that line at which it begins and ends; so complement, intersection and containment are exact,
whatever the kinds. A cut is a tuple: `(kind,)` lies before all values of a kind, `(kind, value, 0)` just before and
`(kind, value, 1)` just behind a value. What no cut can say (`like '%x%'`, `array_contains`) stays beside it as filters.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Mapping
from typing import Any, Final, TypeAlias

from tamis.covering.containment import is_subset
from tamis.covering.settled import settled_values
from tamis.language import Kind, Like
from tamis.language.ranges import EVERYTHING, Ranges, points
from tamis.language.values import ORDERED_KINDS
from tamis.language.valueset import EMPTY, Filter, ValueSet

Cut: TypeAlias = tuple[Any, ...]

#: Null, and the cut before it.
NULL: Final[Cut] = (0,)
#: Behind everything.
TOP: Final[Cut] = (Kind.OTHER + 1,)
#: Greater than every cut.
BEYOND: Final[Cut] = (Kind.OTHER + 2,)
_TEXTS: Final[tuple[Cut, ...]] = ((int(Kind.STRING),), (Kind.STRING + 1,))
_TRUE: Final[Cut] = (int(Kind.BOOLEAN), 1)
#: A Boolean has one neighbour only, so its cuts are few: before false, between the two, behind true.
_BOOLEANS: Final[dict[Any, Cut]] = {
    (False, 0): (int(Kind.BOOLEAN),),
    (False, 1): _TRUE,
    (True, 0): _TRUE,
    (True, 1): (Kind.BOOLEAN + 1,),
}


class Region:
    """A set of values of one attribute; never changed once made."""

    __slots__ = ("_hash", "cuts", "filters", "high", "low", "name", "needle", "runs", "values")

    def __init__(self, name: str, cuts: tuple[Cut, ...], filters: tuple[Filter, ...] = ()) -> None:
        self.name = name
        self.cuts = cuts
        self.filters = filters
        self.low = cuts[0]
        self.high = cuts[-1]
        #: How many intervals there are.
        self.runs = len(cuts) // 2
        #: The text, if `like '%text%'` is all that is asked.
        self.needle = _needle(filters) if cuts == _TEXTS else None
        #: With filters: the set of values as `tamis.covering` compares it.
        self.values = settled_values(values_of(cuts, filters)) if filters else EMPTY
        self._hash = hash((name, cuts, filters))

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if not isinstance(other, Region):
            return NotImplemented
        return self.cuts == other.cuts and self.name == other.name and self.filters == other.filters

    def __hash__(self) -> int:
        return self._hash

    def __repr__(self) -> str:
        return f"Region({self.name!r}, {self.cuts!r}, {self.filters!r})"

    def within(self, other: "Region") -> bool:
        """Return whether it is certain that all values are in another region of the attribute."""
        if other.filters or self.filters:
            if self.needle is not None and other.needle is not None:
                return other.needle in self.needle
            return _is_within(self.cuts, other.cuts) and is_subset(self._settled(), other._settled())
        if self.runs == 1 == other.runs:
            return bool(other.low <= self.low and self.high <= other.high)
        return _is_within(self.cuts, other.cuts)

    def both(self, other: "Region") -> "Region | None":
        """Return the values in both regions, of which none has filters; None if there are no such values."""
        if self.runs == 1 == other.runs:
            low, high = max(self.low, other.low), min(self.high, other.high)
            return Region(self.name, (low, high)) if low < high else None
        cuts = Ranges(False, self.cuts).intersection(Ranges(False, other.cuts)).cuts
        return Region(self.name, cuts) if cuts else None

    def minus(self, other: "Region") -> "Region | None":
        """Return the values that are not in another region; none of the two has filters."""
        cuts = Ranges(False, self.cuts).intersection(Ranges(True, other.cuts)).cuts
        return Region(self.name, cuts) if cuts else None

    def holds(self, point: Cut, value: Any, event: Mapping[str, Any]) -> bool:
        """Return whether the value of an event, which stands at a point, is in the region."""
        if not _has(self.cuts, point):
            return False
        if self.needle is not None:
            return self.needle in value
        return all(each.matches(event) for each in self.filters)

    def _settled(self) -> ValueSet:
        return self.values if self.filters else settled_values(values_of(self.cuts, ()))


def _is_within(inner: tuple[Cut, ...], outer: tuple[Cut, ...]) -> bool:
    return Ranges(False, inner).intersection(Ranges(False, outer)).cuts == inner


def _needle(filters: tuple[Filter, ...]) -> str | None:
    if len(filters) == 1 and isinstance(filters[0], Like) and not filters[0].negated:
        return filters[0].pattern.substring
    return None


def point(kind: Kind, value: Any) -> Cut:
    """Return where a value stands: a region holds it if an odd number of its cuts are not beyond."""
    if kind is Kind.BOOLEAN:
        return _BOOLEANS[bool(value), 0]
    return (int(kind), value, 0) if kind is not Kind.NULL and kind is not Kind.OTHER else (int(kind),)


def region_of(name: str, values: ValueSet) -> Region:
    """Return a set of values, which is not empty, as a region."""
    cuts: list[Cut] = []
    if values.null:
        _toggle(cuts, NULL, (1,))
    for kind, ranges in zip(ORDERED_KINDS, values.ordered, strict=True):
        inner = [_cut(kind, cut) for cut in ranges.cuts]
        if ranges.starts_inside:
            inner.insert(0, (int(kind),))
        if len(inner) % 2:
            inner.append((kind + 1,))
        _toggle(cuts, *inner)
    if values.other:
        _toggle(cuts, (int(Kind.OTHER),), TOP)
    return Region(name, tuple(cuts), values.filters)


def _cut(kind: Kind, cut: tuple[Any, int]) -> Cut:
    return _BOOLEANS[cut] if kind is Kind.BOOLEAN else (int(kind), *cut)


def _toggle(cuts: list[Cut], *further: Cut) -> None:
    """Add cuts at the end; two at one place cancel each other."""
    for cut in further:
        if cuts and cuts[-1] == cut:
            cuts.pop()
        else:
            cuts.append(cut)


def values_of(cuts: tuple[Cut, ...], filters: tuple[Filter, ...]) -> ValueSet:
    """Return a region as the language knows it."""
    ordered = tuple(_ranges(kind, cuts) for kind in ORDERED_KINDS)
    return ValueSet(_has(cuts, NULL), ordered, _has(cuts, (int(Kind.OTHER),)), filters)


def _has(cuts: tuple[Cut, ...], at: Cut) -> bool:
    return bisect_right(cuts, at) % 2 == 1


def _ranges(kind: Kind, cuts: tuple[Cut, ...]) -> Ranges:
    if kind is Kind.BOOLEAN:
        held = tuple(value for value in (False, True) if _has(cuts, _BOOLEANS[value, 0]))
        return EVERYTHING if len(held) == 2 else points(held)
    first, last = (int(kind),), (kind + 1,)
    inner = cuts[bisect_right(cuts, first) : bisect_left(cuts, last)]
    return Ranges(_has(cuts, first), tuple((value, side) for _, value, side in inner))
