"""Cuts of many lines as columns: what rank space is when it is built at once and never changes.

A *cut* is a place on the line of a dimension (see `ranks.line`). The key of one is turned into numbers that compare as
the key does, so that sorting is a matter of arrays:

    flag    `BOUNDARY`: the beginning of a kind; `VALUE`: a place among its values
    real    for numbers: the smallest double beyond the cut
    whole   the smallest 64-bit integer beyond it: of a number, or a time, a date or a Boolean as an integer
    text    for strings: the smallest string beyond it, in UTF-8, whose bytes compare as its characters do

Two cuts with the same numbers have no value between them that an event can have. A cut that no 64-bit integer passes
has the flag `NO_INTEGER`.
"""

from collections.abc import Sequence
from operator import itemgetter
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from tamis.compiled import kernel
from tamis.language.columns import threshold
from tamis.language.limits import MAX_INTEGER
from tamis.language.values import Kind
from tamis.matching.ranks.line import Key
from tamis.matching.ranks.lists import Bytes, Ints, Longs

Doubles: TypeAlias = npt.NDArray[np.float64]
Words: TypeAlias = npt.NDArray[np.uint64]
Octets: TypeAlias = npt.NDArray[np.uint8]

BOUNDARY, VALUE, NO_INTEGER = range(3)
_FLAGS: Final = 3
#: Kinds of values, and the end of all.
_KINDS: Final = len(Kind) + 1
#: Below this, a double holds every integer, and its neighbours.
_EXACT: Final = 2**53
_MIX: Final = np.uint64(0x9E3779B97F4A7C15)
_SHIFT: Final = np.uint64(32)
_KIND, _VALUE, _SIDE = map(itemgetter, range(3))
_FLOAT: Final = np.dtype(np.float64)
_INTEGER: Final = np.dtype(np.int64)


class Cuts(NamedTuple):
    """Cuts, one in each row. The text of cut n is `text[offset[n] : offset[n + 1]]`."""

    dimension: Ints
    kind: Bytes
    flag: Bytes
    real: Doubles
    whole: Longs
    offset: Longs
    text: Octets

    def checked(self, dimensions: int) -> "Cuts":
        """Return the cuts if they can be those of so many lines, in order; otherwise raise `ValueError`."""
        size = len(self.dimension)
        dtypes = (np.int32, np.int8, np.int8, np.float64, np.int64, np.int64, np.uint8)
        columns: tuple[npt.NDArray[Any], ...] = self
        if any(column.dtype != dtype for column, dtype in zip(columns, dtypes, strict=True)):
            raise ValueError("the cuts are of a wrong type")
        if any(len(column) != size for column in self[:5]) or len(self.offset) != size + 1:
            raise ValueError("the columns of the cuts are not equally long")
        if not np.array_equal(np.unique(self.dimension), np.arange(dimensions)) or not self._rises():
            raise ValueError("the cuts are not in order")
        offset = self.offset
        if offset[0] != 0 or offset[-1] != len(self.text) or (offset[1:] < offset[:-1]).any():
            raise ValueError("the texts of the cuts do not fit")
        return self

    def _rises(self) -> bool:
        """Return whether the cuts of every line begin with null, and their numbers are in order."""
        if self.kind.min(initial=0) < 0 or self.kind.max(initial=0) > len(Kind):
            return False
        order = self.dimension.astype(np.int64) * _KINDS + self.kind
        first = np.flatnonzero(np.diff(self.dimension, prepend=-1))
        inner = order[1:] == order[:-1]
        valued = inner & (self.flag[:-1] != BOUNDARY)
        return bool(
            (order[1:] >= order[:-1]).all()
            and not self.kind[first].any()
            and (self.flag[first] == BOUNDARY).all()
            and (self.flag[1:][inner] != BOUNDARY).all()
            and (self.flag[1:][inner] >= self.flag[:-1][inner]).all()
            and (self.real[1:][valued] >= self.real[:-1][valued]).all()
            and (self.whole[1:][valued] >= self.whole[:-1][valued]).all()
        )

    def select(self, rows: Longs) -> "Cuts":
        """Return some of the cuts, in the order of their numbers."""
        columns = _picked(self.dimension, self.kind, self.flag, self.real, self.whole, rows)
        if not len(self.text):
            return Cuts(*columns, np.zeros(len(rows) + 1, np.int64), self.text)
        return Cuts(*columns, *_buffers(_texts(self).take(pa.array(rows))))


def numeric(dimension: Ints, flag: Bytes, real: Doubles, whole: Longs) -> Cuts:
    """Return cuts among numbers."""
    kind = np.full(len(dimension), Kind.NUMBER, np.int8)
    return Cuts(dimension, kind, flag, real, whole, np.zeros(len(dimension) + 1, np.int64), np.zeros(0, np.uint8))


def boundaries(dimensions: Ints, kind: int) -> Cuts:
    """Return where a kind begins on the lines of some dimensions."""
    size = len(dimensions)
    return Cuts(
        dimensions.astype(np.int32),
        np.full(size, kind, np.int8),
        np.full(size, BOUNDARY, np.int8),
        np.zeros(size),
        np.zeros(size, np.int64),
        np.zeros(size + 1, np.int64),
        np.zeros(0, np.uint8),
    )


def of_keys(dimension: int | Ints, keys: Sequence[Key]) -> Cuts:
    """Return cuts from the keys of a line, or each from a key of its own line."""
    size = len(keys)
    kinds = np.fromiter(map(_KIND, keys), np.int8, size)
    valued = np.fromiter(map(len, keys), np.int8, size) > 1
    flags = np.where(valued, np.int8(VALUE), np.int8(BOUNDARY))
    real, whole = np.zeros(size), np.zeros(size, np.int64)
    texts: list[bytes] = []
    offset = np.zeros(size + 1, np.int64)
    numbers = np.flatnonzero(valued & (kinds == Kind.NUMBER))
    some = [keys[at] for at in numbers.tolist()]
    values, sides = np.fromiter(map(_VALUE, some), np.float64, len(some)), np.fromiter(map(_SIDE, some), np.bool_)
    real[numbers], whole[numbers], simple = _beyond(values, sides)
    for at in numbers[~simple].tolist():
        cut = keys[at][1:]
        beyond = threshold(cut, _INTEGER)
        real[at] = threshold(cut, _FLOAT)
        whole[at] = MAX_INTEGER if beyond is None else beyond
        if beyond is None:
            flags[at] = NO_INTEGER
    for at in np.flatnonzero(valued & (kinds != Kind.NUMBER)).tolist():
        kind, value, side = keys[at]
        if kind == Kind.STRING:
            texts.append(utf8(value) + b"\0" * side)
            offset[at + 1] = len(texts[-1])
        else:
            whole[at] = threshold((value, side), _INTEGER) or 0
    joined = np.frombuffer(b"".join(texts), np.uint8)
    return Cuts(np.full(size, dimension, np.int32), kinds, flags, real, whole, np.cumsum(offset), joined)


def _beyond(values: Doubles, sides: npt.NDArray[np.bool_]) -> tuple[Doubles, Longs, npt.NDArray[np.bool_]]:
    """Return the smallest double and integer beyond cuts, and where that is so: not at numbers that are very large."""
    simple = np.abs(values) < _EXACT
    small = np.where(simple, values, 0.0)
    whole = np.where(sides, np.floor(small) + 1, np.ceil(small)).astype(np.int64)
    return np.where(sides, np.nextafter(small, np.inf), small), whole, simple


def utf8(text: str) -> bytes:
    """Return a string as bytes that compare as its characters do."""
    return text.encode("utf-8", "surrogatepass")


def concatenated(parts: Sequence[Cuts]) -> Cuts:
    """Return the cuts of all parts, one behind the other."""
    columns = [np.concatenate([part[column] for part in parts]) for column in range(5)]
    if not any(len(part.text) for part in parts):
        return Cuts._make([*columns, np.zeros(len(columns[0]) + 1, np.int64), np.zeros(0, np.uint8)])
    shifts = np.cumsum([0, *(len(part.text) for part in parts)])
    offsets = [part.offset[:-1] + shift for part, shift in zip(parts, shifts, strict=False)]
    offset = np.concatenate([*offsets, shifts[-1:]])
    return Cuts._make([*columns, offset, np.concatenate([part.text for part in parts])])


def ranked(cuts: Cuts) -> tuple[Cuts, Ints]:
    """Return the different cuts from left to right, line after line, and for each given cut its place there."""
    major, minor = _sortable(cuts.dimension, cuts.kind, cuts.flag, cuts.real)
    strings = np.flatnonzero(np.diff(cuts.offset) > 0) if len(cuts.text) else ()
    if len(strings):
        coded = _texts(cuts).take(pa.array(strings)).dictionary_encode()
        places = np.empty(len(coded.dictionary), np.int64)
        places[pc.array_sort_indices(coded.dictionary).to_numpy()] = np.arange(1, len(places) + 1)
        minor[strings] = places[coded.indices.to_numpy()]
    first, group = distinct(major, minor, cuts.whole)
    # By the last that counts first, and then by counting: most triples differ in the first two.
    order, tied = _grouped(np.argsort(minor[first]), first, major, minor)
    if tied:
        order = first[np.lexsort((cuts.whole[first], minor[first], major[first]))]
    return cuts.select(order), _places(order, group)


@kernel
def _sortable(dimension: Ints, kind: Bytes, flag: Bytes, real: Doubles) -> tuple[Longs, Longs]:
    """Return two integers for each cut, by which all sort but for strings and what has the same double."""
    major, minor = np.empty(len(real), np.int64), np.empty(len(real), np.int64)
    for each in range(len(real)):
        # Cuts that no integer passes lie behind all others among the numbers of their line.
        major[each] = (np.int64(dimension[each]) * _KINDS + kind[each]) * _FLAGS + flag[each]
    # Zero has one sign.
    bits = (real + 0.0).view(np.int64)
    for each in range(len(real)):
        minor[each] = bits[each] if bits[each] >= 0 else bits[each] ^ np.int64(MAX_INTEGER)
    return major, minor


@kernel
def _grouped(order: Longs, first: Longs, major: Longs, minor: Longs) -> tuple[Longs, bool]:
    """Return some cuts by `major` and otherwise in the given order, and whether any two agree in both numbers."""
    starts = np.zeros(major.max() + 2 if len(major) else 1, np.int64)
    for cut in first:
        starts[major[cut] + 1] += 1
    for number in range(1, len(starts)):
        starts[number] += starts[number - 1]
    found = np.empty(len(order), np.int64)
    for place in order:
        cut = first[place]
        found[starts[major[cut]]] = cut
        starts[major[cut]] += 1
    for place in range(1, len(found)):
        one, other = found[place - 1], found[place]
        if major[one] == major[other] and minor[one] == minor[other]:
            return found, True
    return found, False


@kernel
def _places(order: Longs, group: Ints) -> Ints:
    """Return for each cut the place of its like in an order of different ones."""
    place = np.empty(len(order), np.int32)
    for at in range(len(order)):
        place[group[order[at]]] = at
    found = np.empty(len(group), np.int32)
    for each in range(len(group)):
        found[each] = place[group[each]]
    return found


@kernel
def _picked(
    dimension: Ints, kind: Bytes, flag: Bytes, real: Doubles, whole: Longs, rows: Longs
) -> tuple[Ints, Bytes, Bytes, Doubles, Longs]:
    """Return some rows of the columns of cuts."""
    size = len(rows)
    dimensions, kinds, flags = np.empty(size, np.int32), np.empty(size, np.int8), np.empty(size, np.int8)
    reals, wholes = np.empty(size), np.empty(size, np.int64)
    for at in range(size):
        row = rows[at]
        dimensions[at], kinds[at], flags[at] = dimension[row], kind[row], flag[row]
        reals[at], wholes[at] = real[row], whole[row]
    return dimensions, kinds, flags, reals, wholes


def _texts(cuts: Cuts) -> pa.Array:
    buffers = [None, pa.py_buffer(cuts.offset), pa.py_buffer(cuts.text)]
    return pa.Array.from_buffers(pa.large_binary(), len(cuts.dimension), buffers)


def _buffers(texts: pa.Array) -> tuple[Longs, Octets]:
    _, offset, data = texts.buffers()
    offsets = np.frombuffer(offset, np.int64)[texts.offset : texts.offset + len(texts) + 1]
    octets = np.frombuffer(data, np.uint8) if data is not None else np.zeros(0, np.uint8)
    return offsets - offsets[0], octets[offsets[0] : offsets[-1]].copy()


@kernel
def distinct(major: Longs | Ints, minor: Longs, last: Longs) -> tuple[Longs, Ints]:
    """Return where each different triple occurs first, and for each triple the number of its like."""
    size = 16
    while size < 2 * len(major):
        size *= 2
    table = np.full(size, -1, np.int32)
    first = np.empty(len(major), np.int64)
    group = np.empty(len(major), np.int32)
    found = 0
    for each in range(len(major)):
        mixed = np.uint64(major[each]) * _MIX
        mixed = (mixed ^ np.uint64(minor[each])) * _MIX
        mixed ^= mixed >> _SHIFT
        mixed = (mixed ^ np.uint64(last[each])) * _MIX
        mixed ^= mixed >> _SHIFT
        at = np.int64(mixed & np.uint64(size - 1))
        while True:
            known = table[at]
            if known < 0:
                table[at] = found
                first[found] = each
                group[each] = found
                found += 1
                break
            place = first[known]
            if major[place] == major[each] and minor[place] == minor[each] and last[place] == last[each]:
                group[each] = known
                break
            at = (at + 1) & (size - 1)
    return first[:found].copy(), group
