"""The values of one attribute for which conditions on it are true.

After negation is pushed into the predicates, "unknown" may be treated as "false" (specs/002 §7), so a
predicate *is* the set of values that make it true, `and` on one attribute is intersection, and `or` is union.
What no interval can say (`like '%x'`, `array_contains`) stays beside the set as a filter.
"""

from collections.abc import Iterator
from functools import reduce
from typing import Any, Final, NamedTuple

from tamis.language.ranges import EVERYTHING, NOTHING, Ranges, between, compared, points
from tamis.language.tree import ArrayContains, Between, Comparison, In, IsNull, Like, Predicate
from tamis.language.values import ORDERED_KINDS, Kind

_SURROGATES: Final = range(0xD800, 0xE000)
_LAST_CHARACTER: Final = 0x10FFFF

Filter = Like | ArrayContains


class ValueSet(NamedTuple):
    """A set of values of any kind: null, the ordered kinds, the rest, and filters that must hold as well."""

    null: bool
    ordered: tuple[Ranges, ...]
    other: bool
    filters: tuple[Filter, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Whether no value is in the set. Filters count as empty only when they contradict each other."""
        if any(each.negation() in self.filters for each in self.filters):
            return True
        return not (self.null or self.other) and all(ranges == NOTHING for ranges in self.ordered)

    @property
    def is_full(self) -> bool:
        """Whether every value is in the set, null included."""
        return self.null and self.is_any_value

    @property
    def is_any_value(self) -> bool:
        """Whether everything that is not null is in the set."""
        return self.other and not self.filters and all(ranges == EVERYTHING for ranges in self.ordered)

    def kinds(self) -> "Iterator[tuple[Kind, Ranges]]":
        """Yield the ordered kinds that occur, with their ranges."""
        for kind, ranges in zip(ORDERED_KINDS, self.ordered, strict=True):
            if ranges != NOTHING:
                yield kind, ranges

    def contains(self, kind: Kind, value: Any) -> bool:
        """Return whether a value is in the set, filters aside."""
        if kind is Kind.NULL:
            return self.null
        if kind is Kind.OTHER:
            return self.other
        return value in self.ordered[kind - Kind.NUMBER]

    def intersection(self, other: "ValueSet") -> "ValueSet":
        """Return the values in both."""
        return ValueSet(
            self.null and other.null,
            tuple(map(Ranges.intersection, self.ordered, other.ordered)),
            self.other and other.other,
            tuple(sorted({*self.filters, *other.filters}, key=str)) if other.filters else self.filters,
        )

    def union(self, other: "ValueSet") -> "ValueSet":
        """Return the values in either. Neither may have filters."""
        ordered = map(_canonical, ORDERED_KINDS, map(Ranges.union, self.ordered, other.ordered))
        return ValueSet(self.null or other.null, tuple(ordered), self.other or other.other)

    def complement(self) -> "ValueSet":
        """Return all other values. There may be no filters."""
        ordered = map(_canonical, ORDERED_KINDS, map(Ranges.complement, self.ordered))
        return ValueSet(not self.null, tuple(ordered), not self.other)


_NO_KIND: Final = (NOTHING,) * len(ORDERED_KINDS)
_ALL_KINDS: Final = (EVERYTHING,) * len(ORDERED_KINDS)
EMPTY: Final = ValueSet(False, _NO_KIND, False)
NULL_ONLY: Final = ValueSet(True, _NO_KIND, False)
ANY_VALUE: Final = ValueSet(False, _ALL_KINDS, True)


def _canonical(kind: Kind, ranges: Ranges) -> Ranges:
    """Return the one way to write a set where the values of a kind are not dense: two Booleans, a first string."""
    if kind is Kind.BOOLEAN:
        held = tuple(value for value in (False, True) if value in ranges)
        return EVERYTHING if len(held) == 2 else points(held)
    if kind is Kind.STRING and ranges.cuts[:1] == (("", 0),):
        return Ranges(not ranges.starts_inside, ranges.cuts[1:])
    return ranges


def of_kind(kind: Kind, ranges: Ranges, filters: tuple[Filter, ...] = ()) -> ValueSet:
    """Return a set with values of one ordered kind."""
    position = kind - Kind.NUMBER
    ordered = (*_NO_KIND[:position], _canonical(kind, ranges), *_NO_KIND[position + 1 :])
    return ValueSet(False, ordered, False, filters)


def true_for(predicate: Predicate) -> ValueSet:
    """Return the values for which a predicate is true."""
    match predicate:
        case Comparison(operator=operator, value=value, kind=kind):
            return of_kind(kind, compared(operator, value))
        case Between(low=low, high=high, kind=kind, negated=negated):
            ranges = between(low, high)
            return of_kind(kind, ranges.complement() if negated else ranges)
        case In(values=values, kind=kind, negated=negated, has_null=has_null):
            if kind is Kind.NULL or (negated and has_null):
                return EMPTY
            return of_kind(kind, points(values).complement() if negated else points(values))
        case IsNull(negated=negated):
            return ANY_VALUE if negated else NULL_ONLY
        case Like():
            return _true_for_like(predicate)
        case ArrayContains():
            return ValueSet(False, _NO_KIND, True, (predicate,))
    raise TypeError(f"{type(predicate).__name__} is no predicate")


def says_no_more_than_filters(values: ValueSet) -> bool:
    """Return whether the filters of a set hold for its values only, so that the rest of it adds nothing."""
    if not values.filters:
        return False
    return values == reduce(ValueSet.intersection, map(true_for, values.filters))


def _true_for_like(like: Like) -> ValueSet:
    pattern = like.pattern
    hull = points((pattern.prefix,)) if pattern.exact else prefixed(pattern.prefix)
    if pattern.exact or pattern.is_prefix:
        return of_kind(Kind.STRING, hull.complement() if like.negated else hull)
    return of_kind(Kind.STRING, EVERYTHING if like.negated else hull, (like,))


def prefixed(prefix: str) -> Ranges:
    """Return the strings that start with a prefix: an interval, since strings compare by code point."""
    stem = prefix.rstrip(chr(_LAST_CHARACTER))
    if not stem:
        return Ranges(False, ((prefix, 0),))
    following = ord(stem[-1]) + 1
    if following in _SURROGATES:
        following = _SURROGATES.stop
    return Ranges(False, ((prefix, 0), (stem[:-1] + chr(following), 0)))
