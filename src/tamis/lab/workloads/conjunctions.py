"""Conjunctions of predicates, kept as columns."""

import enum
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tamis.lab.workloads.draws import Flags, Ints, Numbers, offsets_of
from tamis.lab.workloads.events import SparseEvents
from tamis.lab.workloads.text import joined, line, literals, merged
from tamis.lab.workloads.workload import Conditions
from tamis.language.names import name_of

#: Conditions whose text is written at once.
_TEXTS = 1 << 18


class Operator(enum.IntEnum):
    """The nine operators of specs/002 §2; `BETWEEN` includes both ends."""

    EQ = 0
    NE = 1
    LT = 2
    LE = 3
    GT = 4
    GE = 5
    BETWEEN = 6
    IN = 7
    NOT_IN = 8


SYMBOLS: Final = ("=", "<>", "<", "<=", ">", ">=", "between", "in", "not in")

# What each operator is, to be looked up by its number.
_OPEN_BELOW: Final = np.isin(list(Operator), (Operator.LT, Operator.LE))
_OPEN_ABOVE: Final = np.isin(list(Operator), (Operator.GT, Operator.GE))
_LISTED: Final = np.isin(list(Operator), (Operator.IN, Operator.NOT_IN))
_NEGATED: Final = np.isin(list(Operator), (Operator.NE, Operator.NOT_IN))


@dataclass(frozen=True, eq=False)
class Predicates:
    """What predicates ask of a value, whatever the attribute.

    `low` and `high` are the closed range of values: both the value itself for `=` and `<>`, without
    meaning on the open side of `< <= > >=` and for lists. `lists` holds the values of `in` and `not in`,
    those of predicate number i between `list_offsets[i]` and `list_offsets[i + 1]`.
    """

    operators: npt.NDArray[np.int8]
    low: Numbers
    high: Numbers
    list_offsets: Ints
    lists: Numbers

    def __len__(self) -> int:
        return len(self.operators)

    def of(self, *operators: Operator) -> Flags:
        """Return which predicates have one of these operators."""
        return np.isin(self.operators, operators)

    def accept(self, places: Ints, values: Numbers) -> Flags:
        """Return whether each predicate named by `places` is true of the value beside it."""
        operators = self.operators[places]
        found = (values >= self.low[places]) | _OPEN_BELOW[operators]
        found &= (values <= self.high[places]) | _OPEN_ABOVE[operators]
        listed = np.flatnonzero(_LISTED[operators])
        if len(listed):
            found[listed] = self._contain(places[listed], values[listed])
        return found ^ _NEGATED[operators]

    def _contain(self, places: Ints, values: Numbers) -> Flags:
        starts, ends = self.list_offsets[places], self.list_offsets[places + 1]
        found = np.zeros(len(places), dtype=np.bool_)
        for step in range(int((ends - starts).max())):
            inside = starts + step < ends
            found[inside] |= self.lists[starts[inside] + step] == values[inside]
        return found

    def part(self, start: int, end: int) -> "Predicates":
        """Return the predicates from number `start` to before `end`."""
        first, last = self.list_offsets[start], self.list_offsets[end]
        return Predicates(
            self.operators[start:end],
            self.low[start:end],
            self.high[start:end],
            self.list_offsets[start : end + 1] - first,
            self.lists[first:last],
        )

    def texts(self, names: pa.Array, words: pa.Array | None = None) -> pa.Array:
        """Write each predicate, about the attribute beside it; where there are `words`, values name them."""
        between, listed = self.of(Operator.BETWEEN), self.of(Operator.IN, Operator.NOT_IN)
        single = ~between & ~listed

        def written(values: Numbers) -> pa.Array:
            return literals(values) if words is None else literals(words).take(pa.array(values))

        # A strict bound is the neighbour of the closed one; only whole numbers have such predicates.
        bounds = np.where(self.of(Operator.LT, Operator.LE), self.high, self.low)
        bounds = bounds + self.of(Operator.LT) - self.of(Operator.GT)
        symbols = pa.array(SYMBOLS).take(pa.array(self.operators))
        lists = joined(written(self.lists), self.list_offsets, ", ")

        def rows(array: pa.Array, mask: Flags) -> pa.Array:
            return array.filter(pa.array(mask))

        return merged(
            [single, between, listed],
            [
                line(rows(names, single), rows(symbols, single), written(bounds[single])),
                line(
                    rows(names, between),
                    "between",
                    written(self.low[between]),
                    "and",
                    written(self.high[between]),
                ),
                line(rows(names, listed), " ", rows(symbols, listed), " (", rows(lists, listed), ")", separator=""),
            ],
        )


def ranges(low: Numbers, high: Numbers) -> Predicates:
    """Return a `between` for each closed range, or `=` where both ends are one value."""
    operators = np.where(low == high, Operator.EQ, Operator.BETWEEN).astype(np.int8)
    return Predicates(operators, low, high, np.zeros(len(low) + 1, dtype=np.int64), low[:0])


@dataclass(frozen=True, eq=False)
class Conjunctions(Conditions):
    """Conjunctions: number i has the predicates `offsets[i]` to `offsets[i + 1]`.

    `codes` gives the number of each predicate's attribute in `attributes`. Where there are `words`, the
    predicates' values are positions in them.
    """

    attributes: tuple[str, ...]
    offsets: Ints
    codes: Ints
    predicates: Predicates
    words: pa.Array | None = None

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def texts(self) -> pa.Array:
        names = pa.array([name_of(name) for name in self.attributes])
        parts = []
        for first in range(0, len(self), _TEXTS):
            offsets = self.offsets[first : first + _TEXTS + 1]
            start, end = int(offsets[0]), int(offsets[-1])
            asked = names.take(pa.array(self.codes[start:end]))
            written = self.predicates.part(start, end).texts(asked, self.words)
            parts.append(joined(written, offsets - start, " and "))
        return pa.concat_arrays(parts)

    def columns(self) -> pa.Table:
        """Return one row per predicate.

        Columns: `subscription`, `attribute`, `operator`, `low`, `high` (the closed range, null where it is
        open; for `<>` the excluded value) and `values` (the list of `in` and `not in`, null for others).
        """
        asked = self.predicates
        listed = asked.of(Operator.IN, Operator.NOT_IN)
        values = pa.ListArray.from_arrays(
            pa.array(asked.list_offsets, pa.int32()), self._values(asked.lists), mask=pa.array(~listed)
        )
        return pa.table(
            {
                "subscription": np.repeat(np.arange(len(self)), np.diff(self.offsets)),
                "attribute": pa.DictionaryArray.from_arrays(pa.array(self.codes, pa.int32()), list(self.attributes)),
                "operator": pa.DictionaryArray.from_arrays(pa.array(asked.operators), list(SYMBOLS)),
                "low": self._values(asked.low, listed | asked.of(Operator.LT, Operator.LE)),
                "high": self._values(asked.high, listed | asked.of(Operator.GT, Operator.GE)),
                "values": values,
            }
        )

    def _values(self, values: Numbers, hidden: Flags | None = None) -> pa.Array:
        array = pa.array(values, mask=hidden)
        return array if self.words is None else self.words.take(array)

    def holds(self, events: SparseEvents, subscriptions: Ints, rows: Ints) -> Flags:
        """Return whether each conjunction is true of the event beside it: an oracle on arrays.

        Events must number their attributes and words as the conjunctions do.
        """
        result = np.ones(len(subscriptions), dtype=np.bool_)
        starts, ends = self.offsets[subscriptions], self.offsets[subscriptions + 1]
        for step in range(int((ends - starts).max(initial=0))):
            live = np.flatnonzero(result & (starts + step < ends))
            places = starts[live] + step
            there, values = events.find(rows[live], self.codes[places])
            result[live] = there
            live, places, values = live[there], places[there], values[there]
            result[live] = self.predicates.accept(places, values)
        return result


def conjunctions(
    attributes: tuple[str, ...],
    sizes: Ints,
    codes: Ints,
    predicates: Predicates,
    words: pa.Array | None = None,
) -> Conjunctions:
    """Return conjunctions of these sizes, each made of the next so many predicates."""
    return Conjunctions(attributes, offsets_of(sizes), codes, predicates, words)


@lru_cache(maxsize=8)
def numbered(count: int) -> tuple[str, ...]:
    """Return the names of synthetic attributes: a0, a1, ..."""
    return tuple(f"a{number}" for number in range(count))
