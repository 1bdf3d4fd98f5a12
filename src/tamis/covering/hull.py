"""The box of a condition: for each attribute it constrains, the interval of 64-bit keys that its values lie in.

Keys grow with values, though not strictly: low bits of numbers and the ends of long texts do not count. All kinds are
on one line, null first. So if one condition covers another, its box contains that of the other in every attribute that
it constrains; the reverse has to be checked with the conditions themselves.
"""

import datetime as dt
import struct
from collections.abc import Iterable
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np

from tamis.covering.detectors import Longs
from tamis.language.normal import AllOf, AnyOf, Atom, Form, TooManyClausesError, form_clauses
from tamis.language.ranges import Ranges
from tamis.language.values import Kind
from tamis.language.valueset import ValueSet

#: Above so many clauses a box is drawn around the parts of a condition, and may be larger than needed.
HULL_CLAUSES: Final = 64

#: A kind has the keys from `(kind - 4) << 61` on.
_BITS: Final = 61
_MIDDLE: Final = 4
_EPOCH: Final = dt.datetime(1, 1, 1, tzinfo=dt.UTC)
_MICROSECOND: Final = dt.timedelta(microseconds=1)
_SIGN: Final = 1 << 63
_ALL_BITS: Final = (1 << 64) - 1

#: For each attribute that is constrained, the least and the greatest key.
Sides: TypeAlias = dict[str, tuple[int, int]]


class Box(NamedTuple):
    """A box over the attributes that a condition constrains, in alphabetical order."""

    attributes: tuple[str, ...]
    low: Longs
    high: Longs


def key(kind: Kind, value: Any) -> int:
    """Return the key of a value."""
    return _first(kind) + _within_kind(kind, value)


def _first(kind: int) -> int:
    return (kind - _MIDDLE) << _BITS


def _within_kind(kind: Kind, value: Any) -> int:
    match kind:
        case Kind.NUMBER:
            return _number_bits(value) >> (64 - _BITS)
        case Kind.STRING:
            begin = value.encode("utf-8", "surrogatepass")[:8].ljust(8, b"\0")
            return int.from_bytes(begin) >> (64 - _BITS)
        case Kind.BOOLEAN:
            return int(value)
        case Kind.TIMESTAMP:
            return max(0, int((value - _EPOCH) // _MICROSECOND))
        case Kind.DATE:
            return int(value.toordinal())
    return 0


def _number_bits(value: int | float) -> int:
    """Return a number as 64 bits that compare as doubles do."""
    try:
        double = float(value)
    except OverflowError:
        double = float("inf") if value > 0 else float("-inf")
    bits = int.from_bytes(struct.pack(">d", double + 0.0))
    return bits ^ _SIGN if bits < _SIGN else bits ^ _ALL_BITS


def box(part: Form) -> Box:
    """Return the box of a settled form that is not false."""
    sides = _sides(part)
    attributes = tuple(sorted(sides))
    low = np.array([sides[each][0] for each in attributes], np.int64)
    high = np.array([sides[each][1] for each in attributes], np.int64)
    return Box(attributes, low, high)


def _sides(part: Form) -> Sides:
    if isinstance(part, AllOf) and all(isinstance(each, Atom) for each in part.parts):
        return _sides_of_parts(part)
    try:
        clauses = form_clauses(part, HULL_CLAUSES)
    except TooManyClausesError:
        return _sides_of_parts(part)
    return _around({each: _side(values) for each, values in clause.items()} for clause in clauses)


def _sides_of_parts(part: Form) -> Sides:
    match part:
        case Atom(attribute, values):
            return {attribute: _side(values)}
        case AnyOf(parts):
            return _around(map(_sides_of_parts, parts))
        case AllOf(parts):
            both: Sides = {}
            for sides in map(_sides_of_parts, parts):
                for each, (low, high) in sides.items():
                    known = both.get(each, (low, high))
                    least = max(low, known[0])
                    # Where nothing is left between them, the condition never matches, and any side will do.
                    both[each] = least, max(least, min(high, known[1]))
            return both
    return {}


def _around(boxes: Iterable[Sides]) -> Sides:
    """Return the sides of the smallest box around some boxes."""
    around: Sides | None = None
    for sides in boxes:
        if around is None:
            around = sides
        else:
            around = {
                each: (min(low, sides[each][0]), max(high, sides[each][1]))
                for each, (low, high) in around.items()
                if each in sides
            }
    return around or {}


def _side(values: ValueSet) -> tuple[int, int]:
    ends: list[int] = [_first(Kind.NULL)] if values.null else []
    for kind, ranges in values.kinds():
        ends += _ends(kind, ranges)
    if values.other:
        ends.append(_first(Kind.OTHER))
    return ends[0], ends[-1]


def _ends(kind: Kind, ranges: Ranges) -> tuple[int, int]:
    endless = ranges.starts_inside is (len(ranges.cuts) % 2 == 0)
    low = _first(kind) if ranges.starts_inside else key(kind, ranges.cuts[0][0])
    high = _first(kind + 1) - 1 if endless else key(kind, ranges.cuts[-1][0])
    return low, high
