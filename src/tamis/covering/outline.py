"""The outline of a condition: the box around it, in bytes that sort as values do, so that it can travel.

`tamis.covering.hull` has keys of 64 bits, which two values may share. Here nothing is lost: of two conditions that are
boxes, one covers the other if and only if its box contains that of the other (specs/001 F7, on values of any kind).
"""

import datetime as dt
import struct
from collections.abc import Iterable
from functools import lru_cache
from hashlib import blake2b
from math import inf, isinf, nextafter
from typing import Any, Final, NamedTuple, TypeAlias

from tamis.covering.containment import shape
from tamis.covering.hull import HULL_CLAUSES
from tamis.covering.ranges.ranks import Cut, Stretch, stretches
from tamis.covering.settled import settled_values
from tamis.language import And, Expression, Predicate
from tamis.language.normal import Atom, Clause, Form, TooManyClausesError, form_clauses
from tamis.language.values import Kind
from tamis.language.valueset import true_for

#: Bytes that stand for a normal form: that two different ones share them cannot be expected.
DIGEST_BYTES: Final = 16

_EPOCH: Final = dt.datetime(1, 1, 1, tzinfo=dt.UTC)
_MICROSECOND: Final = dt.timedelta(microseconds=1)
#: A time in a zone west of Greenwich may lie before the epoch.
_BEFORE_EPOCH: Final = 1 << 62
_SIGN: Final = 1 << 63
_ALL_BITS: Final = (1 << 64) - 1
#: Cuts and predicates whose bytes are remembered: conditions of one table use the same ones again and again.
_REMEMBERED: Final = 1 << 16

#: For each attribute where the values begin and where they end.
_Sides: TypeAlias = dict[str, tuple[bytes, bytes]]


class Outline(NamedTuple):
    """The box around a condition, over the attributes that it constrains, in alphabetical order.

    For each attribute there are two ends, the cut before the values and the cut behind them.
    """

    attributes: tuple[str, ...]
    ends: tuple[bytes, ...]
    #: Whether the condition is nothing but this box.
    is_box: bool
    #: Whether the box is as small as it can be; otherwise no attribute is constrained.
    is_known: bool
    #: Equal for conditions of the same normal form, and for them alone.
    digest: bytes


def outline(condition: Expression) -> Outline | None:
    """Return the outline of a condition; none if no event can meet it."""
    plain = _plain_sides(condition)
    if plain is not None:
        return _box(plain)
    made = shape(condition)
    if made.form is False:
        return None
    if made.atoms is not None:
        parts = {name: stretches(values) for name, values in made.atoms.items()}
        sides: _Sides | None = {name: _side(found) for name, found in parts.items()}
        if sides is not None and not made.filtered and all(len(found) == 1 for found in parts.values()):
            return _box(sides)
    else:
        sides = _hull(made.form)
    attributes = tuple(sorted(sides or ()))
    ends = tuple(end for name in attributes for end in (sides or {})[name])
    digest = blake2b(_written(made.form), digest_size=DIGEST_BYTES, person=b"form").digest()
    return Outline(attributes, ends, False, sides is not None, digest)


def _box(sides: _Sides) -> Outline:
    attributes = tuple(sorted(sides))
    ends = tuple(end for name in attributes for end in sides[name])
    said = _framed([*map(_encoded, attributes), *ends])
    return Outline(attributes, ends, True, True, blake2b(said, digest_size=DIGEST_BYTES, person=b"box").digest())


def _plain_sides(condition: Expression) -> _Sides | None:
    """Return the sides of what most conditions are: a box of predicates on different attributes; none of others."""
    sides: _Sides = {}
    for part in condition.operands if isinstance(condition, And) else (condition,):
        if not isinstance(part, Predicate) or part.attribute in sides:
            return None
        found = _predicate_side(part)
        if found is None:
            return None
        sides[part.attribute] = found
    return sides


@lru_cache(maxsize=_REMEMBERED)
def _predicate_side(predicate: Predicate) -> tuple[bytes, bytes] | None:
    """Return where the values of a predicate begin and end; none unless they are one stretch and nothing else."""
    values = settled_values(true_for(predicate))
    if values.filters or values.is_empty or values.is_full:
        return None
    found = stretches(values)
    return _side(found) if len(found) == 1 else None


@lru_cache(maxsize=_REMEMBERED)
def sortable(cut: Cut) -> bytes:
    """Return a cut as bytes: of two cuts of an attribute the one that comes first has the smaller bytes."""
    kind = bytes((cut[0],))
    return kind if len(cut) == 1 else kind + _value(cut[0], cut[1]) + bytes((cut[2],))


def _value(kind: int, value: Any) -> bytes:
    match kind:
        case Kind.NUMBER:
            return _number(value)
        case Kind.STRING:
            # No text is the beginning of another one's bytes.
            return _encoded(value).replace(b"\0", b"\0\xff") + b"\0\0"
        case Kind.TIMESTAMP:
            return int((value - _EPOCH) // _MICROSECOND + _BEFORE_EPOCH).to_bytes(8)
        case Kind.DATE:
            return int(value.toordinal()).to_bytes(4)
    return bytes((bool(value),))


def _number(value: int | float) -> bytes:
    """Return the double at or below a number, and how far the number is above it: an integer of 64 bits may be."""
    double = float(value)
    if double > value:
        double = nextafter(double, -inf)
    above = 0 if isinf(double) or double == value else int(value) - int(double)
    bits = int.from_bytes(struct.pack(">d", double + 0.0))
    return (bits ^ _SIGN if bits < _SIGN else bits ^ _ALL_BITS).to_bytes(8) + above.to_bytes(2)


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _side(found: list[Stretch]) -> tuple[bytes, bytes]:
    return sortable(found[0][0]), sortable(found[-1][1])


def _hull(part: Form) -> _Sides | None:
    """Return the smallest box around all clauses of a form; none if these are too many."""
    try:
        clauses = form_clauses(part, HULL_CLAUSES)
    except TooManyClausesError:
        return None
    around: _Sides | None = None
    for sides in map(_sides, clauses):
        if sides is None:
            continue
        if around is None:
            around = sides
            continue
        around = {
            name: (min(low, sides[name][0]), max(high, sides[name][1]))
            for name, (low, high) in around.items()
            if name in sides
        }
    return around or {}


def _sides(clause: Clause) -> _Sides | None:
    """Return the sides of a clause; none if no event fits it."""
    settled = {name: settled_values(values) for name, values in clause.items()}
    if any(values.is_empty for values in settled.values()):
        return None
    return {name: _side(stretches(values)) for name, values in settled.items()}


def _written(part: Form) -> bytes:
    """Return a form as bytes: the same for equal ones, whichever way their numbers are written."""
    match part:
        case bool():
            return bytes((part,))
        case Atom(attribute, values):
            ends = [sortable(cut) for stretch in stretches(values) for cut in stretch]
            filters = [_encoded(str(each)) for each in values.filters]
            return _framed([b"atom", _encoded(attribute), _framed(ends), _framed(filters)])
    return _framed([type(part).__name__.encode(), *map(_written, part.parts)])


def _framed(pieces: Iterable[bytes]) -> bytes:
    return b"".join(len(each).to_bytes(4) + each for each in pieces)
