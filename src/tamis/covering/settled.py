"""Conditions in a form in which equal sets of values are equal objects.

The language room takes values as dense. To decide what a condition implies that is not enough: between a date and the
next there is none, nor between two neighbouring doubles that have no integer between them. Here every cut just behind
a value becomes one just before the next value, so `d > date '2026-01-01'` is `d >= date '2026-01-02'`, and what holds
no value at all is seen to be empty.
"""

import datetime as dt
from math import floor, inf, isinf, nextafter
from typing import Any, Final

from tamis.language import Expression, Kind, Like
from tamis.language.normal import AllOf, AnyOf, Atom, Form, conjunction, disjunction, form
from tamis.language.ranges import Cut, Ranges, points
from tamis.language.values import ORDERED_KINDS
from tamis.language.valueset import ValueSet

#: Where texts stand in the kinds of a set of values.
TEXTS: Final = ORDERED_KINDS.index(Kind.STRING)


def settled(expression: Expression) -> Form:
    """Return the settled form of a condition."""
    return _settled(form(expression))


def _settled(part: Form) -> Form:
    match part:
        case Atom(attribute, values):
            values = settled_values(values)
            return False if values.is_empty else True if values.is_full else Atom(attribute, values)
        case AllOf(parts):
            return conjunction(map(_settled, parts))
        case AnyOf(parts):
            return disjunction(map(_settled, parts))
    return part


def settled_values(values: ValueSet) -> ValueSet:
    """Return the same values with settled cuts, and without filters where they only choose among a few texts."""
    ordered = tuple(_settled_ranges(kind, ranges) for kind, ranges in zip(ORDERED_KINDS, values.ordered, strict=True))
    likes = [each for each in values.filters if isinstance(each, Like)]
    if likes and len(likes) == len(values.filters):
        texts = single_texts(ordered[TEXTS])
        if texts is not None:
            chosen = tuple(text for text in texts if all(fits(each, text) for each in likes))
            ordered = (*ordered[:TEXTS], _settled_ranges(Kind.STRING, points(chosen)), *ordered[TEXTS + 1 :])
            return ValueSet(values.null, ordered, values.other)
    return ValueSet(values.null, ordered, values.other, values.filters)


def _settled_ranges(kind: Kind, ranges: Ranges) -> Ranges:
    if kind is Kind.BOOLEAN or not ranges.cuts:
        return ranges
    cuts: list[Cut] = []
    for value, side in ranges.cuts:
        following = _next(kind, value) if side else value
        if following is None:
            continue
        cut = (following, 0) if following is not value else (value, side)
        if cuts and cuts[-1] == cut:
            cuts.pop()
        else:
            cuts.append(cut)
    if cuts and cuts[0] == (_LEAST.get(kind), 0):
        return Ranges(not ranges.starts_inside, tuple(cuts[1:]))
    return Ranges(ranges.starts_inside, tuple(cuts))


_LEAST: Final[dict[Kind, Any]] = {Kind.NUMBER: -inf, Kind.STRING: "", Kind.DATE: dt.date.min}
_STEPS: Final = {Kind.TIMESTAMP: dt.timedelta(microseconds=1), Kind.DATE: dt.timedelta(days=1)}


def _next(kind: Kind, value: Any) -> Any:
    """Return the next value of a kind; none if there is nothing beyond."""
    if kind is Kind.NUMBER:
        return _next_number(value)
    if kind is Kind.STRING:
        return value + "\0"
    try:
        return value + _STEPS[kind]
    except OverflowError:
        # In a zone west of Greenwich an event may say a later time than the last one in UTC.
        return value if kind is Kind.TIMESTAMP else None


def _next_number(value: int | float) -> int | float | None:
    """Return the next number: a double, or an integer of any length, as events may have them."""
    try:
        double = float(value)
    except OverflowError:
        return int(value) + 1
    if isinf(double):
        # Below all integers there is no next one.
        return None if double > 0 else value
    whole = floor(value) + 1
    following = nextafter(double, inf) if double == value else whole
    return following if following < whole else whole


def single_texts(ranges: Ranges) -> list[str] | None:
    """Return the texts of settled ranges, if these are single texts only."""
    found: list[str] = []
    for low, _, high, _ in ranges.intervals():
        low = "" if low is None else low
        if high != f"{low}\0":
            return None
        found.append(str(low))
    return found


def fits(like: Like, text: str) -> bool:
    """Return whether a text meets a `like`."""
    return (like.pattern.regex.fullmatch(text) is not None) is not like.negated
