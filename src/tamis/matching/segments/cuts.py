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
        order = self.dimension.astype(np.int64) * (len(Kind) + 1) + self.kind
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

    def select(self, rows: npt.NDArray[Any]) -> "Cuts":
        """Return some of the cuts, in the order of their numbers."""
        texts = _texts(self).take(pa.array(rows))
        return Cuts._make([*(column[rows] for column in self[:5]), *_buffers(texts)])


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
    shifts = np.cumsum([0, *(len(part.text) for part in parts)])
    offsets = [part.offset[:-1] + shift for part, shift in zip(parts, shifts, strict=False)]
    offset = np.concatenate([*offsets, shifts[-1:]])
    return Cuts._make([*columns, offset, np.concatenate([part.text for part in parts])])


def ranked(cuts: Cuts) -> tuple[Cuts, Ints]:
    """Return the different cuts from left to right, line after line, and for each given cut its place there."""
    # Cuts that no integer passes lie behind all others among the numbers of their line.
    major = (cuts.dimension.astype(np.int64) * (len(Kind) + 1) + cuts.kind) * _FLAGS + cuts.flag
    minor = _sortable(cuts.real)
    strings = np.flatnonzero(np.diff(cuts.offset) > 0)
    if len(strings):
        coded = _texts(cuts).take(pa.array(strings)).dictionary_encode()
        places = np.empty(len(coded.dictionary), np.int64)
        places[pc.array_sort_indices(coded.dictionary).to_numpy()] = np.arange(1, len(places) + 1)
        minor[strings] = places[coded.indices.to_numpy()]
    first, group = distinct(major, minor, cuts.whole)
    order = _ordered(major[first], minor[first], cuts.whole[first])
    place: Ints = np.empty(len(order), np.int32)
    place[order] = np.arange(len(order), dtype=np.int32)
    return cuts.select(first[order]), place[group]


def _ordered(major: Longs, minor: Longs, last: Longs) -> Longs:
    """Return the order of triples: what `lexsort` does, but most differ in the first two, and the first are small."""
    order = np.argsort(minor)
    short = major.max(initial=0) <= np.iinfo(np.uint16).max
    # Small integers are sorted by counting, which is several times as fast.
    order = order[np.argsort(major[order].astype(np.uint16 if short else np.int64), kind="stable")]
    ahead, behind = order[:-1], order[1:]
    if ((major[ahead] == major[behind]) & (minor[ahead] == minor[behind])).any():
        return np.lexsort((last, minor, major))
    return order


def _sortable(real: Doubles) -> Longs:
    """Return doubles as integers that compare alike. Zero has one sign."""
    numbers = (real + 0.0).view(np.int64)
    return np.where(numbers < 0, numbers ^ np.int64(MAX_INTEGER), numbers)


def _texts(cuts: Cuts) -> pa.Array:
    buffers = [None, pa.py_buffer(cuts.offset), pa.py_buffer(cuts.text)]
    return pa.Array.from_buffers(pa.large_binary(), len(cuts.dimension), buffers)


def _buffers(texts: pa.Array) -> tuple[Longs, Octets]:
    _, offset, data = texts.buffers()
    offsets = np.frombuffer(offset, np.int64)[texts.offset : texts.offset + len(texts) + 1]
    octets = np.frombuffer(data, np.uint8) if data is not None else np.zeros(0, np.uint8)
    return offsets - offsets[0], octets[offsets[0] : offsets[-1]].copy()


@kernel
def distinct(major: Longs, minor: Longs, last: Longs) -> tuple[Longs, Ints]:
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
