"""From a set of values back to conditions: one spelling for each set."""

import datetime as dt
from collections.abc import Iterable, Iterator
from typing import Final

from tamis.language.ranges import EVERYTHING, Interval, Ranges
from tamis.language.tree import And, Between, Comparison, Constant, Expression, In, IsNull, Or, Predicate
from tamis.language.values import Kind, Literal
from tamis.language.valueset import ValueSet, says_no_more_than_filters

#: "Any number" has no word of its own; it is spelled as the two sides of this value.
_MIDDLE: Final[dict[Kind, Literal]] = {
    Kind.NUMBER: 0,
    Kind.TIMESTAMP: dt.datetime(1970, 1, 1, tzinfo=dt.UTC),
    Kind.DATE: dt.date(1970, 1, 1),
}
#: No string is smaller than the empty one.
_UP_TO_EMPTY: Final = Interval(None, low_open=False, high="", high_open=False)


def spell(attribute: str, values: ValueSet) -> Expression:
    """Return the condition on the attribute that is true for exactly these values."""
    if values.is_empty:
        return Constant(False)
    if says_no_more_than_filters(values):
        return joined(And, values.filters)
    plain = values._replace(filters=())
    return joined(And, [joined(Or, _pieces(attribute, plain)), *values.filters])


def joined(connective: type[And] | type[Or], operands: Iterable[Expression]) -> Expression:
    """Join conditions, taking apart those that are joined by the same connective already."""
    flat: list[Expression] = []
    for operand in operands:
        flat.extend(operand.children() if isinstance(operand, connective) else (operand,))
    return flat[0] if len(flat) == 1 else connective(tuple(flat))


def _pieces(attribute: str, values: ValueSet) -> Iterator[Expression]:
    if values.null:
        yield IsNull(attribute)
    if values.is_any_value:
        yield IsNull(attribute, negated=True)
        return
    for kind, ranges in values.kinds():
        yield from _spell_ranges(attribute, kind, ranges)


def _spell_ranges(attribute: str, kind: Kind, ranges: Ranges) -> Iterator[Expression]:
    if ranges == EVERYTHING:
        if kind is Kind.STRING:
            yield Comparison(attribute, ">=", "", kind)
        elif kind is Kind.BOOLEAN:
            yield In(attribute, (False, True), kind)
        else:
            yield Comparison(attribute, "<=", _MIDDLE[kind], kind)
            yield Comparison(attribute, ">", _MIDDLE[kind], kind)
        return
    singles: list[Literal] = []
    for hull, holes in _groups(ranges):
        if hull.is_point and hull.low is not None:
            singles.append(hull.low)
            continue
        if hull == _UP_TO_EMPTY:
            singles.append("")
            continue
        parts: list[Expression] = list(_spell_interval(attribute, kind, hull))
        if holes:
            parts.append(_spell_values(attribute, kind, holes, negated=True))
        yield joined(And, parts)
    if singles:
        yield _spell_values(attribute, kind, singles, negated=False)


def _groups(ranges: Ranges) -> Iterator[tuple[Interval, list[Literal]]]:
    """Yield intervals together with the single values missing from them: `x > 3 and x <> 5`."""
    hull: Interval | None = None
    holes: list[Literal] = []
    for each in ranges.intervals():
        if hull is not None and hull.high_open and each.low_open and hull.high == each.low is not None:
            holes.append(each.low)
            hull = Interval(hull.low, hull.low_open, each.high, each.high_open)
            continue
        if hull is not None:
            yield hull, holes
        hull, holes = each, []
    if hull is not None:
        yield hull, holes


def _spell_interval(attribute: str, kind: Kind, hull: Interval) -> Iterator[Predicate]:
    low, low_open, high, high_open = hull
    if low is not None and high is not None and not low_open and not high_open:
        yield Between(attribute, low, high, kind)
        return
    if low is not None:
        yield Comparison(attribute, ">" if low_open else ">=", low, kind)
    if high is not None:
        yield Comparison(attribute, "<" if high_open else "<=", high, kind)


def _spell_values(attribute: str, kind: Kind, values: list[Literal], *, negated: bool) -> Predicate:
    if len(values) == 1:
        return Comparison(attribute, "<>" if negated else "=", values[0], kind)
    return In(attribute, tuple(values), kind, negated)
