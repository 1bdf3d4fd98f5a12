"""By what an event finds subscriptions of which no segment has been built: a value of an attribute, or a range of it.

Readers need no lock: whatever is anchored is put where it is looked for last.
"""

import math
from collections.abc import Iterator, Mapping
from typing import Any, Final, Generic, TypeVar

import numpy as np
import numpy.typing as npt

from tamis.language import And, Between, Comparison, Expression
from tamis.language.names import parts_of
from tamis.language.values import Kind, read, typed
from tamis.matching.ranks.lists import grown

T = TypeVar("T")

#: Types of values by which things are found: those that are equal if and only if the language says so.
_PLAIN: Final = (int, float, str, bool)
#: Ranges for which there is room at first.
_ROOM: Final = 16


class Anchors(Generic[T]):
    """Things that an event may meet, each found by something that it asks for, if there is anything of that kind."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        #: By the first part of an attribute's name: the attribute and its number.
        self._by_first: dict[str, list[tuple[str, int]]] = {}
        #: By attribute: what asks for one value of it, and how many things ask for a range.
        self._by_value: list[dict[Any, list[T]]] = []
        self._ranges: list[int] = []
        #: What asks for a range; and for each of them of which attribute, from where and up to where.
        self._ranged: list[T] = []
        self._on: npt.NDArray[np.int64] = np.empty(_ROOM, np.int64)
        self._low: npt.NDArray[np.float64] = np.empty(_ROOM)
        self._high: npt.NDArray[np.float64] = np.empty(_ROOM)
        self._others: list[T] = []

    def append(self, expression: Expression, thing: T) -> None:
        """Anchor one more thing, with what it asks for: where there are fewest others."""
        parts = expression.operands if isinstance(expression, And) else (expression,)
        lists = [
            self._by_value[self._number(part.attribute)].setdefault(part.value, [])
            for part in parts
            if isinstance(part, Comparison) and part.operator == "=" and type(typed(part.value)[1]) in _PLAIN
        ]
        if lists:
            min(lists, key=len).append(thing)
            return
        ranges = {self._number(attribute): ends for attribute, ends in _ranges(parts).items()}
        if ranges:
            on = min(ranges, key=self._ranges.__getitem__)
            self._put_between(on, *ranges[on], thing)
        else:
            self._others.append(thing)

    def met(self, event: Mapping[str, Any]) -> Iterator[T]:
        """Yield all things that an event may meet, and some others."""
        numbers: dict[int, float] = {}
        for name in event:
            for attribute, on in self._by_first.get(name, ()):
                kind, value = read(event, attribute)
                if type(value) in _PLAIN:
                    yield from self._by_value[on].get(value, ())
                if kind is Kind.NUMBER:
                    numbers[on] = _rounded(value)
        if numbers and self._ranged:
            yield from self._around(numbers)
        yield from self._others

    def _number(self, attribute: str) -> int:
        number = self._numbers.get(attribute)
        if number is None:
            number = self._numbers[attribute] = len(self._numbers)
            self._by_value.append({})
            self._ranges.append(0)
            self._by_first.setdefault(parts_of(attribute)[0], []).append((attribute, number))
        return number

    def _put_between(self, on: int, low: float, high: float, thing: T) -> None:
        count = len(self._ranged)
        self._on, self._low, self._high = (grown(each, count + 1) for each in (self._on, self._low, self._high))
        self._on[count], self._low[count], self._high[count] = on, low, high
        self._ranges[on] += 1
        self._ranged.append(thing)

    def _around(self, numbers: dict[int, float]) -> Iterator[T]:
        """Yield what asks for ranges in which the numbers of an event lie, by attribute."""
        # First the list: what is in it is in the arrays, whatever they have become meanwhile.
        count = len(self._ranged)
        values = np.full(len(self._by_value), np.nan)
        values[list(numbers)] = list(numbers.values())
        asked = values[self._on[:count]]
        inside = (self._low[:count] <= asked) & (asked <= self._high[:count])
        for place in np.flatnonzero(inside).tolist():
            yield self._ranged[place]


def _ranges(parts: tuple[Expression, ...]) -> dict[str, tuple[float, float]]:
    """Return by attribute the least and the greatest number that all parts let it have, or beyond them, as doubles."""
    found: dict[str, tuple[float, float]] = {}
    for part in parts:
        low, high = -math.inf, math.inf
        if isinstance(part, Between) and not part.negated and part.kind is Kind.NUMBER:
            low, high = _rounded(part.low), _rounded(part.high)
        elif isinstance(part, Comparison) and part.kind is Kind.NUMBER and part.operator in ("<", "<="):
            high = _rounded(part.value)
        elif isinstance(part, Comparison) and part.kind is Kind.NUMBER and part.operator in (">", ">="):
            low = _rounded(part.value)
        else:
            continue
        before = found.get(part.attribute, (low, high))
        found[part.attribute] = max(low, before[0]), min(high, before[1])
    return found


def _rounded(number: Any) -> float:
    """Return a number as a double. Of two numbers the greater one is not rounded to the lesser double."""
    try:
        return float(number)
    except OverflowError:
        return math.inf if number > 0 else -math.inf
