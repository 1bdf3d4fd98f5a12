"""The lines of a segment: where values of events lie among its cuts."""

from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tamis.language.columns import Column, Columns, as_integer, is_list
from tamis.language.limits import MAX_INTEGER, MIN_INTEGER
from tamis.language.names import name_of, parts_of
from tamis.language.tree import ArrayContains, Like
from tamis.language.values import Kind, typed
from tamis.language.valueset import Filter
from tamis.matching.ranks.compiled import brief, kernel
from tamis.matching.ranks.lists import Ints, Longs
from tamis.matching.ranks.space import Dimension
from tamis.matching.segments.cuts import BOUNDARY, NO_INTEGER, Cuts, Doubles, Octets, utf8
from tamis.matching.segments.members import Members
from tamis.matching.segments.patterns import Patterns
from tamis.matching.segments.wildcards import utf8_rows

#: So many values of an attribute are remembered with their leaves.
_REMEMBERED: Final = 1 << 14
#: A line of integers is looked up in a table if it is not longer than this.
_LONGEST_TABLE: Final = 1 << 16
#: So many columns are put together at a time.
_TOGETHER: Final = 16
#: Doubles, whose cuts are not where those of integers are. Null has no values to be found.
_REAL: Final = Kind.NULL
#: Kinds of values, and the end of all.
_KINDS: Final = len(Kind) + 1
#: Columns that are read as they lie in memory, with the type of their numbers, or of the offsets of their strings.
_PLAIN: Final = {
    pa.int8(): np.int8,
    pa.int16(): np.int16,
    pa.int32(): np.int32,
    pa.int64(): np.int64,
    pa.uint8(): np.uint8,
    pa.uint16(): np.uint16,
    pa.uint32(): np.uint32,
    pa.float32(): np.float32,
    pa.float64(): np.float64,
    pa.string(): np.int32,
    pa.large_string(): np.int64,
}
_REALS: Final = (pa.float32(), pa.float64())
_TEXTS: Final = (pa.string(), pa.large_string())
_ALL_VALID: Final = np.zeros(0, np.uint8)


class Lines:
    """The dimensions of a segment with their cuts, in order and numbered through. A leaf has the number of its cut."""

    def __init__(self, names: Sequence[Dimension], cuts: Cuts) -> None:
        self.names = list(names)
        self.cuts = cuts
        lines = np.arange(len(self.names) + 1)
        #: By dimension: the leaf of null.
        self.base: Ints = np.searchsorted(cuts.dimension, lines).astype(np.int32)
        self._begin, self._end = _stretches(cuts, len(self.names))
        self._attributes: dict[str, list[_Attribute]] = {}
        for dimension, name in enumerate(self.names):
            if isinstance(name, str):
                self._attribute(name).dimension = dimension
            else:
                self._attribute(name.attribute).filters[dimension] = name
        #: Attributes that are only a line, and whose values need no taking apart.
        self._plain = {
            name: known[0].leaves
            for name, known in self._attributes.items()
            if len(known) == 1 and not known[0].rest and not known[0].filters
        }

    def _attribute(self, name: str) -> "_Attribute":
        first, *rest = parts_of(name)
        known = self._attributes.setdefault(first, [])
        for each in known:
            if each.rest == tuple(rest):
                return each
        known.append(_Attribute(self, tuple(rest)))
        return known[-1]

    # --- events -------------------------------------------------------------------------------------

    def leaves_of(self, event: Mapping[str, Any]) -> list[int]:
        """Return the leaves on which the values of an event lie; null is left out."""
        found: list[int] = []
        plain, attributes = self._plain, self._attributes
        for name, value in event.items():
            leaves = plain.get(name)
            if leaves is not None:
                leaf = leaves[type(value)][value]
                if leaf >= 0:
                    found.append(leaf)
            elif name in attributes:
                for each in attributes[name]:
                    each.locate(value, found)
        return found

    def leaves_of_rows(self, batch: pa.RecordBatch) -> tuple[Longs, Ints]:
        """Return the leaves of all rows: those of row r lie from `offsets[r]` up to `offsets[r + 1]`."""
        columns = Columns(batch)
        size = batch.num_rows
        offsets = np.zeros(size + 1, np.int64)
        dense = np.empty((sum(map(self._lines_below, batch.schema.names)), size), np.int32)
        used = 0
        rows: list[Longs] = [np.empty(0, np.int64)]
        filtered: list[Ints] = [np.empty(0, np.int32)]
        for place, name in enumerate(batch.schema.names):
            # A name that occurs twice is no attribute: it has no place.
            alone = name in self._plain and batch.schema.get_field_index(name) == place
            if alone and self._attributes[name][0].locate_plainly(batch.column(place), dense[used], offsets):
                used += 1
                continue
            for each in self._attributes.get(name, ()):
                column = columns.column(name_of(name, *each.rest))
                if each.dimension is not None and column.kind is not Kind.NULL:
                    each.locate_rows(column, dense[used], offsets)
                    used += 1
                for some, passed in each.filter_rows(column):
                    rows.append(some)
                    filtered.append(passed)
        extra = np.concatenate(rows)
        offsets[1:] += np.bincount(extra, minlength=size)
        np.cumsum(offsets, out=offsets)
        leaves = np.empty(offsets[-1], np.int32)
        at = offsets[:-1].copy()
        for first in range(0, used, _TOGETHER):
            _gather(dense[first : min(first + _TOGETHER, used)], at, leaves)
        _gather_extra(extra, np.concatenate(filtered), at, leaves)
        return offsets, leaves

    def _lines_below(self, name: str) -> int:
        """Return on how many lines a column may have values."""
        return sum(each.dimension is not None for each in self._attributes.get(name, ()))

    # --- one dimension ------------------------------------------------------------------------------

    def stretch(self, dimension: int, kind: Kind) -> tuple[int, int]:
        """Return where the cuts begin and end that values of a kind can pass, on the line of a dimension."""
        at = dimension * _KINDS + kind
        return int(self._begin[at]), int(self._end[at])

    def passing(self, dimension: int) -> int:
        """Return the leaf of the events that pass the filter which a dimension is."""
        begin, end = self.stretch(dimension, Kind.BOOLEAN)
        return begin - 1 + int(np.searchsorted(self.cuts.whole[begin:end], 1, side="right"))


def _bits(valid: npt.NDArray[np.bool_]) -> Octets:
    """Return which rows are valid as Arrow has it: a bit for each."""
    return np.packbits(valid, bitorder="little")


def _stretches(cuts: Cuts, dimensions: int) -> tuple[Ints, Ints]:
    """Return by dimension and kind where the cuts begin and end that values can pass."""
    own = cuts.dimension.astype(np.int64) * _KINDS + cuts.kind
    begin = np.searchsorted(own, np.arange(dimensions * _KINDS)).astype(np.int32)
    end = np.searchsorted(own, np.arange(dimensions * _KINDS), side="right").astype(np.int32)
    begin[own[cuts.flag == BOUNDARY]] += 1
    # Null has no values: doubles, which may pass cuts that no integer passes, have its place.
    begin[_REAL::_KINDS], end[_REAL::_KINDS] = begin[Kind.NUMBER :: _KINDS], end[Kind.NUMBER :: _KINDS]
    end[Kind.NUMBER :: _KINDS] -= np.bincount(cuts.dimension[cuts.flag == NO_INTEGER], minlength=dimensions).astype(
        np.int32
    )
    return begin, end


class _Leaves(dict[Any, int]):
    """The leaves of values of one type, found when they are first asked for, and remembered unless they are many."""

    def __init__(self, find: Callable[[Any], int]) -> None:
        super().__init__()
        self._find = find

    def __missing__(self, value: Any) -> int:
        leaf = self._find(value)
        if len(self) >= _REMEMBERED:
            self.clear()
        self[value] = leaf
        return leaf


class _Found:
    """The leaves of values that cannot be remembered, found whenever they are asked for."""

    def __init__(self, find: Callable[[Any], int]) -> None:
        self._find = find

    def __getitem__(self, value: Any) -> int:
        return self._find(value)


class _Types(dict[type, _Leaves | _Found]):
    """By type of a value: its leaves."""

    def __init__(self, find: Callable[[Any], int]) -> None:
        super().__init__()
        self._find = find

    def __missing__(self, kind: type) -> _Leaves | _Found:
        leaves = self[kind] = _Leaves(self._find) if kind in (int, str, float, bool) else _Found(self._find)
        return leaves


class _Attribute:
    """An attribute: how its values are put on its line, and which filters they pass."""

    def __init__(self, lines: Lines, rest: tuple[str, ...]) -> None:
        self.rest = rest
        self.dimension: int | None = None
        self.filters: dict[int, Filter] = {}
        self.leaves = _Types(self._find)
        self._lines = lines
        self._finders: dict[Kind, Callable[[Any], int]] = {}
        self._table: tuple[int, Ints] | None = None
        self._searches: list[tuple[Patterns | Members, Ints]] | None = None

    def locate(self, value: Any, found: list[int]) -> None:
        """Append the leaves of what is in the value of the first part of the name, and those of filters it passes."""
        for part in self.rest:
            value = value.get(part) if isinstance(value, Mapping) else None
        if self.dimension is not None:
            leaf = self.leaves[type(value)][value]
            if leaf >= 0:
                found.append(leaf)
        if self.filters:
            kind, value = typed(value)
            for search, leaves in self._filter_searches():
                if isinstance(search, Members) or kind is Kind.STRING:
                    found += leaves[search.find(value)].tolist()

    def _find(self, value: Any) -> int:
        kind, value = typed(value)
        if kind is Kind.NULL:
            return -1
        if kind is Kind.NUMBER and (type(value) is float or not MIN_INTEGER <= value <= MAX_INTEGER):
            return self._finder(_REAL)(value)
        return self._finder(kind)(value)

    def _finder(self, kind: Kind) -> Callable[[Any], int]:
        """Return what finds the leaf of a value of a kind."""
        finder = self._finders.get(kind)
        if finder is None:
            finder = self._finders[kind] = self._new_finder(kind)
        return finder

    def _new_finder(self, kind: Kind) -> Callable[[Any], int]:
        assert self.dimension is not None
        cuts = self._lines.cuts
        begin, end = self._lines.stretch(self.dimension, kind)
        before = begin - 1
        if kind is Kind.OTHER:
            return lambda _: before
        if kind is _REAL:
            reals = cuts.real[begin:end].tolist()
            return lambda value: before + bisect_right(reals, value)
        if kind is Kind.STRING:
            offset, text = cuts.offset, cuts.text
            texts = [text[offset[at] : offset[at + 1]].tobytes() for at in range(begin, end)]
            return lambda value: before + bisect_right(texts, utf8(value))
        wholes = cuts.whole[begin:end].tolist()
        if kind is Kind.NUMBER:
            return lambda value: before + bisect_right(wholes, value)
        return lambda value: before + bisect_right(wholes, as_integer(value))

    # --- columns ------------------------------------------------------------------------------------

    def locate_plainly(self, array: pa.Array, leaves: Ints, counts: Longs) -> bool:
        """Write and count the leaves of a plain column of numbers or strings; tell if it is none."""
        kind = array.type
        dtype = _PLAIN.get(kind)
        if dtype is None:
            return False
        assert self.dimension is not None
        buffers = array.buffers()
        valid = _ALL_VALID if buffers[0] is None else np.frombuffer(buffers[0], np.uint8)
        if kind in _TEXTS:
            begin, end = self._lines.stretch(self.dimension, Kind.STRING)
            cuts = self._lines.cuts
            data, offsets = utf8_rows(array)
            _search_texts(offsets, data, valid, array.offset, cuts.offset, cuts.text, begin, end, leaves, counts)
            return True
        values = np.frombuffer(buffers[1], dtype, len(array), array.offset * kind.byte_width)
        table = self.table() if kind not in _REALS else None
        if table is not None:
            _look_up(values, valid, array.offset, *table, leaves, counts)
            return True
        cuts, real = self._lines.cuts, kind in _REALS
        begin, end = self._lines.stretch(self.dimension, _REAL if real else Kind.NUMBER)
        _search(values, valid, array.offset, cuts.real if real else cuts.whole, begin, end, leaves, counts)
        return True

    def locate_rows(self, column: Column, leaves: Ints, counts: Longs) -> None:
        """Write and count the leaf of every row, and write -1 for null."""
        cuts = self._lines.cuts
        doubles = column.kind is Kind.NUMBER and column.values.dtype.kind == "f"
        assert self.dimension is not None
        begin, end = self._lines.stretch(self.dimension, _REAL if doubles else column.kind)
        if column.kind is Kind.OTHER or begin == end:
            leaves[:] = np.where(column.valid, begin - 1, -1)
            counts[1:] += column.valid
        elif column.kind is Kind.STRING:
            data, offsets = utf8_rows(column.array)
            _search_texts(offsets, data, _bits(column.valid), 0, cuts.offset, cuts.text, begin, end, leaves, counts)
        elif doubles:
            _search(column.values, _bits(column.valid), 0, cuts.real, begin, end, leaves, counts)
        else:
            values, valid = column.values, column.valid
            large = values > np.uint64(MAX_INTEGER) if values.dtype == np.uint64 else np.zeros_like(valid)
            _search(values.astype(np.int64), _bits(valid & ~large), 0, cuts.whole, begin, end, leaves, counts)
            if large.any():
                # Beyond 64 bits with a sign, integers are compared as doubles.
                begin, end = self._lines.stretch(self.dimension, _REAL)
                beyond = np.empty_like(leaves)
                _search(values.astype(np.float64), _bits(valid & large), 0, cuts.real, begin, end, beyond, counts)
                leaves[large] = beyond[large]

    def table(self) -> tuple[int, Ints] | None:
        """Return the leaves of integers from a first one on, unless they are too many.

        The ends of the table stand for all that lies beyond.
        """
        if self._table is None:
            assert self.dimension is not None
            begin, end = self._lines.stretch(self.dimension, Kind.NUMBER)
            whole = self._lines.cuts.whole[begin:end]
            first, last = (int(whole[0]), int(whole[-1])) if begin < end else (0, 0)
            if last - first >= _LONGEST_TABLE or first == MIN_INTEGER:
                return None
            # One place more on the left for what lies before all cuts.
            places = np.searchsorted(whole, first + np.arange(-1, last - first + 1), side="right")
            self._table = first - 1, (begin - 1 + places).astype(np.int32)
        return self._table

    # --- filters ------------------------------------------------------------------------------------

    def filter_rows(self, column: Column) -> Iterable[tuple[Longs, Ints]]:
        """Yield rows and the leaves of the filters that they pass."""
        if self.filters and (column.kind is Kind.STRING or is_list(column.array)):
            for search, leaves in self._filter_searches():
                if isinstance(search, Patterns) is (column.kind is Kind.STRING):
                    rows, numbers = search.find_rows(column.array)
                    yield rows, leaves[numbers]

    def _filter_searches(self) -> list[tuple[Patterns | Members, Ints]]:
        if self._searches is None:
            searches: list[tuple[Patterns | Members, Ints]] = []
            likes = {on: each for on, each in self.filters.items() if isinstance(each, Like)}
            members = {on: each for on, each in self.filters.items() if isinstance(each, ArrayContains)}
            if likes:
                searches.append((Patterns(list(likes.values())), self._passing(likes)))
            if members:
                searches.append((Members(list(members.values())), self._passing(members)))
            self._searches = searches
        return self._searches

    def _passing(self, dimensions: Iterable[int]) -> Ints:
        return np.array([self._lines.passing(each) for each in dimensions], np.int32)


@brief
def _look_up(values: Longs, valid: Octets, shift: int, first: int, table: Ints, leaves: Ints, counts: Longs) -> None:
    """Write the leaf of each value from a table, whose ends stand for all that lies beyond, and count it.

    `valid` has a bit for each value, after so many others, or is empty if all are.
    """
    last = first + len(table) - 1
    for row in range(len(values)):
        at = row + shift
        if len(valid) == 0 or valid[at >> 3] >> (at & 7) & 1:
            # Compared before they are subtracted: the difference of two integers may not fit.
            leaves[row] = table[max(first, min(int(values[row]), last)) - first]
            counts[row + 1] += 1
        else:
            leaves[row] = -1


@brief
def _search(
    values: Doubles | Longs,
    valid: Octets,
    shift: int,
    cuts: Doubles | Longs,
    begin: int,
    end: int,
    leaves: Ints,
    counts: Longs,
) -> None:
    """Write the leaf of each value: of how many cuts it is not less. The rest is as for `_look_up`."""
    for row in range(len(values)):
        at = row + shift
        value = values[row]
        # What is not a number is not equal to itself.
        if (len(valid) and not valid[at >> 3] >> (at & 7) & 1) or value != value:
            leaves[row] = -1
            continue
        low, high = begin, end
        while low < high:
            middle = (low + high) >> 1
            if cuts[middle] <= value:
                low = middle + 1
            else:
                high = middle
        leaves[row] = low - 1
        counts[row + 1] += 1


@brief
def _search_texts(
    offsets: Longs,
    data: Octets,
    valid: Octets,
    shift: int,
    cut_offsets: Longs,
    cuts: Octets,
    begin: int,
    end: int,
    leaves: Ints,
    counts: Longs,
) -> None:
    """Write the leaf of each text. The rest is as for `_look_up`."""
    for row in range(len(offsets) - 1):
        at = row + shift
        if len(valid) and not valid[at >> 3] >> (at & 7) & 1:
            leaves[row] = -1
            continue
        low, high = begin, end
        while low < high:
            middle = (low + high) >> 1
            if _passes(data, offsets[row], offsets[row + 1], cuts, cut_offsets[middle], cut_offsets[middle + 1]):
                low = middle + 1
            else:
                high = middle
        leaves[row] = low - 1
        counts[row + 1] += 1


@kernel
def _passes(data: Octets, first: int, last: int, cuts: Octets, begin: int, end: int) -> bool:
    """Return whether a text is not less than that of a cut."""
    while begin < end:
        if first == last or data[first] < cuts[begin]:
            return False
        if data[first] > cuts[begin]:
            return True
        first += 1
        begin += 1
    return True


@brief
def _gather(columns: Ints, at: Longs, leaves: Ints) -> None:
    """Write the leaves of columns by row, from where `at` says on; what is negative is left out."""
    for row in range(len(at)):
        place = at[row]
        for column in range(len(columns)):
            if columns[column, row] >= 0:
                leaves[place] = columns[column, row]
                place += 1
        at[row] = place


@brief
def _gather_extra(rows: Longs, extra: Ints, at: Longs, leaves: Ints) -> None:
    """Write some more leaves, each with its row."""
    for each in range(len(rows)):
        leaves[at[rows[each]]] = extra[each]
        at[rows[each]] += 1
