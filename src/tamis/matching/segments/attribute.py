"""An attribute of a segment: how its values are put on its line, and which filters they pass."""

from array import array
from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tamis.language.columns import Column, as_integer, is_list
from tamis.language.limits import MAX_INTEGER, MIN_INTEGER
from tamis.language.tree import ArrayContains, Like
from tamis.language.values import Kind, typed
from tamis.language.valueset import Filter
from tamis.matching.ranks.lists import Ints
from tamis.matching.segments.cuts import Octets, utf8
from tamis.matching.segments.guides import Guide, guide_of
from tamis.matching.segments.locating import ALL_VALID, Entries
from tamis.matching.segments.members import Members
from tamis.matching.segments.patterns import Patterns
from tamis.matching.segments.stretches import REAL, Stretches

#: So many values of an attribute are remembered with their leaves.
_REMEMBERED: Final = 1 << 14
#: A line of integers is looked up in a table if it is not longer than this.
_LONGEST_TABLE: Final = 1 << 16
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


class _Finder:
    """Finds the leaf of a value on a line. It knows no attribute: what is not needed any more is gone at once."""

    def __init__(self, stretches: Stretches, dimension: int) -> None:
        self._stretches = stretches
        self._dimension = dimension
        self._by_kind: dict[Kind, Callable[[Any], int]] = {}

    def __call__(self, value: Any) -> int:
        kind, value = typed(value)
        if kind is Kind.NULL:
            return -1
        if kind is Kind.NUMBER and (type(value) is float or not MIN_INTEGER <= value <= MAX_INTEGER):
            kind = REAL
        find = self._by_kind.get(kind)
        if find is None:
            find = self._by_kind[kind] = self._finder(kind)
        return find(value)

    def _finder(self, kind: Kind) -> Callable[[Any], int]:
        """Return what finds the leaf of a value of a kind."""
        cuts = self._stretches.cuts
        begin, end = self._stretches.of(self._dimension, kind)
        before = begin - 1
        if kind is Kind.OTHER:
            return lambda _: before
        # Arrays rather than lists: they are there at once, and the garbage collector does not go through them.
        if kind is REAL:
            reals = array("d", cuts.real[begin:end].tobytes())
            return lambda value: before + bisect_right(reals, value)
        if kind is Kind.STRING:
            offset, text = cuts.offset, cuts.text
            texts = [text[offset[at] : offset[at + 1]].tobytes() for at in range(begin, end)]
            return lambda value: before + bisect_right(texts, utf8(value))
        wholes = array("q", cuts.whole[begin:end].tobytes())
        if kind is Kind.NUMBER:
            return lambda value: before + bisect_right(wholes, value)
        return lambda value: before + bisect_right(wholes, as_integer(value))


class Attribute:
    """An attribute: how its values are put on its line, if it has one, and which filters they pass."""

    def __init__(
        self, stretches: Stretches, rest: tuple[str, ...], dimension: int | None, filters: dict[int, Filter]
    ) -> None:
        self.rest = rest
        self.dimension = dimension
        self.filters = filters
        #: The leaves of values on its line.
        self.leaves = None if dimension is None else _Types(_Finder(stretches, dimension))
        self._stretches = stretches
        self._guides: dict[Kind, Guide] = {}
        self._table: tuple[int, Ints] | None = None
        self._searches: list[tuple[Patterns | Members, Ints]] | None = None

    def locate(self, value: Any, found: list[int]) -> None:
        """Append the leaves of what is in the value of the first part of the name, and those of filters it passes."""
        for part in self.rest:
            value = value.get(part) if isinstance(value, Mapping) else None
        if self.leaves is not None:
            leaf = self.leaves[type(value)][value]
            if leaf >= 0:
                found.append(leaf)
        if self.filters:
            kind, value = typed(value)
            for search, leaves in self._filter_searches():
                if isinstance(search, Members) or kind is Kind.STRING:
                    found += leaves[search.find(value)].tolist()

    # --- columns ------------------------------------------------------------------------------------

    def locate_plainly(self, column: pa.Array, entries: Entries) -> bool:
        """Add the leaves of a plain column of numbers or strings; tell if it is none."""
        kind = column.type
        dtype = _PLAIN.get(kind)
        if dtype is None:
            return False
        assert self.dimension is not None
        buffers, shift = column.buffers(), column.offset
        valid = ALL_VALID if buffers[0] is None else np.frombuffer(buffers[0], np.uint8)
        cuts = self._stretches.cuts
        if kind in _TEXTS:
            entries.search_texts(column, valid, shift, cuts, self._stretches.of(self.dimension, Kind.STRING))
            return True
        values = np.frombuffer(buffers[1], dtype, len(column), shift * kind.byte_width)
        if kind in _REALS:
            entries.search(values, valid, shift, cuts.real, self._guide(REAL))
        elif (table := self.table()) is not None:
            entries.look_up(values, valid, shift, *table)
        else:
            entries.search(values, valid, shift, cuts.whole, self._guide(Kind.NUMBER))
        return True

    def locate_rows(self, column: Column, entries: Entries) -> None:
        """Add the leaves of a column of any kind, and those of filters that its values pass."""
        if self.dimension is not None and column.kind is not Kind.NULL:
            self._locate(self.dimension, column, entries)
        if self.filters and (column.kind is Kind.STRING or is_list(column.array)):
            for search, leaves in self._filter_searches():
                if isinstance(search, Patterns) is (column.kind is Kind.STRING):
                    rows, numbers = search.find_rows(column.array)
                    entries.add(rows, leaves[numbers])

    def _locate(self, dimension: int, column: Column, entries: Entries) -> None:
        cuts, values, valid = self._stretches.cuts, column.values, column.valid
        real = column.kind is Kind.NUMBER and values.dtype.kind == "f"
        line = self._stretches.of(dimension, REAL if real else column.kind)
        if column.kind is Kind.OTHER or line[0] == line[1]:
            entries.add(np.flatnonzero(valid), line[0] - 1)
        elif column.kind is Kind.STRING:
            entries.search_texts(column.array, _bits(valid), 0, cuts, line)
        elif real:
            entries.search(values, _bits(valid), 0, cuts.real, self._guide(REAL))
        elif values.dtype == np.uint64:
            # Beyond 64 bits with a sign, integers are compared as doubles.
            large = values > np.uint64(MAX_INTEGER)
            entries.search(values.astype(np.int64), _bits(valid & ~large), 0, cuts.whole, self._guide(column.kind))
            entries.search(values.astype(np.float64), _bits(valid & large), 0, cuts.real, self._guide(REAL))
        else:
            entries.search(values.astype(np.int64), _bits(valid), 0, cuts.whole, self._guide(column.kind))

    def table(self) -> tuple[int, Ints] | None:
        """Return the leaves of integers from a first one on, unless they are too many.

        The ends of the table stand for all that lies beyond.
        """
        if self._table is None:
            assert self.dimension is not None
            begin, end = self._stretches.of(self.dimension, Kind.NUMBER)
            whole = self._stretches.cuts.whole[begin:end]
            first, last = (int(whole[0]), int(whole[-1])) if begin < end else (0, 0)
            if last - first >= _LONGEST_TABLE or first == MIN_INTEGER:
                return None
            # One place more on the left for what lies before all cuts.
            places = np.searchsorted(whole, first + np.arange(-1, last - first + 1), side="right")
            self._table = first - 1, (begin - 1 + places).astype(np.int32)
        return self._table

    def _guide(self, kind: Kind) -> Guide:
        """Return the guide to the cuts that values of a kind can pass, which are numbers."""
        guide = self._guides.get(kind)
        if guide is None:
            assert self.dimension is not None
            cuts = self._stretches.cuts.real if kind is REAL else self._stretches.cuts.whole
            guide = self._guides[kind] = guide_of(cuts, *self._stretches.of(self.dimension, kind))
        return guide

    # --- filters ------------------------------------------------------------------------------------

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
        return np.array([self._stretches.passing(each) for each in dimensions], np.int32)


def _bits(valid: npt.NDArray[np.bool_]) -> Octets:
    """Return which rows are valid as Arrow has it: a bit for each."""
    return np.packbits(valid, bitorder="little")
