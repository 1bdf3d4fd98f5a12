"""Values as sequences of small integers, their *elements*, by which a trie can find them (specs/002 §4; thesis §6.5).

Elements keep the order: one value is less than another exactly if its elements come first, compared as tuples. And they
are prefix-free: the elements of one value never begin those of another. The first element is the kind.

    number      16 nibbles of the nearest double, and what the double leaves over
    string      each character's code point plus one, and 0
    Boolean     0 or 1
    timestamp   16 nibbles of the microseconds since 1970
    date        6 nibbles of the day's number

Errata of the thesis that are followed here: all bits of a negative double are complemented, otherwise the order of
negative numbers is reversed; and a string ends with an element that sorts before every character, otherwise a stored
string would hide the longer strings that begin with it, and the empty string would be the root.
"""

import datetime as dt
import struct
import sys
from typing import Any, Final, TypeAlias

from tamis.language.values import Kind

Elements: TypeAlias = tuple[int, ...]

#: Comes before the second element of any value: where a kind begins.
FIRST: Final = -1

_BITS: Final = 64
_SIGN: Final = 1 << (_BITS - 1)
_LARGEST: Final = sys.float_info.max
_EPOCH: Final = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
_MICROSECOND: Final = dt.timedelta(microseconds=1)
#: Enough for 9999-12-31, which is day 3,652,059.
_DAY_BITS: Final = 24


def elements(kind: Kind, value: Any) -> Elements:
    """Return the elements of a value. Those of a kind without order (null, arrays) all lie where their kind begins."""
    match kind:
        case Kind.NUMBER:
            return (int(kind), *_of_number(value))
        case Kind.STRING:
            return (int(kind), *(ord(character) + 1 for character in value), 0)
        case Kind.BOOLEAN:
            return int(kind), int(value)
        case Kind.TIMESTAMP:
            return (int(kind), *_nibbles((value - _EPOCH) // _MICROSECOND + _SIGN, _BITS))
        case Kind.DATE:
            return (int(kind), *_nibbles(value.toordinal(), _DAY_BITS))
        case _:
            return beginning(kind)


def beginning(kind: int) -> Elements:
    """Return the elements of the place before all values of a kind."""
    return kind, FIRST


def _of_number(value: int | float) -> Elements:
    """Return the elements of a number, so that integers of any size and doubles have one exact order.

    An integer that is no double differs from its nearest double by the last element; for 64 bits that is at most 512.
    """
    try:
        # Adding zero turns -0.0 into 0.0.
        nearest = float(value) + 0.0
    except OverflowError:
        nearest = _LARGEST if value > 0 else -_LARGEST
    rest = 0 if isinstance(value, float) else value - int(nearest)
    (bits,) = struct.unpack(">Q", struct.pack(">d", nearest))
    ordered = bits ^ (2 * _SIGN - 1) if bits & _SIGN else bits | _SIGN
    return (*_nibbles(ordered, _BITS), rest)


def _nibbles(number: int, bits: int) -> Elements:
    return tuple(number >> shift & 15 for shift in range(bits - 4, -4, -4))
