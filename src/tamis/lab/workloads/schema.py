"""Attributes of realistic events: each draws its column of values and predicates that people might write."""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tamis.lab.workloads.draws import Floats, Numbers, distinct, offsets_of, pick, tilted, zipf
from tamis.lab.workloads.events import TableEvents
from tamis.lab.workloads.text import composed, joined, line, literals, merged
from tamis.lab.workloads.workload import ArbitraryConditions

#: Predicates of one condition besides that on the key.
FEWEST, MOST, MEAN = 1, 6, 2.5
_CHUNK = 1 << 17

Writer = Callable[[int], pa.Array]


class Attribute(ABC):
    """One attribute; a dot in its name makes it part of a nested one."""

    name: str

    @abstractmethod
    def column(self, rng: np.random.Generator, count: int) -> pa.Array:
        """Draw the attribute's values in so many events."""

    @abstractmethod
    def predicates(self, rng: np.random.Generator, count: int) -> pa.Array:
        """Draw so many predicates on the attribute, as text."""


@dataclass(frozen=True)
class Category(Attribute):
    """One of some words, their popularity Zipf's; absent from a share of the events."""

    name: str
    words: Sequence[str]
    exponent: float = 1
    absent: float = 0

    def column(self, rng: np.random.Generator, count: int) -> pa.Array:
        return pc.if_else(pa.array(rng.random(count) < self.absent), None, self._popular(rng, count))

    def predicates(self, rng: np.random.Generator, count: int) -> pa.Array:
        def prefix(rows: int) -> pa.Array:
            begun = pc.utf8_slice_codeunits(self._popular(rng, rows), 0, 2)
            return line(self.name, " like '", begun, "%'", separator="")

        def other(rows: int) -> pa.Array:
            return line(self.name, "<>", literals(self._popular(rng, rows)))

        def known(rows: int) -> pa.Array:
            return pa.array([f"{self.name} is not null"] * rows, pa.string())

        return _any_of(rng, count, {partial(self.choices, rng): 0.8, prefix: 0.1, other: 0.05, known: 0.05})

    def choices(self, rng: np.random.Generator, count: int) -> pa.Array:
        """Draw predicates that name one word or a few of them."""

        def one(rows: int) -> pa.Array:
            return line(self.name, "=", literals(self._popular(rng, rows)))

        def some(rows: int) -> pa.Array:
            most = min(4, len(self.words) - 1)
            sizes = rng.integers(min(2, most), most + 1, size=rows)
            codes = distinct(rng, zipf(len(self.words), self.exponent), sizes)
            chosen = literals(pa.array(self.words).take(pa.array(codes)))
            return line(self.name, " in (", joined(chosen, offsets_of(sizes), ", "), ")", separator="")

        return _any_of(rng, count, {one: 0.7, some: 0.3})

    def _popular(self, rng: np.random.Generator, count: int) -> pa.Array:
        return pa.array(self.words).take(pa.array(pick(rng, zipf(len(self.words), self.exponent), count)))


@dataclass(frozen=True)
class Number(Attribute):
    """A number by the normal law, or where `logarithmic` by the lognormal one, with so many decimals.

    What lies beyond `least` or `greatest` is put there.
    """

    name: str
    mean: float
    deviation: float
    decimals: int = 2
    logarithmic: bool = False
    least: float = -math.inf
    greatest: float = math.inf

    def column(self, rng: np.random.Generator, count: int) -> pa.Array:
        return pa.array(self._values(rng, count))

    def predicates(self, rng: np.random.Generator, count: int) -> pa.Array:
        def above(rows: int) -> pa.Array:
            return line(self.name, ">", literals(self._values(rng, rows, higher=1)))

        def below(rows: int) -> pa.Array:
            return line(self.name, "<=", literals(self._values(rng, rows, higher=-1)))

        def between(rows: int) -> pa.Array:
            ends = np.sort(self._values(rng, 2 * rows).reshape(rows, 2), axis=1)
            return line(self.name, "between", literals(ends[:, 0]), "and", literals(ends[:, 1]))

        return _any_of(rng, count, {above: 0.4, below: 0.3, between: 0.3})

    def _values(self, rng: np.random.Generator, count: int, higher: float = 0) -> Numbers:
        """Draw values; those for bounds lie `higher` deviations off, so that few events pass them."""
        drawn: Floats = rng.normal(self.mean + higher * self.deviation, self.deviation, count)
        rounded = np.round(np.exp(drawn) if self.logarithmic else drawn, self.decimals)
        rounded = rounded.clip(self.least, self.greatest)
        return rounded if self.decimals else rounded.astype(np.int64)


@dataclass(frozen=True)
class Flag(Attribute):
    """True or false."""

    name: str
    true: float

    def column(self, rng: np.random.Generator, count: int) -> pa.Array:
        return pa.array(rng.random(count) < self.true)

    def predicates(self, rng: np.random.Generator, count: int) -> pa.Array:
        return pa.array([f"not {self.name}", self.name]).take(pa.array(rng.integers(2, size=count)))


@dataclass(frozen=True)
class Moment(Attribute):
    """A second within some hours from the start."""

    name: str
    start: str
    hours: int

    def column(self, rng: np.random.Generator, count: int) -> pa.Array:
        return pa.array(self._seconds(rng, count).astype("datetime64[us]"), pa.timestamp("us", "UTC"))

    def predicates(self, rng: np.random.Generator, count: int) -> pa.Array:
        def since(rows: int) -> pa.Array:
            return line(self.name, ">=", _timestamps(self._seconds(rng, rows)))

        def during(rows: int) -> pa.Array:
            ends = np.sort(self._seconds(rng, 2 * rows).reshape(rows, 2), axis=1)
            return line(self.name, "between", _timestamps(ends[:, 0]), "and", _timestamps(ends[:, 1]))

        return _any_of(rng, count, {since: 0.5, during: 0.5})

    def _seconds(self, rng: np.random.Generator, count: int) -> Any:
        return np.datetime64(self.start, "s") + rng.integers(self.hours * 3600, size=count)


@dataclass(frozen=True)
class Tags(Attribute):
    """A list of up to `most` different words, their popularity Zipf's."""

    name: str
    words: Sequence[str]
    most: int = 4

    def column(self, rng: np.random.Generator, count: int) -> pa.Array:
        sizes = rng.integers(0, self.most + 1, size=count)
        chosen = pa.array(self.words).take(pa.array(distinct(rng, zipf(len(self.words), 1), sizes)))
        return pa.ListArray.from_arrays(pa.array(offsets_of(sizes), pa.int32()), chosen)

    def predicates(self, rng: np.random.Generator, count: int) -> pa.Array:
        words = pa.array(self.words).take(pa.array(pick(rng, zipf(len(self.words), 1), count)))
        return line("array_contains(", self.name, ", ", literals(words), ")", separator="")


def conditions(rng: np.random.Generator, key: Category, others: Sequence[Attribute], count: int) -> ArbitraryConditions:
    """Draw conditions: a choice of the key, and a few predicates on others joined by `and`, `or` and `not`."""
    sizes = FEWEST + pick(rng, tilted(FEWEST, MOST, MEAN), count)
    parts = []
    for some in np.array_split(sizes, -(-count // _CHUNK)):
        asked = distinct(rng, zipf(len(others), 0), some)
        masks = [asked == number for number in range(len(others))]
        written = [other.predicates(rng, int(mask.sum())) for other, mask in zip(others, masks, strict=True)]
        parts.append(line(key.choices(rng, len(some)), "and", composed(rng, merged(masks, written), some)))
    return ArbitraryConditions(pa.concat_arrays(parts))


def events(rng: np.random.Generator, attributes: Sequence[Attribute], count: int) -> TableEvents:
    """Draw events with a column for each attribute, those with a dot in their name inside a struct."""
    columns: dict[str, Any] = {}
    for attribute in attributes:
        *outer, last = attribute.name.split(".")
        level = columns
        for part in outer:
            level = level.setdefault(part, {})
        level[last] = attribute.column(rng, count)
    return TableEvents(pa.table({name: _nested(column) for name, column in columns.items()}))


def _nested(column: Any) -> pa.Array:
    if not isinstance(column, dict):
        return column
    return pa.StructArray.from_arrays([_nested(inner) for inner in column.values()], names=list(column))


def _timestamps(seconds: Any) -> pa.Array:
    return line("timestamp '", pc.strftime(pa.array(seconds), "%Y-%m-%d %H:%M:%S"), "'", separator="")


def _any_of(rng: np.random.Generator, count: int, writers: Mapping[Writer, float]) -> pa.Array:
    chosen = pick(rng, np.array(list(writers.values())), count)
    masks = [chosen == number for number in range(len(writers))]
    return merged(masks, [writer(int(mask.sum())) for writer, mask in zip(writers, masks, strict=True)])
