"""Which of many `array_contains` filters of one attribute a list passes.

`array_contains` is the three-valued `or` of `element = value`: true of the lists that hold the value. Its negation is
true of the lists that do not hold it and whose elements are all of the value's kind, so of empty lists always.
"""

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import pyarrow as pa

from tamis.compiled import kernel
from tamis.language.columns import Column
from tamis.language.tree import ArrayContains
from tamis.language.values import ORDERED_KINDS, Kind, typed
from tamis.matching.footprint import footprint
from tamis.matching.ranks.lists import Ints, Longs
from tamis.matching.segments.answers import longer
from tamis.matching.segments.automaton import locate, trie
from tamis.matching.segments.patterns import Mask
from tamis.matching.segments.wildcards import utf8, utf8_rows

_NONE: Final = -1


class Members:
    """An index of `array_contains` filters, also negated ones. It does not change, and threads may share it.

    The values are numbered kind by kind in their order. The filters on value v are `filed[under[v] : under[v + 1]]`.
    """

    def __init__(self, filters: Sequence[ArrayContains]) -> None:
        attributes = {each.attribute for each in filters}
        if len(attributes) > 1:
            raise ValueError(f"members are kept for one attribute, not for {', '.join(sorted(attributes))}")
        self._numbers: dict[Kind, dict[Any, int]] = {}
        self._negated: dict[Kind, Ints] = {}
        values = 0
        kinds = np.fromiter((each.kind for each in filters), np.int8, len(filters))
        self._denies: Mask = np.fromiter((each.negated for each in filters), np.bool_, len(filters))
        for kind in ORDERED_KINDS:
            held = sorted({each.value for each in filters if each.kind is kind})
            self._numbers[kind] = {value: number for number, value in enumerate(held, values)}
            self._negated[kind] = np.flatnonzero(self._denies & (kinds == kind)).astype(np.int32)
            values += len(held)
        on = np.fromiter((self._numbers[each.kind][each.value] for each in filters), np.int64, len(filters))
        self._under: Longs = np.concatenate(([0], np.cumsum(np.bincount(on, minlength=values))))
        self._filed: Ints = np.argsort(on, kind="stable").astype(np.int32)
        self._all_negated: Ints = np.flatnonzero(self._denies).astype(np.int32)

        texts = [text for text in self._numbers[Kind.STRING] if text]
        # A trie has no empty string and no number 0: its numbers are one more than ours.
        self._texts = trie([utf8(text) for text in texts], self._numbers[Kind.STRING][texts[0]] + 1 if texts else 1)

    def __len__(self) -> int:
        return len(self._filed)

    def find(self, values: Any) -> list[int]:
        """Return the numbers of the filters that are true of an event's value: their positions, each once, unordered.

        Only lists pass any: what is no list is unknown to all of them.
        """
        _, elements = typed(values)
        if hasattr(elements, "tolist"):
            elements = elements.tolist()
        if not isinstance(elements, list | tuple):
            return []
        kinds: set[Kind] = set()
        held: set[int] = set()
        for element in elements:
            kind, value = typed(element)
            kinds.add(kind)
            if kind in self._numbers and value in self._numbers[kind]:
                held.add(self._numbers[kind][value])
        on = [number for value in held for number in self._filed[self._under[value] : self._under[value + 1]].tolist()]
        found = [number for number in on if not self._denies[number]]
        if len(kinds) <= 1:
            failed = set(on)
            found += [
                number for number in self._deniable(kinds.pop() if kinds else None).tolist() if number not in failed
            ]
        return found

    def _deniable(self, kind: Kind | None) -> Ints:
        """Return the negated filters that are not unknown of lists with elements of one kind, or with none."""
        return self._all_negated if kind is None else self._negated.get(kind, self._all_negated[:0])

    def find_rows(self, array: pa.Array) -> tuple[Longs, Ints]:
        """Return the same for an array of lists: rows, ascending, and beside them numbers. Nulls pass nothing."""
        rows = np.flatnonzero(array.is_valid().to_numpy(zero_copy_only=False))
        places = _places(array)
        elements = array.values[places[0] : places[-1]]
        column = Column(elements)
        numbers = np.where(column.valid, self._located(column, elements), np.int32(_NONE))
        found, counts = _find(
            self._under,
            self._filed,
            self._denies,
            self._deniable(column.kind),
            self._all_negated,
            places[rows] - places[0],
            places[rows + 1] - places[0],
            numbers,
            column.valid,
        )
        return np.repeat(rows, counts), found

    def _located(self, column: Column, elements: pa.Array) -> Ints:
        """Return for each element the number of its value, or `_NONE`; of nulls anything."""
        known = self._numbers.get(column.kind)
        if not known:
            return np.full(len(elements), _NONE, np.int32)
        numbers: Ints
        if pa.types.is_string(elements.type) or pa.types.is_large_string(elements.type):
            data, places = utf8_rows(elements)
            numbers = locate(self._texts, data, places) - np.int32(1)
            numbers[places[1:] == places[:-1]] = known.get("", _NONE)
            return numbers
        passed = column.passed([(value, side) for value in known for side in (0, 1)])
        # Between the two cuts around a value lies the value alone.
        first = next(iter(known.values()))
        return np.where(passed % 2 == 1, first + passed // 2, _NONE).astype(np.int32)

    @property
    def bytes(self) -> int:
        """How much memory the index takes."""
        arrays = self._denies, self._under, self._filed, self._all_negated, *self._negated.values()
        return self._texts.bytes + footprint(self._numbers) + sum(array.nbytes for array in arrays)


def _places(array: pa.Array) -> Longs:
    """Return the places among the elements of an array of lists at which rows begin and end."""
    places: Longs
    kind = array.type
    if pa.types.is_fixed_size_list(kind):
        places = (array.offset + np.arange(len(array) + 1)) * kind.list_size
    elif pa.types.is_list(kind) or pa.types.is_large_list(kind):
        places = array.offsets.to_numpy().astype(np.int64)
    else:
        raise TypeError(f"members are found in arrays of type list, large_list or fixed_size_list, not {kind}")
    return places


@kernel
def _find(
    under: Longs,
    filed: Ints,
    denies: Mask,
    deniable: Ints,
    negated: Ints,
    lows: Longs,
    highs: Longs,
    numbers: Ints,
    valid: Mask,
) -> tuple[Ints, Longs]:
    """Return the filters passed, row after row, and by row how many.

    Row r has the elements from `lows[r]` up to `highs[r]`. If none of them is null, it passes the filters that are
    `deniable` unless it holds their value; if there are none at all, it passes all that are `negated`.
    """
    rows = len(lows)
    found = np.empty(rows + len(negated), np.int32)
    counts = np.zeros(rows, np.int64)
    held = np.full(len(under) - 1, -1, np.int64)
    failed = np.full(len(denies), -1, np.int64)
    count = 0
    for row in range(rows):
        before = count
        whole = True
        for element in range(lows[row], highs[row]):
            whole = whole and valid[element]
            value = numbers[element]
            if value < 0 or held[value] == row:
                continue
            held[value] = row
            most = count + under[value + 1] - under[value]
            if most > len(found):
                found = longer(found, most)
            for at in range(under[value], under[value + 1]):
                if denies[filed[at]]:
                    failed[filed[at]] = row
                else:
                    found[count] = filed[at]
                    count += 1
        if whole:
            passed = negated if lows[row] == highs[row] else deniable
            if count + len(passed) > len(found):
                found = longer(found, count + len(passed))
            for number in passed:
                if failed[number] != row:
                    found[count] = number
                    count += 1
        counts[row] = count - before
    return found[:count].copy(), counts
